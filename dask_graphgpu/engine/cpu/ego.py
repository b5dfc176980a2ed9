"""The edges among the vertices near one, where these are few."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from dask_graphgpu.engine.cpu.induced import in_order
from dask_graphgpu.engine.options import configured_direction
from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.kernels.cpu import threads

if TYPE_CHECKING:
    from dask_graphgpu.partition.view import View
    from dask_graphgpu.report import Report

# Edges beyond which other threads had work too, in units of little work.
_MOST = 2


def small_ego(
    view: View, center: int, radius: int, report: Report
) -> tuple[np.ndarray, np.ndarray, Any] | None:
    """Edges of which both ends are near a vertex, as `edges_among` after `bfs`.

    Notes
    -----
    A bit for each vertex, and two reads of each edge of those near: in a graph of roads that is less than filling
    the levels of all vertices.
    """
    if view.levels is not None or configured_direction() == "pull":
        return None
    rows, n, began = view.out, view.num_vertices, time.perf_counter()
    found, queue = np.zeros(-(-n // 64), np.uint64), np.empty(n, rows.neighbours.dtype)
    queue[0] = center
    edges = rows.offsets.view(np.uint64), rows.neighbours, found
    depth, read, size = kernels.ego.search(*edges, queue, radius, _MOST * threads.LITTLE_WORK)
    if size < 0:
        return None
    rank = view.user_rank
    order = queue[:0] if rank is None else rank
    source, destination = np.empty((2, size), queue.dtype)
    edge = np.empty(0 if rows.weight is None else size, np.int64)
    number = kernels.ego.list_edges(*edges, order, not view.directed, source, destination, edge)
    report.advance(
        "push", supersteps=depth, frontier=1, edges=read, bytes=(read + size) * queue.itemsize + n // 8,
        seconds=time.perf_counter() - began,
    )  # fmt: skip
    weight = None if rows.weight is None else rows.weight[edge[:number]]
    return in_order((source[:number], destination[:number], weight), rank)
