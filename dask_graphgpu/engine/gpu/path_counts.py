"""Number of shortest paths from a source, over finished breadth-first levels: one launch."""

from __future__ import annotations

from typing import Any

import cupy
import numpy as np

from dask_graphgpu.engine.cuda.wrappers import c_type
from dask_graphgpu.engine.gpu import launch
from dask_graphgpu.engine.gpu.degree_lists import degree_lists
from dask_graphgpu.engine.gpu.device import DeviceView
from dask_graphgpu.engine.gpu.runs import LaunchState
from dask_graphgpu.engine.path_failures import check_counts
from dask_graphgpu.kernels.compile import cuda
from dask_graphgpu.partition.view import View
from dask_graphgpu.report import Report

_FIELDS = [(name, np.uint64) for name in ("barrier", "overflow", "read")]


def path_counts(view: View, source: int, level: Any, *, dtype: str, report: Report) -> Any:
    """Number of paths of fewest edges from `source`; as `engine.cpu.path_counts`.

    Notes
    -----
    Vertices add their counts to their out-neighbours', a level after the other: one read of each
    edge of the reached vertices, and an atomic for each that leads to the next level.
    """
    here = DeviceView.of(view)
    rows, n = here.out, here.n
    level = cupy.asarray(level)
    count = cupy.empty(n, dtype)
    lists, separators = degree_lists(rows)
    state = LaunchState(_FIELDS, {0: "push"})
    kernel = cuda("path_counts", defines={**here.defines, "COUNT": c_type(count.dtype)})
    launch.cooperative(
        kernel.kernel("path_counts"),
        (
            rows.offsets, rows.neighbours, np.uint64(n), here.id_dtype.type(source), level, count,
            cupy.empty((n + 31) // 32, cupy.uint32), *lists, *separators, state.memory,
        ),
    )  # fmt: skip
    read, (run,) = state.read()
    check_counts(failed=bool(read["overflow"]))
    run.note(
        report, run.edges * (here.id_dtype.itemsize + level.itemsize) + n * (16 + count.itemsize)
    )
    return here.to_caller(count)
