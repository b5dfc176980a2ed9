"""Rounds in which edges that are at hand are gone over until nothing changes, before others are.

References
----------
.. [1] Sabet, Zhao, Gupta. Subway: minimizing data transfer during out-of-GPU-memory graph processing. EuroSys 2020.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import cupy
import numpy as np

from dask_graphgpu.engine.gpu import launch
from dask_graphgpu.engine.gpu.checkpoints import InPlaceKeeping
from dask_graphgpu.engine.gpu.superstep import Superstep
from dask_graphgpu.engine.keeping import PENDING, PENDING_RECEIVED, Keeping
from dask_graphgpu.engine.tiered import supersteps
from dask_graphgpu.engine.tiered.supersteps import THREADS, SegmentCarrier
from dask_graphgpu.engine.tiered.transfer import AtHand, Go, Transfer
from dask_graphgpu.partition.device.masks import any_true

# Words of struct Local in program_tiers.cuh.
LOCAL = ("active", "settled", "rounds", "edges", "due", "next", "barrier")

# Local rounds that are queued between two looks at the device, at most.
_MOST_AHEAD = 16

# Edges of a local round that is left to one launch with others before and behind, and rounds of that.
_SMALL, _MOST_SMALL = 1 << 18, 4096

# Of program_tiers.cuh: a vertex that has something to send.
_WAITS = 1


class Asynchronous(SegmentCarrier):
    """Rounds in each of which every part is a run of local rounds [1]_.

    The first round loads all edges, so that values get far; later ones those of active vertices.
    Vertices of which the part has all edges take part in its local rounds, also those that an
    earlier part has just reached. Others, of which rows are cut, send once in a round and take what
    they got at its end. So each vertex sends what it has once along each edge, and programs whose
    messages add up are right as well. Edges that kernels read in host memory are not loaded: for
    these a round is a superstep.
    """

    def __init__(self, superstep: Superstep, transfer: Transfer) -> None:
        super().__init__(superstep, transfer)
        self._within, self._loads_everything = False, True
        self._local = cupy.zeros(len(LOCAL), np.int64)
        self._buffer = self.arrays.tier.kept.take(len(LOCAL), np.int64)
        self._seen = self._buffer[: len(LOCAL)]

    def begin(self, kept: Keeping | None) -> None:
        """The state may be kept between two parts of a round as well."""
        if kept is not None:
            self.transfer.is_due = kept.keeper.late
            self.transfer.pause = partial(self.pause, kept)

    def pause(self, kept: Keeping) -> None:
        """Have the state kept in the middle of a round, where all or none of each row's edges are behind."""
        in_place = isinstance(kept.engine, InPlaceKeeping)
        if not in_place and not any_true(self.arrays.active == _WAITS):
            return  # nobody has anything left to send: the round is about to end
        superstep = self.superstep
        superstep.look()
        superstep.check_overflow()
        self._within = True
        try:
            done = superstep.completed
            kept.now(done, self.arrays.last_aggregates() if done else {})
        finally:
            self._within = False

    def kept(self, columns: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """In the middle of a round with messages that wait to be taken."""
        if not self._within:
            return columns
        arrays, superstep = self.arrays, self.superstep
        columns["active"] = (columns["active"] == _WAITS).astype(np.uint8)
        columns[PENDING] = cupy.asnumpy(arrays.wide(superstep.messages, arrays.binding.message))
        if len(superstep.received):
            columns[PENDING_RECEIVED] = cupy.asnumpy(superstep.received)
        return columns

    def close(self) -> None:
        try:
            super().close()
        finally:
            self.arrays.tier.kept.give_back(self._buffer)

    def _apply_all(self, run: Any) -> Callable[[], None]:
        superstep = self.superstep
        into = (*superstep.applied, self.arrays.tier.offsets)
        return self.launch("apply_round", superstep.blocks, run, *into)

    def _send_waiting(self, here: Any, lists: Any) -> None:
        """Push what waits to be sent along the edges of a part."""
        self._over_part("list_waiting", here, lists, self.arrays.active)
        self._pushing(here, lists)()

    def _over_part(self, name: str, here: Any, lists: Any, *more: Any) -> None:
        """Queue a kernel that looks at the vertices of a part."""
        offsets = self.arrays.tier.offsets
        self.launch(name, self._listing, here, lists, offsets, *more)()

    def _until_settled(self, here: Any, lists: Any) -> None:
        """Local rounds, as long as any vertex is active that has all its edges in the part."""
        self._apply(here, lists, self._local)
        self.launch("settle_part", 1, here, self._local)()
        self._small_rounds(here, lists)
        ahead = 1
        while not self._settled():
            for _ in range(ahead):
                self._round(here, lists)
                self._small_rounds(here, lists)
            ahead = min(2 * ahead, _MOST_AHEAD)

    def _round(self, here: Any, lists: Any) -> None:
        """A local round; its kernels return at once where nothing is left to do."""
        self.launch("begin_part", 1, here)()
        self._emit(here, lists, self._local)
        self._over_part("list_whole", here, lists, self.arrays.active, self._local)
        self._pushing(here, lists)()
        self._apply(here, lists, self._local)
        self.launch("settle_part", 1, here, self._local)()

    def _small_rounds(self, here: Any, lists: Any, local: Any = None, most: int = _SMALL) -> None:
        """Those rounds that follow and have few edges, in one launch."""
        arrays = self.arrays
        given = here, lists, arrays.tier.offsets, *self.pushed
        state = arrays.reached, arrays.active, self._local if local is None else local
        limits = np.int64(self.superstep.emits), np.int64(most), np.int64(_MOST_SMALL)
        kernel = arrays.module("program").kernel("small_rounds")
        launch.cooperative(kernel, (*given, *state, *limits), threads=THREADS)

    def _emit(self, here: Any, lists: Any, local: Any) -> None:
        if self.superstep.emits:
            given = self.arrays.active, local, self.superstep.emitted
            self._over_part("emit_whole", here, lists, *given)

    def _apply(self, here: Any, lists: Any, local: Any) -> None:
        """Vertices that have all their edges in the part take their messages."""
        self._over_part("apply_whole", here, lists, *self._taken, local)

    @property
    def _taken(self) -> tuple[Any, ...]:
        """What apply takes and changes, where there are no aggregates on the way."""
        return self.superstep.applied[:-1]

    def _settled(self) -> bool:
        stream = cupy.cuda.get_current_stream()
        self._local.get(out=self._seen, blocking=False)
        stream.synchronize()
        return bool(self._seen[LOCAL.index("settled")])

    def tell(self) -> None:
        """As of `SegmentCarrier`, and local rounds."""
        super().tell()
        local = dict(zip(LOCAL, cupy.asnumpy(self._local).tolist(), strict=True))
        edge = self.transfer.tier.bytes_of_edge + self.superstep.messages.dtype.itemsize
        self.superstep.report.advance(
            "local", supersteps=local["rounds"], frontier=0, edges=local["edges"],
            bytes=local["edges"] * edge, seconds=0.0,  # in those of the rounds
        )  # fmt: skip

    def resume(self, columns: Mapping[str, np.ndarray]) -> None:
        """As of `SegmentCarrier`; what is behind the run that was kept is not loaded again."""
        super().resume(columns)
        self._loads_everything = False

    def bring(self, run: Any, push: Go) -> None:
        everything, self._loads_everything = self._loads_everything, False
        self.transfer.superstep(self.arrays.active, push, everything=everything)

    def _push(self, run: Any, edges: AtHand) -> None:
        here, lists = self._part(run, edges)
        self.launch("begin_rounds", 1, here, self._local)()
        self._send_waiting(here, lists)
        if edges.way != "zero-copy":
            self._until_settled(here, lists)


class ResidentFirst(Asynchronous):
    """As `Asynchronous`, of a monotone program, in rounds that begin with the resident edges.

    These are gone over until nothing changes there. Then the others are, in their order, each
    once: the vertices of a part take what the parts before it have sent them, then send. A vertex
    that has more to send than went over the link waits for the next round. With rows by falling
    degree most values are final when they leave the hubs, so that fewer edges cross the link than
    in supersteps. From a frontier of few edges a kernel goes on by itself, which reads edges where
    they lie, until there are more: the last rounds of most graphs, and all of a road network's.
    """

    def __init__(self, superstep: Superstep, transfer: Transfer) -> None:
        super().__init__(superstep, transfer)
        self._everywhere = cupy.zeros(len(LOCAL), np.int64)  # of rounds over all edges
        self._few_sent = 0  # edges of frontiers from which these went on

    @property
    def creeps(self) -> bool:
        """Whether the frontier is left to a kernel that reads edges where they lie."""
        tier, few = self.arrays.tier, self.superstep.control["active_edges"] <= supersteps.FEW
        return self.transfer.reads and tier.cut.resident < tier.num_edges and few

    def _creep(self, run: Any) -> None:
        """Rounds over all edges, on the host, as long as they have few."""
        tier, local = self.arrays.tier, self._everywhere
        every = AtHand(tier.offsets, tier.on_host(), 0, tier.num_edges, "zero-copy")
        here, lists = self._part(run, every)
        self.launch("begin_rounds", 1, here, local)()
        self._send_waiting(here, lists)
        self._apply(here, lists, local)
        self.launch("settle_part", 1, here, local)()
        self._small_rounds(here, lists, local, supersteps.FEW)
        self._few_sent += self.superstep.control["active_edges"]

    def tell(self) -> None:
        """As of `Asynchronous`, and of edges that kernels read in host memory."""
        words = dict(zip(LOCAL, cupy.asnumpy(self._everywhere).tolist(), strict=True))
        self.transfer.read((self._few_sent + words["edges"]) * self.transfer.tier.bytes_of_edge)
        self._local += self._everywhere  # rounds and edges are all that is read of them now
        super().tell()

    def bring(self, run: Any, push: Go) -> None:
        if self.creeps:
            self._creep(run)
            return
        arrays, tier = self.arrays, self.arrays.tier
        resident = tier.cut.resident
        if resident:
            self.transfer.superstep(arrays.active, push, hi=resident)
        if resident == tier.num_edges:
            return
        if resident:
            into, blocks = (*self._taken, tier.offsets), self.superstep.blocks
            self.launch("apply_between", blocks, run, *into, np.int64(tier.cut_row))()
            for launched in self.superstep.emit(run):
                launched()
        self.transfer.superstep(arrays.active, push, lo=resident)

    def _push(self, run: Any, edges: AtHand) -> None:
        here, lists = self._part(run, edges)
        self.launch("begin_rounds", 1, here, self._local)()
        if edges.way == "resident":
            self._send_waiting(here, lists)
            self._until_settled(here, lists)
        else:
            self._apply(here, lists, self._local)
            self._emit(here, lists, self._local)
            self._send_waiting(here, lists)
