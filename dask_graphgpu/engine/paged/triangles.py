"""Triangles of a graph on disk: parts of the oriented edges in memory, each against all of them in a pass.

References
----------
.. [1] Hu, Tao, Chung. Massive graph triangulation. SIGMOD 2013.
.. [2] Ortmann, Brandes. Triangle listing algorithms: back from the diversion. ALENEX 2014.
"""

from __future__ import annotations

import time
from itertools import pairwise

import numpy as np

from dask_graphgpu.engine.cpu.edges import Paged
from dask_graphgpu.engine.cpu.hub_triangles import Hubs, pays
from dask_graphgpu.engine.cpu.triangles import blocks_of, over_blocks
from dask_graphgpu.engine.paged.oriented import oriented_on_disk
from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.kernels.cpu.threads import at_most, edge_blocks, for_blocks, num_threads
from dask_graphgpu.partition.csr import Adjacency, offsets_of
from dask_graphgpu.partition.paged.rowwise import cuts_of
from dask_graphgpu.partition.paged.sort import PagedAdjacency, give_back
from dask_graphgpu.partition.view import View
from dask_graphgpu.report import Report

# Bytes of a vertex: the degree, what is found, the length of its row, where that begins among those without hubs' and
# in memory, and what is read for it.
_OF_VERTEX = 48

# The part of what is left of the memory that marks of vertices may take, of which each thread needs its own, and before
# that bitmaps of hubs.
_SHARE = 4

# So many times less of it is taken than is left: there is other memory, and what was freed is not always given back.
_USED = 2


def triangles(view: View, report: Report) -> np.ndarray:
    """Triangles that each vertex is in, as the CPU engine's `triangles`.

    Raises
    ------
    LimitTooSmall, SpillError

    Notes
    -----
    Every edge is kept at its lower end, on disk. As many rows of middle vertices as there is memory for are at hand,
    and those of all lowest vertices pass by: the kept neighbours of one are marked, and the rows of those at hand are
    looked at [1]_ [2]_. Middle vertices that are hubs are counted before, in one pass, where that pays. Cost: where M
    edges are at hand, E / M passes over E edges, beside the time in memory.
    """
    return _counted(view, report, arcs=False)


def neighbour_arcs(view: View, report: Report) -> np.ndarray:
    """Edges that join two neighbours of each vertex, as the CPU engine's `neighbour_arcs`.

    Notes
    -----
    As `triangles`; of a directed view an edge has a byte more, and in-edges are made on disk.
    """
    if not view.directed:
        return 2 * triangles(view, report)
    return _counted(view, report, arcs=True)


def _counted(view: View, report: Report, *, arcs: bool) -> np.ndarray:
    up = oriented_on_disk(view, report, ways=arcs)
    return _Counting(up, np.diff(view.symmetric.offsets), arcs=arcs, report=report).run()


class _Counting:
    """Oriented rows on disk, and what is counted over them."""

    def __init__(
        self, up: PagedAdjacency, degree: np.ndarray, *, arcs: bool, report: Report
    ) -> None:
        self._up, self._degree, self._arcs, self._report = up, degree, arcs, report
        self._kernel = kernels.triangles.count_arcs if arcs else kernels.triangles.count
        self._passes = Paged(up, report)
        n, limits = up.num_vertices, up.limits
        self._edge = sum(array.itemsize for array in up.arrays.values())
        held = self._passes.held + n * _OF_VERTEX
        longest, mark = int(np.diff(up.offsets).max(initial=0)), 4 * n
        least = mark + longest * self._edge
        limits.require(held + _USED * least, f"triangles of {n:,} vertices")
        self._room = (limits.memory - held) // _USED
        self._threads = max(min(num_threads(), self._room // (_SHARE * mark)), 1)
        self._at_hand = (self._room - self._threads * mark) // self._edge
        self._counts, self._marks = np.zeros(n, np.int64), list[np.ndarray]()

    def run(self) -> np.ndarray:
        """What is found at every vertex."""
        lengths = np.diff(self._up.offsets)
        reads = self._up.num_edges + int((self._degree - lengths) @ lengths)
        with self._passes, at_most(self._threads):
            if pays(reads, self._up):
                lengths[self._at_hubs()] = 0
                give_back()  # memory for bitmaps
            far = offsets_of(lengths)
            cuts = cuts_of(far, self._at_hand)
            longest = int(np.diff(far[cuts]).max())
            arrays = {name: np.empty(longest, a.dtype) for name, a in self._up.arrays.items()}
            there: Adjacency = self._up.among(arrays)
            for first, last in pairwise(cuts.tolist()):
                self._against(self._part(far, first, last, there))
        return self._counts

    def _at_hubs(self) -> np.ndarray:
        """Count triangles of which the middle vertex is a hub; the hubs."""
        start, n, words = time.perf_counter(), self._up.num_vertices, 0
        memory = self._room // _SHARE
        hubs = Hubs(self._degree, self._up.num_edges, arcs=self._arcs, memory=memory)
        marked = np.zeros(n, np.bool_)
        marked[hubs.ids] = True
        for lo, hi, rows in self._passes.over(self._passes.holding(marked)):
            hubs.join(rows, rows.columns.get("ways"), lo, hi)
        for lo, hi, rows in self._passes.over():
            words += hubs.count(rows, rows.columns.get("ways"), lo, hi, self._counts)
        hubs.add_to(self._counts)
        edges = self._up.num_edges
        self._note(start, edges, edges * (self._edge + 4) + 8 * words)
        return hubs.ids

    def _part(self, far: np.ndarray, first: int, last: int, there: Adjacency) -> Adjacency:
        """The rows of vertices from one to before another, as long as offsets say, which are read into arrays."""
        up, passes = self._up, self._passes
        offsets = np.clip(far, far[first], far[last])
        offsets -= far[first]
        whole, kept = up.offsets.view(np.uint64), offsets.view(np.uint64)
        for lo, hi, rows in passes.over((passes.cuts[1:] > first) & (passes.cuts[:-1] < last)):
            lo, hi = max(lo, first), min(hi, last)
            blocks = lo + edge_blocks(offsets[lo : hi + 1])
            pairs = (
                (rows.neighbours, there.neighbours),
                *((column, there.columns[name]) for name, column in rows.columns.items()),
            )
            for here, to in pairs:
                for_blocks(kernels.triangles.up_rows, blocks, whole, here, kept, to)
        return Adjacency(offsets, there.neighbours, there.columns)

    def _against(self, far: Adjacency) -> None:
        """Count the triangles of which the edge between the two higher vertices is at hand."""
        start, read = time.perf_counter(), 0
        there = far.offsets.view(np.uint64), far.neighbours, *far.columns.values()
        for lo, hi, rows in self._passes.over():
            here = rows.offsets.view(np.uint64), rows.neighbours, *rows.columns.values()
            work = _work(lo, hi, rows, far)
            over_blocks(
                self._kernel, lo + blocks_of(work), (*here, *there), self._marks, self._counts
            )
            read += int(work[-1]) - (hi - lo)
        self._note(start, read, read * (self._edge + 4))

    def _note(self, start: float, edges: int, moved: int) -> None:
        self._report.advance(
            "intersect", supersteps=1, frontier=self._up.num_vertices, edges=edges, bytes=moved,
            seconds=time.perf_counter() - start,
        )  # fmt: skip


def _work(lo: int, hi: int, rows: Adjacency, far: Adjacency) -> np.ndarray:
    """As `engine.cpu.triangles.work_of`, of the rows of a run."""
    offsets, steps = rows.offsets[lo : hi + 1], np.empty(hi - lo, np.int64)
    given = offsets, rows.neighbours, far.offsets, steps
    for_blocks(kernels.triangles.work, edge_blocks(offsets), *given)
    return offsets_of(steps)
