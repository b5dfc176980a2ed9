"""Partitioners: which rank owns a vertex.

A partitioner is a collective function of what the homes know, `AtHome`: it gives the owner of each
vertex that a rank is home to, in their order. The answers of algorithms do not depend on it; how many
values travel (the border) and how evenly the ranks are busy do.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dask_graphgpu.errors import InvalidArgument
from dask_graphgpu.exchange.ranks import Ranks
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
    if partitioner not in NAMED:
        raise InvalidArgument(
            f"partitioner={partitioner!r}; allowed are {', '.join(map(repr, NAMED))}, or a function "
            "f(numbers, degrees, ranks) that gives the rank of each vertex"
        )
    return NAMED[partitioner]


def balanced(at: AtHome) -> np.ndarray:
    """Ranges of ids of about equal work where their order has locality, else dealt by degree.

    Dealing goes over falling degree and back again, so that ranks get as many vertices, and edges
    that differ by no more than the largest degree does from the next.
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
    size = at.homes.ranks.size
    turn = falling_places(at.homes.ranks, at.degrees)
    turn %= 2 * size
    owners: np.ndarray = np.minimum(turn, 2 * size - 1 - turn)
    return owners


def falling_places(ranks: Ranks, degrees: np.ndarray) -> np.ndarray:
    """Place of this rank's vertices among all by falling degree, equal ones by number. Collective.

    Cost: each rank's distinct degrees go to all.
    """
    values, counts = np.unique(-degrees, return_counts=True)
    every_value, every_count = ranks.all_gather(values), ranks.all_gather(counts)
    distinct, group = np.unique(np.concatenate(every_value), return_inverse=True)
    total = np.zeros(len(distinct), np.int64)
    np.add.at(total, group, np.concatenate(every_count))
    first = np.cumsum(total) - total
    for j in range(ranks.rank):
        first[np.searchsorted(distinct, every_value[j])] += every_count[j]
    # Here a degree's vertices stand together; how far on they stand among those of all ranks.
    further = first[np.searchsorted(distinct, values)] - (np.cumsum(counts) - counts)
    placed = np.repeat(further, counts)
    placed += np.arange(len(degrees))
    places = np.empty_like(placed)
    places[np.argsort(-degrees, kind="stable")] = placed
    return places


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
