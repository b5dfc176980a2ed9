"""Minimum spanning forest over pages: in one pass, by forests of what came by so far.

References
----------
.. [1] Feigenbaum, Kannan, McGregor, Suri, Zhang. On graph problems in a semi-streaming model. Theoretical Computer
   Science 348 (2005).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dask_graphgpu.engine.cpu.edges import Paged, rows_on_disk
from dask_graphgpu.engine.cpu.spanning_forest import edges_of, forest
from dask_graphgpu.kernels.cpu.threads import edge_blocks
from dask_graphgpu.partition.paged.sort import PagedAdjacency, give_back

if TYPE_CHECKING:
    from dask_graphgpu.partition.view import View
    from dask_graphgpu.report import Report

# Bytes a vertex of a round of Boruvka's algorithm and of what the answer takes, where ids have 8.
_OF_VERTEX = 48


def spanning_forest(view: View, report: Report) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The edges of the minimum spanning forest, directions ignored, as `engine.cpu.spanning_forest`.

    Raises
    ------
    LimitTooSmall
        There is no room for one edge a vertex and a page.
    SpillError

    Notes
    -----
    An edge that is not in the forest of some edges is not in that of more of them: it is the heaviest of a circle. So
    edges are gathered while there is room, and left are those of the forest of these [1]_. One pass over the pages;
    where there is room for k edges a vertex, an edge is looked at k / (k - 1) times as often as in memory.
    """
    rows, n = rows_on_disk(view.out), view.num_vertices
    passes = Paged(rows, report)
    kind = np.dtype(np.uint8) if rows.weight is None else rows.weight.dtype
    batch = _Batch(n, rows, passes, kind, report)
    try:
        for lo, hi, run in passes.over():
            blocks = edge_blocks(rows.offsets[lo : hi + 1]) + lo
            batch.add(edges_of(run, view.user_rank, view.directed, blocks))
    finally:
        passes.release()
    return batch.reduced()


class _Batch:
    """Edges that may be in the forest: their ends and weights, as many as there is room for."""

    def __init__(
        self,
        n: int,
        rows: PagedAdjacency,
        passes: Paged,
        kind: np.dtype[np.generic],
        report: Report,
    ) -> None:
        self._n, self._report, self._size = n, report, 0
        ids = rows.neighbours.dtype
        edge = 2 * ids.itemsize + kind.itemsize
        # Gathered, and again what joins two components, numbered; and a mark.
        each = 2 * edge + 2 * ids.itemsize + 1
        fixed = passes.nbytes + rows.offsets.nbytes + rows.counts.nbytes + _OF_VERTEX * n
        fixed += passes.longest * edge
        rows.limits.require(fixed + each * (n + passes.longest), f"the forest of {n:,} vertices")
        # The rest is left to the allocator, which keeps some of what a forest had for the next one.
        most = max((rows.limits.memory - fixed) // each * 5 // 8, n + passes.longest)
        room = min(most, rows.num_edges)
        self._arrays = np.empty(room, ids), np.empty(room, ids), np.empty(room, kind)

    def add(self, edges: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
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

    def reduced(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The forest of what is gathered: low ends, high ends, weights."""
        low, high, weight = (array[: self._size] for array in self._arrays)
        taken = np.flatnonzero(forest(self._n, low, high, weight, self._report))
        return low[taken], high[taken], weight[taken]
