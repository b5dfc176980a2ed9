"""Communities of high modularity, by Louvain and by Leiden.

References
----------
.. [1] Blondel, Guillaume, Lambiotte, Lefebvre. Fast unfolding of communities in large networks. J. Stat. Mech. 2008.
.. [2] Traag, Waltman, van Eck. From Louvain to Leiden: guaranteeing well-connected communities. Sci. Rep. 2019.
.. [3] Ozaki, Tezuka, Inaba. A simple acceleration method for the Louvain algorithm. IJCEE 2016.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from dask_graphgpu.engine import communities
from dask_graphgpu.interrupting import check, stopping
from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.kernels.cpu.threads import edge_blocks, for_blocks
from dask_graphgpu.partition.csr import at_ends, from_edges, offsets_of
from dask_graphgpu.partition.view import View
from dask_graphgpu.report import Report

# How much of a vertex's degree a gain may be behind the best one and still be likely to be taken by `leiden` [2]. With
# ten times as much, modularity is lower by a hundredth where degrees are skewed (email-enron).
RANDOMNESS = 0.001

# Vertices that stay together when their order is shuffled: neighbours in the order of ids are often neighbours in the
# graph as well, and then in the cache (cnr-2000: half the time of one by one). With 64, modularity is a little lower.
TOGETHER = 16

AT_ONCE = 1 << 25  # entries of rows that are read before a look whether the call is to stop


@dataclass(frozen=True, eq=False)
class _Level:
    """A graph whose vertices are communities of the one before; arrays as in ``kernels/cpu/communities.py``."""

    offsets: np.ndarray
    neighbours: np.ndarray
    weight: np.ndarray
    loops: np.ndarray
    degree: np.ndarray

    def __len__(self) -> int:
        return len(self.loops)


def louvain(view: View, resolution: float, seed: int, report: Report) -> tuple[np.ndarray, float]:
    """Communities by moving vertices, then whole communities [1]_.

    Notes
    -----
    Only vertices whose neighbours have moved are looked at again [3]_. It runs on one thread, in the
    order of the user's ids, stretches of which are shuffled by the seed: the answer depends on nothing
    but the edges, the resolution and the seed. Cost: some passes over the edges, most of them of the
    first level.
    """
    moves = _Moves(view, resolution, seed, report)
    place = communities.louvain(moves) if len(moves.first) else moves.alone(moves.first)
    return _in_dense_ids(view, place), _modularity(moves.first, place, resolution)


def leiden(
    view: View, resolution: float, seed: int, iterations: int, report: Report
) -> tuple[np.ndarray, float]:
    """Communities as `louvain`, of which every one is connected [2]_."""
    moves = _Moves(view, resolution, seed, report)
    place = communities.leiden(moves, iterations if len(moves.first) else 0)
    return _in_dense_ids(view, place), _modularity(moves.first, place, resolution)


def _first_level(view: View) -> _Level:
    """The graph itself, its vertices in the order of the user's ids."""
    rows, rank = view.out, view.user_rank
    if view.directed or rank is not None:
        source, destination = view.sources(), rows.neighbours
        columns = {} if rows.weight is None else {"weight": rows.weight}
        if rank is not None:
            source, destination = at_ends(rank, source), at_ends(rank, destination)
        if view.directed:
            both = np.concatenate([source, destination])
            source, destination = both, np.concatenate([destination, source])
            columns = {name: np.concatenate([c, c]) for name, c in columns.items()}
        rows = from_edges(view.num_vertices, source, destination, columns)
    weight = np.empty(0) if rows.weight is None else rows.weight.astype(np.float64, copy=False)
    loops, degree = np.empty(rows.num_vertices), np.empty(rows.num_vertices)
    # A loop is once in the rows of an undirected graph, and was put twice into those of a directed one.
    for_blocks(
        kernels.communities.weigh, edge_blocks(rows.offsets), rows.offsets, rows.neighbours, weight,
        1.0 if view.directed else 2.0, loops, degree,
    )  # fmt: skip
    return _Level(rows.offsets, rows.neighbours, weight, loops, degree)


class _Moves:
    """As of `engine.communities.Moves`: vertices move one by one."""

    def __init__(self, view: View, resolution: float, seed: int, report: Report) -> None:
        self.first, self._rng, self._report = (
            _first_level(view),
            np.random.default_rng(seed),
            report,
        )
        total = float(self.first.degree.sum())
        # What kernels call so; the sum of all degrees is the same on all levels.
        self._scale = resolution / total if total else 0.0

    def alone(self, level: _Level) -> np.ndarray:
        return np.arange(len(level), dtype=level.neighbours.dtype)

    def moved(self, level: _Level, labels: np.ndarray) -> tuple[np.ndarray, int]:
        begun = time.perf_counter()
        n, dtype = len(level), level.neighbours.dtype
        totals = np.bincount(labels, level.degree, n)
        order = self._shuffled(n, dtype)
        size = np.bincount(labels, minlength=n)
        unused = np.flatnonzero(size == 0)[::-1]
        empty = np.zeros(n, dtype)
        empty[: len(unused)] = unused
        at = np.array([0, n, len(unused)])
        ring = order, np.ones(n, np.bool_), np.zeros(n), np.empty(n, dtype), at
        read, stopped = 0, stopping()
        while at[1]:
            check(stopped)
            read += kernels.communities.move(
                level.offsets, level.neighbours, level.weight, level.degree, self._scale, labels, totals,
                size, empty, *ring, AT_ONCE,
            )  # fmt: skip
        entry = level.weight.itemsize * bool(len(level.weight)) + 2 * dtype.itemsize + 8
        self._report.advance(
            "move", supersteps=1, frontier=n, edges=int(read), bytes=int(read) * entry + n * 48,
            seconds=time.perf_counter() - begun,
        )  # fmt: skip
        return _renumbered(labels)

    def _shuffled(self, n: int, dtype: np.dtype[Any]) -> np.ndarray:
        """The numbers below n, stretches of them in another order."""
        stretches = self._rng.permutation(-(-n // TOGETHER))
        rows = np.arange(len(stretches) * TOGETHER).reshape(-1, TOGETHER)
        order = rows.take(stretches, axis=0).ravel()
        shuffled: np.ndarray = order[order < n].astype(dtype)
        return shuffled

    def refined(self, level: _Level, labels: np.ndarray, count: int) -> tuple[np.ndarray, int]:
        n = len(level)
        parts = np.empty_like(labels)
        totals = np.bincount(labels, level.degree, count)
        kernels.communities.refine(
            level.offsets, level.neighbours, level.weight, level.degree, self._scale,
            self._shuffled(n, labels.dtype), self._rng.random(n), RANDOMNESS, labels, totals, parts,
        )  # fmt: skip
        parts, number = _renumbered(parts)
        if number == n:
            kernels.communities.connected_parts(
                level.offsets, level.neighbours, level.weight, labels, parts
            )
            return _renumbered(parts)
        return parts, number

    def apart(self, level: _Level, labels: np.ndarray, parts: np.ndarray) -> np.ndarray:
        return parts

    def aggregated(self, level: _Level, labels: np.ndarray, count: int) -> _Level:
        members = np.argsort(labels, kind="stable").astype(labels.dtype)
        starts = offsets_of(np.bincount(labels, minlength=count))
        offsets, loops = np.empty(count + 1, np.int64), np.empty(count)
        neighbours = np.empty(len(level.neighbours), labels.dtype)
        weight = np.empty(len(level.neighbours))
        kernels.communities.aggregate(
            level.offsets, level.neighbours, level.weight, level.loops, labels, starts, members,
            offsets, neighbours, weight, loops,
        )  # fmt: skip
        kept = int(offsets[-1])
        degree = np.bincount(labels, level.degree, count)
        return _Level(offsets, neighbours[:kept].copy(), weight[:kept].copy(), loops, degree)

    def named(self, labels: np.ndarray) -> np.ndarray:
        return _renumbered(labels)[0]


def _renumbered(labels: np.ndarray) -> tuple[np.ndarray, int]:
    """The same labels as 0, 1, 2 ... in the order in which they come, and how many there are."""
    numbers = np.empty_like(labels)
    return numbers, int(kernels.communities.renumber(labels, numbers))


def _modularity(first: _Level, labels: np.ndarray, resolution: float) -> float:
    """Of communities of the graph itself."""
    total = float(first.degree.sum())
    if not total:
        return 0.0
    # Blocks of a fixed size, so that the sum does not depend on the threads.
    blocks = np.append(np.arange(0, len(first), 1 << 14), len(first))
    given = first.offsets, first.neighbours, first.weight, first.loops, labels
    within = sum(for_blocks(kernels.communities.weight_within, blocks, *given))
    part = np.bincount(labels, first.degree) / total
    return float(within / total - resolution * (part @ part))


def _in_dense_ids(view: View, labels: np.ndarray) -> np.ndarray:
    """Labels by place in the order of ids, as dense ids of each label's first vertex, by dense id."""
    n, rank = len(labels), view.user_rank
    places = np.arange(n, dtype=labels.dtype)
    smallest = np.empty_like(labels)
    smallest[labels[::-1].astype(np.intp)] = places[::-1]
    found: np.ndarray = smallest.take(labels)
    if rank is not None:
        position = np.empty_like(labels)
        position[rank.astype(np.intp)] = places
        found = position.take(found).take(rank)
    return found
