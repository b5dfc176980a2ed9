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

from dask_graphgpu.kernels.cpu.threads import edge_blocks, even_blocks, for_blocks

if TYPE_CHECKING:
    from dask_graphgpu.partition.csr import Adjacency
    from dask_graphgpu.partition.view import View
    from dask_graphgpu.report import Report


def spanning_forest(view: View, report: Report) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The edges of the minimum spanning forest, directions ignored.

    Parameters
    ----------
    view : View
        Weighted or not; without weights all edges weigh the same.
    report : Report
        Gets a row for each round, "hook".

    Returns
    -------
    tuple of ndarray, shape (edges of the forest,)
        The ends of each edge, by their places in the order of the user's ids, the smaller first; its weight.

    Notes
    -----
    In each round every component takes its lightest edge [1]_; at least half of the components are gone after it. Of
    edges of the same weight the one with the smaller ends is the lighter, so the forest does not depend on the order of
    vertices in memory or on threads. Edges within a component are dropped after each round: O(E log V) at most, and
    about two looks at an edge on most graphs. 8 to 16 bytes an edge more than the graph, and as much again for the
    ends.
    """
    low, high, weight = edges_of(view.out, view.user_rank, view.directed)
    taken = forest(view.num_vertices, low, high, weight, report)
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

    chosen = np.zeros(len(low), np.uint8)
    a, b = low.copy(), high.copy()
    edge = np.arange(len(low), dtype=np.uint32 if len(low) < 2**32 else np.uint64)
    parent = np.arange(n, dtype=low.dtype)
    vertices = even_blocks(n)
    while len(a):
        start, size = time.perf_counter(), len(a)
        best, least = np.full(n, -1), np.full(n, _most(weight.dtype), weight.dtype)
        blocks = even_blocks(size, work=4)
        for_blocks(kernels.lightest, blocks, a, b, edge, low, high, weight, least, best)
        hung = sum(for_blocks(kernels.hook, vertices, a, b, edge, best, parent, chosen))
        for_blocks(components.compress, vertices, parent)
        kept = for_blocks(kernels.keep_joining, blocks, a, b, edge, parent)
        end = 0
        for first, count in zip(blocks.tolist(), kept, strict=False):
            for array in (a, b, edge):
                array[end : end + count] = array[first : first + count]
            end += count
        a, b, edge = a[:end], b[:end], edge[:end]
        report.advance(
            "hook", supersteps=1, frontier=hung, edges=size,
            bytes=size * (4 * low.itemsize + edge.itemsize + 3 * weight.itemsize) + n * 16,
            seconds=time.perf_counter() - start,
        )  # fmt: skip
    return chosen.view(bool)


def edges_of(
    rows: Adjacency, place: np.ndarray | None, directed: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Both ends of every edge but self-loops, and its weight; of undirected rows each once.

    Parameters
    ----------
    rows : Adjacency
    place : array, shape (num_vertices,), optional
        Names ends: their order is that of edges of one weight. Default: the vertices themselves.
    directed : bool

    Returns
    -------
    low, high : arrays of the type of the neighbours
    weight : 0 without weights
    """
    from dask_graphgpu.kernels.cpu import spanning_forest as kernels

    arrays = rows.offsets.view(np.uint64), rows.neighbours
    weights = np.empty(0, np.uint8) if rows.weight is None else rows.weight
    place = np.empty(0, rows.neighbours.dtype) if place is None else place
    blocks = edge_blocks(rows.offsets)
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
