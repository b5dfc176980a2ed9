"""Hubs and authorities by power iteration: one launch.

References
----------
.. [1] Kleinberg. Authoritative sources in a hyperlinked environment. J. ACM 46 (1999).
"""

from __future__ import annotations

from typing import Any

import cupy
import numpy as np

from dask_graphgpu.engine.cuda.wrappers import c_type
from dask_graphgpu.engine.gpu import launch
from dask_graphgpu.engine.gpu.device import DeviceView
from dask_graphgpu.engine.gpu.runs import LaunchState
from dask_graphgpu.engine.loop import check_converged
from dask_graphgpu.kernels.compile import cuda
from dask_graphgpu.partition.device.memory import require
from dask_graphgpu.partition.view import View
from dask_graphgpu.report import Report

_FIELDS = [
    ("barrier", np.uint64), ("converged", np.uint64), ("change", np.float64),
    *((name, np.uint64) for name in ("mediums", "mediums_into", "larges", "larges_into")),
]  # fmt: skip


def hits(view: View, tolerance: float, max_iterations: int, report: Report) -> tuple[Any, Any]:
    """Hub and authority score of every vertex, each with sum 1; as `engine.cpu.hits`.

    Notes
    -----
    Each row is added up in one order, so that scores are the same in every run. Two passes over the edges an iteration;
    24 bytes and two ids a vertex. See kernels/cuda/hits.cu.
    """
    here = DeviceView.of(view)
    n, out, into = here.n, here.out, here.into
    ids = here.id_dtype
    require(n * (24 + 2 * ids.itemsize), "finding hubs and authorities")
    hub, authority = cupy.empty((2, n), np.float64), cupy.empty(n, np.float64)
    if not n:
        return here.to_caller(hub[0]), here.to_caller(authority)
    hub[0] = 1 / n
    weight = out.weight
    kind = np.dtype(np.uint8) if weight is None else weight.dtype
    kernel = cuda("hits", defines={**here.defines, "WEIGHT": c_type(kind)}).kernel("hits")
    state = LaunchState(_FIELDS, {0: "pull"})
    launch.cooperative(
        kernel,
        (
            out.offsets, out.neighbours, launch.or_null(weight),
            into.offsets, into.neighbours, launch.or_null(into.weight),
            np.uint64(n), np.uint64(2 * here.num_edges), np.float64(tolerance),
            np.uint64(max_iterations), cupy.empty(2 * n, ids), hub, authority,
            cupy.empty(3 * launch.resident_blocks(kernel), np.float64), state.memory,
        ),
    )  # fmt: skip
    read, runs = state.read()
    (run,) = runs
    run.note(report, run.edges * 12 + run.supersteps * n * 64)
    if not read["converged"]:
        check_converged(tolerance, max_iterations, float(read["change"]))
    return here.to_caller(hub[run.supersteps % 2]), here.to_caller(authority)
