"""Monotone programs on the CPU: values are improved where they stand, in near-far order or in rounds."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from dask_graphgpu.engine.buckets import choose_delta, start_limit
from dask_graphgpu.engine.cpu.arrays import Arrays
from dask_graphgpu.engine.cpu.synchronous import configured_direction
from dask_graphgpu.kernels.cpu.threads import edge_blocks, even_blocks, for_blocks
from dask_graphgpu.engine.loop import overflow
from dask_graphgpu.engine.state import State
from dask_graphgpu.engine.writer import Writer
from dask_graphgpu.kernels.cpu import frontier as frontier_kernels
from dask_graphgpu.report import Report

_INT64_MAX = 2**63 - 1


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
        self.whole = Writer(self.binding).whole_priorities
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
        self.cutoff = self._limit(cutoff)
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
            if value is None or value >= _INT64_MAX:
                return _INT64_MAX
            return int(np.floor(value)) if isinstance(value, float) else int(value)
        return np.inf if value is None else float(value)

    # -- near-far --------------------------------------------------------------------------------

    def _near_far(self) -> None:
        arrays, began = self.arrays, time.perf_counter()
        delta = choose_delta(self.binding, arrays.state, arrays, self.start, self.whole)
        limit = start_limit(self.binding, arrays.state, self.start, delta, self.whole)
        limits = np.array([limit], np.int64 if self.whole else np.float64)
        far = np.empty(arrays.n, self.dtype)
        in_far = np.zeros(arrays.n, np.uint8)
        counts = np.array([self.num_active, self.now, 0, 0, 0, 0], np.int64)
        kernel = self.arrays.lowered.kernel("near_far")
        status = kernel(
            self.frontier, self.queue, far, self.stamp, in_far, self.late, counts, limits, delta,
            self.cutoff, self.targets, arrays.n, self.edges.offsets.view(np.uint64),
            self.edges.neighbours, *arrays.named("near_far", self.edges),
        )  # fmt: skip
        self._report("near-far", int(counts[3]), len(self.start), int(counts[2]), began)
        if status == 1:
            raise overflow(self.program, "compute")

    # -- rounds ----------------------------------------------------------------------------------

    def _rounds(self) -> None:
        arrays = self.arrays
        while self.num_active:
            began, size = time.perf_counter(), self.num_active
            counts = np.array([size, self.now, 0, 0], np.int64)
            bad = arrays.lowered.kernel("relax")(
                self.frontier, self.queue, self.stamp, self.late, counts, self.cutoff, arrays.n,
                self.edges.offsets.view(np.uint64), self.edges.neighbours,
                *arrays.named("relax", self.edges),
            )  # fmt: skip
            self.num_active, self.now = int(counts[0]), int(counts[1])
            if counts[3] % 2:
                self.frontier, self.queue = self.queue, self.frontier
            self._report("push", int(counts[3]), size, int(counts[2]), began)
            if bad:
                raise overflow(self.program, "compute")

    # -- results ---------------------------------------------------------------------------------

    def _report(
        self, direction: str, rounds: int, size: int, edges: int, began: float
    ) -> None:
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
