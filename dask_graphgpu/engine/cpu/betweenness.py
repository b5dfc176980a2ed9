"""Betweenness by Brandes' accumulation of dependencies.

References
----------
.. [1] Brandes. A faster algorithm for betweenness centrality. J. Mathematical Sociology 25 (2001).
.. [2] Brandes. On variants of shortest-path betweenness centrality and their generic computation. Social Networks 30
   (2008).
.. [3] Bader, Madduri. Parallel algorithms for evaluating centrality indices in real-world networks. ICPP 2006.
"""

from __future__ import annotations

import threading
import time
from typing import Any

import numpy as np

from dask_graphgpu.engine.edge_ends import beside_ends, both_directions
from dask_graphgpu.engine.path_failures import check
from dask_graphgpu.interrupting import check as check_stopped
from dask_graphgpu.interrupting import stopping
from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.kernels.cpu.threads import for_blocks, num_threads
from dask_graphgpu.partition.csr import Adjacency, transpose_column
from dask_graphgpu.partition.view import View
from dask_graphgpu.report import Report

# Bytes that the sums of all threads together may take; threads beyond that wait.
MOST_BYTES = 1 << 32
AT_ONCE = 1 << 24  # edges and vertices that a thread searches before it looks whether it is to stop
HEAP = 4  # a vertex or edge takes so many times as long where it goes through a heap


def betweenness(
    view: View, sources: np.ndarray, *, weighted: bool, endpoints: bool, edges: bool, report: Report
) -> np.ndarray:
    """Sums of the sources' dependencies on every vertex, or on every edge.

    Notes
    -----
    For each source a search, and the same edges again from the farthest vertex to the nearest: O(E), with weights
    O(E log V). Threads take sources in turns and have sums of their own: 8 bytes a vertex or an edge, and 28 (weighted
    44) a vertex for their search. Sums depend on the number of threads by rounding.
    """
    rows = view.out
    start = time.perf_counter()
    size = rows.num_edges if edges else rows.num_vertices
    most = max(MOST_BYTES // (8 * size + 44 * rows.num_vertices + 1), 1)
    workers = max(min(num_threads(), len(sources), most), 1)
    through = [np.zeros(rows.num_vertices) for _ in range(workers)]
    along = [np.zeros(rows.num_edges if edges else 0) for _ in range(workers)]
    lengths = lengths_of(rows) if weighted else None

    stopped = stopping()

    def work(lo: int, hi: int) -> tuple[int, int]:
        mine = np.ascontiguousarray(sources[lo::workers])
        return _accumulate(rows, lengths, mine, endpoints, through[lo], along[lo], stopped)

    results = for_blocks(work, np.arange(workers + 1))
    check(max(code for code, _ in results), lengths)
    read = sum(int(each) for _, each in results)
    report.advance(
        "accumulate", supersteps=len(sources), frontier=len(sources), edges=2 * read,
        bytes=2 * read * (rows.neighbours.itemsize + 4) + 8 * size * workers,
        seconds=time.perf_counter() - start,
    )  # fmt: skip
    sums: np.ndarray = np.sum(along if edges else through, axis=0)
    if edges and not view.directed:
        sums = both_directions(view, rows, sums, transpose_column, weighted=weighted)
    return sums


def edge_betweenness(
    view: View, sources: np.ndarray, *, weighted: bool, report: Report
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Edges and the sums of the sources' dependencies on them: as `betweenness` with ``edges``."""
    how = {"weighted": weighted, "endpoints": False, "edges": True}
    return beside_ends(view, betweenness(view, sources, **how, report=report))


def _accumulate(
    rows: Adjacency,
    lengths: np.ndarray | None,
    sources: np.ndarray,
    endpoints: bool,
    through: np.ndarray,
    along: np.ndarray,
    stopped: threading.Event | None,
) -> tuple[int, int]:
    """All sources, some at a time: a call that is to stop does so between two of these."""
    n, kind = rows.num_vertices, rows.neighbours.dtype
    number = np.int32 if n < 2**31 else np.int64
    graph = rows.offsets.view(np.uint64), rows.neighbours
    count, share, order = np.empty(n), np.empty(n), np.empty(n, kind)
    sums = count, share, order, float(endpoints), through, along
    if lengths is None:
        kernel: Any = kernels.betweenness.by_edges
        given: tuple[Any, ...] = *graph, np.full(n, -1, number), *sums
    else:
        kernel = kernels.betweenness.by_weight
        far, distance = _far(lengths), np.full(n, _far(lengths), lengths.dtype)
        given = *graph, lengths, distance, far, np.empty(n, number), np.empty(n, kind), *sums
    worst, read = kernels.betweenness.DONE, 0
    one = (rows.num_edges + n + 1) * (1 if lengths is None else HEAP)
    some = max(AT_ONCE // one, 1)
    for start in range(0, len(sources), some):
        check_stopped(stopped)
        code, edges = kernel(0, 1, 1, sources[start : start + some], *given)
        worst, read = max(worst, int(code)), read + int(edges)
        if worst != kernels.betweenness.DONE:
            break
    return worst, read


def lengths_of(rows: Adjacency) -> np.ndarray:
    """Weights in the type in which they are added up; 1 without weights."""
    if rows.weight is None:
        return np.ones(rows.num_edges, np.int64)
    if rows.weight.dtype.kind == "f":
        return rows.weight.astype(np.float64, copy=False)
    return rows.weight.astype(np.int64, copy=False)


def _far(lengths: np.ndarray) -> Any:
    return np.iinfo(np.int64).max if lengths.dtype.kind == "i" else np.inf
