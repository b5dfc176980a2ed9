"""Partitioners: which rank owns a vertex.

A partitioner is a collective function of what the homes know, `AtHome`: it gives the owner of each
vertex that a rank is home to, in their order. The answers of algorithms do not depend on it; how many
values travel (the border) and how evenly the ranks are busy do.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dask_graphgpu.arguments import check_choice
from dask_graphgpu.errors import InvalidArgument
from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.partition.chunk import to_host
from dask_graphgpu.partition.ranks.biased import biased_random
from dask_graphgpu.partition.ranks.draw import draw
from dask_graphgpu.partition.ranks.ends import AtHome
from dask_graphgpu.partition.ranks.metis import metis

Partitioner = Callable[[AtHome], np.ndarray]


def chosen(partitioner: Any) -> Partitioner:
    """The partitioner of a name, or one that asks a user's function.

    Owners come in any integer type.

    A function ``f(numbers, degrees, ranks)`` is called on each rank for the vertices that it is home
    to: their numbers (places in the ascending order of the ids), how many ends of edges each has,
    and how many ranks there are. It gives an integer array of as many owners.

    Raises
    ------
    InvalidArgument
    """
    if callable(partitioner):
        return _asking(partitioner)
    check_choice(
        "partitioner", partitioner, tuple(NAMED),
        ", or a function f(numbers, degrees, ranks) that gives the rank of each vertex",
    )  # fmt: skip
    return NAMED[partitioner]


def balanced(at: AtHome) -> np.ndarray:
    """Ranges of ids of about equal work where their order has locality, else dealt by degree.

    Dealing goes over falling degree, each vertex to the rank that has least by then. An end of an
    edge is a unit of work, and so is a vertex. No rank has more than its share but for the vertices
    at the ends of its range, or where one vertex has more than a rank's share alone.
    """
    return _ranges(at) if at.near else _dealt(at)


def random(at: AtHome, seed: int = 0) -> np.ndarray:
    """By a hash of the number."""
    return (draw(at.homes.numbers(), seed) * at.homes.ranks.size).astype(np.int64)


NAMED: dict[str, Partitioner] = {
    "balanced": balanced,
    "random": random,
    "biased_random": biased_random,
    "metis": metis,
}


def _ranges(at: AtHome) -> np.ndarray:
    """Consecutive numbers to a rank; an edge end counts as one step, and so does a vertex."""
    ranks = at.homes.ranks
    work = at.degrees + 1
    sums = ranks.scalars([int(work.sum())])[:, 0]
    # Twice the work before the middle of each vertex's.
    middle: np.ndarray = np.cumsum(work)
    middle *= 2
    middle -= work
    middle += 2 * int(sums[: ranks.rank].sum())
    middle *= ranks.size
    middle //= 2 * int(sums.sum())
    return middle


def _dealt(at: AtHome) -> np.ndarray:
    """By falling degree. Cost: each rank's distinct degrees go to all, with how often they stand."""
    ranks, degrees = at.homes.ranks, at.passes.at_work(at.degrees)
    order = np.argsort(-degrees, kind="stable")
    falling = -degrees[order]
    begins = np.ones_like(falling, bool)  # of those of one degree
    begins[1:] = falling[1:] != falling[:-1]
    starts = np.flatnonzero(begins)
    values, counts = to_host(falling[starts]), np.diff(to_host(starts), append=len(falling))
    every_value, every_count = ranks.all_gather(values), ranks.all_gather(counts)
    distinct, group = np.unique(np.concatenate(every_value), return_inverse=True)
    totals = np.zeros(len(distinct), np.int64)
    np.add.at(totals, group, np.concatenate(every_count))
    given = np.zeros((len(distinct), ranks.size), np.int64)
    kernels.dealing.level(1 - distinct, totals, np.zeros(ranks.size, np.int64), given)
    # Places by falling degree, equal ones by number: here a degree's vertices stand together, and
    # those of lower ranks are before them.
    first = np.cumsum(totals) - totals
    for j in range(ranks.rank):
        first[np.searchsorted(distinct, every_value[j])] += every_count[j]
    before = first[np.searchsorted(distinct, values)] - np.cumsum(counts) + counts
    places = at.passes.at_work(before)[np.cumsum(begins) - 1]
    places += np.arange(len(degrees), like=places)
    found = np.searchsorted(at.passes.at_work(np.cumsum(given)), places, side="right")
    owners = np.empty_like(degrees, np.min_scalar_type(ranks.size - 1))
    owners[order] = found % ranks.size
    return to_host(owners)


def _asking(function: Callable[..., Any]) -> Partitioner:
    def ask(at: AtHome) -> np.ndarray:
        numbers, size = at.homes.numbers(), at.homes.ranks.size
        if not len(numbers):
            return np.empty(0, np.int64)
        owners = np.asarray(function(numbers, at.degrees, size))
        _check(owners, len(numbers), size)
        return owners

    return ask


def _check(owners: np.ndarray, vertices: int, size: int) -> None:
    wanted = f"give an integer array of shape ({vertices},), each at least 0 and less than {size}"
    if owners.shape != (vertices,) or owners.dtype.kind not in "iu":
        raise InvalidArgument(
            f"the partitioner gave an array of dtype {owners.dtype} and shape {owners.shape} for "
            f"{vertices} vertices; {wanted}"
        )
    bad = (owners < 0) | (owners >= size)
    if bad.any():
        raise InvalidArgument(
            f"the partitioner gave {int(bad.sum())} of {vertices} vertices to ranks that there are "
            f"not, the first to {owners[bad][0]}; {wanted}"
        )
