"""Hubs and authorities by power iteration.

References
----------
.. [1] Kleinberg. Authoritative sources in a hyperlinked environment. J. ACM 46 (1999).
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from dask_graphgpu.engine.convergence import ended
from dask_graphgpu.kernels.cpu.threads import even_blocks, first_rows, for_blocks
from dask_graphgpu.partition.csr import Adjacency

if TYPE_CHECKING:
    from dask_graphgpu.partition.view import View
    from dask_graphgpu.report import Report

# Edges and rows of a block: several times the work that is worth waking a thread.
BLOCK = 1 << 16


def hits(
    view: View, tolerance: float, max_iterations: int, report: Report
) -> tuple[np.ndarray, np.ndarray]:
    """Hub and authority score of every vertex, each with sum 1; all 0 without edges.

    Parameters
    ----------
    view : View
        Weights are used where it has some.
    tolerance : float
        Ends when the hub scores changed by less than this in sum; 0: after all iterations.
    max_iterations : int
    report : Report
        Gets a row an iteration, "pull".

    Returns
    -------
    hub, authority : float64 arrays of shape (num_vertices,)

    Raises
    ------
    NotConverged
        The iterations came to an end first.

    Notes
    -----
    Sums are those of blocks that do not depend on the threads: so are the scores. They are scaled to
    sum 1 by the next sums that are made of them. Cost: two passes over the edges an iteration, and one
    over the vertices where there is a tolerance.
    """
    to_authorities = NeighbourSums(view.into)
    to_hubs = to_authorities if view.into is view.out else NeighbourSums(view.out)
    return iterate(to_authorities, to_hubs, tolerance, max_iterations, report)


def iterate(
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
            change = sum(for_blocks(kernels.change, blocks, before, of_before, hub, of_hubs))
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


class NeighbourSums:
    """Sums over the neighbours in each row, in blocks that do not depend on the threads."""

    def __init__(self, rows: Adjacency) -> None:
        self.rows = rows
        steps = rows.num_edges + rows.num_vertices
        inner = first_rows(rows.offsets, np.arange(BLOCK, steps, BLOCK))
        self.bounds = np.unique(np.concatenate([[0], inner, [rows.num_vertices]]))

    def __call__(self, values: np.ndarray, scale: float, sums: np.ndarray) -> float:
        """Write the sums of ``values * scale``; gives the sum of these."""
        return float(sum(self.of_blocks(self.bounds, self.rows, values, scale, sums)))

    @staticmethod
    def of_blocks(
        bounds: np.ndarray, rows: Adjacency, values: np.ndarray, scale: float, sums: np.ndarray
    ) -> list[float]:
        """What is written for each of some blocks, added up."""
        from dask_graphgpu.kernels.cpu import hits as kernels

        weight = np.empty(0) if rows.weight is None else rows.weight
        arrays = rows.offsets.view(np.uint64), rows.neighbours, weight
        return for_blocks(kernels.sum_neighbours, bounds, *arrays, values, scale, sums)
