"""Monotone programs on several GPUs: each improves values by itself, then those of borders travel."""

from __future__ import annotations

from typing import Any

import cupy
import numpy as np

from dask_graphgpu.engine.device_ranks.arrays import RankArrays
from dask_graphgpu.engine.device_ranks.border import DeviceBorder
from dask_graphgpu.engine.direction import configured_direction
from dask_graphgpu.engine.gpu import launch, near_far
from dask_graphgpu.engine.state import State
from dask_graphgpu.exchange.ranks import Ranks
from dask_graphgpu.report import Report


class RankInPlace:
    """One rank's part in the run of a monotone program.

    Between two exchanges it is `near_far` on one GPU. Ghosts are nobody's neighbours there, so what
    they have is what their owners have told; those that were told something better send next.
    """

    def __init__(
        self, arrays: RankArrays, ranks: Ranks, border: DeviceBorder, cutoff: Any, report: Report
    ) -> None:
        self.arrays, self.cutoff, self.report = arrays, cutoff, report
        self._ranks, self._border = ranks, border
        owned = arrays.binding.view.num_owned
        self._values = arrays.state[arrays.program.first]
        self._told = self._values[owned:].copy()
        self._told_late = arrays.reached[owned:].copy()
        self._arrived = cupy.empty(arrays.n - owned, arrays.view.id_dtype)
        self._number = cupy.zeros(1, np.uint64)
        self._kernel = launch.loaded(arrays.module("near_far_ranks").kernel("arrived"))

    def run(self) -> State:
        """Run until no value improves on any rank."""
        arrays = self.arrays
        ordered = arrays.program.priority is not None and configured_direction() == "auto"
        places: Any = arrays.sources
        number = arrays.n if places is None else len(places)
        exchanges = 0
        while self._ranks.sum(number):
            if number:
                near_far.improve(arrays, places, number, self.cutoff, None, ordered, self.report)
            # Not earlier: to allocate waits for devices, and a peer's may wait for this one.
            self._ranks.barrier()
            self._refresh()
            exchanges += 1
            places = self._senders()
            number = len(places)
        if arrays.program.has_reached:
            none = arrays.lowered.glue.identity(arrays.binding.message)
            arrays.reached |= (self._values != none).view(np.uint8)
        return arrays.result(exchanges)

    def _refresh(self) -> None:
        late = [self.arrays.reached] if self.arrays.program.has_reached else []
        self._border.refresh([self._values, *late])

    def _senders(self) -> Any:
        """The ghosts that were told something better, and send it on."""
        arrays = self.arrays
        self._number.fill(0)
        told = self._told, arrays.reached, self._told_late
        launch.flat(
            self._kernel,
            self._told.size,
            (arrays.run("send"), *told, self._arrived, self._number),
        )
        self._border.link.settle()
        found = self._arrived[: int(self._number[0])]
        arrays.active.fill(0)
        arrays.active[found] = 1
        return found
