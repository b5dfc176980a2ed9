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
from dask_graphgpu.engine.cpu.parts import PART
from dask_graphgpu.kernels.cpu.threads import first_rows, for_blocks
from dask_graphgpu.partition.csr import Adjacency

if TYPE_CHECKING:
    from dask_graphgpu.partition.view import View
    from dask_graphgpu.report import Report


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
    Sums are those of blocks that do not depend on the threads: so are the scores. Cost: two passes over
    the edges an iteration.
    """
    n = view.num_vertices
    hub, authority = np.full(n, 1 / max(n, 1)), np.empty(n)
    change = np.inf
    for _ in range(max_iterations):
        start = time.perf_counter()
        before = hub
        _sum_to_one(view.into, before, authority)
        hub = np.empty(n)
        _sum_to_one(view.out, authority, hub)
        change = float(np.abs(hub - before).sum())
        edges = 2 * view.num_edges
        report.advance(
            "pull", supersteps=1, frontier=n, edges=edges, bytes=edges * 12 + n * 64,
            seconds=time.perf_counter() - start,
        )  # fmt: skip
        if change < tolerance or not hub.any():
            return hub, authority
    ended(tolerance, max_iterations, change)
    return hub, authority


def _sum_to_one(rows: Adjacency, values: np.ndarray, sums: np.ndarray) -> None:
    """Sums over the neighbours in each row, scaled to sum 1."""
    if total := sum_neighbours(rows, values, sums):
        sums /= total


def sum_neighbours(rows: Adjacency, values: np.ndarray, sums: np.ndarray) -> float:
    """Sums over the neighbours in each row, and the sum of these."""
    from dask_graphgpu.kernels.cpu import hits as kernels

    weight = np.empty(0) if rows.weight is None else rows.weight
    steps = rows.num_edges + rows.num_vertices
    inner = first_rows(rows.offsets, np.arange(PART, steps, PART))
    bounds = np.unique(np.concatenate([[0], inner, [rows.num_vertices]]))
    totals = for_blocks(
        kernels.sum_neighbours, bounds, rows.offsets, rows.neighbours, weight, values, sums
    )
    return float(sum(totals))
