"""Monotone programs on several GPUs: each improves values by itself, then those of borders travel.

In near-far order they go in stretches, as the ranks of the CPU engine do (`engine.ranks.in_place`).
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import cupy
import numpy as np

from dask_graphgpu.engine.device_ranks.arrays import RankArrays
from dask_graphgpu.engine.device_ranks.border import DeviceBorder
from dask_graphgpu.engine.device_ranks.ghost_updates import News
from dask_graphgpu.engine.device_ranks.near_far import PriorityStretches, RankNearFar
from dask_graphgpu.engine.gpu.checkpoints import CheckpointStretches, in_place_kept, put
from dask_graphgpu.engine.keeping import Keeping
from dask_graphgpu.engine.options import configured_direction
from dask_graphgpu.engine.state import Binding, State
from dask_graphgpu.exchange.nccl import Recorded
from dask_graphgpu.exchange.ranks import Ranks
from dask_graphgpu.report import Report

# Stretches that are queued before the host looks whether they are over, behind as many others. One where
# what travels is large: those that are queued behind the last stretch send it in vain.
AHEAD, _LARGE = 2, 1 << 24

# Places in the lists of all ranks for each ghost that was told something, from which on the next ones
# are told by list.
FEW_NEWS = 4


class RankInPlace:
    """One rank's part in runs of a monotone program.

    Between two exchanges it is `near_far` on one GPU. Ghosts are nobody's neighbours there, so what
    they have is what their owners have told; those that were told something better send next.

    Attributes
    ----------
    lasts : bool
        Whether later runs use it too, by `again`. They go on with the buckets' width of the first one.
    """

    def __init__(
        self,
        arrays: RankArrays,
        ranks: Ranks,
        border: DeviceBorder,
        cutoff: Any,
        report: Report,
        *,
        lasts: bool,
    ) -> None:
        self.arrays = arrays
        self.lasts = arrays.lasts = lasts
        self._ranks, self._border = ranks, border
        owned = arrays.binding.view.num_owned
        self._values = arrays.state[arrays.program.first]
        self._told = self._values[owned:].copy()
        self._told_late = arrays.reached[owned:].copy()
        # Whether what there is at the start is numbers, of one field.
        fields = list(arrays.program.state.values())
        start = [
            value for each in fields for value in (each.initial, each.at_source, each.vertices)
        ]
        self._quick = len(fields) == 1 and not any(map(callable, start)) and start[2] is None
        self._placed = False  # sources are already where the first stretch finds them
        ordered = arrays.program.priority is not None and configured_direction() == "auto"
        self._lists = RankNearFar(arrays, cutoff, None, ordered=ordered, report=report)
        ghosts = int(ranks.max(arrays.n - owned))
        delta = self._delta() if ordered else None
        self._stretches = PriorityStretches(self._lists, delta, ghosts)
        self._every = cupy.zeros((ranks.size, self._stretches.told.size), np.uint64)
        self._rooms = [self._stretches.room(), self._stretches.room()]
        self._news = News(self._stretches.kernels, self._lists.given, border, self._travelling)
        self._room = int(ranks.sum(self._news.room))
        sent = ghosts * sum(array.dtype.itemsize for array in self._travelling)
        self._ahead = 1 if sent > _LARGE else AHEAD
        recorded = border.link.recorded
        self._whole = recorded(partial(self._exchange, self._refresh), lasts=True)
        self._listed = recorded(partial(self._exchange, self._tell_news), lasts=True)

    # -- from run to run -------------------------------------------------------------------------

    def release(self) -> None:
        """Let go of what is a run's until `again`."""
        del self._lists.report
        self.arrays.release()

    def again(self, binding: Binding, places: np.ndarray | None, report: Report) -> None:
        """Get ready for another run, which differs from the last one in sources alone."""
        arrays, lists = self.arrays, self._lists
        self._placed = places is not None and self._quick and lists.fit(places)
        if self._placed:
            arrays.rebind(binding, places)
            lists.restart(report, places, self._told, self._told_late)
        else:
            arrays.restart(binding, places)
            self._hear()
            lists.clear(report)

    def forget(self) -> None:
        """End what was recorded."""
        self._whole.forget()
        self._listed.forget()
        del self._whole, self._listed  # they hold this

    def _hear(self) -> None:
        """What ghosts have is what their owners have told."""
        owned = self.arrays.binding.view.num_owned
        self._told[...] = self._values[owned:]
        self._told_late[...] = self.arrays.reached[owned:]

    # -- checkpoints -----------------------------------------------------------------------------

    def kept(self) -> dict[str, np.ndarray]:
        """What to keep so that `resume` can go on from here."""
        return in_place_kept(self.arrays)

    def resume(self, columns: Mapping[str, np.ndarray]) -> None:
        """Take what was kept for the state at the start, at ghosts too; collective."""
        arrays = self.arrays
        arrays.sources, self._placed = put(arrays, columns), False
        reached = [arrays.reached] if arrays.program.has_reached else []
        self._border.make_room([self._values, *reached])
        self._ranks.barrier()  # to allocate waits for devices, and a peer's may wait for this one
        self._border.refresh([self._values, *reached])
        self._border.link.settle()
        self._ranks.barrier()
        if arrays.program.has_reached:
            arrays.active[...] = arrays.reached
            arrays.sources = np.flatnonzero(cupy.asnumpy(arrays.active))
        self._hear()

    # -- a run -----------------------------------------------------------------------------------

    def run(self, kept: Keeping | None = None) -> State:
        """Run until no value improves on any rank.

        ``kept`` has the state kept whenever that is due, and may have one to go on from.
        """
        arrays, lists = self.arrays, self._lists
        if kept is not None and kept.found is not None:
            self.resume(kept.found.columns)
        if arrays.program.active is None:  # else it is not known who sends in the end
            lists.forgive()
        self._stretches.begin(arrays.sources, placed=self._placed)
        for recorded in (self._whole, self._listed):
            recorded.prepare()
        exchanges = 0
        # Nobody goes on before all are here: to allocate waits for devices, and a peer's may wait for
        # this one.
        if self._ranks.sum(int(lists.control["far"][0])):
            exchanges = self._improve() if kept is None else self._improve_and_keep(kept)
        if self._ranks.max(int(lists.control["failed"][0])):
            lists.check()
        if arrays.program.has_reached:
            none = arrays.lowered.glue.identity(arrays.binding.message)
            arrays.reached |= (self._values != none).view(np.uint8)
        return arrays.result(exchanges)

    def _improve(self) -> int:
        """Go on in stretches, with an exchange after each, until no rank has any left; how many."""
        link, lists, stretches = self._border.link, self._lists, self._stretches
        looks: deque[tuple[Any, list[np.ndarray]]] = deque()
        rooms, began = list(self._rooms), time.perf_counter()
        exchange, news = self._whole, 0
        if lists.ordered:
            # The first stretch finds the least priority that there is, and improves nothing. What the
            # peers have at the start they know by themselves.
            self._border.keep_packed(self._travelling)
            lists.go_on()
            self._listed()
        while True:
            for _ in range(self._ahead):
                lists.go_on()
                exchange()
            looks.append((cupy.cuda.Event(disable_timing=True), rooms[0]))
            rooms.reverse()  # the other one may be waited for
            stretches.look(looks[-1][1])
            looks[-1][0].record()
            if len(looks) == 1:
                continue
            event, room = looks.popleft()
            link.wait(event)
            before, began = began, time.perf_counter()
            agreed = self._seen(room, began - before)
            if agreed["over"]:
                link.settle()  # what is queued waits for the peers too
                return int(agreed["exchanges"])
            last, news = news, int(agreed["news"])
            exchange = self._next_exchange(news, last)

    def _next_exchange(self, news: int, last: int) -> Recorded:
        """A list where few values were told, and not more than before; else the whole border.

        The same on all ranks. What does not fit the list is told later.
        """
        few = news * FEW_NEWS < self._room and news <= last
        return self._listed if few else self._whole

    def _improve_and_keep(self, kept: Keeping) -> int:
        """The same, with looks at whether the state is due: nothing is queued behind these."""
        link, done = self._border.link, 0
        lengths = CheckpointStretches(kept.keeper, self._ranks.max)
        while True:
            began = time.perf_counter()
            for _ in range(lengths.after(done)):
                self._lists.go_on()
                self._whole()
            self._stretches.look(self._rooms[0])
            link.settle()
            agreed = self._seen(self._rooms[0], time.perf_counter() - began)
            lengths.done()
            done = int(agreed["exchanges"])
            if agreed["over"]:
                return done
            kept.after(done, {})

    def _exchange(self, travel: Callable[[], None]) -> None:
        """Queue what comes between two stretches."""
        stretches, link = self._stretches, self._border.link
        travel()
        stretches.tell(*self._news.told)
        link.all_gather(stretches.told, self._every)
        stretches.choose(self._every)

    def _refresh(self) -> None:
        self._border.refresh(self._travelling)
        self._stretches.arrive(self._told, self._told_late)

    def _tell_news(self) -> None:
        self._news.queue(self._told, self._told_late)

    def _seen(self, room: list[np.ndarray], seconds: float) -> Any:
        """What the device says, with a row for the report."""
        lists = self._lists
        rounds, read = (int(lists.control[name][0]) for name in ("rounds", "all_edges"))
        agreed = self._stretches.seen(room)
        lists.advance(rounds, read, frontier=int(lists.control["far"][0]), seconds=seconds)
        return agreed

    def _delta(self) -> Any:
        """The width of a bucket, the same on all ranks: the largest that a rank has measured."""
        places = self.arrays.sources
        there = places is None or len(places) > 0
        measured = self._lists.measured(places) if there and self.arrays.n else 0.0
        return self._lists.width(float(self._ranks.max(measured)))

    @property
    def _travelling(self) -> list[Any]:
        """What ghosts are told after a stretch."""
        return [self._values, *([self.arrays.reached] if self._may_be_late else [])]

    @property
    def _may_be_late(self) -> bool:
        """Whether values do not say who is reached: as MAY_BE_LATE of improve.cuh."""
        arrays = self.arrays
        dtype = arrays.binding.dtypes[arrays.program.first]
        narrow = dtype == np.int64 and arrays.lowered.glue.storage(dtype) != dtype
        return bool(arrays.program.has_reached) and not narrow
