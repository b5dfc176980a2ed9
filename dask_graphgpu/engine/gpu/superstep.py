"""What a superstep is on the GPU: its arrays, and the launches in their order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import cupy
import numpy as np

from dask_graphgpu.engine.gpu import fused, launch
from dask_graphgpu.engine.gpu.arrays import Arrays
from dask_graphgpu.engine.gpu.asked import Asked, directions
from dask_graphgpu.engine.gpu.filters import Filter
from dask_graphgpu.engine.gpu.gathers import Gathers
from dask_graphgpu.engine.gpu.structs import struct
from dask_graphgpu.engine.gpu.worklists import SEPARATORS, num_chunks
from dask_graphgpu.engine.schedule import (
    configured_allocation,
    configured_separators,
    needs_all_vertices,
)

DIRECTIONS = ("pull", "notify-pull", "push")  # as BY_... in program.cuh

LOG_WORDS = 5  # of a row of the log

# Of program.cuh: blocks of kernels that take aggregates, at most; rows of the log.
_BLOCKS, _LOG = 2048, 1024
_VERTICES_OF_BLOCK = 1024
_THREADS = fused.THREADS

# Stands for struct Pull or struct Push where a run has none; as large as either.
_NOTHING = struct([None] * 32)


class Superstep(Gathers):
    """The launches of a program's superstep, over arrays that last for a run.

    Attributes
    ----------
    fuses : bool
        Whether a launch may be of several supersteps.
    """

    fuses = True

    def __init__(self, arrays: Arrays) -> None:
        self.arrays, self.binding = arrays, arrays.binding
        self.program, self.glue = arrays.program, arrays.lowered.glue
        self.stages, self.every = self.glue.stages, arrays.every
        self.dense, self.sparse = self._directions()
        asked = Asked(
            self.binding, (self.dense, self.sparse), self.every, self.stops_on_device, self.fuses
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
        self.log = cupy.empty(_LOG * LOG_WORDS, np.int64)
        if self.stages.alone_after:  # they read the old state and the new one
            arrays.new = {name: column.copy() for name, column in arrays.new.items()}
        self.in_blocks = asked.in_blocks() and self._takes_blocks()

    def _directions(self) -> tuple[str, str]:
        return directions(self.binding, self.every)

    @property
    def stops_on_device(self) -> bool:
        """Whether no `stop` has to be asked on the host."""
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

    @property
    def _needed(self) -> dict[str, int]:
        """How long the list of edges was that runs on these rows have needed."""
        needed: dict[str, int] = self.arrays.edge_view.made("edges of a superstep", dict)
        return needed
