"""The arrays of a run on one of several GPUs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dask_graphgpu.engine.device_ranks.view import RankDeviceView
from dask_graphgpu.engine.gpu.arrays import Arrays
from dask_graphgpu.engine.gpu.device import DeviceView
from dask_graphgpu.engine.state import Binding
from dask_graphgpu.exchange.ranks import Ranks

if TYPE_CHECKING:
    from dask_graphgpu.partition.view import View


class RankArrays(Arrays):
    """`Arrays` of a rank's vertices and ghosts, in types that are the same on all ranks."""

    def __init__(
        self, binding: Binding, ranks: Ranks, sources: np.ndarray | None, *, every: bool
    ) -> None:
        self._ranks = ranks
        super().__init__(binding, sources, every=every)

    def _everywhere(self, fits: bool) -> bool:
        return bool(self._ranks.min(int(fits)))

    def _on_device(self, view: View) -> DeviceView:
        return RankDeviceView.of(view)
