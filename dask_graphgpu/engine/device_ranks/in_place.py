"""Monotone programs on several GPUs: each improves values by itself, then those of borders travel.

In near-far order they go in stretches, as the ranks of the CPU engine do (`engine.ranks.in_place`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dask_graphgpu.engine.buckets import raised
from dask_graphgpu.engine.device_ranks.arrays import RankArrays
from dask_graphgpu.engine.device_ranks.border import DeviceBorder
from dask_graphgpu.engine.device_ranks.near_far import RankNearFar
from dask_graphgpu.engine.direction import configured_direction
from dask_graphgpu.engine.gpu import launch, near_far
from dask_graphgpu.engine.state import State
from dask_graphgpu.exchange.ranks import Ranks
from dask_graphgpu.report import Report

# Edges that a rank reads in a stretch, in the mean, below which the next one is wider: to read them
# takes no longer than an exchange. Above four times as many it is narrower.
FEW_EDGES = 1 << 20

# Edges read for each ghost that is told something, below which the next stretch is narrower too, but
# for those that are short: where all neighbours are remote most of it is in vain.
FEW_EDGES_A_VALUE = 4

# Buckets in a stretch, at most.
_WIDEST = 1 << 20


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
        macros = near_far.defines(self._values.dtype)
        self._kernel = launch.loaded(arrays.module("near_far_ranks", macros).kernel("arrived"))

    def run(self) -> State:
        """Run until no value improves on any rank."""
        arrays, lists = self.arrays, self._lists
        if arrays.program.active is None:  # else it is not known who sends in the end
            lists.forgive()
        places: Any = arrays.sources
        if places is None or len(places):
            lists.start(places)
        until, buckets, exchanges = lists.highest, 1, 0
        delta: Any = None
        if lists.ordered:
            delta = self._delta(places)
            until = lists.lowest  # the first stretch finds the least priority there is
        self._border.make_room(self._travelling)
        pending = self._ranks.sum(int(lists.control["far"][0]))
        while pending:
            edges = lists.stretch(until)
            far = int(lists.control["far"][0])
            # Not earlier: to allocate waits for devices, and a peer's may wait for this one.
            self._ranks.barrier()
            self._border.refresh(self._travelling)
            exchanges += 1
            lists.arrive(self._kernel, self._told, self._told_late)
            self._border.link.settle()
            pending, arrivals, least = lists.left(far)
            told = [pending, arrivals, edges, least]
            every = self._ranks.scalars(told if lists.whole else [float(x) for x in told])
            pending, arrivals, edges = every[:, :3].sum(axis=0).tolist()
            if until == lists.lowest:
                buckets = 1
            elif edges < FEW_EDGES * len(every):
                buckets = min(2 * buckets, _WIDEST)
            elif edges < FEW_EDGES_A_VALUE * arrivals or edges > 4 * FEW_EDGES * len(every):
                buckets = max(buckets // 2, 1)
            if lists.ordered:
                until = raised(every[:, 3].min().item(), buckets * delta, lists.whole)
        if self._ranks.max(int(lists.control["failed"][0])):
            lists.check()
        if arrays.program.has_reached:
            none = arrays.lowered.glue.identity(arrays.binding.message)
            arrays.reached |= (self._values != none).view(np.uint8)
        return arrays.result(exchanges)

    def _delta(self, places: Any) -> Any:
        """The width of a bucket, the same on all ranks: the largest that a rank has measured."""
        there = places is None or len(places) > 0
        measured = self._lists.measured(places) if there and self.arrays.n else 0.0
        return self._lists.widen(float(self._ranks.max(measured)))

    @property
    def _travelling(self) -> list[Any]:
        """What ghosts are told after a stretch."""
        return [self._values, *([self.arrays.reached] if self.arrays.program.has_reached else [])]
