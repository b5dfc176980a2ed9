"""Jaccard coefficients of all pairs of vertices with a neighbour in common, of a graph on disk.

References
----------
.. [1] Liben-Nowell, Kleinberg. The link-prediction problem for social networks. JASIST 58 (2007).
"""

from __future__ import annotations

import time

import numpy as np

from dask_graphgpu.engine.cpu.edges import Paged, rows_on_disk
from dask_graphgpu.engine.cpu.induced import in_order
from dask_graphgpu.engine.cpu.jaccard import note
from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.kernels.cpu.threads import edge_blocks, for_blocks
from dask_graphgpu.partition.csr import all_below, offsets_of
from dask_graphgpu.partition.view import View
from dask_graphgpu.report import Report

# Bytes of a vertex: the degree, what it takes in steps and in bytes, its place in the user's order, and which runs have
# it; and of one whose pairs are looked for, where its parts are.
_OF_VERTEX, _AT_WORK = 48, 48

# Bytes of a pair that is found, beside its ends: the coefficient, and to put pairs in the user's order. They are there
# twice when they are joined.
_VALUE, _SORTED, _COPIES = 8, 16, 2


def jaccard_two_hop(view: View, report: Report) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """As `jaccard_of_pairs`, of all pairs of vertices with a neighbour in common.

    Raises
    ------
    LimitTooSmall
        Also where the pairs do not fit: their memory counts.
    SpillError

    Notes
    -----
    Vertices are taken in parts, for which the rows of all their neighbours pass by once. What is found at a vertex is
    listed and put in order in the end; a vertex that would list more than there are vertices counts them instead. A
    part is as long as there is room for such lists and the pairs, so of a large graph there are many.
    """
    return _Parts(view, report).run()


class _Parts:
    """Vertices in the order of the rows, of which some find their pairs at a time."""

    def __init__(self, view: View, report: Report) -> None:
        self._rows, self._report = rows_on_disk(view.symmetric), report
        self._kind, n = self._rows.neighbours.dtype, view.num_vertices
        self._passes = Paged(self._rows, report)
        self._user_rank = rank = view.user_rank
        self._rank = all_below(n, self._kind) if rank is None else rank.astype(self._kind)
        self._pair = 2 * self._kind.itemsize + _VALUE
        self._kept = _COPIES * self._pair + (0 if rank is None else _SORTED)
        self._number = 0  # of pairs found

    def run(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        start, n, ids = time.perf_counter(), self._rows.num_vertices, self._kind.itemsize
        what = f"pairs of {n:,} vertices"
        self._passes.require(n * _OF_VERTEX, what)
        none = np.empty(0, self._kind)
        found = [(none, none, np.empty(0))]
        with self._passes:
            steps = self._steps()
            lists = np.minimum(steps, n)
            cost = offsets_of(lists * (ids + self._pair) + self._rows.degrees * ids + _AT_WORK)
            self._passes.require(n * _OF_VERTEX + int(np.diff(cost).max(initial=0)), what)
            first = 0
            while first < n:
                room = self._room(0)
                last = int(np.searchsorted(cost, cost[first] + room, side="right")) - 1
                if last <= first:
                    self._room(int(cost[first + 1] - cost[first]))
                found.append(self._pairs_of(first, last, offsets_of(lists[first:last])))
                self._number += len(found[-1][0])
                first = last
            self._room(0)
        note(self._report, 2 * int(steps.sum()), n, 2 * ids + 8, start)
        firsts, seconds, values = (np.concatenate(parts) for parts in zip(*found, strict=True))
        return in_order((firsts, seconds, values), self._user_rank)

    def _room(self, more: int) -> int:
        """Bytes that are left beside the pairs found; raises LimitTooSmall unless they are as many as asked for."""
        kept = self._rows.num_vertices * _OF_VERTEX + self._number * self._kept
        self._passes.require(kept + more, f"a result of {self._number:,} pairs or more")
        return self._rows.limits.memory - self._passes.held - kept

    def _steps(self) -> np.ndarray:
        """Neighbours of the neighbours of each vertex, as often as they are."""
        steps = np.empty(self._rows.num_vertices, np.int64)
        for lo, hi, rows in self._passes.over():
            blocks = edge_blocks(rows.offsets[lo : hi + 1])
            some = np.arange(lo, hi, dtype=self._kind)
            given = rows.offsets, rows.neighbours, some, steps[lo:hi]
            for_blocks(kernels.jaccard.two_hop_steps, blocks, *given)
        return steps

    def _pairs_of(
        self, first: int, last: int, bounds: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The pairs of vertices from one to before another with those that come later in the user's order."""
        n, degree = self._rows.num_vertices, self._rows.degrees
        offsets, own = self._own(first, last)
        at, filled = offsets[:-1].copy(), np.zeros(last - first, np.uint64)
        found = np.zeros(bounds[-1], self._kind)
        marked = np.zeros(n, np.bool_)
        marked[own] = True
        blocks, parts = edge_blocks(bounds), bounds.view(np.uint64)
        for _, hi, rows in self._passes.over(self._passes.holding(marked)):
            for_blocks(
                kernels.two_hop.gather, blocks, first, offsets, own, at, hi,
                rows.offsets.view(np.uint64), rows.neighbours, self._rank, parts, found, filled,
            )  # fmt: skip
        listed, lengths = filled.view(np.int64), np.empty(last - first, np.int64)
        for_blocks(kernels.two_hop.found_lengths, blocks, n, bounds, found, listed, lengths)
        starts = offsets_of(lengths)
        second, values = np.empty(starts[-1], self._kind), np.empty(starts[-1])
        for_blocks(
            kernels.two_hop.found_pairs, blocks, first, n, degree, bounds, found, listed, starts,
            second, values,
        )  # fmt: skip
        return np.repeat(np.arange(first, last, dtype=self._kind), lengths), second, values

    def _own(self, first: int, last: int) -> tuple[np.ndarray, np.ndarray]:
        """Rows from one to before another, in memory."""
        offsets = self._rows.offsets[first : last + 1]
        begin, cuts = int(offsets[0]), self._passes.cuts
        own = np.empty(int(offsets[-1]) - begin, self._kind)
        for lo, hi, rows in self._passes.over((cuts[1:] > first) & (cuts[:-1] < last)):
            here = slice(*self._rows.offsets[[max(lo, first), min(hi, last)]].tolist())
            own[here.start - begin : here.stop - begin] = rows.neighbours[here]
        return (offsets - begin).view(np.uint64), own
