"""Supersteps on several GPUs: each works on its own vertices, then values travel between them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import Any

import cupy
import numpy as np

from dask_graphgpu.engine.cuda.glue import KINDS
from dask_graphgpu.engine.device_ranks.arrays import RankArrays
from dask_graphgpu.engine.device_ranks.border import DeviceBorder
from dask_graphgpu.engine.device_ranks.early_ghosts import SPARE, Ahead, overlaps
from dask_graphgpu.engine.gpu import launch
from dask_graphgpu.engine.gpu.blocked import Blocked, sizes
from dask_graphgpu.engine.gpu.carriers import Carrier
from dask_graphgpu.engine.gpu.policies import Blind, OneByOne, Policy
from dask_graphgpu.engine.gpu.settings import directions
from dask_graphgpu.engine.gpu.superstep import THREADS, Superstep
from dask_graphgpu.engine.state import Binding
from dask_graphgpu.exchange.nccl import Recorded
from dask_graphgpu.exchange.ranks import Ranks
from dask_graphgpu.functions import parameters, plain
from dask_graphgpu.partition.device import elements
from dask_graphgpu.partition.device.csr import Pairs, from_pairs, row_ids
from dask_graphgpu.report import Report

# Words of Told in program_ranks.cu before the aggregates, and of each of them.
_COUNTS, _AGGREGATE = 4, 4
_APPLIED, _NEXT = 1, 2  # WHEN_...


class _InStep(Blind):
    """As `Blind`, together with the peers: supersteps that are queued behind the last one wait for them too."""

    most_ahead = 2  # each of these sends the border in vain

    superstep: RankSuperstep

    def advance(self, done: int, limit: int | None) -> None:
        super().advance(done, limit)
        self.superstep.link.settle()

    def wait(self, event: Any) -> None:
        self.superstep.link.wait(event)


class OwnEdges(Carrier):
    """As `Carrier`, of the edges of a rank's own vertices."""

    def policy(self) -> Policy:
        """Without looks, unless the host is asked `stop`."""
        return _InStep(self) if self.superstep.stops_on_device else OneByOne(self)


class RankSuperstep(Superstep):
    """A superstep of one rank, with a border of device memory.

    After `apply` what compute reads of a sender goes to the ghosts, with who is active; counts and
    aggregates are gathered on the device of every rank, which puts them together as all others do.
    So no rank asks its device how a superstep went, and all of them queue the same ones. A superstep
    is recorded: ten launches and two messages would take longer to queue than the work of a small one.

    Attributes
    ----------
    lasts : bool
        Whether later runs use it too, by `again`.

    Notes
    -----
    What waits for a device, as to allocate and to load may do, is done before anything is queued that
    waits for other ranks: they may be threads of one process.
    """

    fuses = False

    arrays: RankArrays

    def __init__(
        self, arrays: RankArrays, ranks: Ranks, border: DeviceBorder, report: Report, *, lasts: bool
    ) -> None:
        self._ranks, self._border, self.link = ranks, border, border.link
        self._overlaps = overlaps() and arrays.binding.sent_field is not None
        super().__init__(arrays, report)
        # All ranks or none: they have one message more.
        self._overlaps = bool(ranks.min(int(self._overlaps and self.in_blocks)))
        if self._overlaps:
            self._make_ahead()
        # One that asks `stop` on the host has the functions of its first run.
        self.lasts = arrays.lasts = lasts and self.stops_on_device
        program = self.program
        compute = parameters(plain(program.compute, "compute"), "compute")
        self._sent = [name for name in program.changing if f"source_{name}" in compute]
        number = len(program.aggregates)
        words = _COUNTS + _AGGREGATE * max(1, number)
        self._told = cupy.zeros(words, np.int64)
        self._every = cupy.zeros((ranks.size, words), np.int64)
        self._descriptions = cupy.asarray(self._described())
        self._recorded: dict[tuple[str, str], Recorded] = {}
        self._used: list[dict[str, Any]] = []
        self._turned: Any = None  # marks of supersteps that the engine has turned to

    def _described(self) -> np.ndarray:
        """Description of program_ranks.cu of each aggregate."""
        stages, found = self.stages, []
        for name, dtype in self.arrays.lowered.wrappers.aggregates.items():
            when = _APPLIED if name in stages.with_apply else _NEXT if name in stages.next else 0
            kind = KINDS[self.program.aggregates[name].combine]
            found.append([kind, int(dtype.kind == "f"), when])
        return np.array(found or [[0, 0, 0]], np.int64)

    # -- from run to run -------------------------------------------------------------------------

    def release(self) -> None:
        """Let go of what is a run's until `again`."""
        del self.binding, self.report
        self.arrays.release()

    def again(self, binding: Binding, places: np.ndarray | None, report: Report) -> None:
        """Get ready for another run, which differs from the last one in sources alone."""
        self.binding, self.report = binding, report
        self.arrays.restart(binding, places)
        self.dense, self.sparse = directions(binding, self.every)
        elements.fill(self.messages, self.identity)
        for array in (self.received, self.marked, self._told, self._every):
            array.fill(0)
        self._ranks.barrier()  # to allocate waits for devices, and a peer's may wait for this one

    def forget(self) -> None:
        """End what was recorded."""
        for step in self._recorded.values():
            step.forget()
        self._recorded.clear()
        self._used.clear()

    # -- what the device is told, and says -------------------------------------------------------

    def first_frontier(self) -> tuple[int, int]:
        sources, view = self.arrays.sources, self.binding.view
        if sources is None:
            return super().first_frontier()
        own = sources[sources < view.num_owned]
        counts = len(own), int(view.degrees(self.binding.direction)[own].sum())
        active, edges = self._ranks.scalars(counts).sum(axis=0).tolist()
        return active, edges

    def first(self) -> None:
        self.steps()
        if self._overlaps:
            self._refresh_ahead()
        super().first()

    def steps(self) -> Callable[[], None]:
        key = self.dense, self.sparse
        if key not in self._recorded:
            self._recorded[key] = self.link.recorded(super().steps(), lasts=True)
            # Arrays that recorded launches have, of which this may let go; no view, which lives as
            # long as this does.
            left_out = ("_used", "binding", "report")
            self._used.append({n: each for n, each in vars(self).items() if n not in left_out})
            self._border.make_room(self._travelling)
            self._ranks.barrier()
        return self._recorded[key]

    def turns(self) -> bool:
        turned = super().turns()
        if turned:
            if self._turned is None:
                self._turned = self.marked
            self.marked = self._turned
            self.marked.fill(0)
        return turned

    def look(self) -> None:
        self.link.settle()
        super().look()

    def go_on(self, until: int) -> None:
        super().go_on(until)
        self._ranks.barrier()  # to allocate waits for devices, and a peer's may wait for this one

    def tell_ghosts(self) -> None:
        self._border.make_room(self._travelling)
        self._ranks.barrier()  # likewise
        self._refresh()
        self.link.settle()
        self._ranks.barrier()

    # -- kernels ---------------------------------------------------------------------------------

    def _end(self, name: str, run: Any, *args: Any) -> Callable[[], None]:
        """A launch of one block of program_ranks.cu."""
        kernel = self._of_ranks(name)
        return partial(kernel.function(cooperative=False), (1,), (256,), (run, *args))

    def _of_ranks(self, name: str) -> Any:
        """A kernel of program_ranks.cu."""
        defines = {
            # What a part of a sum leaves, the whole may come back to.
            "CHECKS_AGGREGATES": "0",
            "CHECKS_JOINED": str(int(not self.program.wraps)),
        }
        return launch.loaded(self.arrays.module("program_ranks", defines).kernel(name))

    def launch(self, name: str, *args: Any, **more: Any) -> Callable[[], None]:
        launch.loaded(self.arrays.module(more.get("source", "program")).kernel(name))
        return super().launch(name, *args, **more)

    # -- blocks of sources -----------------------------------------------------------------------

    def _blocked_steps(
        self, run: Any, emitted: Any, into: tuple[Any, Any]
    ) -> list[Callable[[], None]]:
        self._ordered = ordered = cupy.empty_like(emitted)
        kernel = self._of_ranks("order_emitted")

        def order(begin: int, end: int) -> Callable[[], None]:
            given = run, emitted, self._places, ordered, np.uint64(begin), np.uint64(end)
            return partial(launch.flat, kernel, end - begin, given)

        n, owned = self.arrays.n, self.binding.view.num_owned
        if not self._overlaps:
            return [order(0, n), *super()._blocked_steps(run, ordered, into)]
        # Own values are here when a superstep begins, and of the ghosts those of the first block of
        # sources: they have come at the end of the one before. All others travel beside the sums over
        # these, which read `ordered` alone: no more than `refresh` do they write to own values. Before
        # the next `order` there is the join, and apply, which writes what `refresh` packs, is behind it.
        ahead = self._ahead
        given = run, ahead.values, self._ahead_places, np.uint64(ahead.values.size), ordered
        listed = partial(launch.flat, self._of_ranks("order_ahead"), ahead.values.size, given)
        between = [self.link.join, order(owned, n)]
        split = max(1, self._own_places // self.blocked.block)  # the first block is known
        return [
            partial(self.link.beside, self._refresh),
            order(0, owned),
            listed,
            *self._blocked_in_two(run, ordered, into, split, SPARE, between),
        ]

    def _make_ahead(self) -> None:
        """The ghosts of the first block of sources, and how many places are of what is known early."""
        owned = self.binding.view.num_owned
        ghosts = cupy.flatnonzero(self._places[owned:] < self.blocked.block) + owned
        self._ahead = Ahead(self._ranks, self._border, ghosts, self.messages.dtype)
        self._ahead_places = self._places[ghosts]
        self._own_places = owned + int(ghosts.size)

    def _refresh_ahead(self) -> None:
        self._ahead.refresh(self.emitted)

    @cached_property
    def blocked(self) -> Blocked:
        edges, of = self.arrays.edges("gather"), sizes(self.messages.dtype.itemsize)

        def make() -> Blocked:
            pairs = Pairs(row_ids(edges), self._places[edges.neighbours])  # no longer ascending
            made = Blocked(from_pairs(self.arrays.n, [pairs], edges.neighbours.dtype), *of)
            made.edges = edges  # the others are not needed any more
            return made

        key = "blocked", id(edges.offsets), of, self._overlaps
        return self.arrays.edge_view.made(key, make)

    @cached_property
    def _places(self) -> Any:
        """Place of each vertex that is here in the order of falling degrees, ghosts among own ones.

        Where most ghosts are known late, so it is in the first block of sources only: behind it come
        the own vertices, then the ghosts.
        """
        view, owned = self.arrays.view, self.binding.view.num_owned
        block = sizes(self.messages.dtype.itemsize)[0] if self._overlaps else self.arrays.n

        def make() -> Any:
            order = cupy.argsort(-view.degrees("out"))
            rest = order[block:]
            order = cupy.concatenate([order[:block], rest[rest < owned], rest[rest >= owned]])
            places = cupy.empty(self.arrays.n, view.id_dtype)
            places[order] = cupy.arange(self.arrays.n, dtype=view.id_dtype)
            return places

        return view.made(("places by degree", block), make)

    # -- the end of a superstep --------------------------------------------------------------------

    def _gather(self) -> None:
        self.link.all_gather(self._told, self._every)

    @property
    def _heard(self) -> tuple[Any, ...]:
        return self._descriptions, self._every, np.int64(self._ranks.size)

    def alone(self, run: Any, names: Sequence[str]) -> list[Callable[[], None]]:
        order = list(self.program.aggregates)
        steps: list[Callable[[], None]] = []
        for name in names:
            which = np.int64(order.index(name))
            reached, partials = self.arrays.reached, self.partials
            steps += [
                self.launch("aggregate", self.blocks, run, which, reached, partials),
                self._end("tell_one", run, which, partials, self._told),
                self._gather,
                self._end("hear_one", run, which, *self._heard),
            ]
        return steps

    def next(self, run: Any) -> list[Callable[[], None]]:
        return [self._end("hear_next", run, *self._heard)]

    def ending(self, run: Any) -> list[Callable[[], None]]:
        steps: list[Callable[[], None]] = []
        tell = [self._end("tell", run, self.partials, self._told), self._gather]
        steps += tell
        commits = bool(self.stages.alone_after)
        every = self._every
        if commits:
            # What the ranks tell of the superstep is kept: an aggregate alone is told as well.
            every = cupy.empty_like(self._every)
            vertices = -(-self.arrays.n // THREADS)
            steps += [
                partial(cupy.copyto, every, self._every),
                self._end("hear_applied", run, *self._heard),
                *self.alone(run, self.stages.alone_after),
                self.launch("commit", vertices, run),
            ]
        steps.append(self._refresh_ahead if self._overlaps else self._refresh)
        steps.append(
            self._end(
                "hear", run, self.partials, self.log, *self._choices(), self._descriptions, every,
                np.int64(self._ranks.size), np.int64(commits),
                np.int64(self.stops_on_device),
            )
        )  # fmt: skip
        return steps

    @property
    def _travelling(self) -> list[Any]:
        """What ghosts are told after a superstep."""
        flags = [] if self.every else [self.arrays.active]
        return [*(self.arrays.state[name] for name in self._sent), *flags]

    def _refresh(self) -> None:
        self._border.refresh(self._travelling)
