"""Random walks, a thread each: the same as `engine.cpu.walks` makes.

References
----------
.. [1] Yang, Zhang, Chen, Chen, Chen. KnightKing: a fast distributed graph random walk engine. SOSP 2019.
"""

from __future__ import annotations

import time
from typing import Any

import cupy
import numpy as np

from dask_graphgpu.engine.gpu import launch
from dask_graphgpu.engine.gpu.device import DeviceView
from dask_graphgpu.engine.gpu.rows_by_id import DeviceRowsById
from dask_graphgpu.engine.walking import WalkRule
from dask_graphgpu.kernels.compile import cuda
from dask_graphgpu.partition.device import elements
from dask_graphgpu.partition.device.memory import require
from dask_graphgpu.partition.view import View
from dask_graphgpu.report import Report


def random_walks(
    view: View, walks: Any, starts: Any, rule: WalkRule, report: Report
) -> tuple[Any, Any, Any]:
    """Walks from some vertices; see the contract.

    Notes
    -----
    One launch walks, one makes the rows. Of second-order walks an edge is drawn as of others and kept with a
    probability by the vertex before, else another one is drawn [1]_. The whole result lies on the device: 20 or 28
    bytes a step, by the width of ids.
    """
    begun = time.perf_counter()
    here = DeviceView.of(view)
    by_id = DeviceRowsById.of(here, here.out, "out")
    before = by_id.sums(here.out.weight, here, "out") if rule.weighted else None
    numbers, number = cupy.asarray(walks), len(walks)
    begins = elements.converted(cupy.asarray(starts), np.int64)
    of_step, of_walk = 12 + 2 * here.id_dtype.itemsize, 32
    needed = number * (of_step * (rule.length + 1) + of_walk)
    require(needed, f"{number:,} walks of {rule.length:,} steps")
    path = cupy.empty((number, rule.length + 1), here.id_dtype)
    made = cupy.empty(number, np.uint64)
    rows = launch.struct([by_id.rows.offsets, by_id.rows.neighbours, before, by_id.place])
    kernels = cuda("walks", defines=here.defines)
    launch.flat(
        kernels.kernel("walk"), number,
        (
            rows, numbers, begins, np.uint64(number), path, made, np.uint64(rule.length),
            np.uint64(rule.seed), np.float64(1 / rule.p), np.float64(1 / rule.q),
            np.float64(rule.restart),
        ),
    )  # fmt: skip
    ends = elements.offsets_of(made, np.uint64)
    total = int(ends[-1])
    found = [cupy.empty(total, kind) for kind in (np.int64, np.int32, here.id_dtype)]
    launch.flat(
        kernels.kernel("trails"),
        path.size,
        (numbers, ends, np.uint64(number), np.uint64(rule.length), path, *found),
    )
    steps = total - number
    report.advance(
        "walk", supersteps=1, frontier=number, edges=steps, bytes=steps * here.id_dtype.itemsize,
        seconds=time.perf_counter() - begun,
    )  # fmt: skip
    walk, step, vertex = (here.to_caller(each) for each in found)
    return walk, step, vertex
