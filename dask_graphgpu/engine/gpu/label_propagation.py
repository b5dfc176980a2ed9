"""Communities by labels that spread along edges: one launch.

References
----------
.. [1] Raghavan, Albert, Kumara. Near linear time algorithm to detect community structures in large-scale networks.
   Physical Review E 76 (2007).
.. [2] Iosup et al. The LDBC Graphalytics benchmark. arXiv 2011.15028.
"""

from __future__ import annotations

from typing import Any

import cupy
import numpy as np

from dask_graphgpu.engine.gpu import launch
from dask_graphgpu.engine.gpu.device import DeviceView
from dask_graphgpu.engine.gpu.runs import LaunchState
from dask_graphgpu.kernels.compile import cuda
from dask_graphgpu.partition.device.memory import require
from dask_graphgpu.partition.view import View
from dask_graphgpu.report import Report

_FIELDS = [(name, np.uint64) for name in ("barrier", "supersteps", "smalls", "larges", "edges")]


def label_propagation(view: View, iterations: int, report: Report, start: Any = None) -> Any:
    """The label of every vertex after some supersteps; as `engine.cpu.label_propagation`.

    Notes
    -----
    Labels are counted in hash tables in shared memory. O(V + E) a superstep, and more where a vertex has neighbours of
    more than 2,048 labels (1,024 of 64-bit ids), which take several passes; 3 ids a vertex. See
    kernels/cuda/label_propagation.cu.
    """
    here = DeviceView.of(view)
    n, rows = here.n, here.out
    into = here.into if here.directed else None
    ids = here.id_dtype
    require(4 * n * ids.itemsize, "propagating labels")
    labels = cupy.empty((2, n), ids)
    labels[0] = first_labels(here, start)
    if not n:
        return here.to_caller(labels[0])
    state = LaunchState(_FIELDS, {0: "pull"})
    launch.cooperative(
        cuda("label_propagation", defines=here.defines).kernel("label_propagation"),
        (
            rows.offsets, rows.neighbours,
            *launch.ends_or_null(into),
            np.uint64(n), np.uint64(iterations), np.uint32(start is None), cupy.empty(n, ids), labels,
            state.memory,
        ),
    )  # fmt: skip
    read, runs = state.read()
    for run in runs:
        run.note(report, run.edges * 2 * ids.itemsize + run.supersteps * n * 4 * ids.itemsize)
    label = labels[int(read["supersteps"]) % 2]
    return here.to_caller(here.in_dense_ids(label))


def first_labels(here: DeviceView, start: Any) -> Any:
    """Places in the order of the user's ids."""
    rank = here.user_rank
    if start is None:
        return cupy.arange(here.n, dtype=here.id_dtype) if rank is None else rank
    start = cupy.asarray(start)
    return start if rank is None else rank[start]
