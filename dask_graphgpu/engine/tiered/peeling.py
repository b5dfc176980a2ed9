"""Core numbers by peeling, over edges in host memory: each vertex's row is brought once, when it leaves.

References
----------
.. [1] Batagelj, Zaversnik. An O(m) algorithm for cores decomposition of networks. 2003.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from dask_graphgpu.engine.tiered.rows import TieredRows
    from dask_graphgpu.partition.view import View
    from dask_graphgpu.report import Report

_VERTEX = 16  # bytes: a degree, flags, and what is compared on the way


def core_numbers(view: View, report: Report) -> Any:
    """Core number of every vertex in the simple undirected graph; as `engine.gpu.core_numbers`.

    Parameters
    ----------
    view : View
        Only `symmetric` is used, in host memory or on disk.
    report : Report
        Gets one row, "peel", and what was moved.

    Returns
    -------
    array of int64, shape (num_vertices,)

    Raises
    ------
    LimitTooSmall
        What belongs to vertices needs more than ``graphgpu.device-memory-limit``.

    Notes
    -----
    Vertices of the least degree that is left go together, then those that come down to it by that [1]_. Each time
    takes the host a look: some tens of microseconds, as often as there are layers in the peel.
    """
    return _peeled(view, None, report)[0].astype(np.int64)


def k_core(view: View, k: int, report: Report) -> Any:
    """Whether each vertex is in the k-core: bool, shape (num_vertices,). As `core_numbers`, up to level k."""
    return _peeled(view, int(k), report)[1]


def _peeled(view: View, most: int | None, report: Report) -> tuple[Any, Any]:
    """Degrees that are left, those of who has gone the core numbers; and who has not gone below ``most``."""
    import cupy

    from dask_graphgpu.engine.gpu.device import DeviceView
    from dask_graphgpu.engine.tiered.copies import to_device
    from dask_graphgpu.engine.tiered.rows import TieredRows

    here = DeviceView.of(view)
    simple = here.made("simple", view.simple)
    n, began, ids = here.n, time.perf_counter(), here.id_dtype
    if not n:
        return here.to_caller(cupy.empty(0, np.uint32)), here.to_caller(cupy.empty(0, bool))

    def peeled(rows: TieredRows) -> tuple[Any, Any]:
        degree = to_device(simple.out.degrees.astype(np.uint32), rows.tier.kept)
        left, due, steps = cupy.ones(n, bool), cupy.zeros(n, np.uint8), 0
        while True:
            level = int(cupy.where(left, degree, np.uint32(2**32 - 1)).min())
            if level >= (2**32 - 1 if most is None else most):
                break
            go = rows.along("peel_part", degree, np.uint32(level), due, rows.read)
            due[:] = left & (degree == level)
            while bool(due.any()):
                left &= due == 0
                rows.active[:] = due
                due.fill(0)
                rows.transfer.superstep(rows.active, go)
                steps += 1
        read = int(rows.read[0])
        report.advance(
            "peel", supersteps=steps, frontier=n, edges=read,
            bytes=read * (ids.itemsize + 4) + steps * n * 8, seconds=time.perf_counter() - began,
        )  # fmt: skip
        return rows.to_caller(degree), rows.to_caller(left)

    what = "core numbers"
    found: tuple[Any, Any] = TieredRows.run(
        simple, "tier_peeling", {}, _VERTEX, what, report, peeled
    )
    return found
