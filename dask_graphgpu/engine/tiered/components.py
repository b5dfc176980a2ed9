"""Weakly connected components by linking trees, over edges in host memory.

References
----------
.. [1] Sutton, Ben-Nun, Barak. Optimizing parallel graph connectivity computation via subgraph sampling. IPDPS 2018.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import cupy
import numpy as np

from dask_graphgpu.engine.cuda.wrappers import c_type
from dask_graphgpu.engine.gpu.device import DeviceView
from dask_graphgpu.engine.limits import Cut
from dask_graphgpu.engine.tiered.rows import TieredRows
from dask_graphgpu.partition.view import View
from dask_graphgpu.report import Report

# One of so many edges is linked before the largest tree is looked for.
FIRST = 32

_SAMPLING = 512  # threads of the block that looks


def components(view: View, report: Report) -> Any:
    """Component of every vertex, the direction of edges ignored; as `engine.gpu.components`.

    Notes
    -----
    One pass over the edges. Of an undirected view the first 1/32 of them is linked, then as many
    again each time, and before each time the vertices of what is probably the largest tree are
    taken out: their edges are seen from the other end. The edges of a directed view are all linked.
    """
    here = DeviceView.of(view)
    n, ids, rank = here.n, here.id_dtype, view.user_rank
    if not n:
        return here.to_caller(cupy.empty(0, ids))
    of_rank = 0 if rank is None else rank.itemsize + ids.itemsize
    rank_type = c_type(np.dtype(np.int64) if rank is None else rank.dtype)
    defines, vertex = {"RANK": rank_type}, ids.itemsize + of_rank

    def linked(rows: TieredRows) -> Any:
        parent, giant, size = cupy.empty(n, ids), cupy.zeros(1, np.uint64), np.uint64(n)
        rows.over_vertices("start_trees", size, parent)
        link, skips, before = rows.along("link_part", parent, rows.read), not view.directed, 0
        for lo, hi in looks(rows.tier.cut) if skips else [(0, view.num_edges)]:
            began = time.perf_counter()
            rows.over_vertices("find_outside", parent, size, giant, np.uint32(lo > 0), rows.active)
            rows.transfer.superstep(rows.active, link, lo=lo, hi=hi)
            rows.over_vertices("shorten", parent, size)
            rows.over_vertices("find_giant", parent, size, giant, alone=_SAMPLING)
            read = int(rows.read[0])
            report.advance(
                "link", supersteps=1, frontier=n, edges=read - before,
                bytes=(read - before) * 2 * ids.itemsize + n * (2 * ids.itemsize + 16),
                seconds=time.perf_counter() - began,
            )  # fmt: skip
            before = read
        if rank is not None:
            holder = cupy.empty(n, ids)
            rows.over_vertices("start_trees", size, holder)
            rows.over_vertices("offer_names", parent, size, here.user_rank, giant, holder)
            rows.over_vertices("take_names", parent, size, holder)
        return rows.to_caller(parent)

    what = "the components"
    return TieredRows.run(view, "tier_components", defines, vertex, what, report, linked)


def looks(cut: Cut) -> Iterator[tuple[int, int]]:
    """The edges that are linked between two looks; segments are not divided."""
    lo = 0
    while lo < cut.num_edges:
        hi = max(2 * lo, -(-cut.num_edges // FIRST))
        if hi > cut.resident:
            hi = int(cut.bounds[np.searchsorted(cut.bounds, min(hi, cut.num_edges))])
        yield lo, hi
        lo = hi
