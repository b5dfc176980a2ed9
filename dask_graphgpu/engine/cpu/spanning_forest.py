"""Minimum spanning forest by Boruvka's algorithm.

References
----------
.. [1] Boruvka. O jistem problemu minimalnim. Prace Moravske prirodovedecke spolecnosti 3 (1926).
.. [2] Nesetril, Milkova, Nesetrilova. Otakar Boruvka on minimum spanning tree problem. Discrete Mathematics 233 (2001).
.. [3] Chung, Condon. Parallel implementation of Boruvka's minimum spanning tree algorithm. IPPS 1996.
.. [4] Karger, Klein, Tarjan. A randomized linear-time algorithm to find minimum spanning trees. J. ACM 42 (1995).
.. [5] Feigenbaum, Kannan, McGregor, Suri, Zhang. On graph problems in a semi-streaming model. Theoretical Computer
   Science 348 (2005).
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from dask_graphgpu.engine.cpu.edges import Paged, passes_over
from dask_graphgpu.engine.weight_order import turned
from dask_graphgpu.exchange.ranks import Ranks
from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.kernels.cpu.threads import edge_blocks, even_blocks, for_blocks, num_threads
from dask_graphgpu.partition.csr import Adjacency
from dask_graphgpu.partition.distinct import distinct
from dask_graphgpu.partition.paged.sort import give_back
from dask_graphgpu.partition.ranks.view import AnyView
from dask_graphgpu.report import Report

# Threads from which edges are offered by all of them, with atomics: these take one thread two to three times as long,
# and two are hardly faster than one without.
MANY_THREADS = 4


# Bytes a vertex of a round and of what the answer takes, where ids have 8.
_OF_VERTEX = 48

# The ends of each edge, by places or numbers, the smaller first; and its weight.
Edges = tuple[np.ndarray, np.ndarray, np.ndarray]


def spanning_forest(view: AnyView, report: Report, *, largest: bool = False) -> Edges:
    """The edges of the minimum spanning forest, or of the maximum one where ``largest``; directions ignored.

    Returns
    -------
    tuple of ndarray, shape (edges of the forest,)
        All of them on the first rank, none on others.

    Raises
    ------
    LimitTooSmall
        Of edges on disk: there is no room for one edge a vertex and a page.

    Notes
    -----
    In each round every component takes its lightest edge [1]_; at least half of the components are gone after it. Of
    edges of the same weight the one with the smaller ends is the lighter, so the forest does not depend on the order of
    vertices in memory or on threads. Edges within a component are dropped after each round, and components numbered
    anew: O(E log V) at most, and about two looks at an edge on most graphs. 12 to 32 bytes an edge more than the
    graph, and as much again for the ends.

    An edge that is not in the forest of some edges is not in that of more of them: it is the heaviest of a circle
    [4]_. So of edges on disk as many are gathered as there is room for, and left are those of the forest of these
    [5]_: one pass over the pages, and where there is room for k edges a vertex, an edge is looked at k / (k - 1) times
    as often as in memory. Each rank makes a forest of its edges, then of every two forests one is made, until one is
    left: log2(ranks) times one rank sends another at most one edge for each vertex of the whole graph.
    """
    low, high, weight = _least_forest(view, report, largest)
    return low, high, turned(weight) if largest else weight


def _least_forest(view: AnyView, report: Report, turn: bool) -> Edges:
    """As `spanning_forest`; ``turn`` : by weights in the other order, which the answer then has."""
    if not view.on_ranks:
        return _own_forest(view, view.user_rank, report, turn)
    numbers = view.user_rank
    assert numbers is not None
    order = np.argsort(numbers)
    place = np.empty_like(numbers)
    place[order] = np.arange(len(order), dtype=place.dtype)
    low, high, weight = _own_forest(view, place, report, turn)
    table = numbers[order]
    return _of_all_ranks(view.ranks, (table.take(low), table.take(high), weight), report)


def _own_forest(view: AnyView, place: np.ndarray | None, report: Report, turn: bool) -> Edges:
    """The forest of the edges that are here; ``place`` as of `edges_of`."""
    n = view.num_vertices

    def listed(rows: Adjacency, blocks: np.ndarray | None = None) -> Edges:
        low, high, weight = edges_of(rows, place, view.directed, blocks)
        return low, high, turned(weight) if turn else weight

    with passes_over(view.out, report) as passes:
        if not isinstance(passes, Paged):
            return reduced(n, listed(passes.rows), report)
        batch = _Batch(n, passes, report)
        for lo, hi, rows in passes.over():
            blocks = edge_blocks(rows.offsets[lo : hi + 1]) + lo
            batch.add(listed(rows, blocks))
    return batch.reduced()


def _of_all_ranks(ranks: Ranks, edges: Edges, report: Report) -> Edges:
    """The forest of every rank's forest, on the first one."""
    step = 1
    while step < ranks.size:
        sends = ranks.rank % (2 * step) == step
        to = ranks.rank - step if sends else -1
        low, high, weight = (_sent(ranks, each, to) for each in edges)
        edges = low, high, weight
        if not sends and ranks.rank % (2 * step) == 0 and ranks.rank + step < ranks.size:
            table = distinct(np.concatenate([low, high]))
            first, second = (np.searchsorted(table, each).astype(low.dtype) for each in (low, high))
            first, second, weight = reduced(len(table), (first, second, weight), report)
            edges = table.take(first), table.take(second), weight
        step *= 2
    return edges


def _sent(ranks: Ranks, array: np.ndarray, to: int) -> np.ndarray:
    """What this rank has after it has sent all of an array to another, or to nobody, and has got theirs."""
    nothing = array[:0]
    every = ranks.all_to_all([array if peer == to else nothing for peer in range(ranks.size)])
    kept = nothing if to >= 0 else array
    return np.concatenate([kept, *(each for peer, each in enumerate(every) if peer != ranks.rank)])


class _Batch:
    """Edges of disk that may be in the forest: their ends and weights, as many as there is room for."""

    def __init__(self, n: int, passes: Paged, report: Report) -> None:
        self._n, self._report, self._size = n, report, 0
        rows = passes.rows
        ids = rows.neighbours.dtype
        kind = np.dtype(np.uint8) if rows.weight is None else rows.weight.dtype
        edge = 2 * ids.itemsize + kind.itemsize
        # Gathered, and again what joins two components, numbered; and a mark.
        each = 2 * edge + 2 * ids.itemsize + 1
        fixed = passes.held + _OF_VERTEX * n + passes.longest * edge
        rows.limits.require(fixed + each * (n + passes.longest), f"the forest of {n:,} vertices")
        # The rest is left to the allocator, which keeps some of what a forest had for the next one.
        most = max((rows.limits.memory - fixed) // each * 5 // 8, n + passes.longest)
        room = min(most, rows.num_edges)
        self._arrays = np.empty(room, ids), np.empty(room, ids), np.empty(room, kind)

    def add(self, edges: Edges) -> None:
        """Gather some edges; the forest of those before stays where there is no more room."""
        if self._size + len(edges[0]) > len(self._arrays[0]):
            for array, left in zip(self._arrays, self.reduced(), strict=True):
                array[: len(left)] = left
            self._size = len(left)
            del array, left
            give_back()  # else the next forest's arrays come on top of what the allocator kept of these
        end = self._size + len(edges[0])
        for array, more in zip(self._arrays, edges, strict=True):
            array[self._size : end] = more
        self._size = end

    def reduced(self) -> Edges:
        """The forest of what is gathered."""
        low, high, weight = (array[: self._size] for array in self._arrays)
        return reduced(self._n, (low, high, weight), self._report)


def reduced(n: int, edges: Edges, report: Report) -> Edges:
    """Those of some edges between ``n`` vertices that are in their forest."""
    taken = np.flatnonzero(forest(n, *edges, report))
    low, high, weight = (each[taken] for each in edges)
    return low, high, weight


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
            kernels.spanning_forest.lightest(0, size, *offered)
        else:
            for_blocks(kernels.spanning_forest.lightest_of_many, blocks, *offered)
        hung = sum(
            for_blocks(kernels.spanning_forest.hook, vertices, a, b, edge, best, parent, chosen)
        )
        for_blocks(kernels.components.compress, vertices, parent)
        roots = np.cumsum([0, *for_blocks(kernels.spanning_forest.count_roots, vertices, parent)])
        for_blocks(kernels.spanning_forest.number_roots, vertices, vertices, roots, parent, number)
        counts = for_blocks(
            kernels.spanning_forest.keep_joining, blocks, left, parent, number, kept
        )
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
) -> Edges:
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
    arrays = rows.offsets.view(np.uint64), rows.neighbours
    weights = np.empty(0, np.uint8) if rows.weight is None else rows.weight
    place = np.empty(0, rows.neighbours.dtype) if place is None else place
    blocks = edge_blocks(rows.offsets) if blocks is None else blocks
    counts = for_blocks(kernels.spanning_forest.count_edges, blocks, *arrays, directed)
    starts = np.cumsum([0, *counts])
    low, high = (np.empty(starts[-1], rows.neighbours.dtype) for _ in range(2))
    weight = np.zeros(starts[-1], weights.dtype)
    for_blocks(
        kernels.spanning_forest.list_edges, blocks,
        blocks, starts, *arrays, weights, place, directed, low, high, weight,
    )  # fmt: skip
    return low, high, weight


def _most(dtype: np.dtype[Any]) -> Any:
    return np.inf if dtype.kind == "f" else np.iinfo(dtype).max
