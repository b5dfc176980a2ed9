"""Monotone programs over pages: values are improved along the rows at hand until nothing changes there.

So a run of rows is read for all supersteps that it is enough for [1]_, [2]_, and runs that there is memory for are read
once. With a priority, what is far waits, as in near-far order in memory.

References
----------
.. [1] Vora, Xu, Gupta. Load the edges you need: a generic I/O optimization for disk-based graph processing. USENIX ATC
   2016.
.. [2] Sabet, Zhao, Gupta. Subway: minimizing data transfer during out-of-GPU-memory graph processing. EuroSys 2020.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from dask_graphgpu.engine.buckets import (
    delta_of,
    mean_increment,
    no_limit,
    raised,
    start_limit,
)
from dask_graphgpu.engine.cpu.arrays import Arrays
from dask_graphgpu.engine.cpu.edges import Paged, rows_on_disk
from dask_graphgpu.engine.cpu.improving import Improving
from dask_graphgpu.engine.in_place_kernels import Due
from dask_graphgpu.engine.keeping import Keeper
from dask_graphgpu.engine.loop import overflow
from dask_graphgpu.engine.options import configured_direction
from dask_graphgpu.engine.paged.kept_runs import KeptRuns
from dask_graphgpu.engine.state import Binding, State
from dask_graphgpu.kernels.cpu.threads import even_blocks, num_threads
from dask_graphgpu.partition.csr import Adjacency
from dask_graphgpu.report import Report

# Edges of a stretch, between two limits, below which the next one is twice as wide, and so it is below what was read of
# the disk. Above four times as many it is half as wide.
FEW_EDGES = 1 << 15

# Buckets in a stretch, at most: a width found along a few rows may be any part of that of others.
_WIDEST = 1 << 1000

# Edges that vertices at hand have from which they send on all threads.
MANY_EDGES = 1 << 20

# The part of the limit, one of so many, that a build has left with the C library and Arrow.
_BUILD = 6

# Bytes of a vertex that the graph has: its id, and where its row is in the other direction and how long.
_OF_GRAPH = 24

# Edges from which the width of a bucket is found.
_SAMPLE = 1 << 12


class InPlaceOnDisk(Improving):
    """One run of a monotone program over edges in pages.

    Parameters
    ----------
    arrays, sources, cutoff, report
        As of `Improving`.
    targets : int64 array, optional
        The run may end once the values of these are final.
    """

    def __init__(
        self,
        arrays: Arrays,
        sources: np.ndarray | None,
        cutoff: Any,
        targets: np.ndarray | None,
        report: Report,
    ) -> None:
        super().__init__(arrays, sources, cutoff, report)
        columns = columns_read(arrays)
        edges = rows_on_disk(self.binding.send).with_columns(columns)
        self._passes, n, ids = Paged(edges, report), arrays.n, edges.neighbours.dtype
        needed = n * (bytes_of_vertex(self.binding) + _OF_GRAPH) + self._passes.held
        room = edges.limits.left(needed + edges.limits.memory // _BUILD)
        self._kept = KeptRuns(self._passes, room)
        self._passing = np.zeros(n, np.uint8)  # 1 where a row is of the run that comes by
        self._due = np.zeros(n, np.uint8)
        self._due[self.start] = Due.NEAR
        self._lists = np.empty(n, ids), np.empty(n, ids)
        self._targets = targets
        self._ordered = self.program.priority is not None and configured_direction() == "auto"
        self._near, self._buckets = no_limit(self.whole), 1
        if self._ordered:
            self._near = start_limit(self.binding, arrays.state, self.start, 0, self.whole)
        self._delta: Any = None
        self._sample: Adjacency | None = None
        # Edges of the stretches before, and those that this one has brought.
        self._before = self._brought = 0

    def run(self, keeper: Keeper | None = None) -> State:
        """Run until no value improves; ``keeper`` gets the state whenever it is due."""
        with self._passes:
            while True:
                near = np.flatnonzero(self._due == Due.NEAR)
                there = self._kept.there[near] == 1
                if there.any():
                    self._send(near[there], self._kept.rows, self._kept.there)
                elif len(near):
                    self._bring(near)
                    self.keep(keeper)
                elif self._goes_further():
                    self.keep(keeper)
                else:
                    break
        if (self._due == Due.UNSENT).any():
            raise overflow(self.program, "compute")
        return self.result()

    def _bring(self, near: np.ndarray) -> None:
        """Read the runs of some rows; those that are not kept send at once."""
        marked = np.zeros(self.arrays.n, bool)
        marked[near] = True
        read, kept = self._kept.chosen(self._passes.holding(marked))
        keeps = iter(kept[read].tolist())
        for lo, hi, rows in self._passes.over(read):
            first, last = rows.offsets[[lo, hi]].tolist()
            self._brought += last - first
            if self._sample is None and last > first:
                self._sample = _copied(rows, first, min(last, first + _SAMPLE))
            if next(keeps):
                self._kept.keep(lo, hi, rows)
                continue
            self._passing[lo:hi] = 1
            while len(some := np.flatnonzero(self._due[lo:hi] == Due.NEAR) + lo):
                self._send(some, rows, self._passing)
            self._passing[lo:hi] = 0

    def _send(self, some: np.ndarray, rows: Adjacency, there: np.ndarray) -> None:
        """Have some vertices send along rows that are at hand, and those that these lead to."""
        began, arrays = time.perf_counter(), self.arrays
        direction = "near-far" if self._ordered else "push"
        ends = np.cumsum(rows.offsets.take(some + 1) - rows.offsets.take(some)).view(np.uint64)
        if num_threads() > 1 and int(ends[-1]) > MANY_EDGES and self._send_once(some, rows, ends):
            self._note(direction, "relax", rows, (1, len(some), int(ends[-1])), began)
            return
        counts, (frontier, queue) = np.array([len(some), self.now, 0, 0]), self._lists
        frontier[: len(some)] = some
        arrays.lowered.kernel("relax_there")(
            frontier, queue, there, self._due, self.stamp, self.late, counts, self._near,
            self.cutoff, rows.offsets.view(np.uint64), rows.neighbours, *arrays.named("relax_there", rows),
        )  # fmt: skip
        self.now = int(counts[1])
        self._note(direction, "relax", rows, (int(counts[3]), len(some), int(counts[2])), began)

    def _send_once(self, some: np.ndarray, rows: Adjacency, ends: np.ndarray) -> bool:
        """Have some vertices send on all threads; whether all could."""
        frontier, self.now = self._lists[0][: len(some)], self.now + 1
        frontier[:] = some
        failed = self.arrays.run(
            "relax_block", even_blocks(int(ends[-1])), rows, frontier, ends, self.stamp, self.late, self.now,
            self.cutoff, rows.offsets.view(np.uint64), rows.neighbours,
        )  # fmt: skip
        self._due[some] = Due.NO
        better = np.flatnonzero(self.stamp == self.now)
        self._due[better] = Due.NEAR
        if self._ordered:
            self._due[better[self._priorities(better) > self._near]] = Due.FAR
        return not any(failed)

    def _goes_further(self) -> bool:
        """Raise the limit, where vertices wait for that; False: there are none, or targets are final."""
        far = np.flatnonzero(self._due == Due.FAR)
        if not len(far) or self._are_final(self._targets):
            return False
        if self._delta is None:
            assert self._sample is not None  # a message came along an edge
            sent = self.arrays.state[self.program.first][self.start[0]].item()
            given = self.binding, self.arrays.state, self.arrays, sent, self._sample
            self._delta = delta_of(mean_increment(*given)[0], self.whole)
        edges, few = self.read - self._before, max(FEW_EDGES, self._brought)
        if edges < few:
            self._buckets = min(2 * self._buckets, _WIDEST)
        elif edges > 4 * few:
            self._buckets = max(self._buckets // 2, 1)
        self._before, self._brought = self.read, 0
        priorities = self._priorities(far)
        least = priorities.min().item()
        self._near = raised(least, self._buckets * self._delta, self.whole)
        self._due[far[priorities <= max(self._near, least)]] = Due.NEAR
        return True

    def _are_final(self, targets: np.ndarray | None) -> bool:
        """Whether all of some targets are as near as all that has been sent."""
        if targets is None or not self.has_value(targets).all():
            return False
        return bool((self._priorities(targets) <= self._near).all())

    def _priorities(self, vertices: np.ndarray) -> np.ndarray:
        out = np.empty(len(vertices), np.int64 if self.whole else np.float64)
        self.arrays.run("priorities", even_blocks(len(vertices)), self._kept.rows, vertices, out)
        return out


def columns_read(arrays: Arrays) -> tuple[str, ...]:
    """Columns of edges that a program reads in place."""
    named = arrays.lowered.arguments["relax_there"]
    return tuple(name.removeprefix("column_") for name in named if name.startswith("column_"))


def bytes_of_vertex(binding: Binding) -> int:
    """What a run takes beside pages."""
    state = sum(dtype.itemsize for dtype in binding.dtypes.values())
    ids = rows_on_disk(binding.send).neighbours.dtype.itemsize
    # Stamps, flags (late, due, kept, passing, active, reached, and marks of who is to send), two lists, who is near and
    # its edges, degrees.
    return state + 4 + 7 + 2 * ids + 3 * 8


def _copied(rows: Adjacency, first: int, last: int) -> Adjacency:
    """Edges from one to before another, each in its row, in memory of their own."""
    columns = {name: column[first:last].copy() for name, column in rows.columns.items()}
    offsets = np.clip(rows.offsets, first, last) - first
    return Adjacency(offsets, rows.neighbours[first:last].copy(), columns)
