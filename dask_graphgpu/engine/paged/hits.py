"""Hubs and authorities over pages: two passes an iteration.

References
----------
.. [1] Kleinberg. Authoritative sources in a hyperlinked environment. J. ACM 46 (1999).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dask_graphgpu.engine.cpu.hits import NeighbourSums, iterate
from dask_graphgpu.engine.paged.passes import Passes, paged
from dask_graphgpu.partition.csr import Adjacency
from dask_graphgpu.partition.paged.sort import PagedAdjacency

if TYPE_CHECKING:
    from dask_graphgpu.partition.view import View
    from dask_graphgpu.report import Report


def hits(
    view: View, tolerance: float, max_iterations: int, report: Report
) -> tuple[np.ndarray, np.ndarray]:
    """Hub and authority score of every vertex, as `engine.cpu.hits`, up to rounding.

    Raises
    ------
    NotConverged, LimitTooSmall, SpillError

    Notes
    -----
    Of a directed graph both directions lie on disk. Beside the pages that are at hand, 24 bytes a vertex.
    """
    to_authorities = PagedSums(paged(view.into), report)
    to_hubs = to_authorities if view.into is view.out else PagedSums(paged(view.out), report)
    sides = {id(each): each for each in (to_authorities, to_hubs)}.values()
    needed = sum(each.nbytes for each in sides) + 3 * 8 * view.num_vertices
    to_hubs.rows.limits.require(needed, f"hits of {view.num_vertices:,} vertices")
    try:
        return iterate(to_authorities, to_hubs, tolerance, max_iterations, report)
    finally:
        for each in sides:
            each.release()


class PagedSums(NeighbourSums):
    """As `NeighbourSums`; blocks end also where a run of rows does that is at hand at a time."""

    rows: PagedAdjacency

    def __init__(self, rows: PagedAdjacency, report: Report) -> None:
        super().__init__(rows)
        self._passes = Passes(rows, report)
        self.bounds = np.union1d(self.bounds, self._passes.cuts)
        self._groups = np.searchsorted(self.bounds, self._passes.cuts).tolist()
        self.release = self._passes.release

    @property
    def nbytes(self) -> int:
        """Memory for pages and for what tells rows."""
        return self._passes.nbytes + self.rows.offsets.nbytes + self.rows.counts.nbytes

    def __call__(self, values: np.ndarray, scale: float, sums: np.ndarray) -> float:
        groups, bounds = self._groups, self.bounds

        def add(i: int, rows: Adjacency) -> list[float]:
            return self.of_blocks(bounds[groups[i] : groups[i + 1] + 1], rows, values, scale, sums)

        made = self._passes.each(add)
        return float(sum(part for parts in made for part in parts))
