"""Breadth-first searches from many sources over pages: a page is read once a level for all of them.

References
----------
.. [1] Then, Kaufmann, Chirigati, Hoang-Vu, Pham, Kemper, Neumann, Vo. The more the merrier: efficient multi-source
   graph traversal. PVLDB 8 (2014).
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from dask_graphgpu.engine.cpu.edges import Paged, rows_on_disk
from dask_graphgpu.kernels.cpu.threads import even_blocks, for_blocks

if TYPE_CHECKING:
    from dask_graphgpu.partition.view import View
    from dask_graphgpu.report import Report

# Searches of one sweep: the bits of a word.
AT_ONCE = 64

# Bytes of a vertex, and of a vertex and source; beside lists of ids and degrees.
_OF_VERTEX, _OF_LEVEL = 24 + 16, 4


def multi_bfs(
    view: View,
    sources: np.ndarray,
    *,
    cutoff: int | None,
    targets: np.ndarray | None,
    report: Report,
) -> np.ndarray:
    """Hops from each of several sources, as `engine.cpu.multi_bfs`.

    Raises
    ------
    LimitTooSmall, SpillError

    Notes
    -----
    In each level the pages are read that have rows of the frontier of any search [1]_. Where there is no memory for
    the levels of all sources, half of them come first.
    """
    rows, n = rows_on_disk(view.out), view.num_vertices
    passes = Paged(rows, report)
    held = passes.nbytes + rows.offsets.nbytes + rows.counts.nbytes
    held += n * (_OF_VERTEX + 2 * rows.neighbours.itemsize)
    needed = held + n * _OF_LEVEL * len(sources)
    if needed > rows.limits.memory and len(sources) > 1:
        parts = np.array_split(sources, 2)
        searched = [
            multi_bfs(view, part, cutoff=cutoff, targets=targets, report=report) for part in parts
        ]
        return np.concatenate(searched)
    rows.limits.require(needed, f"a search of {n:,} vertices")
    try:
        return _searched(passes, sources, cutoff, targets, report)
    finally:
        passes.release()


def _searched(
    passes: Paged,
    sources: np.ndarray,
    cutoff: int | None,
    targets: np.ndarray | None,
    report: Report,
) -> np.ndarray:
    from dask_graphgpu.kernels.cpu import multi_bfs as kernels

    n, ids = passes.rows.num_vertices, passes.rows.neighbours.dtype
    level = np.full((len(sources), n), -1, np.int32)
    seen, visit, next_visit = (np.zeros(n, np.uint64) for _ in range(3))
    for k, source in enumerate(sources):
        level[k, source] = 0
        seen[source] |= np.uint64(1 << k)
    full = np.uint64((1 << len(sources)) - 1)
    visit[sources] = seen[sources]
    frontier, depth, marked = np.unique(sources).astype(ids), 0, np.zeros(n, bool)
    while len(frontier) and depth != cutoff:
        if targets is not None and bool((seen[targets] == full).all()):
            break
        start, read = time.perf_counter(), 0
        marked[frontier] = True
        for lo, hi, rows in passes.over(passes.holding(marked)):
            some = frontier[slice(*np.searchsorted(frontier, [lo, hi]))]
            read += sum(passes.along(kernels.push_block, some, rows, seen, visit, next_visit))
        marked[frontier] = False
        depth += 1
        size = len(frontier)
        found = for_blocks(kernels.settle_block, even_blocks(n), depth, seen, next_visit, level)
        visit, next_visit = next_visit, visit
        next_visit[:] = 0
        frontier = np.empty(sum(found), ids)
        kernels.collect(visit, frontier)
        report.advance(
            "push", supersteps=1, frontier=size, edges=int(read),
            bytes=int(read) * (ids.itemsize + 8) + size * 24, seconds=time.perf_counter() - start,
        )  # fmt: skip
    return level
