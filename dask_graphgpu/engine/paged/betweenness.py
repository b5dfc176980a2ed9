"""Betweenness of vertices over pages: searches, path counts and dependencies of several sources, level by level.

References
----------
.. [1] Brandes. A faster algorithm for betweenness centrality. J. Mathematical Sociology 25 (2001).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from dask_graphgpu.engine.cpu.edges import Paged, rows_on_disk
from dask_graphgpu.engine.cpu.multi_bfs import multi_bfs
from dask_graphgpu.engine.cpu.sweep import AT_ONCE
from dask_graphgpu.engine.path_failures import check
from dask_graphgpu.errors import EngineUnavailable
from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.partition.view import View
from dask_graphgpu.report import Report


def betweenness(
    view: View, sources: np.ndarray, *, weighted: bool, endpoints: bool, edges: bool, report: Report
) -> np.ndarray:
    """Sums of the sources' dependencies on every vertex, as `engine.cpu.betweenness`, up to rounding.

    Raises
    ------
    EngineUnavailable
        ``weighted``: a search by weight takes one vertex after another, not levels.

    Notes
    -----
    As many sources at once as there is memory for, 64 at most. A page is read for all of them, for each level that any
    of them has rows of there: by the searches, to count paths, and from the farthest level back for the dependencies.
    """
    assert not edges  # `edge_betweenness` is not of this engine
    if weighted:
        raise EngineUnavailable(
            "betweenness with weighted=True takes one vertex after another, in the order of their distances, and "
            "the edges of this graph lie in pages on disk: raise graphgpu.host-memory-limit, or leave weighted out"
        )
    rows, n = rows_on_disk(view.out), view.num_vertices
    passes = Paged(rows, report)
    held = passes.nbytes + rows.offsets.nbytes + rows.counts.nbytes + rows.degrees.nbytes
    held += n * (8 + 24 + 16 + 2 * rows.neighbours.itemsize)  # sums, and what searches take
    of_source = n * (4 + 8 + 8 + rows.neighbours.itemsize)
    rows.limits.require(held + of_source, f"betweenness of {n:,} vertices")
    width = int(min((rows.limits.memory - held) // max(of_source, 1), AT_ONCE))
    through = np.zeros(n)
    try:
        for first in range(0, len(sources), width):
            some = sources[first : first + width]
            level = multi_bfs(view, some, cutoff=None, targets=None, report=report)
            _Batch(passes, some, level, report).accumulate(through, endpoints=endpoints)
            passes.release()  # the memory of one window is counted on
    finally:
        passes.release()
    return through


class _Batch:
    """Sources whose levels are known."""

    def __init__(
        self, passes: Paged, sources: np.ndarray, level: np.ndarray, report: Report
    ) -> None:
        self._passes, self._sources, self._level = passes, sources, level
        self._report, ids = report, passes.rows.neighbours.dtype
        self._depth = int(level.max(initial=0))
        self._starts = np.zeros((len(sources), self._depth + 2), np.int64)
        self._order: list[np.ndarray] = []
        for levels, starts in zip(level, self._starts, strict=True):
            order = np.empty(int((levels >= 0).sum()), ids)
            kernels.path_counts.by_level(levels, starts, order)
            self._order.append(order)

    def accumulate(self, through: np.ndarray, *, endpoints: bool) -> None:
        """Add the dependencies on every vertex."""
        level = self._level
        count, share = (np.zeros(level.shape) for _ in range(2))
        count[np.arange(len(level)), self._sources] = 1
        none = np.empty(0)
        self._along(
            "count",
            range(self._depth),
            lambda s: (kernels.path_counts.push_block, level[s], count[s]),
        )
        codes = self._along(
            "accumulate", range(self._depth, -1, -1),
            lambda s: (
                kernels.betweenness.hand_back, level[s], count[s], share[s], float(endpoints), through,
                none,
            ),
        )  # fmt: skip
        check(max(codes, default=0), None)
        reached = np.array([len(order) - 1 for order in self._order])
        np.add.at(through, self._sources, reached * float(endpoints))

    def _along(self, way: str, depths: range, work: Callable[[int], tuple[Any, ...]]) -> list[Any]:
        """Run a kernel along the rows of one level after the other, of each source; what it gave."""
        passes, found, start, read = self._passes, [], time.perf_counter(), 0
        degrees = passes.rows.degrees
        for depth in depths:
            there = [
                order[starts[depth] : starts[depth + 1]]
                for order, starts in zip(self._order, self._starts, strict=True)
            ]
            marked = np.zeros(len(degrees), bool)
            for some in there:
                marked[some.astype(np.intp)] = True
                read += int(degrees.take(some).sum())
            for lo, hi, rows in passes.over(passes.holding(marked)):
                for s, some in enumerate(there):
                    here = some[slice(*np.searchsorted(some, [lo, hi]))]
                    if len(here):
                        kernel, *given = work(s)
                        found += passes.along(kernel, here, rows, *given)
        ids = passes.rows.neighbours.itemsize
        self._report.advance(
            way, supersteps=len(depths), frontier=len(self._sources), edges=read,
            bytes=read * (ids + 12), seconds=time.perf_counter() - start,
        )  # fmt: skip
        return found
