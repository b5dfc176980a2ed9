"""Sums and extremes of values over the neighbours of every vertex: lanes for columns and neighbours."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import cupy
import numpy as np

from dask_graphgpu.engine.cuda.wrappers import c_type
from dask_graphgpu.engine.gpu import launch
from dask_graphgpu.engine.gpu.device import DeviceView, integer_types
from dask_graphgpu.engine.neighbour_rows import RESULTS, START, rows_along
from dask_graphgpu.kernels.compile import cuda
from dask_graphgpu.kernels.sizes import SIZES, WARP
from dask_graphgpu.partition.csr import Adjacency
from dask_graphgpu.partition.device.memory import require
from dask_graphgpu.partition.view import View
from dask_graphgpu.report import Report

LEAST_LANES = 8  # of a row
BLOCK, LONG = (SIZES["neighbour_statistics.cu"][name] for name in ("BLOCK", "LONG"))


def neighbour_statistics(
    view: View, values: Any, direction: str, wanted: Sequence[str], report: Report
) -> dict[str, Any]:
    """Sums and extremes of several columns of values over the neighbours of every vertex.

    Notes
    -----
    One launch for up to 32 columns and a direction, and one for rows of more than a thousand edges. Each row is added
    up in one order, so that sums are the same in every run.
    """
    here = DeviceView.of(view)
    n, width = values.shape
    require(n * (width * 8 * (1 + len(wanted)) + here.id_dtype.itemsize), "values of neighbours")
    given = cupy.ascontiguousarray(cupy.asarray(values))
    found = {name: cupy.full((n, width), START[name], RESULTS[name]) for name in wanted}
    for rows in rows_along(here, direction):
        begun = time.perf_counter()
        for first in range(0, width, WARP):
            _take_in(rows, given, first, found)
        cupy.cuda.get_current_stream().synchronize()
        edges = rows.num_edges
        report.advance(
            "pull", supersteps=1, frontier=n, edges=edges,
            bytes=edges * (rows.neighbours.itemsize + 8 * width) + n * width * 8 * len(wanted),
            seconds=time.perf_counter() - begun,
        )  # fmt: skip
    return {name: here.to_caller(array) for name, array in found.items()}


def _take_in(rows: Adjacency, values: Any, first: int, found: dict[str, Any]) -> None:
    """Take the neighbours' values of the columns from ``first`` on, as many as a warp has lanes, into what is found."""
    n, width = values.shape
    last = min(first + WARP, width)
    stride = 1 << (last - first - 1).bit_length()
    kind = np.dtype(np.uint8) if rows.weight is None else rows.weight.dtype
    types = integer_types(rows.neighbours.dtype, rows.offsets.dtype)
    kernel = cuda("neighbour_statistics", defines={**types, "WEIGHT": c_type(kind)}).kernel
    job = launch.struct(
        [
            rows.offsets, rows.neighbours, rows.weight, values, width, first, last, stride,
            *(found.get(name) for name in START),
        ]
    )  # fmt: skip
    lanes = max(stride, LEAST_LANES)
    longs = cupy.empty(rows.num_edges // LONG, rows.neighbours.dtype)
    size = cupy.zeros(1, cupy.uint32)
    launch.flat(
        kernel("short_rows"),
        n * lanes,
        (job, np.uint64(n), np.uint32(lanes), longs, size),
        threads=BLOCK,
    )
    launch.flat(kernel("long_rows"), len(longs) * BLOCK, (job, longs, size), threads=BLOCK)
