"""The nearest of some targets for every vertex, on the device: supersteps, a warp a row."""

from __future__ import annotations

import time
from typing import Any

import cupy
import numpy as np

from dask_graphgpu.engine.cuda.wrappers import c_type
from dask_graphgpu.engine.gpu import launch
from dask_graphgpu.engine.gpu.device import DeviceView
from dask_graphgpu.engine.path_failures import check_distances
from dask_graphgpu.kernels.compile import cuda
from dask_graphgpu.kernels.sizes import WARP
from dask_graphgpu.partition.device.memory import require
from dask_graphgpu.partition.view import View
from dask_graphgpu.report import Report


def nearest(
    view: View, targets: np.ndarray, k: int, limit: float | None, report: Report
) -> tuple[Any, Any]:
    """The ``k`` nearest targets of each vertex; see `contract_searches.Searches`.

    Notes
    -----
    In a superstep the vertices that have an edge to one whose labels have changed choose theirs anew: a pass over the
    row for each label. As many supersteps as the longest of the paths has edges, and more where paths of fewer edges
    are longer. Memory: 16 k bytes a vertex, and as much for those that are looked at in a superstep.
    """
    begun = time.perf_counter()
    here = DeviceView.of(view)
    out, into, n = here.out, here.into, here.n
    weight = out.weight
    kind: Any = np.float64 if weight is not None and weight.dtype.kind == "f" else np.int64
    most = kind(np.inf if kind is np.float64 else np.iinfo(np.int64).max)
    if limit is not None and limit < most:
        most = kind(limit)
    require(n * (32 * k + 24), f"{k:,} labels of {n:,} vertices")
    defines = here.defines | {
        "WEIGHT": c_type(np.dtype(np.uint8) if weight is None else weight.dtype),
        "DISTANCE": c_type(np.dtype(kind)),
    }
    kernels = cuda("nearest", defines=defines)
    far, who = cupy.zeros((n, k), kind), cupy.full((n, k), -1, np.int64)
    changed = cupy.asarray(targets.astype(np.int64))
    who[changed, 0] = cupy.arange(len(targets))
    labels = launch.struct([out.offsets, out.neighbours, weight, far, who, k])
    overflows = cupy.zeros(1, np.uint32)
    steps = looked_at = 0
    while len(changed):
        due = cupy.zeros(n, np.bool_)
        given = into.offsets, into.neighbours, changed, np.uint64(len(changed)), due
        launch.flat(kernels.kernel("mark"), len(changed) * WARP, given)
        some = cupy.flatnonzero(due)
        new_far, new_who = cupy.empty((len(some), k), kind), cupy.empty((len(some), k), np.int64)
        others = cupy.zeros(len(some), np.bool_)
        launch.flat(
            kernels.kernel("improve"), len(some) * WARP,
            (labels, some, np.uint64(len(some)), most, new_far, new_who, others, overflows),
        )  # fmt: skip
        places = cupy.flatnonzero(others)
        changed = some[places]
        far[changed], who[changed] = new_far[places], new_who[places]
        steps, looked_at = steps + 1, looked_at + len(some)
    check_distances(failed=limit is None and bool(overflows[0]))
    report.advance(
        "labels", supersteps=steps, frontier=looked_at, edges=0, bytes=looked_at * 32 * k,
        seconds=time.perf_counter() - begun,
    )  # fmt: skip
    return here.to_caller(far), here.to_caller(who)
