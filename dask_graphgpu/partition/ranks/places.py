"""Where vertices stand once they have owners: a place among all of them, rank after rank."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dask_graphgpu.exchange.ranks import Ranks
from dask_graphgpu.partition.chunk import to_host
from dask_graphgpu.partition.order import falling_degree
from dask_graphgpu.partition.ranks.ends import AtHome

_FEW = 8  # ranks up to which owners are not searched for


@dataclass(frozen=True, eq=False)
class Places:
    """The places of the vertices.

    A place is the owner's first one plus the local id there, so that the order of places is by owner
    and then by local id.

    Attributes
    ----------
    bounds : int64, shape (size + 1,)
        Rank r owns the places ``bounds[r]`` to ``bounds[r + 1]``.
    at_home : dtype of numbers
        Place of each vertex that this rank is home to.
    own : dtype of numbers, shape (num_owned,)
        Number of each vertex that this rank owns, by its local id.
    ascending : dtype of numbers, shape (num_owned,)
        Their local ids in ascending order of their numbers.
    """

    bounds: np.ndarray
    at_home: np.ndarray
    own: np.ndarray
    ascending: np.ndarray

    def owners(self, places: np.ndarray) -> np.ndarray:
        """The owner of each place, in the narrowest unsigned type."""
        ends = self.bounds[1:].astype(np.uint64)
        dtype = np.min_scalar_type(max(len(ends) - 1, 0))
        if len(ends) > _FEW:
            return np.searchsorted(ends, places, side="right").astype(dtype)
        found: np.ndarray = np.zeros(len(places), dtype)
        for end in ends[:-1]:  # a pass for each is quicker than a search for each place
            found += places >= end
        return found


def settle(ranks: Ranks, at: AtHome, owners: np.ndarray, by_degree: bool) -> Places:
    """Give vertices to their owners, which order them: by number, or by falling degree. Collective.

    ``owners`` : of each vertex that this rank is home to.
    """
    homes, at_work = at.homes, at.passes.at_work
    owners = owners.astype(np.min_scalar_type(ranks.size - 1), copy=False)  # sorted by digits
    cuts = np.cumsum(np.bincount(owners, minlength=ranks.size))[:-1]
    order = np.argsort(at_work(owners), kind="stable")
    numbers = order.astype(homes.dtype)
    numbers += homes.dtype.type(homes.first)
    given = ranks.all_to_all(np.split(to_host(numbers), cuts))
    del numbers
    ascending = np.concatenate(given)  # as homes are, each with its numbers ascending
    local = np.arange(len(ascending), dtype=homes.dtype)
    if by_degree:
        dealt = to_host(at_work(at.degrees)[order])
        degrees = np.concatenate(ranks.all_to_all(np.split(dealt, cuts)))
        del dealt
        local = to_host(falling_degree(at_work(degrees), homes.dtype.type))
    bounds = np.append(0, np.cumsum(ranks.scalars([len(local)])[:, 0]))
    first = homes.dtype.type(bounds[ranks.rank])
    own = at_work(np.empty_like(ascending))
    own[at_work(local).astype(np.intp)] = at_work(ascending)
    replies = np.split(local + first, np.cumsum([len(each) for each in given])[:-1])
    at_home = np.empty_like(order, homes.dtype)
    at_home[order] = at_work(np.concatenate(ranks.all_to_all(replies)))
    return Places(bounds, to_host(at_home), to_host(own), local)
