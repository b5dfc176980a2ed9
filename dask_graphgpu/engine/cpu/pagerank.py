"""PageRank by power iteration, on threads that are woken once.

References
----------
.. [1] Page, Brin, Motwani, Winograd. The PageRank citation ranking: bringing order to the web. Stanford, 1999.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from dask_graphgpu.engine.cpu.in_step import blocked_rows, passes_at_once, threads_for
from dask_graphgpu.engine.loop import not_converged
from dask_graphgpu.engine.options import configured_direction
from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.kernels.cpu.threads import for_blocks, num_threads
from dask_graphgpu.partition.view import View
from dask_graphgpu.report import Report


def pagerank(
    view: View,
    personal: np.ndarray | None,
    start: np.ndarray | None,
    dtype: Any,
    *,
    damping: float,
    tolerance: float,
    max_iterations: int,
    report: Report,
) -> np.ndarray | None:
    """What the vertex program of PageRank gives after its supersteps.

    Notes
    -----
    One pass over the edges an iteration, in which a row is added up and made a rank. Sums are those of blocks that do
    not depend on the threads: so are the ranks.
    """
    n, rows = view.num_vertices, view.into
    longest = int(rows.degrees.max(initial=0))
    if configured_direction() != "auto" or view.levels is not None or not n:
        return None
    if num_threads() > 1 and 4 * longest * num_threads() > rows.num_edges + n:
        return None
    into = blocked_rows(rows)
    blocks = len(into[0]) - 1
    degree = view.weighted_degrees("out")
    ranks = 1 / n if start is None else start
    rank = np.full(n, ranks, dtype)
    with np.errstate(over="ignore"):  # a rank that is not finite is told by who asked
        some = degree.astype(np.float64, copy=False)  # NumPy's own buffer for this has to be there
        share = np.divide(ranks, some, out=np.zeros(n), where=degree > 0).astype(dtype)
    spare = np.empty_like(share)
    lost = float(rank.sum(where=degree <= 0, dtype=np.float64))
    jumps = np.empty(0) if personal is None else personal
    left, over, change = max_iterations, False, np.inf
    while left and not over:
        began = time.perf_counter()
        most = min(left, passes_at_once(rows.num_edges + n))
        claimed, done = np.zeros((2, most), np.int64)
        made, lost, change, over = for_blocks(
            kernels.pagerank.iterate, threads_for(blocks), most, tolerance, lost, *into, degree, jumps, damping,
            rank, share, spare, claimed, done, np.empty((most, blocks, 2)),
        )[0]  # fmt: skip
        if made % 2:
            share, spare = spare, share
        left -= made
        each = (
            rows.neighbours.itemsize + rank.itemsize + (into[-1].itemsize if len(into[-1]) else 0)
        )
        report.advance(
            "pull", supersteps=made, frontier=n, edges=made * rows.num_edges,
            bytes=made * (rows.num_edges * each + n * (16 + 3 * rank.itemsize)),
            seconds=time.perf_counter() - began,
        )  # fmt: skip
    if not over and tolerance:
        raise not_converged(max_iterations, n, {"dangling": lost, "residual": change})
    return rank
