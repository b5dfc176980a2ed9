"""Hubs and authorities by power iteration.

References
----------
.. [1] Kleinberg. Authoritative sources in a hyperlinked environment. J. ACM 46 (1999).
"""

from __future__ import annotations

import time

import numpy as np

from dask_graphgpu.engine.cpu.edges import InMemory, Paged, passes_over
from dask_graphgpu.engine.cpu.in_step import AS_THEY_LIE, blocked_rows, passes_at_once, threads_for
from dask_graphgpu.engine.loop import check_converged
from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.kernels.cpu.threads import even_blocks, for_blocks, step_blocks
from dask_graphgpu.partition.csr import Adjacency
from dask_graphgpu.partition.distinct import distinct
from dask_graphgpu.partition.ranks.view import AnyView
from dask_graphgpu.report import Report

# Edges and rows of a block: several times the work that is worth waking a thread.
BLOCK = 1 << 16


def hits(
    view: AnyView, tolerance: float, max_iterations: int, report: Report
) -> tuple[np.ndarray, np.ndarray]:
    """Hub and authority score of every vertex, each with sum 1; all 0 without edges.

    Notes
    -----
    Sums are those of blocks that do not depend on the threads: so are the scores. They are scaled to
    sum 1 by the next sums that are made of them. In the memory of one rank threads are woken once for many
    iterations. Elsewhere a call goes over the edges of a direction, the scores of the border travel after it, and of
    a directed graph on disk both directions lie there. Cost: two passes over the edges an iteration, and one
    over the vertices where there is a tolerance; 24 bytes a vertex.
    """
    if view.paged or view.on_ranks:
        return _pass_by_pass(view, tolerance, max_iterations, report)
    return _in_step(view, tolerance, max_iterations, report)


def _in_step(
    view: AnyView, tolerance: float, max_iterations: int, report: Report
) -> tuple[np.ndarray, np.ndarray]:
    """As `hits`, by threads that wait for each other: a tenth to a half faster than by calls."""
    n, edges = view.num_vertices, 2 * view.out.num_edges
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
            kernels.hits.iterate, threads_for(blocks), most, tolerance, of_hubs, *into, *out,
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
        check_converged(tolerance, max_iterations, change)
    return hub * of_hubs, authority * of_authorities


def _pass_by_pass(
    view: AnyView, tolerance: float, max_iterations: int, report: Report
) -> tuple[np.ndarray, np.ndarray]:
    """As `hits`, by a call for each pass."""
    n, own, ranks = view.num_vertices, view.num_owned, view.ranks
    into = passes_over(view.into, report)
    out = into if view.into is view.out else passes_over(view.out, report)
    with into, out:
        held = 0 if into is out else into.held
        out.require(held + 3 * 8 * n, f"hits of {n:,} vertices")
        to_authorities, to_hubs = NeighbourSums(view, into), NeighbourSums(view, out)
        hub = np.full(n, 1 / max(view.graph_vertices, 1))
        before, authority = np.empty(n), np.empty(n)
        of_hubs, change = 1.0, np.inf  # what hub scores are to be multiplied by
        for _ in range(max_iterations):
            start = time.perf_counter()
            hub, before, of_before = before, hub, of_hubs
            of_authorities = _inverse(to_authorities(before, of_before, authority))
            total = to_hubs(authority, of_authorities, hub)
            of_hubs = _inverse(total)
            if tolerance:
                parts = for_blocks(
                    kernels.hits.differences, even_blocks(own), before, of_before, hub, of_hubs
                )
                change = ranks.sum(float(sum(parts)))
            edges = into.rows.num_edges + out.rows.num_edges
            report.advance(
                "pull", supersteps=1, frontier=own, edges=edges, bytes=edges * 12 + n * 64,
                seconds=time.perf_counter() - start,
            )  # fmt: skip
            if change < tolerance or not (total or ranks.sum(int(hub[:own].any()))):
                break
        else:
            check_converged(tolerance, max_iterations, change)
    return hub * of_hubs, authority * of_authorities


def _inverse(total: float) -> float:
    """What scores of a sum are scaled by: nothing where weights of both signs cancel to 0."""
    return 1 / total if total else 1.0


class NeighbourSums:
    """Sums over the neighbours in each row, in blocks that do not depend on the threads.

    Blocks end also where a run of rows does that is at hand at a time.
    """

    def __init__(self, view: AnyView, passes: InMemory | Paged) -> None:
        self._border, self._passes = view.border, passes
        self._bounds = distinct(
            np.concatenate([step_blocks(passes.rows.offsets, BLOCK), passes.cuts])
        )
        self._groups = np.searchsorted(self._bounds, passes.cuts).tolist()

    def __call__(self, values: np.ndarray, scale: float, sums: np.ndarray) -> float:
        """Write the sums of ``values * scale``; gives the sum of these, of all ranks."""
        groups, bounds = self._groups, self._bounds

        def add(i: int, rows: Adjacency) -> list[float]:
            weight = np.empty(0) if rows.weight is None else rows.weight
            arrays = AS_THEY_LIE, rows.offsets.view(np.uint64), rows.neighbours, weight
            blocks = bounds[groups[i] : groups[i + 1] + 1]
            return for_blocks(kernels.hits.sum_neighbours, blocks, *arrays, values, scale, sums)

        total = float(sum(part for parts in self._passes.each(add) for part in parts))
        _, every = self._border.refresh([sums], scalars=np.array([total]))
        return float(sum(every[:, 0].tolist()))
