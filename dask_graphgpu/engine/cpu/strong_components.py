"""Strongly connected components: depth-first, after mutual edges are contracted, or trimming and what goes with it.

References
----------
.. [1] Fleischer, Hendrickson, Pinar. On identifying strongly connected components in parallel. IPDPS Workshops 2000.
.. [2] McLendon, Hendrickson, Plimpton, Rauchwerger. Finding strongly connected components in distributed graphs.
   J. Parallel and Distributed Computing 2005.
.. [3] Orzan. On distributed verification and verified distribution. PhD thesis, Vrije Universiteit 2004.
.. [4] Slota, Rajamanickam, Madduri. BFS and coloring-based parallel algorithms for strongly connected components and
   related problems. IPDPS 2014.
.. [5] Pearce. A space-efficient algorithm for finding strongly connected components. Inf. Process. Letters 2016.
"""

from __future__ import annotations

import time

import numpy as np

from dask_graphgpu.engine.cpu.components import components, smallest_members
from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.kernels.cpu import threads
from dask_graphgpu.kernels.cpu.threads import edge_blocks, even_blocks, for_blocks, num_threads
from dask_graphgpu.partition.csr import Adjacency
from dask_graphgpu.partition.view import View
from dask_graphgpu.report import Report

# Vertices from which more is done than one depth-first search. Of fewer, what it looks up at random, 4 bytes a vertex,
# stays in the cache, and it is the fastest of all: cnr-2000, 0.3 million vertices, takes it 11 ms, on one thread, and
# all the ways one after another 22 on two; 1 million of R-MAT 20 200 and 195, 4 million of R-MAT 22 820 and 610.
MANY_VERTICES = 1 << 20

# Edges of what is left, in units of little work, from which it is coloured on all threads; below that one thread is
# through with it before the others have begun.
LARGE_REST = 64

# Edges of a vertex in the mean from which two searches side by side are quicker than a depth-first one, which pays for
# vertices more than for edges.
LONG_ROWS = 4

# Threads that make up for reading edges several times, which colouring does and a depth-first search does not.
MANY_THREADS = 4

# A graph of at least so many vertices is asked, by a sample of so many edges, whether most of its edges are mutual:
# whether they stand in both directions. Measured on random graphs, R-MAT graphs, and paths with chords, of 131,072 and
# 2 million vertices, contracting took this part of the time of the fastest other way: 0.1 to 0.8 with up to 8 edges a
# row of which at most one in ten was not mutual; 0.3 to 2.1 where one in four was not; 0.3 to 2.8 with 32 edges a row.
# Contracting is given up when a quarter of all edges are not mutual.
MUTUAL_VERTICES, MUTUAL_SAMPLES = 1 << 12, 1 << 8
MUTUAL_DEGREE, MUTUAL_SHARE, OTHER_SHARE = 8, 0.8, 0.25

# Sweeps of a colouring, and colourings, after which what is left has long paths and is searched depth-first.
MOST_SWEEPS, MOST_COLOURINGS = 32, 8


def strong_components(view: View, report: Report) -> np.ndarray:
    """Strongly connected component of every vertex.

    Notes
    -----
    A depth-first search [5]_, which reads every edge once and on one thread. Where rows are short and most edges stand
    in both directions, as in a road network, those are contracted first (`contracted`). Of many vertices otherwise less
    is left to the search. Those that nothing leads to, or that lead nowhere, are components of their own and are taken
    away one after another [2]_. Of the vertex with the most edges, the component is whom it reaches and is reached by
    [1]_: mostly the largest one; two threads search both ways at once, where rows are long. What is then left is
    coloured [3]_ while it is large and there are many threads. This order is that of [4]_. O(V + E); of many vertices,
    unless they are contracted, both directions of the edges are needed.
    """
    if not view.directed:
        return components(view, report)
    if _mostly_mutual(view.out):
        label = contracted(view, report)
        if label is not None:
            return label
    left = _Left(view, report)
    if left.n >= MANY_VERTICES:
        left.trim()
        if left.has_long_rows():
            left.both_ways()
        colourings = 0
        while left.is_large() and colourings < MOST_COLOURINGS and left.colour():
            colourings += 1
    left.depth_first()
    return left.label


def _mostly_mutual(rows: Adjacency) -> bool:
    """Whether contracting pays: short rows of edges that mostly stand in both directions, by a sample."""
    n = rows.num_vertices
    if n < MUTUAL_VERTICES or rows.num_edges > MUTUAL_DEGREE * n:
        return False
    mutual, seen = kernels.mutual_edges.count_mutual(*arrays_of(rows), MUTUAL_SAMPLES)
    return bool(mutual > MUTUAL_SHARE * seen)


def contracted(view: View, report: Report) -> np.ndarray | None:
    """Strongly connected components, by a search of what is left when mutual edges are contracted.

    Vertices that mutual edges connect are in one component. One pass joins them, each to the next in the order of
    the ids, and lists the other edges; a depth-first search goes over the graph that has a vertex for each set.

    Parameters
    ----------
    view : View
        Directed, without repeated edges.
    report : Report
        Gets a row for the pass, "contract", and one for the search.

    Returns
    -------
    ndarray of the type of the neighbours, shape (num_vertices,), or None
        As of `strong_components`. None: too few edges are mutual.

    Notes
    -----
    O(V + E) times the steps to a root, on one thread. What the pass asks for at one vertex does not depend on the one
    before, so reads of memory overlap; a depth-first search waits at each vertex for three, one after another. Memory,
    where ids have 4 bytes: 12 a vertex, 20 an edge that is not mutual, which a quarter of all may be, and 36 a vertex
    of the graph that is searched; up to 8 an edge where it is given up.
    """
    rows, start = view.out, time.perf_counter()
    n, edges, ids = rows.num_vertices, rows.num_edges, rows.neighbours.dtype
    parent = np.empty(n, ids)
    place = np.empty(n, np.uint64)
    others = tuple(np.empty(edges, ids) for _ in range(2))  # only what is written to gets memory
    most = int(edges * OTHER_SHARE)
    count = int(kernels.mutual_edges.join_mutual(*arrays_of(rows), parent, place, *others, most))

    def note(way: str, frontier: int, edges: int) -> None:
        moved = edges * (2 * ids.itemsize + place.itemsize) + frontier * 2 * ids.itemsize
        seconds = time.perf_counter() - start
        report.advance(
            way, supersteps=1, frontier=frontier, edges=edges, bytes=moved, seconds=seconds
        )

    note("contract", n, edges)
    start = time.perf_counter()
    if count > most:
        return None
    kernels.mutual_edges.flatten(parent)
    sources, targets = (ends[:count] for ends in others)
    roots = np.empty(2 * count, ids)
    small: tuple[np.ndarray, np.ndarray] = kernels.mutual_edges.contract(
        parent, place, sources, targets, roots
    )
    label = np.arange(len(small[0]) - 1, dtype=ids)
    read = depth_first(*small, roots, np.zeros(len(label), bool), len(label), label)
    kernels.mutual_edges.join_components(roots, label, parent)
    kernels.mutual_edges.flatten(parent)
    note("depth-first", len(label), read)
    rank = view.user_rank
    return parent if rank is None else smallest_members(parent, rank, even_blocks(n))


def depth_first(
    offsets: np.ndarray, neighbours: np.ndarray, rank: np.ndarray, done: np.ndarray, left: int,
    label: np.ndarray,
) -> int:  # fmt: skip
    """Give the `left` vertices that are not `done` the first of their component by `rank`; returns the edges read."""
    number, known = (np.uint32, 2**32 - 1) if len(label) < 2**32 - 1 else (np.uint64, 2**64 - 1)
    index = np.where(done, number(known), number(0))
    path, opened = (np.empty(left, label.dtype) for _ in range(2))
    places, lows = np.empty(left, np.uint64), np.empty(left, number)
    return int(kernels.strong_components.depth_first(
        offsets, neighbours, rank, index, known, label, path, places, lows, opened
    ))  # fmt: skip


class _Left:
    """The vertices whose component is not known yet."""

    def __init__(self, view: View, report: Report) -> None:
        self.view, self.out, self.report = view, view.out, report
        self.n = n = view.num_vertices
        self.done = np.zeros(n, np.uint8)
        self.label = np.arange(n, dtype=self.out.neighbours.dtype)
        rank = view.user_rank
        self._rank = np.empty(0, self.label.dtype) if rank is None else rank
        self.count = n

    def trim(self) -> None:
        """Take away what nothing leads to, then what leads nowhere; after that nothing more becomes so."""
        start, settled, read = time.perf_counter(), 0, 0
        queue = np.empty(self.n, self.label.dtype)
        number = np.int32 if self.n < 2**31 else np.int64
        both = self.out, self.view.into
        for rows, towards in (both, both[::-1]):
            degree = towards.degrees.astype(number)
            some, edges = kernels.strong_components.trim(*arrays_of(rows), degree, self.done, queue)
            settled, read = settled + some, read + edges
        self._note("trim", settled, read, start)

    def has_long_rows(self) -> bool:
        """Whether searches both ways pay: on two threads, and where there are many edges."""
        edges = self.out.num_edges
        large = self.count > 0 and edges > 2 * threads.LITTLE_WORK
        return large and num_threads() > 1 and edges >= LONG_ROWS * self.n

    def both_ways(self) -> None:
        """Settle the component of the vertex with the most edges; the two searches run side by side."""
        start = time.perf_counter()
        degrees = self.out.degrees, self.view.into.degrees
        best: list[tuple[int, int]] = for_blocks(
            kernels.strong_components.pivot, even_blocks(self.n), self.done, *degrees
        )
        source = max(best, key=lambda each: each[1])[0]
        found = tuple(np.zeros(self.n, np.uint8) for _ in range(2))
        queues = tuple(np.empty(self.n, self.label.dtype) for _ in range(2))
        sides = (arrays_of(self.out), arrays_of(self.view.into))
        given = source, sides, self.done, found, queues
        read = sum(for_blocks(kernels.strong_components.reach, np.arange(3), *given))
        blocks = even_blocks(self.n)
        parts: list[tuple[int, int]] = for_blocks(
            kernels.strong_components.found_both, blocks, found, self._rank
        )
        members = [first for count, first in parts if count]
        rank = self._rank
        first = min(members, key=lambda v: int(rank[v]) if len(rank) else v)
        for_blocks(
            kernels.strong_components.settle_both, blocks, first, found, self.done, self.label
        )
        self._note("forward-backward", sum(count for count, _ in parts), read, start)

    def is_large(self) -> bool:
        """Whether colouring on all threads pays."""
        if num_threads() < MANY_THREADS or not self.count:
            return False
        edges = int(self.out.degrees[self.done == 0].sum())
        return edges > LARGE_REST * threads.LITTLE_WORK

    def colour(self) -> bool:
        """Settle a component of every colour. False: it would take too many sweeps, and nothing is settled."""
        start, read, sweeps, changed = time.perf_counter(), 0, 0, 1
        left = np.flatnonzero(self.done == 0).astype(self.label.dtype)
        colours = np.arange(self.n, dtype=self.label.dtype)
        lengths = self.out.degrees.take(left).cumsum()
        blocks = edge_blocks(np.concatenate([np.zeros(1, np.int64), lengths]))
        while changed and sweeps < MOST_SWEEPS:
            parts: list[tuple[int, int]] = for_blocks(
                kernels.strong_components.colour, blocks, left, *arrays_of(self.out), self.done,
                colours,
            )  # fmt: skip
            changed, edges = np.sum(parts, axis=0).tolist()
            sweeps, read = sweeps + 1, read + edges
        settled = 0
        if not changed:
            parts = for_blocks(
                kernels.strong_components.settle_colours, blocks,
                left, *arrays_of(self.view.into), colours, self.done, self._rank, self.label,
            )  # fmt: skip
            settled, edges = np.sum(parts, axis=0).tolist()
            read += edges
        self._note("colour", settled, read, start, sweeps)
        return not changed

    def depth_first(self) -> None:
        """Settle all that is left."""
        if self.count:
            start = time.perf_counter()
            read = depth_first(*arrays_of(self.out), self._rank, self.done, self.count, self.label)
            self._note("depth-first", self.count, read, start)

    def _note(self, way: str, settled: int, read: int, start: float, supersteps: int = 1) -> None:
        self.report.advance(
            way, supersteps=supersteps, frontier=self.count, edges=int(read),
            bytes=int(read) * (self.label.itemsize + 4) + self.n * (2 + self.label.itemsize),
            seconds=time.perf_counter() - start,
        )  # fmt: skip
        self.count -= int(settled)


def arrays_of(rows: Adjacency) -> tuple[np.ndarray, np.ndarray]:
    """Offsets, as unsigned as the ids that they are looked up by, and neighbours."""
    return rows.offsets.view(np.uint64), rows.neighbours
