"""Supersteps on the GPU over edges in host memory: pushed part by part."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import cupy
import numpy as np

from dask_graphgpu.engine.gpu import launch
from dask_graphgpu.engine.gpu.copies import address
from dask_graphgpu.engine.gpu.policies import OneByOne, Policy
from dask_graphgpu.engine.gpu.sizes import num_chunks
from dask_graphgpu.engine.gpu.structs import struct
from dask_graphgpu.engine.gpu.synchronous import Synchronous
from dask_graphgpu.engine.gpu.worklists import SEPARATORS
from dask_graphgpu.engine.keeping import PENDING, PENDING_RECEIVED, Keeping
from dask_graphgpu.engine.options import RunOptions
from dask_graphgpu.engine.state import State
from dask_graphgpu.engine.tiered.arrays import TieredArrays
from dask_graphgpu.engine.tiered.transfer import AtHand, Go, Transfer
from dask_graphgpu.report import Report

THREADS = 256

# A row that is read over the link is a warp's, however short.
_READ = (1, SEPARATORS[1])

# Blocks on a multiprocessor that look for active vertices of a part, and that push.
_LISTING, _PUSHING = 16, 8

# Edges that a warp takes at once where it goes along them as they lie.
PIECE = 256

# Edges of a frontier that is gone on from where all edges lie, without a look at which segments they are in.
FEW = 1 << 16

# Parts whose launches are remembered: of a run of many supersteps they may all differ.
_MOST_KNOWN = 1024


class TieredSynchronous(Synchronous):
    """A run in supersteps that push, as `Synchronous` where each does."""

    arrays: TieredArrays
    fuses = False

    def __init__(self, arrays: TieredArrays, report: Report, transfer: Transfer) -> None:
        super().__init__(arrays, report)
        self.transfer = transfer
        self.lists = self._lists()
        self._prepared: dict[tuple[int, int, int, str], list[Callable[[], None]]] = {}

    def run(self, options: RunOptions, kept: Keeping | None = None) -> State:
        """As of `Synchronous`."""
        try:
            return super().run(options, kept)
        finally:
            self.transfer.close()

    def _lists(self) -> tuple[Any, ...]:
        """Room for the active vertices of a part, by how many edges they have there."""
        arrays, edges = self.arrays, self.binding.send
        chunks, ids = num_chunks(arrays.edge_view, edges), edges.neighbours.dtype
        return (
            cupy.empty(arrays.n, ids), cupy.empty(arrays.n, ids),
            cupy.empty(chunks, ids), cupy.empty(chunks, np.uint32),
        )  # fmt: skip

    def _take_pending(self, columns: Mapping[str, np.ndarray]) -> None:
        """Have messages that were sent before, to which those of the first superstep are added."""
        if PENDING not in columns:
            return
        own, arrays = self.binding.view.num_owned, self.arrays
        given = cupy.asarray(columns[PENDING][:own])
        self.messages[:own] = arrays.stored(given, self.binding.message)
        if PENDING_RECEIVED in columns:
            self.received[:own] = cupy.asarray(columns[PENDING_RECEIVED][:own])

    def _directions(self) -> tuple[str, str]:
        return "push", "push"

    def _policy(self) -> Policy:
        return OneByOne(self)

    def _steps(self, stops: bool) -> Callable[[], None]:
        arrays, run = self.arrays, self.arrays.run("send")
        vertices, none = -(-arrays.n // THREADS), np.int64(0)
        self._prepared.clear()  # launches of another struct Run
        before = self._next(run) if self.stages.next and not stops else []
        before += self._alone(run, self.stages.alone_before)
        if self._emits:
            before.append(self._launch("emit", vertices, run, arrays.active, self._emitted, none))
        after = [self._apply_all(run), *self._ending(run, stops)]
        push = partial(self._push, run)

        def step() -> None:
            for launched in before:
                launched()
            self._bring(run, push)
            for launched in after:
                launched()

        return step

    @property
    def _columns(self) -> dict[str, str]:
        """The member of struct Run for each column of the edges."""
        return {m.what: m.name for m in self.glue.members if m.of == "column"}

    @property
    def _applied(self) -> tuple[Any, ...]:
        arrays = self.arrays
        return self.messages, self.received, arrays.reached, arrays.active, self.partials

    def _apply_all(self, run: Any) -> Callable[[], None]:
        """What launches that all vertices take their messages."""
        return self._launch("apply", self.blocks, run, *self._applied, np.int64(0))

    def _bring(self, run: Any, push: Go) -> None:
        """Have the edges of active vertices pushed along."""
        transfer, edges = self.transfer, self.control["active_edges"]
        if self._has_few:
            if edges:
                transfer.from_host(push, edges)
        elif self._may_read and transfer.pays_in_order(edges, self.control["num_active"]):
            transfer.in_order(push)
        else:
            transfer.superstep(self.arrays.active, push)

    @property
    def _may_read(self) -> bool:
        """Whether it is left to the run what kernels read where it lies, and there is anything."""
        tier = self.arrays.tier
        return self.transfer.way == "auto" and tier.cut.resident < tier.num_edges

    @property
    def _has_few(self) -> bool:
        """Whether the frontier is left to kernels that read edges where they lie."""
        return self._may_read and self.control["active_edges"] <= FEW

    def _push(self, run: Any, edges: AtHand) -> None:
        """Push along some edges of active vertices, as `transfer.Go`."""
        key = edges.begins["neighbours"], edges.lo, edges.hi, edges.way
        launches = self._prepared.get(key)
        if launches is None or edges.way == "compact":  # of which the rows are others each time
            launches = self._launches(run, edges)
            if len(self._prepared) == _MOST_KNOWN:
                self._prepared.clear()
            self._prepared[key] = launches
        for launched in launches:
            launched()

    def _launches(self, run: Any, edges: AtHand) -> list[Callable[[], None]]:
        if edges.way == "in order":
            resident = self.arrays.tier.cut.resident
            brought = edges._replace(lo=resident)
            return [self._along("push_in_order", run, 0, resident, brought, self.arrays.active)]
        here, lists = self._part(run, edges)
        return [
            self._launch("begin_part", 1, here),
            self._launch("list_part", self._listing, here, lists, self.arrays.active),
            self._pushing(here, lists),
        ]

    def _along(
        self, name: str, run: Any, lo: int, hi: int, brought: AtHand, *more: Any
    ) -> Callable[[], None]:
        """The launch of a kernel along the resident edges ``lo`` to ``hi`` and some that are brought."""
        held = AtHand(brought.offsets, self.arrays.tier.on_device(), lo, hi, "resident")
        given: list[Any] = []
        for edges in held, brought:
            ends = edges.lo, edges.hi
            words = address(edges.begins["neighbours"])
            given += [self._over(run, edges), struct([edges.offsets, words, *ends])]
        pieces = -(-(brought.hi - brought.lo + hi - lo) // PIECE) + 2
        blocks = min(-(-pieces * 32 // THREADS), launch.num_multiprocessors() * _PUSHING)
        into = (self.emitted_or_none, self.messages, self.received, np.int64(PIECE))
        return self._launch(name, blocks, *given, *into, *more)

    def _part(self, run: Any, edges: AtHand) -> tuple[Any, Any]:
        """Structs Run and Push of a part."""
        separators = _READ if edges.way == "zero-copy" else SEPARATORS
        neighbours, ends = address(edges.begins["neighbours"]), (edges.lo, edges.hi)
        push = struct([edges.offsets, neighbours, *self.lists, *separators, *ends])
        return self._over(run, edges), push

    def _over(self, run: Any, edges: AtHand) -> Any:
        """Struct Run with the columns of some edges."""
        here = run.copy()
        for name, member in self._columns.items():
            here[member] = address(edges.begins[name])
        return here

    def _send(self, here: Any, lists: Any) -> None:
        """Push along the edges of the vertices that are listed."""
        self._pushing(here, lists)()

    def _pushing(self, here: Any, lists: Any) -> Callable[[], None]:
        """The launch of that."""
        into = (self.emitted_or_none, self.messages, self.received)
        return self._launch("push", launch.num_multiprocessors() * _PUSHING, here, lists, *into)

    @property
    def _listing(self) -> int:
        """Blocks that look at the vertices of a part."""
        return min(-(-self.arrays.n // THREADS), launch.num_multiprocessors() * _LISTING)

    def _nbytes(self) -> int:
        return super()._nbytes() + self.transfer.nbytes

    def _report(self, control: dict[str, int]) -> None:
        super()._report(control)
        self.transfer.tell(self.report)
