"""Edges in host memory, or on disk, on their way to supersteps of the GPU: pushed part by part."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import cupy
import numpy as np

from dask_graphgpu.engine.gpu import launch
from dask_graphgpu.engine.gpu.carriers import Carrier
from dask_graphgpu.engine.gpu.copies import address
from dask_graphgpu.engine.gpu.policies import OneByOne, Policy
from dask_graphgpu.engine.gpu.sizes import num_chunks
from dask_graphgpu.engine.gpu.superstep import Superstep
from dask_graphgpu.engine.gpu.worklists import SEPARATORS
from dask_graphgpu.engine.keeping import PENDING, PENDING_RECEIVED
from dask_graphgpu.engine.tiered.arrays import TieredArrays
from dask_graphgpu.engine.tiered.transfer import AtHand, Go, Transfer

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


class SegmentCarrier(Carrier):
    """Brings the edges of active vertices part by part, along each of which they push."""

    def __init__(self, superstep: Superstep, transfer: Transfer) -> None:
        assert isinstance(superstep.arrays, TieredArrays)
        super().__init__(superstep)
        self.transfer, self.arrays = transfer, superstep.arrays
        self.launch = superstep.launch
        self.lists = self._lists()
        self._prepared: dict[tuple[int, int, int, str], list[Callable[[], None]]] = {}

    def _lists(self) -> tuple[Any, ...]:
        """Room for the active vertices of a part, by how many edges they have there."""
        arrays, edges = self.arrays, self.arrays.binding.send
        chunks, ids = num_chunks(arrays.edge_view, edges), edges.neighbours.dtype
        return (
            cupy.empty(arrays.n, ids), cupy.empty(arrays.n, ids),
            cupy.empty(chunks, ids), cupy.empty(chunks, np.uint32),
        )  # fmt: skip

    def resume(self, columns: Mapping[str, np.ndarray]) -> None:
        """Have messages that were sent before, to which those of the first superstep are added."""
        if PENDING not in columns:
            return
        own, arrays, superstep = self.arrays.binding.view.num_owned, self.arrays, self.superstep
        given = cupy.asarray(columns[PENDING][:own])
        superstep.messages[:own] = arrays.stored(given, arrays.binding.message)
        if PENDING_RECEIVED in columns:
            superstep.received[:own] = cupy.asarray(columns[PENDING_RECEIVED][:own])

    def policy(self) -> Policy:
        """With a look after each superstep, at how many edges are to be brought."""
        return OneByOne(self)

    def steps(self) -> Callable[[], None]:
        """As `Superstep.steps`, with the edges of active vertices brought before messages are taken."""
        superstep, run = self.superstep, self.arrays.run("send")
        self._prepared.clear()  # launches of another struct Run
        before = superstep.before_messages(run)
        after = [self._apply_all(run), *superstep.ending(run)]
        push = partial(self._push, run)

        def step() -> None:
            for launched in before:
                launched()
            self.bring(run, push)
            for launched in after:
                launched()

        return step

    @property
    def _columns(self) -> dict[str, str]:
        """The member of struct Run for each column of the edges."""
        return {m.what: m.name for m in self.superstep.glue.members if m.of == "column"}

    def _apply_all(self, run: Any) -> Callable[[], None]:
        """What launches that all vertices take their messages."""
        superstep = self.superstep
        return superstep.launch("apply", superstep.blocks, run, *superstep.applied, np.int64(0))

    def bring(self, run: Any, push: Go) -> None:
        """Have the edges of active vertices pushed along."""
        transfer, control = self.transfer, self.superstep.control
        edges, may_read = control["active_edges"], transfer.may_read
        if may_read and edges <= FEW:
            if edges:
                transfer.from_host(push, edges)
        elif may_read and transfer.pays_in_order(edges, control["num_active"]):
            transfer.in_order(push)
        else:
            transfer.superstep(self.arrays.active, push)

    @property
    def creeps(self) -> bool:
        """Whether what comes next is not one superstep, but as many as have few edges."""
        return False

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
            self.launch("begin_part", 1, here),
            self.launch("list_part", self._listing, here, lists, self.arrays.active),
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
            given += [self._over(run, edges), launch.struct([edges.offsets, words, *ends])]
        pieces = -(-(brought.hi - brought.lo + hi - lo) // PIECE) + 2
        blocks = min(-(-pieces * 32 // THREADS), launch.num_multiprocessors() * _PUSHING)
        return self.launch(name, blocks, *given, *self.pushed, np.int64(PIECE), *more)

    def _part(self, run: Any, edges: AtHand) -> tuple[Any, Any]:
        """Structs Run and Push of a part."""
        separators = _READ if edges.way == "zero-copy" else SEPARATORS
        neighbours, ends = address(edges.begins["neighbours"]), (edges.lo, edges.hi)
        push = launch.struct([edges.offsets, neighbours, *self.lists, *separators, *ends])
        return self._over(run, edges), push

    def _over(self, run: Any, edges: AtHand) -> Any:
        """Struct Run with the columns of some edges."""
        here = run.copy()
        for name, member in self._columns.items():
            here[member] = address(edges.begins[name])
        return here

    def _pushing(self, here: Any, lists: Any) -> Callable[[], None]:
        """The launch that pushes along the edges of the vertices that are listed."""
        blocks = launch.num_multiprocessors() * _PUSHING
        return self.launch("push", blocks, here, lists, *self.pushed)

    @property
    def pushed(self) -> tuple[Any, ...]:
        """What a push takes and changes."""
        superstep = self.superstep
        return superstep.emitted_or_none, superstep.messages, superstep.received

    @property
    def _listing(self) -> int:
        """Blocks that look at the vertices of a part."""
        return min(-(-self.arrays.n // THREADS), launch.num_multiprocessors() * _LISTING)

    @property
    def nbytes(self) -> int:
        """Of lists, and of what the transfer holds."""
        return sum((int(array.nbytes) for array in self.lists), self.transfer.nbytes)

    def tell(self) -> None:
        self.transfer.tell(self.superstep.report)

    def close(self) -> None:
        self.transfer.close()
