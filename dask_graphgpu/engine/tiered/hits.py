"""Hubs and authorities over edges in host memory: two passes an iteration, both over rows by source.

References
----------
.. [1] Kleinberg. Authoritative sources in a hyperlinked environment. J. ACM 46 (1999).
"""

from __future__ import annotations

import time
from typing import Any

import cupy
import numpy as np

from dask_graphgpu.engine.cuda.wrappers import c_type
from dask_graphgpu.engine.gpu.device import DeviceView
from dask_graphgpu.engine.loop import check_converged
from dask_graphgpu.engine.tiered.rows import TieredRows
from dask_graphgpu.partition.view import View
from dask_graphgpu.report import Report

_VERTEX = 6 * 8  # bytes: scores before and after, authorities, and what sums are made of


def hits(view: View, tolerance: float, max_iterations: int, report: Report) -> tuple[Any, Any]:
    """Hub and authority score of every vertex, each with sum 1; as `engine.gpu.hits`, up to rounding.

    Notes
    -----
    Sums come about in any order. No in-edges are made: authorities are given what hubs have, and hubs ask for it.
    """
    n, weight = view.num_vertices, view.out.weight
    names = () if weight is None else ("weight",)
    none = () if names else (np.uint64(0),)  # a null pointer
    defines = {"WEIGHT": c_type(np.dtype(np.uint8) if weight is None else weight.dtype)}

    def scored(rows: TieredRows) -> tuple[Any, Any]:
        hub, before, authority = cupy.full(n, 1 / max(n, 1)), cupy.empty(n), cupy.empty(n)
        rows.active.fill(1)
        read, change = 0, np.inf

        def scale(sums: Any) -> float:
            total = float(sums.sum())
            if total:
                sums /= total
            return total

        for _ in range(max_iterations):
            start = time.perf_counter()
            hub, before = before, hub
            authority.fill(0)
            hub.fill(0)
            for kernel, values, sums in (
                ("to_authorities", before, authority),
                ("to_hubs", authority, hub),
            ):
                go = rows.along(kernel, *none, values, sums, rows.read)
                rows.transfer.superstep(rows.active, go, everything=True)
                total = scale(sums)
            change = float(abs(hub - before).sum())
            now = int(rows.read[0])
            report.advance(
                "push", supersteps=1, frontier=n, edges=now - read,
                bytes=(now - read) * 12 + n * 64, seconds=time.perf_counter() - start,
            )  # fmt: skip
            read = now
            if change < tolerance or (not total and not float(hub.sum())):
                break
        else:
            check_converged(tolerance, max_iterations, change)
        return rows.to_caller(hub), rows.to_caller(authority)

    if not n:
        here = DeviceView.of(view)
        return here.to_caller(cupy.empty(0)), here.to_caller(cupy.empty(0))
    return TieredRows.run(
        view, "tier_hits", defines, _VERTEX, "hits", report, scored, names, packs=True
    )
