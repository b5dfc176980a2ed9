"""Monotone programs on several GPUs: each improves values by itself, then those of borders travel.

In near-far order they go in stretches, as the ranks of the CPU engine do (`engine.ranks.in_place`).
"""

from __future__ import annotations

import time
from collections import deque
from typing import Any

import cupy
import numpy as np

from dask_graphgpu.engine.device_ranks.arrays import RankArrays
from dask_graphgpu.engine.device_ranks.border import DeviceBorder
from dask_graphgpu.engine.device_ranks.near_far import RankNearFar, Stretches
from dask_graphgpu.engine.direction import configured_direction
from dask_graphgpu.engine.state import State
from dask_graphgpu.exchange.ranks import Ranks
from dask_graphgpu.report import Report

# Stretches that are queued before the host looks whether they are over, behind as many others.
AHEAD = 2


class RankInPlace:
    """One rank's part in the run of a monotone program.

    Between two exchanges it is `near_far` on one GPU. Ghosts are nobody's neighbours there, so what
    they have is what their owners have told; those that were told something better send next.
    """

    def __init__(
        self, arrays: RankArrays, ranks: Ranks, border: DeviceBorder, cutoff: Any, report: Report
    ) -> None:
        self.arrays = arrays
        self._ranks, self._border = ranks, border
        owned = arrays.binding.view.num_owned
        self._values = arrays.state[arrays.program.first]
        self._told = self._values[owned:].copy()
        self._told_late = arrays.reached[owned:].copy()
        ordered = arrays.program.priority is not None and configured_direction() == "auto"
        self._lists = RankNearFar(arrays, cutoff, None, ordered=ordered, report=report)

    def run(self) -> State:
        """Run until no value improves on any rank."""
        arrays, lists = self.arrays, self._lists
        if arrays.program.active is None:  # else it is not known who sends in the end
            lists.forgive()
        places: Any = arrays.sources
        if places is None or len(places):
            lists.start(places)
        until, delta, exchanges = lists.highest, None, 0
        if lists.ordered:
            delta = self._delta(places)
            until = lists.lowest  # the first stretch finds the least priority there is
        if self._ranks.sum(int(lists.control["far"][0])):
            exchanges = self._improve(until, delta)
        if self._ranks.max(int(lists.control["failed"][0])):
            lists.check()
        if arrays.program.has_reached:
            none = arrays.lowered.glue.identity(arrays.binding.message)
            arrays.reached |= (self._values != none).view(np.uint8)
        return arrays.result(exchanges)

    def _improve(self, until: Any, delta: Any) -> int:
        """Go on in stretches, with an exchange after each, until no rank has any left; how many."""
        link, lists = self._border.link, self._lists
        stretches = lists.stretches(until, delta)
        every = cupy.zeros((self._ranks.size, stretches.told.size), np.uint64)
        self._border.make_room(self._travelling)

        def exchange() -> None:
            self._border.refresh(self._travelling)
            stretches.arrive(self._told, self._told_late)
            stretches.tell()
            link.all_gather(stretches.told, every)
            stretches.choose(every)

        recorded = link.recorded(exchange)
        looks: deque[tuple[Any, list[np.ndarray]]] = deque()
        rooms, began = [stretches.room(), stretches.room()], time.perf_counter()
        self._ranks.barrier()  # to allocate waits for devices, and a peer's may wait for this one
        while True:
            for _ in range(AHEAD):
                lists.go_on()
                recorded()
            looks.append((cupy.cuda.Event(disable_timing=True), rooms[0]))
            rooms.reverse()  # the other one may be waited for
            stretches.look(looks[-1][1])
            looks[-1][0].record()
            if len(looks) == 1:
                continue
            event, room = looks.popleft()
            link.wait(event)
            before, began = began, time.perf_counter()
            agreed = self._seen(stretches, room, began - before)
            if agreed["over"]:
                link.settle()  # what is queued waits for the peers too
                return int(agreed["exchanges"])

    def _seen(self, stretches: Stretches, room: list[np.ndarray], seconds: float) -> Any:
        """What the device says, with a row for the report."""
        lists = self._lists
        rounds, read = (int(lists.control[name][0]) for name in ("rounds", "all_edges"))
        agreed = stretches.seen(room)
        lists.advance(rounds, read, frontier=int(lists.control["far"][0]), seconds=seconds)
        return agreed

    def _delta(self, places: Any) -> Any:
        """The width of a bucket, the same on all ranks: the largest that a rank has measured."""
        there = places is None or len(places) > 0
        measured = self._lists.measured(places) if there and self.arrays.n else 0.0
        return self._lists.widen(float(self._ranks.max(measured)))

    @property
    def _travelling(self) -> list[Any]:
        """What ghosts are told after a stretch."""
        return [self._values, *([self.arrays.reached] if self.arrays.program.has_reached else [])]
