"""Predecessors of a finished path search over pages: one pass over the in-edges, and one a level of a plateau."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from dask_graphgpu.partition.view import View
    from dask_graphgpu.report import Report


def predecessors(
    view: View,
    source: int,
    distance: np.ndarray,
    reached: np.ndarray,
    *,
    hops: bool,
    report: Report,
) -> np.ndarray:
    """Predecessor of every vertex on a shortest path, as `engine.cpu.predecessors`.

    Raises
    ------
    LimitTooSmall, SpillError

    Notes
    -----
    On plateaus, where edges add nothing, pages of vertices that still wait are read once a level.
    """
    from dask_graphgpu.kernels.cpu import predecessors as kernels
    from dask_graphgpu.kernels.cpu.threads import edge_blocks, even_blocks, for_blocks
    from dask_graphgpu.partition.paged.rows import PagedView
    from dask_graphgpu.partition.paged.rowwise import row_cuts
    from dask_graphgpu.partition.paged.sort import PagedAdjacency
    from dask_graphgpu.partition.paged.window import Window, even_spans

    assert isinstance(view, PagedView)
    rows = view.into
    assert isinstance(rows, PagedAdjacency)
    offsets, n = rows.offsets, rows.num_vertices
    arrays = {"neighbours": rows.arrays["neighbours"]}
    if rows.weight is not None and not hops:
        arrays["weight"] = rows.arrays["column weight"]
    degree = rows.degrees + rows.counts if view.directed else rows.degrees
    rank = np.empty(0, np.int64) if view.user_rank is None else view.user_rank
    predecessor = np.arange(n, dtype=rows.neighbours.dtype)
    needed = degree.nbytes + 2 * predecessor.nbytes + distance.nbytes + 2 * n
    held = offsets.nbytes + rows.counts.nbytes + rank.nbytes
    rows.limits.require(
        needed + held + rows.limits.window_bytes(len(arrays)), f"predecessors of {n:,} vertices"
    )
    window, none = Window(arrays), np.empty(0, np.int64)

    def note(supersteps: int, frontier: int, edges: int, start: float) -> None:
        edge_bytes = distance.itemsize + sum(array.itemsize for array in arrays.values())
        report.advance(
            "predecessor", supersteps=supersteps, frontier=frontier, edges=int(edges),
            bytes=int(edges) * edge_bytes + n * (8 + degree.itemsize + predecessor.itemsize),
            seconds=time.perf_counter() - start,
        )  # fmt: skip

    start = time.perf_counter()
    first_is_best = all(for_blocks(kernels.in_order, even_blocks(n), degree, rank))
    cuts = row_cuts(rows)

    def pull(i: int, found: Mapping[str, np.ndarray]) -> int:
        lo, hi = int(cuts[i]), int(cuts[i + 1])
        return sum(edges for _, edges in for_blocks(
            kernels.pull, edge_blocks(offsets[lo : hi + 1]) + lo, offsets, found["neighbours"],
            found.get("weight", none), distance, reached, degree, rank, first_is_best, predecessor,
        ))  # fmt: skip

    note(1, n, sum(window.each(even_spans(offsets[cuts]), pull)), start)

    settled = reached & (predecessor != np.arange(n))
    settled[source] = True
    waiting = np.flatnonzero(reached & ~settled)
    while len(waiting):
        start = time.perf_counter()
        # Neighbouring rows that begin in one page are read together.
        page = offsets[waiting] // rows.page_edges
        starts = np.flatnonzero(np.append(True, page[1:] != page[:-1]))
        bounds = np.append(starts, len(waiting))
        spans = np.stack([offsets[waiting[starts]], offsets[waiting[bounds[1:] - 1] + 1]], 1)

        def pull_plateau(
            i: int,
            found: Mapping[str, np.ndarray],
            bounds: np.ndarray = bounds,
            waiting: np.ndarray = waiting,
        ) -> int:
            lo, hi = int(bounds[i]), int(bounds[i + 1])
            return sum(for_blocks(
                kernels.pull_plateau, even_blocks(hi - lo) + lo, waiting, offsets,
                found["neighbours"], found.get("weight", none), distance, reached, settled, degree,
                rank, predecessor,
            ))  # fmt: skip

        read = sum(window.each(spans, pull_plateau))
        came = predecessor[waiting] != waiting
        note(1, len(waiting), read, start)
        if not came.any():  # of a finished search somebody comes in every round
            break
        settled[waiting[came]] = True
        waiting = waiting[~came]
    report.disk_bytes += window.read_bytes
    return predecessor
