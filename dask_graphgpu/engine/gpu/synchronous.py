"""Supersteps on the GPU: queued in batches, without a look at the device after each."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import cupy
import cupyx
import numpy as np

from dask_graphgpu.engine.arguments import may_end
from dask_graphgpu.engine.cuda.outline import columns
from dask_graphgpu.engine.gpu import checkpoints, fused, launch
from dask_graphgpu.engine.gpu.arrays import CONTROL, Arrays
from dask_graphgpu.engine.gpu.asked import Asked, directions, forced
from dask_graphgpu.engine.gpu.filters import Filter
from dask_graphgpu.engine.gpu.gathers import Gathers
from dask_graphgpu.engine.gpu.structs import struct
from dask_graphgpu.engine.gpu.worklists import SEPARATORS, num_chunks
from dask_graphgpu.engine.keeping import Keeping
from dask_graphgpu.engine.loop import not_converged, overflow
from dask_graphgpu.engine.schedule import (
    configured_allocation,
    configured_separators,
    needs_all_vertices,
)
from dask_graphgpu.engine.state import State
from dask_graphgpu.report import Report

DIRECTIONS = ("pull", "notify-pull", "push")  # as BY_... in program.cuh

# Of program.cuh: blocks of kernels that take aggregates, at most; rows of the log, and its words.
_BLOCKS, _LOG, _LOG_WORDS = 2048, 1024, 5
_VERTICES_OF_BLOCK = 1024
_THREADS = fused.THREADS

# Stands for struct Pull or struct Push where a run has none; as large as either.
_NOTHING = struct([None] * 32)


class Synchronous(Gathers):
    """A run in supersteps.

    Attributes
    ----------
    overflows : int
        Supersteps, after a run, in which a bin of a filter was full.
    most_ahead : int
        Supersteps that are queued before the host looks at how far the device has come, at most.
    fuses : bool
        Whether a launch may be of several supersteps.
    """

    most_ahead = 8
    fuses = True

    def __init__(self, arrays: Arrays, report: Report) -> None:
        self.arrays, self.binding, self.report = arrays, arrays.binding, report
        self.program, self.glue = arrays.program, arrays.lowered.glue
        self.stages, self.every = self.glue.stages, arrays.every
        self.dense, self.sparse = self._directions()
        asked = Asked(
            self.binding, (self.dense, self.sparse), self.every, self._stops_on_device, self.fuses
        )
        self.filter, self.fusion = asked.filter_and_fusion()
        self.in_shards, self.tail = asked.in_shards(), asked.tail()
        n, self.num_edges = arrays.n, self.binding.graph_edges
        self.blocks = min(_BLOCKS, max(1, -(-n // _VERTICES_OF_BLOCK)))
        self.identity = self.glue.identity(self.binding.message)
        stored = self.glue.storage(self.binding.message)
        self.messages = cupy.full(n, self.identity, stored)
        self.received = cupy.zeros(n if self.binding.needs_received else 0, np.uint8)
        self.marked = cupy.zeros(n if "notify-pull" in (self.dense, self.sparse) else 0, np.uint8)
        self._emitted = cupy.empty(n if self._emits else 0, stored)
        number = len(self.program.aggregates)
        self.partials = cupy.empty(max(1, number) * _BLOCKS * 4, np.int64)
        self.log = cupy.empty(_LOG * _LOG_WORDS, np.int64)
        self._words = [cupyx.empty_pinned(len(CONTROL), np.int64) for _ in range(2)]
        if self.stages.alone_after:  # they read the old state and the new one
            arrays.new = {name: column.copy() for name, column in arrays.new.items()}
        self.in_blocks = asked.in_blocks() and self._takes_blocks()

    def _directions(self) -> tuple[str, str]:
        return directions(self.binding, self.every)

    @property
    def _stops_on_device(self) -> bool:
        return self.arrays.lowered.wrappers.stop or self.program.stop is None

    @property
    def _records_messages(self) -> bool:
        """Whether a filter records who gets a message; else apply records who is active."""
        return self.filter != "auto" and needs_all_vertices(self.program) is None

    @property
    def _emits(self) -> bool:
        return self.binding.source_only and self.binding.sent_field is None

    @property
    def emitted(self) -> Any:
        """What each vertex sends, where it sends the same along all edges."""
        field = self.binding.sent_field
        return self._emitted if field is None else self.arrays.state[field]

    # -- the loop --------------------------------------------------------------------------------

    def run(self, limit: int | None, exact: bool, kept: Keeping | None = None) -> State:
        """Run until no vertex is active, ``stop`` says so, or after ``limit`` supersteps.

        ``kept`` has the state kept whenever that is due, and may have one to go on from.
        """
        before = 0 if kept is None or kept.found is None else kept.found.superstep
        if kept is not None and kept.found is not None:
            self.resume(kept.found.columns)
            self.arrays.set_aggregates(kept.found.aggregates)
        control = self._begin(limit, before)
        if control["num_active"] and (limit is None or before < limit):
            self._first()
            step = self._steps(self._stops_on_device)
            if kept is None:
                control = self._advance(step, control, limit)
            else:
                control = self._in_stretches(step, control, limit, kept)
            self._raise_overflow(control)
        completed = control["completed"] or before
        self.overflows = control["overflows"]
        aggregates = self.arrays.last_aggregates() if completed else {}
        self._report(control)
        self.report.memory = self._nbytes()
        if control["num_active"] and not control["stopped"] and not exact and may_end(self.program):
            raise not_converged(completed, control["num_active"], aggregates)
        state = self.arrays.result(completed)
        state.aggregates = aggregates
        return state

    def _advance(
        self, step: Callable[[], None], control: dict[str, int], number: int | None
    ) -> dict[str, int]:
        """Go on until the device is done, which ``number`` more supersteps see to at the latest."""
        if not self._stops_on_device:
            return self._asked(step, control)
        if self._grows:
            return self._with_room(step, control)
        return self._queue(step, number)

    def _in_stretches(
        self, step: Callable[[], None], control: dict[str, int], limit: int | None, kept: Keeping
    ) -> dict[str, int]:
        """The same to the end, with looks at whether the state is due."""
        stretches, done = checkpoints.Stretches(kept.keeper), control["superstep"] - 1
        while True:
            until = done + stretches.after(done)
            until = until if limit is None else min(until, limit)
            self._go_on(control, until)
            directions = self.dense, self.sparse
            control = self._advance(step, control, until - done)
            if directions != (self.dense, self.sparse):
                step = self._steps(self._stops_on_device)
            stretches.done()
            done = control["completed"]
            self._raise_overflow(control)
            if control["stopped"]:
                return control
            kept.after(done, self.arrays.last_aggregates())
            if not control["num_active"] or done == limit:
                return control

    def _go_on(self, control: dict[str, int], until: int) -> None:
        """Have the device go on to a superstep, from the one where it has stopped, if it has."""
        words = self.arrays.control
        words[CONTROL.index("limit")] = until
        if control["completed"]:
            words[CONTROL.index("superstep")] = control["completed"] + 1
            words[CONTROL.index("done")] = 0
            if self.stages.next and self._stops_on_device:
                run = self.arrays.run("send" if "push" in (self.dense, self.sparse) else "gather")
                for launched in self._next(run):
                    launched()

    def kept(self) -> dict[str, np.ndarray]:
        """What to keep so that `resume` can go on from here."""
        return checkpoints.supersteps_kept(self.arrays)

    def resume(self, columns: Mapping[str, np.ndarray]) -> None:
        """Take what was kept for the state at the start."""
        arrays = self.arrays
        checkpoints.put(arrays, columns)
        arrays.sources = None if self.every else np.flatnonzero(cupy.asnumpy(arrays.active))
        if self.stages.alone_after:
            for name, column in arrays.new.items():
                column[:] = arrays.state[name]

    def _begin(self, limit: int | None, before: int = 0) -> dict[str, int]:
        arrays = self.arrays
        active, edges = self._first_frontier()
        dense = 2 * edges > self.num_edges
        control = dict.fromkeys(CONTROL, 0) | {
            "superstep": before + 1,
            "limit": -1 if limit is None else limit,
            "num_active": active,
            "active_edges": edges,
            "direction": DIRECTIONS.index(self.dense if dense else self.sparse),
            "blocks": self.blocks,
        }
        arrays.control[:] = cupy.asarray(np.array([control[name] for name in CONTROL], np.int64))
        self.first_frontier = active
        return control

    def _first_frontier(self) -> tuple[int, int]:
        """Vertices that send in the first superstep, and edges that they send over."""
        arrays, view = self.arrays, self.binding.view
        if arrays.sources is None:
            return view.graph_vertices, self.num_edges
        sources = arrays.sources[arrays.sources < view.num_owned]
        edges = int(arrays.degree[cupy.asarray(sources)].sum()) if len(sources) else 0
        return len(sources), edges

    def _queue(self, step: Callable[[], None], limit: int | None) -> dict[str, int]:
        """Queue supersteps in batches; the next batch while the device is at work on the last."""
        words = self._words
        looks: deque[tuple[Any, Any]] = deque()
        queued, ahead = 0, 1
        while True:
            more = ahead if limit is None else min(ahead, limit - queued)
            for _ in range(more):
                step()
            queued, ahead = queued + more, min(2 * ahead, self.most_ahead)
            if more:
                looks.append((cupy.cuda.Event(disable_timing=True), words[0]))
                words.reverse()  # the other one may be waited for
                self.arrays.control.get(out=looks[-1][1], blocking=False)
                looks[-1][0].record()
                if len(looks) == 1:
                    continue
            event, out = looks.popleft()
            self._wait(event)
            control = dict(zip(CONTROL, out.tolist(), strict=True))
            if control["done"]:
                return control
            if self._turn(control):
                step = self._steps(True)

    def _wait(self, event: Any) -> None:
        event.synchronize()

    def _turn(self, control: dict[str, int]) -> bool:
        """Whether supersteps change from pull alone to notify-pull where few vertices are active."""
        few = 2 * control["active_edges"] <= self.num_edges
        if self.every or forced(self.binding) != "auto" or self.program.combine != "sum":
            return False
        if self.sparse == "notify-pull" or self.in_shards or not few:
            return False
        self.sparse = "notify-pull"
        self.marked = cupy.zeros(self.arrays.n, np.uint8)
        return True

    def _asked(self, step: Callable[[], None], control: dict[str, int]) -> dict[str, int]:
        """Superstep by superstep: ``stop`` is asked on the host."""
        while True:
            self._make_room(control)
            step()
            control = self._looked()
            if control["bad"]:
                return control
            control["stopped"] = self._stop_says(control)
            if control["stopped"] or control["done"]:
                return control

    def _stop_says(self, control: dict[str, int]) -> int:
        """1 where ``stop``, on the host, ends the run after the last superstep."""
        values = {**self.arrays.last_aggregates(), "superstep": control["completed"]}
        assert self.program.stop is not None
        arguments = self.binding.scalars(self.program.stop, "stop", values)
        assert arguments is not None
        self._raise_overflow(control)
        return int(bool(self.program.stop(**arguments)))

    @property
    def _grows(self) -> bool:
        """Whether the list of edges may be shorter than a superstep needs."""
        return self.filter == "batch" and configured_allocation() != "maximum"

    def _with_room(self, step: Callable[[], None], control: dict[str, int]) -> dict[str, int]:
        """Look after each superstep, or launch, whether the next one's edges fit, and make room."""
        while True:
            self._make_room(control)
            step()
            control = self._looked()
            if control["done"]:
                return control

    def _make_room(self, control: dict[str, int]) -> None:
        if not self._grows or DIRECTIONS[control["direction"]] != "push":
            return
        ready = control["chunks"] >> 32  # the upper half of that word
        self._kept.make_room(control["batched" if ready else "active_edges"])
        self._needed["most"] = max(self._needed.get("most", 0), self._kept.room)

    @property
    def _needed(self) -> dict[str, int]:
        """How long the list of edges was that runs on these rows have needed."""
        needed: dict[str, int] = self.arrays.edge_view.made("edges of a superstep", dict)
        return needed

    def _nbytes(self) -> int:
        """Of device memory that this run holds beside the graph."""
        arrays = self.arrays
        held = [
            *arrays.state.values(), arrays.active, arrays.reached, self.messages, self.received,
            self.marked, self._emitted, self.partials, self.log, *getattr(self, "lists", ()),
        ]  # fmt: skip
        if self.stages.alone_after:
            held += arrays.new.values()
        own = ("row_values", "sent", "far_values", "far_sums")
        held += [getattr(self, name) for name in own if hasattr(self, name)]
        filters = self._kept.nbytes if hasattr(self, "_kept") else 0
        return sum((int(array.nbytes) for array in held), filters)

    def _looked(self) -> dict[str, int]:
        """What the device says now."""
        return dict(zip(CONTROL, cupy.asnumpy(self.arrays.control).tolist(), strict=True))

    # -- kernels ---------------------------------------------------------------------------------

    def _launch(
        self,
        name: str,
        blocks: int,
        *args: Any,
        threads: int = _THREADS,
        shared: int = 0,
        source: str = "program",
    ) -> Callable[[], None]:
        kernel = self.arrays.module(source).kernel(name)
        return partial(launch.flat, kernel, blocks * threads, args, threads=threads, shared=shared)

    def _alone(self, run: Any, names: Sequence[str]) -> list[Callable[[], None]]:
        order = list(self.program.aggregates)
        steps = []
        for name in names:
            which = np.int64(order.index(name))
            reached, partials = self.arrays.reached, self.partials
            steps += [
                self._launch("aggregate", self.blocks, run, which, reached, partials),
                self._launch("fold", 1, run, which, partials),
            ]
        return steps

    def _first(self) -> None:
        """What the first superstep finds done: aggregates before it."""
        run = self.arrays.run("send" if "push" in (self.dense, self.sparse) else "gather")
        self._launch("begin", 1, run)()
        for launched in self._alone(run, self.stages.before):
            launched()

    def _steps(self, stops: bool) -> Callable[[], None]:
        """All launches of a superstep; ``stops``: the device knows when to stop."""
        if self.fusion in ("selective", "all"):
            return self._fused()
        arrays, both = self.arrays, {self.dense, self.sparse}
        pulls, pushes = both & {"pull", "notify-pull"}, both & {"notify-pull", "push"}
        gather = arrays.run("gather") if pulls else None
        send = arrays.run("send") if pushes else None
        run = send if gather is None else gather
        vertices, into = -(-arrays.n // _THREADS), (self.messages, self.received)
        filters = np.int64(self._records_messages)
        notes = self.filter != "auto" and not filters
        steps = []
        if self.stages.next and not stops:
            steps += self._next(run)
        steps += self._alone(run, self.stages.alone_before)
        if self._emits:
            steps.append(self._launch("emit", vertices, run, arrays.active, self._emitted, filters))
        if pushes:
            lists, blocks = self._push_lists(), launch.num_multiprocessors() * 8
            kept = self._filter_lists(self.blocks if notes else blocks)
            steps.append(self._launch("list_active", vertices, send, lists, kept, arrays.active))
            if filters:
                there = (*into, arrays.reached, arrays.active)
                steps += [
                    self._launch("push_filtered", blocks, send, lists, kept, *there),
                    self._launch("count_filtered", blocks, send, kept, arrays.active),
                    self._launch("write_filtered", blocks, send, kept, arrays.active),
                    self._launch("apply_filtered", blocks, send, lists, kept, *there),
                ]
            elif "push" in both:
                steps.append(self._launch("push", blocks, send, lists, self.emitted_or_none, *into))
            if "notify-pull" in both:
                steps.append(self._launch("notify", blocks, send, lists, self.marked))
        if self.tail is not None:
            steps += self._tail_steps(vertices)
        if pulls:
            steps += self._gather_steps(gather, both, into)
        if self.tail is not None:
            settled = (self.emitted_or_none, arrays.active, self.sent)
            steps.append(self._launch("settle", vertices, run, *settled))
        applied = (self.messages, self.received, arrays.reached, arrays.active, self.partials)
        if notes:
            steps += [
                self._launch("apply_noted", self.blocks, run, kept, *applied),
                self._launch("count_filtered", self.blocks, run, kept, arrays.active),
                self._launch("write_filtered", self.blocks, run, kept, arrays.active),
                self._launch("list_filtered", blocks, send, lists, kept),
            ]
        else:
            steps.append(self._launch("apply", self.blocks, run, *applied, filters))
        steps += self._ending(run, stops)

        def step() -> None:
            for launched in steps:
                launched()

        return step

    def _next(self, run: Any) -> list[Callable[[], None]]:
        """Aggregates of a superstep that apply of the last one took along."""
        return [self._launch("fold_next", 1, run, self.partials)]

    def _ending(self, run: Any, stops: bool) -> list[Callable[[], None]]:
        """What comes after apply."""
        steps = []
        if self.stages.alone_after:
            steps.append(self._launch("fold_applied", 1, run, self.partials))
            steps += self._alone(run, self.stages.alone_after)
            steps.append(self._launch("commit", -(-self.arrays.n // _THREADS), run))
        steps.append(
            self._launch(
                "finish", 1, run, self.partials, self.log, *self._choices(),
                np.int64(len(self.program.aggregates)), np.int64(not self.stages.alone_after),
                np.int64(stops),
            )
        )  # fmt: skip
        return steps

    def _choices(self) -> list[Any]:
        """Edges of the graph, and the directions where many and where few vertices are active."""
        directions = (np.int64(DIRECTIONS.index(each)) for each in (self.dense, self.sparse))
        return [np.int64(self.num_edges), *directions]

    def _fused(self) -> Callable[[], None]:
        """The launches of as many supersteps as go on in one direction each, or of all."""
        arrays, both = self.arrays, {self.dense, self.sparse}
        pulls, pushes = bool(both & {"pull", "notify-pull"}), "push" in both
        sends = pushes or "notify-pull" in both
        gather = arrays.run("gather") if pulls else arrays.run("send")
        send = arrays.run("send") if sends else gather
        pull = self._pull_lists()[0] if pulls else _NOTHING
        lists = self._push_lists() if sends else _NOTHING
        module = arrays.module("program_fused", {"ALL": str(int(self.fusion == "all"))})
        kernels = fused.kernels(module, self.fusion, pushes=pushes, pulls=pulls)
        kept = self._filter_lists(fused.most_blocks(kernels))
        order, stages = list(self.program.aggregates), self.stages
        alone = [order.index(name) for name in (*stages.alone_before, *stages.alone_after)]
        self.alone, self.barrier = cupy.asarray(np.array(alone, np.int64)), launch.barrier()
        directions = (DIRECTIONS.index(direction) for direction in (self.dense, self.sparse))
        shared = struct([
            self._emitted if self._emits else None, self.emitted_or_none, self.messages,
            self.received, self.marked, arrays.reached, arrays.active, self.partials, self.log,
            self.num_edges, *directions, len(order), self.alone, len(stages.alone_before),
            len(stages.alone_after), fused.MOST, self.barrier,
        ])  # fmt: skip
        steps = fused.launches(kernels, (gather, send, pull, lists, kept, shared))

        def step() -> None:
            for launched in steps:
                launched()

        return step

    @property
    def emitted_or_none(self) -> Any:
        return self.emitted if self.binding.source_only else self._emitted

    def _tail_steps(self, vertices: int) -> list[Callable[[], None]]:
        """What finds and pushes changes, where these are few."""
        arrays, send = self.arrays, self.arrays.run("send")
        blocks, emitted = launch.num_multiprocessors() * 8, self.emitted_or_none
        self.sent = cupy.zeros(arrays.n, self.messages.dtype)
        lists, kept = self._push_lists(), self._filter_lists(blocks)
        changes = (emitted, self.sent)
        return [
            self._launch(
                "find_changes", self.blocks, send, *changes, arrays.active, np.float64(self.tail)
            ),
            self._launch("choose_tail", 1, send, np.int64(self.num_edges)),
            self._launch("list_active", vertices, send, lists, kept, arrays.active),
            self._launch("push_changes", blocks, send, lists, *changes, self.messages),
        ]

    def _push_lists(self) -> Any:
        """Struct Push of program_push.cuh."""
        arrays = self.arrays
        edges = arrays.edges("send")
        ids = edges.neighbours.dtype
        separators = configured_separators(SEPARATORS)
        chunks = arrays.edge_view.made(
            ("chunks", separators[1], id(edges.offsets)), partial(num_chunks, edges, separators[1])
        )
        self.lists = (
            cupy.empty(arrays.n, ids), cupy.empty(arrays.n, ids),
            cupy.empty(chunks, ids), cupy.empty(chunks, np.uint32),
        )  # fmt: skip
        return struct([edges.offsets, edges.neighbours, *self.lists, *separators])

    def _filter_lists(self, blocks: int) -> Any:
        """Struct Filter of program_filter.cuh; ``blocks``: of the largest launch that pushes."""
        edges = self.arrays.edges("send" if "push" in (self.dense, self.sparse) else "gather")
        room = {"maximum": edges.num_edges, "fixed": self._needed.get("most", 0)}
        self._kept = Filter(
            self.filter,
            edges,
            blocks=blocks,
            threads=_THREADS,
            room=room.get(configured_allocation(), 0),
        )
        return self._kept.struct

    # -- what the device says --------------------------------------------------------------------

    def _raise_overflow(self, control: dict[str, int]) -> None:
        """The error of the role that comes first in a superstep."""
        bad = cupy.asnumpy(self.arrays.aggregates).reshape(-1, 4)[:, 3]
        names = list(self.program.aggregates)
        wrong = [name for name in names if bad[names.index(name)]]
        roles = [f"aggregates[{name!r}]" for name in wrong if name in self.stages.before]
        roles += ["compute"] if control["bad"] & 1 else []
        roles += ["apply"] if control["bad"] & 2 else []
        roles += [f"aggregates[{name!r}]" for name in wrong if name in self.stages.after]
        if roles and (control["bad"] or wrong):
            raise overflow(self.program, roles[0])

    def _report(self, control: dict[str, int]) -> None:
        arrays, item = self.arrays, self.messages.dtype.itemsize
        edge = np.dtype(self.binding.edges.neighbours.dtype).itemsize + item
        edge += sum(dtype.itemsize for dtype in columns(self.binding).values())
        edge += 2 * self.in_shards
        if self.in_blocks:  # places of 2 bytes; of a far edge also its value, written and read
            far = self.blocked.num_values * (2 + 2 * item)
            edge = -(-(2 * self.num_edges + far) // max(1, self.num_edges))
        state = sum(
            self.glue.storage(self.binding.dtypes[f]).itemsize for f in self.program.changing
        )
        log = cupy.asnumpy(self.log[: control["log_size"] * _LOG_WORDS]).reshape(-1, _LOG_WORDS)
        for direction, supersteps, frontier, edges, nanoseconds in log.tolist():
            self.report.advance(
                DIRECTIONS[direction],
                supersteps=supersteps,
                frontier=frontier,
                edges=edges,
                bytes=edges * edge + supersteps * arrays.n * (2 * item + 2 * state + 1),
                seconds=nanoseconds / 1e9,
            )
