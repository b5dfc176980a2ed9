"""Minimum spanning forest by Boruvka's algorithm.

References
----------
.. [1] Boruvka. O jistem problemu minimalnim. Prace Moravske prirodovedecke spolecnosti 3 (1926).
.. [2] Nesetril, Milkova, Nesetrilova. Otakar Boruvka on minimum spanning tree problem. Discrete Mathematics 233 (2001).
.. [3] Chung, Condon. Parallel implementation of Boruvka's minimum spanning tree algorithm. IPPS 1996.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from dask_graphgpu.kernels.cpu.threads import edge_blocks, even_blocks, for_blocks, num_threads

if TYPE_CHECKING:
    from dask_graphgpu.partition.csr import Adjacency
    from dask_graphgpu.partition.view import View
    from dask_graphgpu.report import Report

# Threads from which edges are offered by all of them, with atomics: these take one thread two to three times as long,
# and two are hardly faster than one without.
MANY_THREADS = 4


def spanning_forest(view: View, report: Report) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The edges of the minimum spanning forest, directions ignored.

    Notes
    -----
    In each round every component takes its lightest edge [1]_; at least half of the components are gone after it. Of
    edges of the same weight the one with the smaller ends is the lighter, so the forest does not depend on the order of
    vertices in memory or on threads. Edges within a component are dropped after each round, and components numbered
    anew: O(E log V) at most, and about two looks at an edge on most graphs. 12 to 32 bytes an edge more than the
    graph, and as much again for the ends.
    """
    low, high, weight = edges_of(view.out, view.user_rank, view.directed)
    taken = np.flatnonzero(forest(view.num_vertices, low, high, weight, report))
    return low[taken], high[taken], weight[taken]


def forest(
    n: int, low: np.ndarray, high: np.ndarray, weight: np.ndarray, report: Report
) -> np.ndarray:
    """Which edges are in the minimum spanning forest: bool.

    Parameters
    ----------
    n : int
        Vertices.
    low, high : arrays of one type, shape (edges,)
        The ends of each edge, the smaller first. An edge may be there several times.
    weight : shape (edges,)
    report : Report
        As of `spanning_forest`.
    """
    from dask_graphgpu.kernels.cpu import components
    from dask_graphgpu.kernels.cpu import spanning_forest as kernels

    size = len(low)
    chosen = np.zeros(size, np.uint8)
    left: tuple[np.ndarray, ...]
    left = low, high, weight, np.arange(size, dtype=np.uint32 if size < 2**32 else np.uint64)
    kept = tuple(np.empty_like(each) for each in left)  # the rounds after the first are in place
    while size:
        start, (a, b, w, edge) = time.perf_counter(), left
        best = np.full(n, -1, np.int32 if size < 2**31 else np.int64)
        least, parent, number = np.empty(n, w.dtype), np.empty(n, low.dtype), np.empty(n, low.dtype)
        least.fill(_most(w.dtype))
        vertices, blocks = even_blocks(n), even_blocks(size, work=4)
        offered = a, b, w, edge, low, high, least, best
        if num_threads() < MANY_THREADS:
            kernels.lightest(0, size, *offered)
        else:
            for_blocks(kernels.lightest_of_many, blocks, *offered)
        hung = sum(for_blocks(kernels.hook, vertices, a, b, edge, best, parent, chosen))
        for_blocks(components.compress, vertices, parent)
        roots = np.cumsum([0, *for_blocks(kernels.count_roots, vertices, parent)])
        for_blocks(kernels.number_roots, vertices, vertices, roots, parent, number)
        counts = for_blocks(kernels.keep_joining, blocks, left, parent, number, kept)
        end = 0
        for first, count in zip(blocks.tolist(), counts, strict=False):
            for array in kept:
                array[end : end + count] = array[first : first + count]
            end += count
        report.advance(
            "hook", supersteps=1, frontier=hung, edges=size,
            bytes=size * (4 * low.itemsize + 2 * edge.itemsize + 3 * w.itemsize) + n * 24,
            seconds=time.perf_counter() - start,
        )  # fmt: skip
        n, size, left = int(roots[-1]), end, tuple(each[:end] for each in kept)
    return chosen.view(bool)


def edges_of(
    rows: Adjacency, place: np.ndarray | None, directed: bool, blocks: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Both ends of every edge but self-loops, and its weight; of undirected rows each once.

    Parameters
    ----------
    rows : Adjacency
    place : array, shape (num_vertices,), optional
        Names ends: their order is that of edges of one weight. Default: the vertices themselves.
    directed : bool
    blocks : optional
        Bounds of blocks of the rows that are listed. Default: all.

    Returns
    -------
    low, high : arrays of the type of the neighbours
    weight : 0 without weights
    """
    from dask_graphgpu.kernels.cpu import spanning_forest as kernels

    arrays = rows.offsets.view(np.uint64), rows.neighbours
    weights = np.empty(0, np.uint8) if rows.weight is None else rows.weight
    place = np.empty(0, rows.neighbours.dtype) if place is None else place
    blocks = edge_blocks(rows.offsets) if blocks is None else blocks
    counts = for_blocks(kernels.count_edges, blocks, *arrays, directed)
    starts = np.cumsum([0, *counts])
    low, high = (np.empty(starts[-1], rows.neighbours.dtype) for _ in range(2))
    weight = np.zeros(starts[-1], weights.dtype)
    for_blocks(
        kernels.list_edges, blocks,
        blocks, starts, *arrays, weights, place, directed, low, high, weight,
    )  # fmt: skip
    return low, high, weight


def _most(dtype: np.dtype[Any]) -> Any:
    return np.inf if dtype.kind == "f" else np.iinfo(dtype).max
