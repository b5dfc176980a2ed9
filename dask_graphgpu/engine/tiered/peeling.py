"""Core numbers by peeling, over edges in host memory: each vertex's row crosses the link once, when it leaves.

References
----------
.. [1] Batagelj, Zaversnik. An O(m) algorithm for cores decomposition of networks. 2003.
"""

from __future__ import annotations

import time
from typing import Any

import cupy
import numpy as np

from dask_graphgpu.engine.gpu import launch
from dask_graphgpu.engine.gpu.copies import address, to_device
from dask_graphgpu.engine.gpu.device import DeviceView
from dask_graphgpu.engine.gpu.peeling import bytes_of_peeling, peeled
from dask_graphgpu.engine.tiered.disk import transfer_of
from dask_graphgpu.engine.tiered.rows import TieredRows
from dask_graphgpu.partition.csr import Adjacency
from dask_graphgpu.partition.device.masks import any_true
from dask_graphgpu.partition.view import View
from dask_graphgpu.report import Report

# Of peeling where kernels read rows where they lie: each row of a warp or of blocks, and from how many edges.
_SEPARATORS = (1, 512)

_VERTEX = 16  # bytes by parts: a degree, flags, and what is compared on the way


def core_numbers(view: View, report: Report) -> Any:
    """Core number of every vertex in the simple undirected graph; as `engine.gpu.core_numbers`.

    Notes
    -----
    Vertices of the least degree that is left go together, then those that come down to it by that [1]_. That is
    one launch, as where all edges are on the device; it reads the others where they lie. On disk, or where
    ``graphgpu.transfer`` has edges brought, each of these steps takes the host a look: some tens of microseconds,
    as often as there are layers in the peel.
    """
    return _peeled(view, None, report)[0].astype(np.int64)


def k_core(view: View, k: int, report: Report) -> Any:
    """Whether each vertex is in the k-core: bool, shape (num_vertices,). As `core_numbers`, up to level k."""
    return _peeled(view, int(k), report)[1]


def _peeled(view: View, most: int | None, report: Report) -> tuple[Any, Any]:
    """Degrees that are left, those of who has gone the core numbers; and who has not gone below ``most``."""
    here = DeviceView.of(view)
    simple = here.made("simple", view.simple)
    rows, n = simple.out, here.n
    # In it are all, or none: more neighbours than there are vertices.
    if most is not None and not 0 < most <= n:
        return None, here.to_caller(cupy.full(n, most < 1))
    if not n:
        return here.to_caller(cupy.empty(0, np.uint32)), here.to_caller(cupy.empty(0, bool))
    reads = transfer_of(rows) in ("auto", "zero-copy")
    vertex = -(-bytes_of_peeling(rows, _SEPARATORS) // n) if reads else _VERTEX
    return TieredRows.run(
        simple, "tier_peeling", {}, vertex, "core numbers", report,
        lambda rows: (_at_once if reads else _by_parts)(rows, most, report), buffers=not reads,
    )  # fmt: skip


def _at_once(rows: TieredRows, most: int | None, report: Report) -> tuple[Any, Any]:
    """In one launch, which reads rows where they lie."""
    tier = rows.tier
    places = tier.on_device()["neighbours"], tier.on_host()["neighbours"]
    neighbours = launch.struct([*map(address, places), tier.cut.resident])
    given = Adjacency(tier.offsets, tier.host.neighbours)
    up_to = None if most is None else most - 1
    degree, far = peeled(given, neighbours, {"TIERED": "1"}, _SEPARATORS, up_to, report)
    rows.transfer.read(far * tier.bytes_of_edge)
    if most is None:
        return rows.to_caller(degree), None
    return None, rows.to_caller(degree >= most)


def _by_parts(rows: TieredRows, most: int | None, report: Report) -> tuple[Any, Any]:
    """Level after level, the edges of those who leave being brought."""
    tier, n, began = rows.tier, rows.n, time.perf_counter()
    degree = to_device(tier.host.degrees.astype(np.uint32), tier.kept)
    left, due, steps = cupy.ones(n, bool), cupy.zeros(n, np.uint8), 0
    while True:
        level = int(cupy.where(left, degree, np.uint32(2**32 - 1)).min())
        if level >= (2**32 - 1 if most is None else most):
            break
        go = rows.along("peel_part", degree, np.uint32(level), due, rows.read)
        due[:] = left & (degree == level)
        while any_true(due):
            left &= due == 0
            rows.active[:] = due
            due.fill(0)
            rows.transfer.superstep(rows.active, go)
            steps += 1
    read, ids = int(rows.read[0]), tier.host.neighbours.itemsize
    report.advance(
        "peel", supersteps=steps, frontier=n, edges=read,
        bytes=read * (ids + 4) + steps * n * 8, seconds=time.perf_counter() - began,
    )  # fmt: skip
    return rows.to_caller(degree), rows.to_caller(left)
