"""Hubs and authorities over pages: two passes an iteration.

References
----------
.. [1] Kleinberg. Authoritative sources in a hyperlinked environment. J. ACM 46 (1999).
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from dask_graphgpu.engine.convergence import ended
from dask_graphgpu.engine.cpu.edges import Paged, rows_on_disk
from dask_graphgpu.engine.cpu.hits import NeighbourSums
from dask_graphgpu.kernels.cpu.threads import even_blocks, for_blocks
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
    to_authorities = PagedSums(rows_on_disk(view.into), report)
    to_hubs = to_authorities if view.into is view.out else PagedSums(rows_on_disk(view.out), report)
    sides = {id(each): each for each in (to_authorities, to_hubs)}.values()
    needed = sum(each.nbytes for each in sides) + 3 * 8 * view.num_vertices
    to_hubs.rows.limits.require(needed, f"hits of {view.num_vertices:,} vertices")
    try:
        return _iterate(to_authorities, to_hubs, tolerance, max_iterations, report)
    finally:
        for each in sides:
            each.release()


def _iterate(
    to_authorities: NeighbourSums,
    to_hubs: NeighbourSums,
    tolerance: float,
    max_iterations: int,
    report: Report,
) -> tuple[np.ndarray, np.ndarray]:
    """As `hits`, by sums over in- and over out-neighbours."""
    from dask_graphgpu.kernels.cpu import hits as kernels

    n = to_hubs.rows.num_vertices
    hub, before, authority = np.full(n, 1 / max(n, 1)), np.empty(n), np.empty(n)
    of_hubs, change = 1.0, np.inf  # what hub scores are to be multiplied by
    for _ in range(max_iterations):
        start = time.perf_counter()
        hub, before, of_before = before, hub, of_hubs
        of_authorities = _inverse(to_authorities(before, of_before, authority))
        total = to_hubs(authority, of_authorities, hub)
        of_hubs = _inverse(total)
        if tolerance:
            blocks = even_blocks(n)
            change = sum(for_blocks(kernels.differences, blocks, before, of_before, hub, of_hubs))
        edges = 2 * to_hubs.rows.num_edges
        report.advance(
            "pull", supersteps=1, frontier=n, edges=edges, bytes=edges * 12 + n * 64,
            seconds=time.perf_counter() - start,
        )  # fmt: skip
        if change < tolerance or (not total and not hub.any()):
            break
    else:
        ended(tolerance, max_iterations, change)
    return hub * of_hubs, authority * of_authorities


def _inverse(total: float) -> float:
    """What scores of a sum are scaled by: nothing where weights of both signs cancel to 0."""
    return 1 / total if total else 1.0


class PagedSums(NeighbourSums):
    """As `NeighbourSums`; blocks end also where a run of rows does that is at hand at a time."""

    rows: PagedAdjacency

    def __init__(self, rows: PagedAdjacency, report: Report) -> None:
        super().__init__(rows)
        self._passes = Paged(rows, report)
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
