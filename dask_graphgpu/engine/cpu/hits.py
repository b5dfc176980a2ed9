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
from dask_graphgpu.engine.cpu.in_step import AS_THEY_LIE, blocked_rows, passes_at_once, threads_for
from dask_graphgpu.kernels.cpu.threads import for_blocks, step_blocks
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

    Notes
    -----
    Sums are those of blocks that do not depend on the threads: so are the scores. They are scaled to
    sum 1 by the next sums that are made of them. Threads are woken once for many iterations. Cost: two passes over
    the edges an iteration, and one over the vertices where there is a tolerance.
    """
    from dask_graphgpu.kernels.cpu import hits as kernels

    n, edges = view.num_vertices, 2 * view.num_edges
    into = blocked_rows(view.into)
    out = into if view.into is view.out else blocked_rows(view.out)
    hub, spare, authority = np.full(n, 1 / max(n, 1)), np.empty(n), np.empty(n)
    of_hubs, of_authorities, change, left = 1.0, 1.0, np.inf, max_iterations
    blocks = max(len(into[0]), len(out[0])) - 1
    over = False
    while left and not over:
        start = time.perf_counter()
        most = min(left, passes_at_once(edges + 2 * n))
        claimed, done = np.zeros((2, 3 * most), np.int64)
        parts = np.empty((3 * most, blocks))
        made, of_hubs, of_authorities, change, over = for_blocks(
            kernels.iterate, threads_for(blocks), most, tolerance, of_hubs, *into, *out,
            hub, spare, authority, claimed, done, parts, np.zeros(most, np.int8),
        )[0]  # fmt: skip
        if made % 2:
            hub, spare = spare, hub
        left -= made
        report.advance(
            "pull", supersteps=made, frontier=n, edges=made * edges, bytes=made * (edges * 12 + n * 64),
            seconds=time.perf_counter() - start,
        )  # fmt: skip
    if not over:
        ended(tolerance, max_iterations, change)
    return hub * of_hubs, authority * of_authorities


class NeighbourSums:
    """Sums over the neighbours in each row, in blocks that do not depend on the threads."""

    def __init__(self, rows: Adjacency) -> None:
        self.rows = rows
        self.bounds = step_blocks(rows.offsets, BLOCK)

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
        arrays = AS_THEY_LIE, rows.offsets.view(np.uint64), rows.neighbours, weight
        return for_blocks(kernels.sum_neighbours, bounds, *arrays, values, scale, sums)
