"""Betweenness over pages: path counts and dependencies of several sources, one distance from these after the other.

References
----------
.. [1] Brandes. A faster algorithm for betweenness centrality. J. Mathematical Sociology 25 (2001).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np

from dask_graphgpu.engine.cpu.edges import Paged, rows_on_disk
from dask_graphgpu.engine.cpu.multi_bfs import multi_bfs
from dask_graphgpu.engine.cpu.sweep import AT_ONCE
from dask_graphgpu.engine.paged.weighted_paths import Paths, weighted_paths
from dask_graphgpu.engine.path_failures import check
from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.kernels.cpu.threads import edge_blocks, for_blocks
from dask_graphgpu.partition.csr import Adjacency
from dask_graphgpu.partition.view import View
from dask_graphgpu.report import Report

_ONE = np.ones(1, np.int32)  # the length of every edge

# Vertices of levels that one thread goes along one after the other.
_FEW = 1 << 10


def betweenness(
    view: View, sources: np.ndarray, *, weighted: bool, endpoints: bool, edges: bool, report: Report
) -> np.ndarray:
    """Sums of the sources' dependencies on every vertex, or on every edge, as `engine.cpu.betweenness`, up to rounding.

    Raises
    ------
    LimitTooSmall, SpillError

    Notes
    -----
    As many sources at once as there is memory for, 64 at most. A page is read for all of them, for each level that any
    of them has rows of there, or once for several levels whose rows are all there: by the searches, to count paths, and
    from the farthest level back for the dependencies.
    By weight a level is what has as many edges on its longest shortest path, and each source is searched from, and
    paths from it counted, by itself. Edges take one more pass. What they get, 8 bytes each, is in memory beside the
    limit, as the answer is.
    """
    rows, n = rows_on_disk(view.out), view.num_vertices
    passes = Paged(rows, report)
    held = passes.nbytes + rows.offsets.nbytes + rows.counts.nbytes + rows.degrees.nbytes
    # Sums, and what searches take, which is no more by weight.
    held += n * (8 + 24 + 16 + 2 * rows.neighbours.itemsize)
    of_source = n * (4 + 8 + 8 + 8 * weighted + rows.neighbours.itemsize)
    rows.limits.require(held + of_source, f"betweenness of {n:,} vertices")
    width = int(min((rows.limits.memory - held) // max(of_source, 1), AT_ONCE))
    through, along = np.zeros(n), np.zeros(rows.num_edges if edges else 0)
    try:
        for first in range(0, len(sources), width):
            some = sources[first : first + width]
            if weighted:
                paths = weighted_paths(view, some, report)
            else:
                level = multi_bfs(view, some, cutoff=None, targets=None, report=report)
                paths = Paths(level, np.zeros(level.shape))
            batch = _Batch(passes, some, paths, report)
            if not weighted:
                batch.count_paths()
            batch.accumulate(through, endpoints=endpoints)
            if edges:
                batch.add_to_edges(along, both_ways=not view.directed)
            passes.release()  # the memory of one window is counted on
    finally:
        passes.release()
    return along if edges else through


def edge_betweenness(
    view: View, sources: np.ndarray, *, weighted: bool, report: Report
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Sources and destinations of the edges, and sums of the sources' dependencies on each."""
    sums = betweenness(view, sources, weighted=weighted, endpoints=False, edges=True, report=report)
    return (*view.ends(), sums)


class _Batch:
    """Sources of which the paths are known, or only how far they lead: then they are to be counted."""

    def __init__(self, passes: Paged, sources: np.ndarray, paths: Paths, report: Report) -> None:
        self._passes, self._sources, self._paths = passes, sources, paths
        self._report, ids = report, passes.rows.neighbours.dtype
        self._share = np.zeros(paths.level.shape)
        self._ids = ids

    def count_paths(self) -> None:
        """Count the paths to every vertex, by edges."""
        level, count = self._paths.level, self._paths.count
        count[np.arange(len(level)), self._sources] = 1
        self._along(
            "count", [_Walk(each, self._ids) for each in level],
            lambda s, rows: (kernels.path_counts.push_block, level[s], count[s]),
        )  # fmt: skip

    def accumulate(self, through: np.ndarray, *, endpoints: bool) -> None:
        """Add the dependencies on every vertex."""
        level, distance, count = self._paths.level, self._paths.distance, self._paths.count
        ends, none = float(endpoints), np.empty(0)

        def work(s: int, rows: Adjacency) -> tuple[Any, ...]:
            sums = count[s], self._share[s], ends, through
            if distance is None:
                return kernels.betweenness.hand_back, level[s], *sums, none
            return kernels.tight_paths.hand_back, rows.weight, distance[s], level[s], *sums

        back = [_Walk(np.where(each < 0, each, each.max() - each), self._ids) for each in level]
        codes = self._along("accumulate", back, work)
        check(max(codes, default=0), None)
        reached = (level >= 0).sum(1) - 1
        np.add.at(through, self._sources, reached * ends)

    def add_to_edges(self, along: np.ndarray, *, both_ways: bool) -> None:
        """Add the dependencies on every edge, where those on vertices are known; in one pass."""
        start, rows = time.perf_counter(), self._passes.rows
        distance, count = self._paths.distance, self._paths.count
        for lo, hi, here in self._passes.over():
            weight = _ONE if distance is None else here.weight
            blocks = lo + edge_blocks(here.offsets[lo : hi + 1])
            for s in range(len(self._sources)):
                far = self._paths.level[s] if distance is None else distance[s]
                for_blocks(
                    kernels.tight_paths.along_edges, blocks, here.offsets.view(np.uint64), here.neighbours,
                    weight, np.uint64(distance is not None), far, count[s], self._share[s], both_ways, along,
                )  # fmt: skip
        edges = len(self._sources) * rows.num_edges
        self._report.advance(
            "edges", supersteps=1, frontier=len(self._sources), edges=edges,
            bytes=edges * (rows.neighbours.itemsize + 12), seconds=time.perf_counter() - start,
        )  # fmt: skip

    def _along(
        self, way: str, walks: list[_Walk], work: Callable[[int, Adjacency], tuple[Any, ...]]
    ) -> list[Any]:
        """Run a kernel along the rows of one level after the other, of each source; what it gave.

        Of every source as many levels as the rows at hand are enough for.
        """
        passes, found, start, looks = self._passes, [], time.perf_counter(), 0
        degrees = passes.rows.degrees
        read = sum(int(degrees.take(walk.order).sum()) for walk in walks)
        while not all(walk.done for walk in walks):
            looks += 1
            marked = np.zeros(len(degrees), bool)
            for walk in walks:
                marked[walk.next().astype(np.intp)] = True
            for here in passes.in_groups(passes.holding(marked)):
                goes_on = True
                while goes_on:
                    goes_on = False
                    for (lo, hi, rows), (s, walk) in product(here, enumerate(walks)):
                        for some, in_turn in walk.within(lo, hi):
                            found += self._go(work(s, rows), some, rows, in_turn=in_turn)
                            goes_on = len(here) > 1
        ids = passes.rows.neighbours.itemsize
        self._report.advance(
            way, supersteps=looks, frontier=len(self._sources), edges=read,
            bytes=read * (ids + 12), seconds=time.perf_counter() - start,
        )  # fmt: skip
        return found

    def _go(
        self, work: tuple[Any, ...], some: np.ndarray, rows: Adjacency, *, in_turn: bool
    ) -> list[Any]:
        """What a kernel gives along some rows that are at hand, on one thread where that has to be ``in_turn``."""
        kernel, *given = work
        if in_turn:
            arrays = rows.offsets.view(np.uint64), rows.neighbours
            return [kernel(0, len(some), some, *arrays, *given)]
        return self._passes.along(kernel, some, rows, *given)


class _Walk:
    """The vertices that a source reaches, by rank and then ascending, and how far they have been gone along.

    Parameters
    ----------
    rank : int32 array
        Of each vertex; -1 where it is not reached. Vertices of one rank may be gone along at the same time.
    """

    def __init__(self, rank: np.ndarray, ids: Any) -> None:
        self._starts = np.zeros(int(rank.max(initial=0)) + 2, np.int64)
        self.order = np.empty(int((rank >= 0).sum()), ids)
        kernels.path_counts.by_level(rank, self._starts, self.order)
        self._at = self._rank = 0

    @property
    def done(self) -> bool:
        return self._at == len(self.order)

    def next(self) -> np.ndarray:
        """What is left of the rank that is next; empty if there is none."""
        return self.order[self._at : self._starts[self._rank + 1]]

    def within(self, lo: int, hi: int) -> Iterator[tuple[np.ndarray, bool]]:
        """Vertices that are next, as long as they are from one to before another; whether it has to be in turn."""
        while len(left := self.next()) and left[0] >= lo:
            some = left[: np.searchsorted(left, hi)]
            in_turn = len(some) == len(left) < _FEW
            if in_turn:  # with those of the next ranks
                some = self.order[self._at : self._at + _FEW]
                here = (some >= lo) & (some < hi)
                some = some if here.all() else some[: here.argmin()]
            if not len(some):
                return
            yield some, in_turn
            self._at += len(some)
            self._rank = int(np.searchsorted(self._starts[:-1], self._at, side="right")) - 1
