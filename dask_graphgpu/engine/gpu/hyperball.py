"""HyperBall: how many vertices are within each distance of every vertex, by HyperLogLog counters.

References
----------
.. [1] Boldi, Vigna. In-core computation of geometric centralities with HyperBall: a hundred billion nodes and beyond.
   ICDM workshops (2013).
"""

from __future__ import annotations

import time
from typing import Any

import cupy
import numpy as np

from dask_graphgpu.engine.gpu import launch
from dask_graphgpu.engine.gpu.device import DeviceView, integer_types
from dask_graphgpu.engine.hyperloglog import counters, start_of
from dask_graphgpu.engine.neighbour_rows import rows_along
from dask_graphgpu.kernels.compile import cuda
from dask_graphgpu.kernels.sizes import SIZES, WARP
from dask_graphgpu.partition.device.memory import require
from dask_graphgpu.partition.view import View
from dask_graphgpu.report import Report

# Threads of a block, and edges from which a row is a block's.
BLOCK, LONG = (SIZES["hyperball.cu"][name] for name in ("BLOCK", "LONG"))

_OF_LANE = 16  # registers


def hyperball(view: View, hashes: Any, precision: int, direction: str, *, report: Report) -> Any:
    """Estimates of how many vertices are within each distance of every vertex, added up; as `engine.cpu.hyperball`.

    Notes
    -----
    Two launches a step, and a look of the host. Lanes side by side take 16 registers each of one counter.
    """
    here = DeviceView.of(view)
    n, (rows,) = here.n, rows_along(here, direction)
    size = 1 << precision
    require(n * (2 * size + 66), f"counters of {n:,} vertices of {size:,} bytes each")
    given = cupy.asarray(hashes)
    balls, registers = start_of(given), counters(given, precision)
    grown = registers.copy()
    changed, changes = cupy.ones(n, np.uint8), cupy.zeros(n, np.uint8)
    longs = cupy.flatnonzero(rows.degrees >= LONG).astype(rows.neighbours.dtype)
    lanes = min(size // _OF_LANE, WARP)
    kernel = cuda(
        "hyperball", defines=integer_types(rows.neighbours.dtype, rows.offsets.dtype)
    ).kernel
    step, left = 0, 1
    while left:
        step, begun = step + 1, time.perf_counter()
        count = cupy.zeros(1, np.uint64)
        job = launch.struct([
            rows.offsets, rows.neighbours, registers, grown, changed, changes, balls, count,
            size // _OF_LANE, lanes, step,
        ])  # fmt: skip
        launch.flat(kernel("short_rows"), n * lanes, (job, np.uint64(n)), threads=BLOCK)
        launch.flat(
            kernel("long_rows"),
            len(longs) * BLOCK,
            (job, longs, np.uint64(len(longs))),
            threads=BLOCK,
        )
        left = int(count.item())
        registers, grown = grown, registers
        changed, changes = changes, changed
        report.advance(
            "pull", supersteps=1, frontier=left, edges=rows.num_edges,
            bytes=rows.num_edges * (rows.neighbours.itemsize + 1) + n * size,
            seconds=time.perf_counter() - begun,
        )  # fmt: skip
    return here.to_caller(balls)
