"""Number of shortest paths from a source, over finished breadth-first levels."""

from __future__ import annotations

import itertools
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from dask_graphgpu.engine.cpu.bfs import LARGE_LEVEL
from dask_graphgpu.engine.path_failures import check_counts
from dask_graphgpu.kernels.cpu import threads
from dask_graphgpu.kernels.cpu.threads import edge_blocks, for_blocks, num_threads

if TYPE_CHECKING:
    from dask_graphgpu.partition.view import View
    from dask_graphgpu.report import Report


def path_counts(
    view: View, source: int, level: np.ndarray, *, dtype: str, report: Report
) -> np.ndarray:
    """Number of paths of fewest edges from `source` to every vertex.

    Notes
    -----
    Vertices are put in order of their levels. Each then adds up its in-neighbours of the level
    before; of a directed view that has no in-edges, each adds its count to its out-neighbours'.
    Small levels are done one after another in one call on one thread, large ones on all threads in
    blocks of about equal edges. One read of each edge of the reached vertices.
    """
    from dask_graphgpu.kernels.cpu import path_counts as kernels

    start = time.perf_counter()
    pulls = view.has_into
    rows = view.into if pulls else view.out
    offsets = rows.offsets.view(np.uint64)
    depth = int(level.max(initial=-1))
    starts = np.zeros(depth + 2, np.int64)
    order = np.empty(int((level >= 0).sum()), rows.neighbours.dtype)
    kernels.by_level(level, starts, order)
    edges = np.empty(len(order) + 1, np.int64)
    kernels.running_degrees(0, len(order), order, rows.offsets, edges)
    count = np.zeros(rows.num_vertices, dtype)
    count[source] = 1
    direction = "pull" if pulls else "push"
    first, last = (1, depth) if pulls else (0, depth - 1)  # levels that are worked on
    for lo, hi in _runs(edges[starts[first:]], last + 1 - first):
        ends = starts[first + lo], starts[first + hi]
        shared = hi == lo + 1
        bounds = ends[0] + edge_blocks(edges[ends[0] : ends[1] + 1]) if shared else np.array(ends)
        kernel = kernels.pull if pulls else kernels.push_block if shared else kernels.push
        signs = for_blocks(kernel, bounds, order, offsets, rows.neighbours, level, count)
        check_signs(signs)
        read = int(edges[ends[1]] - edges[ends[0]])
        size = int(ends[1] - ends[0])
        report.advance(
            direction, supersteps=hi - lo, frontier=size, edges=read,
            bytes=read * (rows.neighbours.itemsize + level.itemsize) + size * (16 + count.itemsize),
            seconds=time.perf_counter() - start,
        )  # fmt: skip
        start = time.perf_counter()
    return count


def check_signs(signs: Sequence[float]) -> None:
    """Raise IntegerOverflow where a kernel gave a negative number."""
    check_counts(failed=min(signs) < 0)


def _runs(edges: np.ndarray, levels: int) -> list[tuple[int, int]]:
    """Cut the levels into runs: a large one is a run of its own, small ones in a row are one.

    `edges`: of all levels before each.
    """
    if levels < 1:
        return []
    size = np.diff(edges[: levels + 1])
    large = (size > LARGE_LEVEL * threads.LITTLE_WORK) & (num_threads() > 1)
    cuts = np.flatnonzero(large[1:] | large[:-1]) + 1
    bounds = [0, *cuts.tolist(), levels]
    return list(itertools.pairwise(bounds))
