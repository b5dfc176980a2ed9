"""Where vertices stand once they have owners: a place among all of them, rank after rank."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dask_graphgpu.exchange.ranks import Ranks
from dask_graphgpu.partition.order import falling_degree
from dask_graphgpu.partition.ranks.ends import AtHome


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
        found = np.searchsorted(ends, places, side="right")
        return found.astype(np.min_scalar_type(max(len(ends) - 1, 0)))


def settle(ranks: Ranks, at: AtHome, owners: np.ndarray, by_degree: bool) -> Places:
    """Give vertices to their owners, which order them: by number, or by falling degree. Collective.

    ``owners`` : of each vertex that this rank is home to.
    """
    homes = at.homes
    owners = owners.astype(np.min_scalar_type(ranks.size - 1), copy=False)  # sorted by digits
    order = np.argsort(owners, kind="stable")
    cuts = np.cumsum(np.bincount(owners, minlength=ranks.size))[:-1]
    given = ranks.all_to_all(np.split(homes.numbers()[order], cuts))
    ascending = np.concatenate(given)  # as homes are, each with its numbers ascending
    local = np.arange(len(ascending), dtype=homes.dtype)
    if by_degree:
        degrees = np.concatenate(ranks.all_to_all(np.split(at.degrees[order], cuts)))
        local = falling_degree(degrees, homes.dtype.type)
    bounds = np.append(0, np.cumsum(ranks.scalars([len(local)])[:, 0]))
    first = homes.dtype.type(bounds[ranks.rank])
    own = np.empty_like(ascending)
    own[local] = ascending
    replies = np.split(local + first, np.cumsum([len(each) for each in given])[:-1])
    at_home = np.empty(homes.num_here, homes.dtype)
    at_home[order] = np.concatenate(ranks.all_to_all(replies))
    return Places(bounds, at_home, own, local)
