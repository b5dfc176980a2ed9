"""Communities of high modularity, by Louvain and by Leiden, on all cores.

References
----------
.. [1] Blondel, Guillaume, Lambiotte, Lefebvre. Fast unfolding of communities in large networks. J. Stat. Mech. 2008.
.. [2] Traag, Waltman, van Eck. From Louvain to Leiden: guaranteeing well-connected communities. Sci. Rep. 2019.
.. [3] Ozaki, Tezuka, Inaba. A simple acceleration method for the Louvain algorithm. IJCEE 2016.
.. [4] Sahu. GVE-Louvain: fast Louvain algorithm for community detection in shared memory setting. arXiv 2312.04876.
.. [5] Sahu. GVE-Leiden: fast Leiden algorithm for community detection in shared memory setting. arXiv 2312.13936.
"""

from __future__ import annotations

import time

import numpy as np

from dask_graphgpu.engine import communities
from dask_graphgpu.engine.cpu.batches import Batches
from dask_graphgpu.engine.cpu.community_level import Level, renumbered
from dask_graphgpu.interrupting import check, stopping
from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.kernels.cpu.threads import for_blocks
from dask_graphgpu.partition.csr import at_ends
from dask_graphgpu.partition.view import View
from dask_graphgpu.report import Report

# How much of a vertex's degree a gain may be behind the best one and still be likely to be taken by `leiden` [2]. With
# ten times as much, modularity is lower by a hundredth where degrees are skewed (email-enron).
RANDOMNESS = 0.001

# Batches in which vertices are looked at first, and again. Of R-MAT graphs modularity is lower by a hundredth where the
# first are 64, as most vertices of a batch are single then and see nothing of what the others do.
FIRST, AGAIN = 1 << 10, 1 << 6

# Entries and rows below which vertices move one by one, on one thread: a batch would hardly be more than one.
FEW = 1 << 18

# Rounds after which vertices move one by one, which ends for sure: two of a batch might change places for ever.
ROUNDS = 100

AT_ONCE = 1 << 20  # entries that are read one by one before it is asked again how many there are


def louvain(view: View, resolution: float, seed: int, report: Report) -> tuple[np.ndarray, float]:
    """Communities by moving vertices, then whole communities [1]_.

    Notes
    -----
    Only vertices whose neighbours have moved are looked at again [3]_. They are looked at in batches, which hashes of
    their places in the order of the user's ids, and of the seed, decide: all threads find where the vertices of a batch
    gain most, as GVE-Louvain does [4]_, but only from how communities were before the batch; then one thread does the
    moves that still gain, in order. So the answer depends on nothing but the edges, the resolution and the seed. Where
    few are left to look at, they move one by one. Cost: some passes over the edges, most of them of the first level.
    """
    moves = _Moves(view, resolution, seed, report)
    place = communities.louvain(moves) if len(moves.first) else moves.alone(moves.first)
    return _in_dense_ids(view, place), _modularity(moves.first, place, resolution)


def leiden(
    view: View, resolution: float, seed: int, iterations: int, report: Report
) -> tuple[np.ndarray, float]:
    """Communities as `louvain`, of which every one is connected [2]_; refined in batches as well [5]_."""
    moves = _Moves(view, resolution, seed, report)
    place = communities.leiden(moves, iterations if len(moves.first) else 0)
    return _in_dense_ids(view, place), _modularity(moves.first, place, resolution)


class _Moves:
    """As of `engine.communities.Moves`."""

    def __init__(self, view: View, resolution: float, seed: int, report: Report) -> None:
        self.first = Level.first(view)
        self._rng, self._report = np.random.default_rng(seed), report
        total = float(self.first.degree.sum())
        # What kernels call so; the sum of all degrees is the same on all levels.
        self._scale = resolution / total if total else 0.0

    def alone(self, level: Level) -> np.ndarray:
        return np.arange(len(level), dtype=level.neighbours.dtype)

    def moved(self, level: Level, labels: np.ndarray) -> tuple[np.ndarray, int]:
        begun = time.perf_counter()
        n, dtype = len(level), level.neighbours.dtype
        totals = np.bincount(labels, level.degree, n)
        size = np.bincount(labels, minlength=n)
        unused = np.flatnonzero(size == 0)[::-1]
        empty, at = np.empty(n, dtype), np.array([len(unused)])
        empty[: len(unused)] = unused
        waiting = np.ones(n, np.bool_)
        state = labels, labels.copy(), totals, size, empty, at, waiting, level.room
        given = *level.edges, level.degree, self._scale
        rounds, read, stopped = 0, 0, stopping()
        while len(batches := self._batches(level, waiting, AGAIN if rounds else FIRST)):
            check(stopped)
            if rounds == ROUNDS or batches.entries + len(batches.listed) < FEW:
                read += int(kernels.moving.move_one_by_one(batches.listed, *given, *state, AT_ONCE))
                continue
            most = batches.largest
            plans = (
                np.empty(most, dtype), np.empty(most, np.int64), np.empty(most), np.empty(most, np.bool_)
            )  # fmt: skip
            # Neighbours in the order of ids see at once what the others do, but not while all are single: the first
            # would draw all the others after it.
            together = np.uint64(batches.together if rounds else 0)
            batches.run(
                kernels.moving.move_in_batches,
                *given,
                *state,
                together,
                plans,
                np.empty(most, dtype),
            )
            read += batches.entries
            rounds += 1
        entry = level.weight.itemsize * bool(len(level.weight)) + 2 * dtype.itemsize + 8
        self._report.advance(
            "move", supersteps=1, frontier=n, edges=read, bytes=read * entry + n * 48,
            seconds=time.perf_counter() - begun,
        )  # fmt: skip
        return renumbered(labels)

    def refined(self, level: Level, labels: np.ndarray, count: int) -> tuple[np.ndarray, int]:
        n, dtype = len(level), labels.dtype
        parts, cut = np.empty_like(labels), np.empty(n)
        joined, followed = np.empty(n, np.uint32), np.empty(n, np.bool_)
        for_blocks(
            kernels.refining.begin, level.blocks, *level.edges, labels, parts, cut, joined, followed
        )
        totals = np.bincount(labels, level.degree, count)
        waiting, salt, earlier = np.ones(n, np.bool_), self._salt(), 0
        state = labels, totals, parts, level.degree.copy(), cut, joined, followed, waiting
        given = *level.edges, level.degree, self._scale, salt, RANDOMNESS
        while len(batches := self._batches(level, waiting, AGAIN if earlier else FIRST)):
            most = batches.largest
            plans = np.empty(most, dtype), np.empty(most, dtype), np.empty(most)
            batches.run(
                kernels.refining.refine_in_batches, *given, *state, level.room, plans, earlier
            )
            earlier += len(batches)
        parts, number = renumbered(parts)
        if number == n:
            kernels.communities.connected_parts(*level.edges, labels, parts)
            return renumbered(parts)
        return parts, number

    def apart(self, level: Level, labels: np.ndarray, parts: np.ndarray) -> np.ndarray:
        return parts

    def aggregated(self, level: Level, labels: np.ndarray, count: int) -> Level:
        return level.aggregated(labels, count)

    def named(self, labels: np.ndarray) -> np.ndarray:
        return renumbered(labels)[0]

    def _batches(self, level: Level, waiting: np.ndarray, number: int) -> Batches:
        return Batches.of(level, waiting, number, self._salt())

    def _salt(self) -> np.uint64:
        return np.uint64(self._rng.integers(1 << 63))


def _modularity(first: Level, labels: np.ndarray, resolution: float) -> float:
    """Of communities of the graph itself."""
    total = float(first.degree.sum())
    if not total:
        return 0.0
    # Blocks of a fixed size, so that the sum does not depend on the threads.
    blocks = np.append(np.arange(0, len(first), 1 << 14), len(first))
    given = *first.edges, first.loops, labels
    within = sum(for_blocks(kernels.communities.weight_within, blocks, *given))
    part = np.bincount(labels, first.degree) / total
    return float(within / total - resolution * (part @ part))


def _in_dense_ids(view: View, labels: np.ndarray) -> np.ndarray:
    """Labels by place in the order of ids, as dense ids of each label's first vertex, by dense id."""
    n, rank = len(labels), view.user_rank
    places = np.arange(n, dtype=labels.dtype)
    smallest = np.empty_like(labels)
    smallest[labels[::-1].astype(np.intp)] = places[::-1]
    found = at_ends(smallest, labels)
    if rank is not None:
        position = np.empty_like(labels)
        position[rank.astype(np.intp)] = places
        found = at_ends(at_ends(position, found), rank)
    return found
