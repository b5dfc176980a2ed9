"""Supersteps on the CPU: each by pull, notify-pull or push, then apply."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from dask_graphgpu.engine.aggregates import Partial, finished, of_blocks, on_the_way
from dask_graphgpu.engine.cpu.arrays import Arrays
from dask_graphgpu.engine.cpu.merge_path import Parts, edge_parts
from dask_graphgpu.engine.edge_kernels import partial_dtype
from dask_graphgpu.engine.keeping import PENDING, PENDING_RECEIVED
from dask_graphgpu.engine.loop import overflow
from dask_graphgpu.engine.options import configured_direction
from dask_graphgpu.engine.state import State
from dask_graphgpu.engine.writer import flat
from dask_graphgpu.kernels.cpu import frontier
from dask_graphgpu.kernels.cpu.threads import even_blocks, for_blocks
from dask_graphgpu.program import COUNT
from dask_graphgpu.report import Report

# Share of the edges that active vertices send over, f, up to which those are told who have to pull.
# Garaph has 1/2, as they would have at most 2 f of the in-edges. In a skewed graph two vertices of a
# thousand tell those who have most of the in-edges: see docs/measurements/performance.md.
NOTIFY = 1 / 64

# Share above which to pull is faster than to push where messages only improve values.
PULL = 7 / 8


class EdgesInMemory:
    """How a superstep goes along edges in memory; `paged.synchronous` has that of edges on disk.

    It is given the superstep, and has none: a circle would hold memory until the garbage collector comes.
    """

    def direction(self, superstep: Synchronous) -> str:
        """Choose for this superstep; a forced direction is taken where the program allows it."""
        checked_sum = superstep.binding.shadowed("sum")
        if superstep.forced != "auto" and not (superstep.forced == "push" and checked_sum):
            return superstep.forced
        share = superstep.active_edges / max(superstep.binding.graph_edges, 1)
        if superstep.program.combine == "sum":  # a pushed float sum depends on who comes first
            return "pull" if share > NOTIFY else "notify-pull"
        # Atomics that only improve are cheap; turning the edges over is not.
        return "pull" if share > PULL and superstep.binding.has_gather else "push"

    def notified(self, superstep: Synchronous) -> np.ndarray:
        """Mark those to whom an active vertex sends."""
        edges, marked = superstep.binding.send, np.zeros(superstep.arrays.n, np.uint8)
        active, ends, total = superstep.frontier()
        for_blocks(
            frontier.notify, even_blocks(total), active, ends,
            edges.offsets.view(np.uint64), edges.neighbours, marked,
        )  # fmt: skip
        return marked

    def gather(self, superstep: Synchronous, kernel: str, marked: np.ndarray) -> tuple[int, bool]:
        """Gather over all parts: edges read, and whether something was bad."""
        parts, arrays, edges = superstep.parts, superstep.arrays, superstep.binding.gather
        found = arrays.run(
            kernel, parts.blocks, edges, parts.rows, parts.edges, edges.offsets.view(np.uint64),
            edges.neighbours, superstep.emitted, arrays.active, marked, *superstep.gathered,
        )  # fmt: skip
        return superstep.folded(found)

    def resume(self, columns: Mapping[str, np.ndarray]) -> None:
        """Take what was kept in the middle of a superstep: here is none."""

    def release(self) -> None:
        """Give back memory for edges: there is none beside them."""


class Synchronous:
    """Steps for the superstep loop.

    Parameters
    ----------
    arrays : Arrays
    report : Report
    edges : EdgesInMemory, optional
        How it goes along edges; default: in memory.
    """

    def __init__(self, arrays: Arrays, report: Report, edges: EdgesInMemory | None = None) -> None:
        self.arrays, self.binding, self.report = arrays, arrays.binding, report
        self.edges = EdgesInMemory() if edges is None else edges
        self.program = arrays.binding.program
        self.forced = configured_direction()
        n = arrays.n
        arrays.new = {name: np.empty_like(arrays.state[name]) for name in self.program.changing}
        # Bools are kept in bytes: atomics know none.
        kept = np.dtype(np.uint8) if arrays.binding.message.kind == "b" else arrays.binding.message
        self.identity = kept.type(arrays.binding.identity(arrays.binding.message))
        self.messages = self._array(n, kept)
        self.messages.fill(self.identity)
        self.received = self._array(n if self.binding.needs_received else 0, self._noted_in)
        self.received.fill(0)
        if self.program.counts_messages:
            arrays.state[COUNT] = self.received
        self._emitted = self._array(n if self._emits else 0, kept)
        self._on_the_way = on_the_way(self.program)
        # What apply gave of an aggregate for a superstep: no error before it is asked for.
        self._known: dict[tuple[str, int], Partial] = {}
        self._pending: dict[str, np.ndarray] = {}
        self._count()

    @property
    def _noted_in(self) -> np.dtype[Any]:
        """What says of a vertex whether a message came: a flag, or how many came."""
        return np.dtype(np.int64 if self.program.counts_messages else np.uint8)

    def _array(self, size: int, dtype: np.dtype[Any]) -> np.ndarray:
        return np.empty(size, dtype)

    def _count(self) -> None:
        """Count those that are active before any superstep of this run."""
        arrays = self.arrays
        active, degree = arrays.active[: arrays.owned], arrays.degree[: arrays.owned]
        count = int(active.sum())
        chosen = degree if count == arrays.owned else degree[active.view(bool)]
        self._start(count, int(chosen.sum()))

    def _start(self, active: int, edges: int) -> None:
        """Note how many vertices are active at first, and over how many edges they send."""
        self.num_active, self.active_edges = active, edges

    def _finish(self, active: int, edges: int) -> None:
        """The same at the end of a superstep."""
        self.num_active, self.active_edges = active, edges

    @property
    def _frontier_size(self) -> int:
        """Active vertices, for the report."""
        return self.num_active

    def begin(self, superstep: int) -> None:
        self.arrays.superstep = superstep

    def advance(self) -> None:
        began, arrays = time.perf_counter(), self.arrays
        frontier_size, direction = self._frontier_size, self.direction()
        bad = False
        if self._emits:
            edges = self.binding.edges
            blocks = even_blocks(arrays.n)
            bad = any(arrays.run("emit", blocks, edges, arrays.active, self._emitted))
        read, found = self._push() if direction == "push" else self._gather(direction)
        if bad or found:
            raise overflow(self.program, "compute")
        self._take_pending()
        applied = arrays.run(
            "apply", arrays.vertex_blocks, self.binding.edges, self.messages, self.received,
            arrays.reached, arrays.active,
        )  # fmt: skip
        if any(block[2] for block in applied):
            raise overflow(self.program, "apply")
        for i, (name, when) in enumerate(self._on_the_way.items()):
            known = of_blocks(self.program, name, [block[3 + i] for block in applied])
            self._known[name, self.arrays.superstep + (when == "next")] = known
        self._finish(sum(block[0] for block in applied), sum(block[1] for block in applied))
        kernel = "push" if direction == "push" else "gather_some"
        item = self.messages.dtype.itemsize
        self.report.advance(
            direction,
            supersteps=1,
            frontier=frontier_size,
            edges=read,
            bytes=read * arrays.edge_bytes(kernel, self.binding.edges, item)
            + arrays.n * (2 * item + 2 * arrays.state_bytes() + 1),
            seconds=time.perf_counter() - began,
        )

    @property
    def _emits(self) -> bool:
        """Whether what a vertex sends is worked out before the edges are looked at."""
        return self.binding.source_only and self.binding.sent_field is None

    @property
    def emitted(self) -> np.ndarray:
        """What each vertex sends, where it sends the same along all edges."""
        field = self.binding.sent_field
        return self._emitted if field is None else self.arrays.state[field]

    def direction(self) -> str:
        return self.edges.direction(self)

    def _gather(self, direction: str) -> tuple[int, bool]:
        every = self.num_active == self.binding.view.graph_vertices
        if direction == "pull":
            marked = self._all_marked if not every else np.empty(0, np.uint8)
        else:
            marked, every = self.edges.notified(self), False
        return self.edges.gather(self, "gather_all" if every else "gather_some", marked)

    def folded(self, found: Sequence[tuple[bool, int]]) -> tuple[int, bool]:
        """Put together what parts have of rows that are cut: edges read in all, and whether something was bad."""
        folded = self.arrays.lowered.kernel("fold")(self.parts.rows, *self.gathered)
        return sum(read for _, read in found), any(bad for bad, _ in found) or bool(folded)

    @property
    def gathered(self) -> tuple[np.ndarray, ...]:
        """Where messages come to, and those of rows that are cut."""
        return self.messages, self.received, *self.partial

    def _push(self) -> tuple[int, bool]:
        arrays, edges = self.arrays, self.binding.send
        self.messages.fill(self.identity)
        self.received.fill(0)
        active, ends, total = self.frontier()
        results = arrays.run(
            "push", even_blocks(total), edges, active, ends,
            edges.offsets.view(np.uint64), edges.neighbours, self.emitted, self.messages,
            self.received,
        )  # fmt: skip
        return total, any(results)

    def _take_pending(self) -> None:
        """Add messages that were sent before what was kept of the run, if some were yet to be taken."""
        pending, self._pending = self._pending, {}
        if not pending:
            return
        own, combine = self.arrays.owned, self.program.combine
        messages, given = self.messages[:own], pending[PENDING][:own].view(self.messages.dtype)
        if combine == "any":
            np.copyto(messages, given, where=given != self.identity)
        else:
            {"sum": np.add, "min": np.minimum, "max": np.maximum}[combine](
                messages, given, out=messages
            )
        if PENDING_RECEIVED in pending:
            self.received[:own] |= pending[PENDING_RECEIVED][:own]

    def frontier(self) -> tuple[np.ndarray, np.ndarray, int]:
        """List of the active vertices, how many edges they have up to each of them, and in all."""
        send = self.binding.send
        active = np.flatnonzero(self.arrays.active.view(bool)).astype(send.neighbours.dtype)
        ends = np.cumsum(send.degrees.take(active))
        return active, ends.view(np.uint64), int(ends[-1]) if len(ends) else 0

    @cached_property
    def _all_marked(self) -> np.ndarray:
        return np.ones(self.arrays.n, np.uint8)

    @cached_property
    def parts(self) -> Parts:
        return edge_parts(self.binding.gather.offsets[: self.arrays.owned + 1])

    @cached_property
    def partial(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Of each part's first and last row: combined messages, the same in floats, if one came."""
        slots, binding = 2 * len(self.parts), self.binding
        return (
            np.zeros(slots, partial_dtype(binding)),
            np.zeros(slots if binding.shadowed("sum") else 0, np.float64),
            np.zeros(slots if binding.needs_received else 0, self._noted_in),
        )

    def aggregate(self, name: str) -> Any:
        part = self._known.pop((name, self.arrays.superstep), None)
        return finished(self.program, name, self._part(name) if part is None else part)

    def _part(self, name: str) -> Partial:
        """An aggregate that `apply` did not work out on the way."""
        arrays, kernel = self.arrays, flat(f"aggregates[{name!r}]")
        blocks = arrays.run(kernel, arrays.vertex_blocks, self.binding.edges, arrays.reached)
        return of_blocks(self.program, name, blocks)

    def commit(self) -> None:
        for name in self.program.changing:
            state = self.arrays.state
            state[name], self.arrays.new[name] = self.arrays.new[name], state[name]

    def kept(self) -> dict[str, np.ndarray]:
        columns = {f"state {name}": self.arrays.state[name] for name in self.program.changing}
        columns["active"] = self.arrays.active
        columns |= {"reached": self.arrays.reached} if self.program.has_reached else {}
        return columns | self._pending

    def resume(self, columns: Mapping[str, np.ndarray]) -> None:
        arrays = self.arrays
        for name in self.program.changing:
            arrays.state[name][: arrays.owned] = columns[f"state {name}"][: arrays.owned]
        arrays.active[: arrays.owned] = columns["active"][: arrays.owned]
        if self.program.has_reached:
            arrays.reached[: arrays.owned] = columns["reached"][: arrays.owned]
        self._pending = {
            name: columns[name] for name in (PENDING, PENDING_RECEIVED) if name in columns
        }
        self.edges.resume(columns)
        self._count()

    def result(self) -> State:
        self.edges.release()
        state = State()
        state.update(self.arrays.state)
        if self.program.has_reached:
            state.reached = self.arrays.reached.astype(bool)
            for column in state.values():
                column[~state.reached] = 0
        return state
