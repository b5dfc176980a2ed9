"""What a superstep is on the GPU: its arrays, the launches in their order, and what the device says of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import cupy
import cupyx
import numpy as np

from dask_graphgpu.engine import loop
from dask_graphgpu.engine.gpu import launch
from dask_graphgpu.engine.gpu.arrays import CONTROL, Arrays
from dask_graphgpu.engine.gpu.filters import Filter
from dask_graphgpu.engine.gpu.gathers import Gathers
from dask_graphgpu.engine.gpu.settings import Asked, directions, forced
from dask_graphgpu.engine.gpu.worklists import SEPARATORS, num_chunks
from dask_graphgpu.engine.schedule import (
    configured_allocation,
    configured_separators,
    needs_all_vertices,
)
from dask_graphgpu.partition.device import elements
from dask_graphgpu.report import Report

DIRECTIONS = ("pull", "notify-pull", "push")  # as BY_... in program.cuh

LOG_WORDS = 5  # of a row of the log

# Of program.cuh: blocks of kernels that take aggregates, at most; rows of the log.
_BLOCKS, _LOG = 2048, 1024
_VERTICES_OF_BLOCK = 1024
THREADS = 256

# Supersteps of a launch of several, at most: the host can be interrupted between two.
MOST = 1 << 16

# Stands for struct Pull or struct Push where a run has none; as large as either.
_NOTHING = launch.struct([None] * 32)


class Superstep(Gathers):
    """The launches of a program's superstep, over arrays that last for a run.

    Parameters
    ----------
    arrays : Arrays
    report : Report
    in_parts : bool
        Whether edges come to the device part by part: then messages are pushed along them.

    Attributes
    ----------
    fuses : bool
        Whether a launch may be of several supersteps.
    folds : bool
        Whether apply of the last superstep took aggregates of the next one along.
    words : list of pinned arrays
        Where the control comes to; two, as one may still be waited for.
    control : dict
        The words of the control, as the host has seen them last.
    before : int
        Supersteps of what the run goes on from.
    """

    fuses = True
    folds = True
    control: dict[str, int]
    before = 0

    def __init__(self, arrays: Arrays, report: Report, *, in_parts: bool = False) -> None:
        self.arrays, self.binding, self.report = arrays, arrays.binding, report
        self.program, self.glue = arrays.program, arrays.lowered.glue
        self.stages, self.every = self.glue.stages, arrays.every
        both = ("push", "push") if in_parts else directions(self.binding, self.every)
        self.dense, self.sparse = both
        fuses = self.fuses and not in_parts
        asked = Asked(self.binding, both, self.every, self.stops_on_device, fuses)
        self.filter, self.fusion = asked.filter_and_fusion()
        self.in_shards, self.tail = asked.in_shards(), asked.tail()
        n, self.num_edges = arrays.n, self.binding.graph_edges
        self.blocks = min(_BLOCKS, max(1, -(-n // _VERTICES_OF_BLOCK)))
        self.identity = self.glue.identity(self.binding.message)
        stored = self.glue.storage(self.binding.message)
        self.messages = elements.filled(cupy, n, self.identity, stored)
        self.received = cupy.zeros(n if self.binding.needs_received else 0, np.uint8)
        self.marked = cupy.zeros(n if "notify-pull" in (self.dense, self.sparse) else 0, np.uint8)
        self._emitted = cupy.empty(n if self.emits else 0, stored)
        number = len(self.program.aggregates)
        self.partials = cupy.empty(max(1, number) * _BLOCKS * 4, np.int64)
        self.log = cupy.empty(_LOG * LOG_WORDS, np.int64)
        if self.stages.alone_after:  # they read the old state and the new one
            arrays.new = {name: column.copy() for name, column in arrays.new.items()}
        self.in_blocks = asked.in_blocks() and self._takes_blocks()
        self.words = [cupyx.empty_pinned(len(CONTROL), np.int64) for _ in range(2)]

    @property
    def stops_on_device(self) -> bool:
        """Whether no `stop` has to be asked on the host."""
        return self.arrays.lowered.wrappers.stop or self.program.stop is None

    @property
    def _records_messages(self) -> bool:
        """Whether a filter records who gets a message; else apply records who is active."""
        return self.filter != "auto" and needs_all_vertices(self.program) is None

    @property
    def emits(self) -> bool:
        return self.binding.source_only and self.binding.sent_field is None

    @property
    def emitted(self) -> Any:
        """What each vertex sends, where it sends the same along all edges."""
        field = self.binding.sent_field
        return self._emitted if field is None else self.arrays.state[field]

    def launch(
        self,
        name: str,
        blocks: int,
        *args: Any,
        threads: int = THREADS,
        shared: int = 0,
        source: str = "program",
    ) -> Callable[[], None]:
        kernel = self.arrays.module(source).kernel(name)
        return partial(launch.flat, kernel, blocks * threads, args, threads=threads, shared=shared)

    def alone(self, run: Any, names: Sequence[str]) -> list[Callable[[], None]]:
        order = list(self.program.aggregates)
        steps = []
        for name in names:
            which = np.int64(order.index(name))
            reached, partials = self.arrays.reached, self.partials
            steps += [
                self.launch("aggregate", self.blocks, run, which, reached, partials),
                self.launch("fold", 1, run, which, partials),
            ]
        return steps

    def _any_run(self) -> Any:
        """Struct Run of launches that read no edges."""
        return self.arrays.run("send" if "push" in (self.dense, self.sparse) else "gather")

    def first(self) -> None:
        """What the first superstep finds done: aggregates before it."""
        run = self._any_run()
        self.launch("begin", 1, run)()
        for launched in self.alone(run, self.stages.before):
            launched()

    def steps(self) -> Callable[[], None]:
        """All launches of a superstep, or of several, along edges that are on the device."""
        if self.fusion in ("selective", "all"):
            return self._fused()
        arrays, both = self.arrays, {self.dense, self.sparse}
        pulls, pushes = both & {"pull", "notify-pull"}, both & {"notify-pull", "push"}
        gather = arrays.run("gather") if pulls else None
        send = arrays.run("send") if pushes else None
        run = send if gather is None else gather
        vertices, into = -(-arrays.n // THREADS), (self.messages, self.received)
        filters = np.int64(self._records_messages)
        notes = self.filter != "auto" and not filters
        steps = self.before_messages(run)
        if pushes:
            lists, blocks = self._push_lists(), launch.num_multiprocessors() * 8
            kept = self._filter_lists(self.blocks if notes else blocks)
            steps.append(self.launch("list_active", vertices, send, lists, kept, arrays.active))
            if filters:
                there = (*into, arrays.reached, arrays.active)
                steps += [
                    self.launch("push_filtered", blocks, send, lists, kept, *there),
                    self.launch("count_filtered", blocks, send, kept, arrays.active),
                    self.launch("write_filtered", blocks, send, kept, arrays.active),
                    self.launch("apply_filtered", blocks, send, lists, kept, *there),
                ]
            elif "push" in both:
                steps.append(self.launch("push", blocks, send, lists, self.emitted_or_none, *into))
            if "notify-pull" in both:
                steps.append(self.launch("notify", blocks, send, lists, self.marked))
        if self.tail is not None:
            steps += self._tail_steps(vertices)
        if pulls:
            steps += self._gather_steps(gather, both, into)
        if self.tail is not None:
            settled = (self.emitted_or_none, arrays.active, self.sent)
            steps.append(self.launch("settle", vertices, run, *settled))
        if notes:
            steps += [
                self.launch("apply_noted", self.blocks, run, kept, *self.applied),
                self.launch("count_filtered", self.blocks, run, kept, arrays.active),
                self.launch("write_filtered", self.blocks, run, kept, arrays.active),
                self.launch("list_filtered", blocks, send, lists, kept),
            ]
        else:
            steps.append(self.launch("apply", self.blocks, run, *self.applied, filters))
        steps += self.ending(run)

        def step() -> None:
            for launched in steps:
                launched()

        return step

    def before_messages(self, run: Any) -> list[Callable[[], None]]:
        """Aggregates that messages may need, and what each vertex sends."""
        folds = self.stages.next and not self.stops_on_device
        alone = self.alone(run, self.stages.alone_before)
        return [*(self.next(run) if folds else []), *alone, *self.emit(run)]

    def emit(self, run: Any) -> list[Callable[[], None]]:
        """What each vertex sends, where that has to be worked out before edges are looked at."""
        if not self.emits:
            return []
        given = run, self.arrays.active, self._emitted, np.int64(self._records_messages)
        return [self.launch("emit", -(-self.arrays.n // THREADS), *given)]

    @property
    def applied(self) -> tuple[Any, ...]:
        """What apply takes and changes."""
        arrays = self.arrays
        return self.messages, self.received, arrays.reached, arrays.active, self.partials

    def next(self, run: Any) -> list[Callable[[], None]]:
        """Aggregates of a superstep that apply of the last one took along, if it did."""
        launched = self.launch("fold_next", 1, run, self.partials)

        def fold() -> None:
            if self.folds:
                launched()

        return [fold]

    def ending(self, run: Any) -> list[Callable[[], None]]:
        """What comes after apply."""
        steps = []
        if self.stages.alone_after:
            steps.append(self.launch("fold_applied", 1, run, self.partials))
            steps += self.alone(run, self.stages.alone_after)
            steps.append(self.launch("commit", -(-self.arrays.n // THREADS), run))
        steps.append(
            self.launch(
                "finish", 1, run, self.partials, self.log, *self._choices(),
                np.int64(len(self.program.aggregates)), np.int64(not self.stages.alone_after),
                np.int64(self.stops_on_device),
            )
        )  # fmt: skip
        return steps

    def _choices(self) -> list[Any]:
        """Edges of the graph, and the directions where many and where few vertices are active."""
        directions = (np.int64(DIRECTIONS.index(each)) for each in (self.dense, self.sparse))
        return [np.int64(self.num_edges), *directions]

    def _fused(self) -> Callable[[], None]:
        """The launches of as many supersteps as go on in one direction each, or of all: see program_fused.cu."""
        arrays, both = self.arrays, {self.dense, self.sparse}
        pulls, pushes = bool(both & {"pull", "notify-pull"}), "push" in both
        sends = pushes or "notify-pull" in both
        gather = arrays.run("gather") if pulls else arrays.run("send")
        send = arrays.run("send") if sends else gather
        pull = self._pull_lists()[0] if pulls else _NOTHING
        lists = self._push_lists() if sends else _NOTHING
        module = arrays.module("program_fused", {"ALL": str(int(self.fusion == "all"))})
        names = ["everything"]
        if self.fusion != "all":
            names = ["push_run"] * pushes + ["pull_run"] * pulls
        kernels = [module.kernel(name) for name in names]
        most = max(launch.resident_blocks(kernel, threads=THREADS) for kernel in kernels)
        kept = self._filter_lists(most)
        order, stages = list(self.program.aggregates), self.stages
        alone = [order.index(name) for name in (*stages.alone_before, *stages.alone_after)]
        self._order, self._barrier = cupy.asarray(np.array(alone, np.int64)), launch.barrier()
        directions = (DIRECTIONS.index(direction) for direction in (self.dense, self.sparse))
        shared = launch.struct([
            self._emitted if self.emits else None, self.emitted_or_none, self.messages,
            self.received, self.marked, arrays.reached, arrays.active, self.partials, self.log,
            self.num_edges, *directions, len(order), self._order, len(stages.alone_before),
            len(stages.alone_after), MOST, self._barrier,
        ])  # fmt: skip
        given = gather, send, pull, lists, kept, shared

        def step() -> None:
            for kernel in kernels:
                launch.cooperative(kernel, given, threads=THREADS)

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
            self.launch(
                "find_changes", self.blocks, send, *changes, arrays.active, np.float64(self.tail)
            ),
            self.launch("choose_tail", 1, send, np.int64(self.num_edges)),
            self.launch("list_active", vertices, send, lists, kept, arrays.active),
            self.launch("push_changes", blocks, send, lists, *changes, self.messages),
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
        return launch.struct([edges.offsets, edges.neighbours, *self.lists, *separators])

    def _filter_lists(self, blocks: int) -> Any:
        """Struct Filter of program_filter.cuh; ``blocks``: of the largest launch that pushes."""
        edges = self.arrays.edges("send" if "push" in (self.dense, self.sparse) else "gather")
        room = {"maximum": edges.num_edges, "fixed": self._needed.get("most", 0)}
        self._kept = Filter(
            self.filter,
            edges,
            blocks=blocks,
            threads=THREADS,
            room=room.get(configured_allocation(), 0),
        )
        return self._kept.struct

    @property
    def nbytes(self) -> int:
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

    @property
    def _needed(self) -> dict[str, int]:
        """How long the list of edges was that runs on these rows have needed."""
        return self.arrays.edge_view.made("edges of a superstep", dict[str, int])

    # -- what the device is told, and says -------------------------------------------------------

    def begin(self, limit: int | None, before: int) -> None:
        """Tell the device where a run begins, and the superstep at which it ends at the latest."""
        self.before = before
        active, edges = self.first_frontier()
        dense = 2 * edges > self.num_edges
        self.control = dict.fromkeys(CONTROL, 0) | {
            "superstep": before + 1,
            "limit": np.iinfo(np.int64).max if limit is None else limit,
            "num_active": active,
            "active_edges": edges,
            "direction": DIRECTIONS.index(self.dense if dense else self.sparse),
            "blocks": self.blocks,
        }
        words = np.array([self.control[name] for name in CONTROL], np.int64)
        self.arrays.control.set(words)

    def first_frontier(self) -> tuple[int, int]:
        """Vertices that send in the first superstep, and edges that they send over."""
        arrays, view = self.arrays, self.binding.view
        if arrays.sources is None:
            return view.graph_vertices, self.num_edges
        sources = arrays.sources[arrays.sources < view.num_owned]
        edges = (
            int(arrays.degree[cupy.asarray(sources)].astype(np.int64, copy=False).sum())
            if len(sources)
            else 0
        )
        return len(sources), edges

    def go_on(self, until: int) -> None:
        """Have the device go on to a superstep, from the one where it has stopped, if it has."""
        words, changed = self.arrays.control, {"limit": until}
        if self.control["completed"]:
            changed |= {"superstep": self.control["completed"] + 1, "done": 0}
        for name, value in changed.items():
            words[CONTROL.index(name)] = value
        self.control |= changed
        if self.control["completed"] and self.stages.next and self.stops_on_device:
            for launched in self.next(self._any_run()):
                launched()

    def tell_ghosts(self) -> None:
        """Have values at ghosts that own vertices have elsewhere: here are none."""

    @property
    def completed(self) -> int:
        """Supersteps that are complete, also before this run."""
        return self.control["completed"] or self.before

    def look(self) -> None:
        """See what the device says now."""
        self.see(cupy.asnumpy(self.arrays.control))

    def see(self, words: np.ndarray) -> None:
        """Have the words of the control as the device has told them."""
        self.control = dict(zip(CONTROL, words.tolist(), strict=True))

    def stops(self) -> bool:
        """Whether ``stop``, on the host, ends the run after the last superstep."""
        self.check_overflow()
        return loop.stops(self.binding, self.arrays.last_aggregates(), self.control["completed"])

    def check_overflow(self) -> None:
        """Raise the error of an overflow that the device has told of, if there was one."""
        told = cupy.asnumpy(self.arrays.aggregates).reshape(-1, 4)[:, 3]
        wrong = zip(self.program.aggregates, told, strict=False)  # there is room for one at least
        bad = {f"aggregates[{name!r}]" for name, is_bad in wrong if is_bad}
        bad |= {role for bit, role in ((1, "compute"), (2, "apply")) if self.control["bad"] & bit}
        if error := loop.first_overflow(self.program, bad):
            raise error

    def turns(self) -> bool:
        """Whether supersteps change from pull alone to notify-pull where few vertices are active."""
        few = 2 * self.control["active_edges"] <= self.num_edges
        if self.every or forced(self.binding) != "auto" or self.program.combine != "sum":
            return False
        if self.sparse == "notify-pull" or self.in_shards or not few:
            return False
        self.sparse = "notify-pull"
        self.marked = cupy.zeros(self.arrays.n, np.uint8)
        return True

    @property
    def grows(self) -> bool:
        """Whether the list of edges may be shorter than a superstep needs."""
        return self.filter == "batch" and configured_allocation() != "maximum"

    def make_room(self) -> None:
        """Have room for the edges of the next superstep."""
        control = self.control
        if not self.grows or DIRECTIONS[control["direction"]] != "push":
            return
        ready = control["chunks"] >> 32  # the upper half of that word
        self._kept.make_room(control["batched" if ready else "active_edges"])
        self._needed["most"] = max(self._needed.get("most", 0), self._kept.room)

    def tell(self) -> None:
        """Add the supersteps that the device has noted to the report."""
        arrays, item = self.arrays, self.messages.dtype.itemsize
        edge = arrays.bytes_of_edge + item + 2 * self.in_shards
        if self.in_blocks:  # places of 2 bytes; of a far edge also its value, written and read
            far = self.blocked.num_values * (2 + 2 * item)
            edge = -(-(2 * self.num_edges + far) // max(1, self.num_edges))
        state = sum(
            self.glue.storage(self.binding.dtypes[f]).itemsize for f in self.program.changing
        )
        log = cupy.asnumpy(self.log[: self.control["log_size"] * LOG_WORDS])
        rows = log.reshape(-1, LOG_WORDS).tolist()
        for direction, supersteps, frontier, edges, nanoseconds in rows:
            self.report.advance(
                DIRECTIONS[direction], supersteps=supersteps, frontier=frontier, edges=edges,
                bytes=edges * edge + supersteps * arrays.n * (2 * item + 2 * state + 1),
                seconds=nanoseconds / 1e9,
            )  # fmt: skip
