"""Hubs and authorities on many ranks: scores of border vertices travel twice an iteration.

References
----------
.. [1] Kleinberg. Authoritative sources in a hyperlinked environment. J. ACM 46 (1999).
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from dask_graphgpu.engine.convergence import ended
from dask_graphgpu.engine.cpu.hits import NeighbourSums

if TYPE_CHECKING:
    from dask_graphgpu.partition.ranks.view import RankView
    from dask_graphgpu.report import Report


def hits(
    view: RankView, tolerance: float, max_iterations: int, report: Report
) -> tuple[np.ndarray, np.ndarray]:
    """Hub and authority score of every vertex, as `cpu.hits`; right for ghosts too. Collective."""
    n, own = view.num_vertices, view.num_owned
    hub, authority = np.full(n, 1 / max(view.graph_vertices, 1)), np.empty(n)
    into, out = NeighbourSums(view.into), NeighbourSums(view.out)
    change, some = np.inf, True
    for _ in range(max_iterations):
        start = time.perf_counter()
        before = hub[:own].copy()
        _score(view, into, hub, authority)
        some = _score(view, out, authority, hub)
        change = float(view.ranks.sum(float(np.abs(hub[:own] - before).sum())))
        edges = view.into.num_edges + view.out.num_edges
        report.advance(
            "pull", supersteps=1, frontier=own, edges=edges, bytes=edges * 12 + n * 64,
            seconds=time.perf_counter() - start,
        )  # fmt: skip
        if change < tolerance or not some:
            return hub, authority
    ended(tolerance, max_iterations, change)
    return hub, authority


def _score(view: RankView, over: NeighbourSums, values: np.ndarray, sums: np.ndarray) -> bool:
    """Sums over the neighbours in each row, scaled to sum 1 over all ranks; whether they are not all 0."""
    total = float(view.ranks.sum(over(values, 1.0, sums)))
    if total:
        sums /= total
    view.at_ghosts(sums)
    return bool(total) or bool(view.ranks.sum(int(sums[: view.num_owned].any())))
