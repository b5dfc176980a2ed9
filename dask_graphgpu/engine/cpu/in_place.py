"""Monotone programs on the CPU: values are improved where they stand, in near-far order or in rounds."""

from __future__ import annotations

import time
from functools import cached_property
from typing import Any

import numpy as np

from dask_graphgpu.engine.buckets import choose_delta, start_limit
from dask_graphgpu.engine.cpu.arrays import Arrays
from dask_graphgpu.engine.cpu.parts import Parts, edge_parts
from dask_graphgpu.engine.direction import configured_direction
from dask_graphgpu.engine.loop import overflow
from dask_graphgpu.engine.state import State
from dask_graphgpu.functions import INT64_MAX
from dask_graphgpu.kernels.cpu import frontier
from dask_graphgpu.kernels.cpu.threads import even_blocks, for_blocks, num_threads
from dask_graphgpu.report import Report

# Length of a list from which a round goes to the threads.
LONG_LIST = 1 << 12

# Share of the edges that a list's vertices send over, above which a sweep over all in-edges is faster.
DENSE = 1 / 2

# Share of the vertices from which it is worth counting the edges of a list.
DENSE_LIST = 1 / 16


class InPlace:
    """One run of a monotone program."""

    def __init__(
        self,
        arrays: Arrays,
        sources: np.ndarray | None,
        cutoff: Any,
        targets: np.ndarray | None,
        report: Report,
    ) -> None:
        self.arrays, self.binding, self.report = arrays, arrays.binding, report
        self.program = arrays.binding.program
        self.edges = self.binding.send
        self.dtype = self.edges.neighbours.dtype
        self.whole = self.binding.whole_priorities
        n = arrays.n
        self.frontier = np.empty(n, self.dtype)
        self.queue = np.empty(n, self.dtype)
        start = np.arange(n) if sources is None else sources
        self.frontier[: len(start)] = start
        self.num_active = len(start)
        self.stamp = np.zeros(n, np.int32)
        self.late = np.zeros(n if self.program.has_reached else 0, np.uint8)
        if sources is not None and self.late.size:
            self.late[sources] = 1
        self.dropping = cutoff is not None
        self.cutoff = self._limit(cutoff)
        self.offsets = self.edges.offsets.view(np.uint64)
        self.targets = (
            np.empty(0, self.dtype) if targets is None else np.asarray(targets, self.dtype)
        )
        self.start = start
        self.now = 0
        self.rounds = 0

    def run(self) -> State:
        """Run until no value improves."""
        ordered = self.program.priority is not None and configured_direction() == "auto"
        self._near_far() if ordered else self._rounds()
        return self._result()

    def _limit(self, value: Any) -> Any:
        """A bound of priorities in their type; None: no bound."""
        if self.whole:
            if value is None or value >= INT64_MAX:
                return INT64_MAX
            return int(np.floor(value)) if isinstance(value, float) else int(value)
        return np.inf if value is None else float(value)

    # -- near-far --------------------------------------------------------------------------------

    def _near_far(self) -> None:
        arrays = self.arrays
        delta = choose_delta(self.binding, arrays.state, arrays, self.start, self.whole)
        limit = start_limit(self.binding, arrays.state, self.start, delta, self.whole)
        limits = np.array([limit], np.int64 if self.whole else np.float64)
        far, in_far = np.empty(arrays.n, self.dtype), np.zeros(arrays.n, np.uint8)
        kernel, n_far, settled, status = arrays.lowered.kernel("near_far"), 0, 0, 2
        # The first list may be long; then serial rounds go on until a list is worth the threads.
        while status == 2:
            began, size = time.perf_counter(), self.num_active
            if self._is_long(size):
                read = self._block("near_block", (in_far, self.late), (limits[0].item(),))
                n_far = frontier.append_marked(in_far, far, n_far)
                self._report("near-far", 1, size, read, began)
                continue
            counts = np.array([size, self.now, 0, 0, n_far, settled], np.int64)
            status = kernel(
                self.frontier, self.queue, far, self.stamp, in_far, self.late, counts, limits,
                delta, self.cutoff, self.targets, self._most(), self.offsets,
                self.edges.neighbours, *arrays.named("near_far", self.edges),
            )  # fmt: skip
            self._take(counts)
            n_far, settled = int(counts[4]), int(counts[5])
            self._report("near-far", int(counts[3]), size, int(counts[2]), began)
            if status == 1:
                raise overflow(self.program, "compute")

    # -- rounds ----------------------------------------------------------------------------------

    def _rounds(self) -> None:
        arrays, kernel = self.arrays, self.arrays.lowered.kernel("relax")
        while self.num_active:
            began, size = time.perf_counter(), self.num_active
            if self._is_dense(size):
                self._report("pull", 1, size, self._sweep(), began)
            elif self._is_long(size):
                read = self._block("relax_block", (self.late,), ())
                self._report("push", 1, size, read, began)
            else:
                counts = np.array([size, self.now, 0, 0], np.int64)
                most = max(size, min(self._most(), int(DENSE_LIST * arrays.n)))
                bad = kernel(
                    self.frontier, self.queue, self.stamp, self.late, counts, self.cutoff, most,
                    self.offsets, self.edges.neighbours, *arrays.named("relax", self.edges),
                )  # fmt: skip
                self._take(counts)
                self._report("push", int(counts[3]), size, int(counts[2]), began)
                if bad:
                    raise overflow(self.program, "compute")

    def _is_dense(self, size: int) -> bool:
        """Whether to look at all in-edges: only if they are there, and no message is to be dropped."""
        if (
            size < DENSE_LIST * self.arrays.n
            or self.dropping
            or configured_direction() == "push"
            or not self.binding.has_gather
        ):
            return False
        return self._edges_of_frontier() > DENSE * self.edges.num_edges

    def _is_long(self, size: int) -> bool:
        return num_threads() > 1 and size > LONG_LIST

    def _most(self) -> int:
        """Longest list for a serial kernel."""
        return LONG_LIST if num_threads() > 1 else self.arrays.n

    def _take(self, counts: np.ndarray) -> None:
        """What a serial kernel left: after an odd number of rounds, the lists have changed places."""
        self.num_active, self.now = int(counts[0]), int(counts[1])
        if counts[3] % 2:
            self.frontier, self.queue = self.queue, self.frontier

    def _edges_of_frontier(self) -> int:
        return int(self.arrays.degree[self.frontier[: self.num_active]].sum())

    def _block(self, name: str, marks: tuple[Any, ...], limit: tuple[Any, ...]) -> int:
        """One round over the list on threads; return how many edges were read."""
        arrays, size = self.arrays, self.num_active
        active = self.frontier[:size]
        ends = np.cumsum(arrays.degree[active]).view(np.uint64)
        total = int(ends[-1])
        self.now += 1
        results = arrays.run(
            name, even_blocks(total), self.edges, active, ends, self.stamp, *marks, self.now,
            *limit, self.cutoff, self.offsets, self.edges.neighbours,
        )  # fmt: skip
        if any(results):
            raise overflow(self.program, "compute")
        self._list_stamped()
        return total

    def _sweep(self) -> int:
        """One round over all in-edges on threads; return how many there are."""
        edges, parts = self.binding.gather, self._parts
        self.now += 1
        results = self.arrays.run(
            "sweep", parts.blocks, edges, parts.rows, parts.edges, self.stamp, self.late, self.now,
            edges.offsets.view(np.uint64), edges.neighbours,
        )  # fmt: skip
        if any(results):
            raise overflow(self.program, "compute")
        self._list_stamped()
        return edges.num_edges

    @cached_property
    def _parts(self) -> Parts:
        return edge_parts(self.binding.gather.offsets)

    def _list_stamped(self) -> None:
        """Make the vertices stamped in this round the frontier."""
        blocks = even_blocks(self.arrays.n)
        found = for_blocks(frontier.count_stamped, blocks, self.stamp, self.now)
        places = dict(zip(blocks[:-1].tolist(), np.cumsum([0, *found]).tolist(), strict=False))

        def write(lo: int, hi: int) -> None:
            frontier.list_stamped(lo, hi, self.stamp, self.now, self.frontier, places[lo])

        for_blocks(write, blocks)
        self.num_active = sum(found)

    # -- results ---------------------------------------------------------------------------------

    def _report(self, direction: str, rounds: int, size: int, edges: int, began: float) -> None:
        kernel = "near_far" if direction == "near-far" else "relax"
        item = self.binding.message.itemsize
        self.rounds += rounds
        self.report.advance(
            direction,
            supersteps=rounds,
            frontier=size,
            edges=edges,
            bytes=edges * self.arrays.edge_bytes(kernel, self.edges, item),
            seconds=time.perf_counter() - began,
        )

    def _result(self) -> State:
        state, first = State(), self.program.first
        state.update(self.arrays.state)
        if self.program.has_reached:
            none = self.binding.identity(self.binding.dtypes[first])
            state.reached = (state[first] != none) | self.late.view(bool)
            for column in state.values():
                column[~state.reached] = 0
        state.supersteps = self.rounds
        return state
