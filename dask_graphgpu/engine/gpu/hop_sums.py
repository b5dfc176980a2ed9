"""Sums over breadth-first searches from many sources: levels of a sweep are added up where they are."""

from __future__ import annotations

from typing import Any

import cupy
import numpy as np

from dask_graphgpu.engine.gpu import launch
from dask_graphgpu.engine.gpu.device import DeviceView
from dask_graphgpu.engine.gpu.multi_bfs import search
from dask_graphgpu.kernels.compile import cuda
from dask_graphgpu.partition.device.memory import require
from dask_graphgpu.partition.view import View
from dask_graphgpu.report import Report

AT_ONCE = 64  # searches of one sweep


def hop_sums(view: View, sources: Any, *, report: Report) -> Any:
    """Sums over searches from many sources: of how many reach each vertex, and of their hops.

    Notes
    -----
    A launch more for each sweep of `multi_bfs`; 40 bytes a vertex more.
    """
    here = DeviceView.of(view)
    require(here.n * 40, "sums over searches")
    sums = cupy.zeros((here.n, 5), np.float64)
    kernel = cuda("hop_sums").kernel("add_levels")
    for first in range(0, len(sources), AT_ONCE):
        level = search(here, sources[first : first + AT_ONCE], None, None, report)
        searches, stride = level.shape
        launch.flat(
            kernel, here.n, (level, np.uint64(stride), np.uint64(here.n), np.uint32(searches), sums)
        )
    return here.to_caller(sums)
