"""Predecessors of a finished path search, over edges in host memory."""

from __future__ import annotations

import time
from typing import Any

import cupy
import numpy as np

from dask_graphgpu.engine.cuda.wrappers import c_type
from dask_graphgpu.engine.gpu import launch
from dask_graphgpu.engine.gpu.copies import to_device
from dask_graphgpu.engine.gpu.device import DeviceView
from dask_graphgpu.engine.tiered.rows import TieredRows
from dask_graphgpu.partition.view import View
from dask_graphgpu.report import Report


def predecessors(
    view: View, source: int, distance: Any, reached: Any, *, hops: bool, report: Report
) -> Any:
    """Predecessor of every vertex on a shortest path from `source`; as `engine.gpu.predecessors`.

    Notes
    -----
    The edges of all reached vertices go over the link once. On plateaus, where edges add nothing, once
    more, and then those of each of their levels.
    """
    here, n = DeviceView.of(view), view.num_vertices
    weight = None if hops else view.out.weight
    names = () if weight is None else ("weight",)
    ids, rank = view.out.neighbours.itemsize, here.user_rank
    vertex = distance.itemsize + 1 + ids + 4 + (8 if view.directed else 0)
    vertex += 0 if rank is None else rank.itemsize
    read_of_edge = ids + distance.itemsize + (0 if weight is None else weight.itemsize)

    def note(supersteps: int, frontier: int, edges: int, began: float) -> None:
        report.advance(
            "predecessor", supersteps=supersteps, frontier=frontier, edges=edges,
            bytes=edges * read_of_edge + n * (vertex + 8), seconds=time.perf_counter() - began,
        )  # fmt: skip

    def found(rows: TieredRows) -> Any:
        began, number = time.perf_counter(), np.uint64(n)
        there = to_device(distance, rows.tier.kept), to_device(reached, rows.tier.kept)
        predecessor, count = cupy.empty(n, view.out.neighbours.dtype), cupy.zeros(1, np.uint64)
        degree = here.degrees("both") if view.directed else launch.NULL
        preference = rows.tier.offsets, degree, launch.or_null(rank)
        given: list[Any] = [*there, *preference, predecessor, rows.read]
        if weight is None:
            given.insert(0, launch.NULL)
        rows.over_vertices("begin_offers", there[1], number, predecessor, rows.active)
        rows.transfer.superstep(rows.active, rows.along("offer_part", *given))
        rows.over_vertices("count_without", there[1], number, predecessor, count, shared=True)
        without, edges = int(count[0]), int(rows.read[0])
        note(1, n, edges, began)
        if without <= 1:  # it is the source
            return rows.to_caller(predecessor)
        began, now = time.perf_counter(), 0
        round_of = cupy.empty(n, np.uint32)
        rows.over_vertices(
            "begin_plateaus", there[1], number, np.uint64(source), predecessor, round_of,
            rows.active,
        )  # fmt: skip
        left = 1
        while left:
            now += 1
            go = rows.along("plateau_part", *given, round_of, np.uint32(now))
            rows.transfer.superstep(rows.active, go)
            count[:] = 0
            rows.over_vertices(
                "next_round", round_of, number, np.uint32(now), rows.active, count, shared=True
            )
            left = int(count[0])
        note(now, without - 1, int(rows.read[0]) - edges, began)
        return rows.to_caller(predecessor)

    defines = {
        "DIST": c_type(distance.dtype),
        "WEIGHT": c_type(distance.dtype if weight is None else weight.dtype),
        "RANK": c_type(np.dtype(np.int64) if rank is None else rank.dtype),
    }
    what = "the predecessors"
    return TieredRows.run(view, "tier_predecessors", defines, vertex, what, report, found, names)
