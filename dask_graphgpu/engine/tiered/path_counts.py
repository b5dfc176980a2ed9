"""Number of shortest paths from a source, over finished levels and edges in host memory."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import cupy
import numpy as np

from dask_graphgpu.engine.cuda.wrappers import c_type
from dask_graphgpu.engine.gpu import launch
from dask_graphgpu.engine.gpu.copies import to_device
from dask_graphgpu.engine.gpu.device import DeviceView
from dask_graphgpu.engine.path_failures import check_counts
from dask_graphgpu.engine.tiered.level_rows import FEW, LONG_ROWS, MOST_ROWS, LevelRows, edges_of
from dask_graphgpu.engine.tiered.rows import TieredRows
from dask_graphgpu.partition.view import View
from dask_graphgpu.report import Report

# Levels beyond which those of few edges are left to the device: each takes the host half a millisecond.
_DEEP = 8

_WALK_BYTES = 256  # of struct Walk in tier_path_counts.cu


def path_counts(view: View, source: int, level: Any, *, dtype: str, report: Report) -> Any:
    """Number of paths of fewest edges from `source`; as `engine.gpu.path_counts`.

    Notes
    -----
    Vertices add their counts to their out-neighbours', a level after the other; of an undirected view those of
    the next level look for them instead where their edges are fewer over the link, so that about every other level's
    are brought. In deep graphs levels of few edges are gone over without the host, rows being read where they lie.
    """
    here, kind = DeviceView.of(view), np.dtype(dtype)
    n, depth, began = here.n, int(level.max(initial=0)), time.perf_counter()
    vertex = level.itemsize + kind.itemsize

    def counted(rows: TieredRows) -> tuple[int, int, Any]:
        levels, count = to_device(level, rows.tier.kept), cupy.zeros(n, kind)
        count[source] = 1
        overflow = cupy.zeros(1, np.uint64)
        between = LevelRows(rows, levels, depth, view)

        def by_parts(step: int) -> None:
            pulled = np.uint32(between.pulls[step])
            given = levels, np.int32(step), pulled, count, overflow, rows.read
            between.over(step, rows.along("count_part", *given))

        walked = bad = 0
        if depth > _DEEP and rows.transfer.reads:
            walked, bad = _crept(rows, levels, count, depth, by_parts)
        else:
            for step in range(depth):
                by_parts(step)
        return bad or int(overflow[0]), walked + int(rows.read[0]), rows.to_caller(count)

    defines, what = {"COUNT": c_type(kind)}, "the path counts"
    bad, read, found = TieredRows.run(
        view, "tier_path_counts", defines, vertex, what, report, counted
    )
    check_counts(failed=bool(bad))
    report.advance(
        "push", supersteps=depth, frontier=1, edges=read,
        bytes=read * (here.id_dtype.itemsize + level.itemsize) + n * (16 + kind.itemsize),
        seconds=time.perf_counter() - began,
    )  # fmt: skip
    return found


def _crept(
    rows: TieredRows, levels: Any, count: Any, depth: int, by_parts: Callable[[int], None]
) -> tuple[int, int]:
    """Levels of few edges without the host, the others by parts: edges without it, and whether counts overflow."""
    tier, most = rows.tier, min(rows.n, MOST_ROWS)
    listed = cupy.empty(2 * (most + LONG_ROWS), tier.host.neighbours.dtype)
    lists, edges = launch.struct([listed, most]), edges_of(tier)
    walk, last, few = cupy.zeros(_WALK_BYTES // 8, np.uint64), np.uint64(depth), np.uint64(FEW)
    step = 0
    while step < depth:
        rows.over_vertices("begin_level", walk, np.uint64(step), alone=1)
        rows.over_vertices("list_level", edges, levels, walk, lists, shared=True)
        rows.together("creep_counts", edges, levels, count, walk, lists, last, few)
        step = int(walk[0])
        if step < depth:  # it has many edges
            by_parts(step)
            step += 1
    _, bad, walked, behind = walk[:4].tolist()
    rows.transfer.read(behind * tier.bytes_of_edge)
    return walked, bad
