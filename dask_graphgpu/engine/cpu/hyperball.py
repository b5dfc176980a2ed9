"""HyperBall: how many vertices are within each distance of every vertex, by HyperLogLog counters.

References
----------
.. [1] Boldi, Vigna. In-core computation of geometric centralities with HyperBall: a hundred billion nodes and beyond.
   ICDM workshops (2013).
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from dask_graphgpu.engine.cpu.edges import InMemory, Paged, passes_over
from dask_graphgpu.engine.hyperloglog import counters, start_of
from dask_graphgpu.engine.neighbour_rows import rows_along
from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.kernels.cpu.threads import edge_blocks, for_blocks
from dask_graphgpu.partition.csr import Adjacency
from dask_graphgpu.partition.ranks.view import AnyView
from dask_graphgpu.report import Report


def hyperball(
    view: AnyView, hashes: np.ndarray, precision: int, direction: str, *, report: Report
) -> np.ndarray:
    """Estimates of how many vertices are within each distance of every vertex, added up.

    Notes
    -----
    The counter of a ball is that of the ball one step smaller, united with those of the neighbours; a neighbour is
    looked at only after its counter has changed. Cost: a pass over the edges a step of the diameter; twice
    ``2 ** precision`` bytes a vertex. On ranks counters that have changed travel to ghosts.
    """
    n, own = view.num_vertices, view.num_owned
    (rows,) = rows_along(view, direction)
    balls: np.ndarray = start_of(hashes)
    changed, changes = np.ones(n, np.uint8), np.zeros(n, np.uint8)
    with passes_over(rows, report, columns=()) as passes:
        room = n * (2 << precision) + balls.nbytes + hashes.nbytes
        passes.require(room, f"counters of {n:,} vertices of {1 << precision:,} bytes each")
        registers = counters(hashes, precision)
        grown, step, left = registers.copy(), 0, 1
        while left:
            step, begun = step + 1, time.perf_counter()
            count, united = _grow(passes, registers, grown, changed, changes, step, balls)
            registers, grown = grown, registers
            changed, changes = changes, changed
            ghosts, every = view.border.refresh([registers], changed, np.array([count]))
            changed[own:] = 0
            changed[ghosts.astype(np.intp, copy=False)] = 1
            left = int(every.sum())
            read = rows.num_edges * (rows.neighbours.itemsize + 1)
            report.advance(
                "pull", supersteps=1, frontier=left, edges=rows.num_edges,
                bytes=read + (united + own) * (1 << precision), seconds=time.perf_counter() - begun,
            )  # fmt: skip
    return balls


def _grow(passes: InMemory | Paged, *given: Any) -> tuple[int, int]:
    """A step of all rows: counters that have changed, and how often one was united with another."""

    def grow(i: int, part: Adjacency) -> list[tuple[int, int]]:
        lo, hi = passes.cuts[i : i + 2].tolist()
        blocks = lo + edge_blocks(part.offsets[lo : hi + 1])
        arrays = part.offsets.view(np.uint64), part.neighbours
        return for_blocks(kernels.hyperball.grow, blocks, *arrays, *given)

    pairs = [pair for found in passes.each(grow) for pair in found]
    return sum(count for count, _ in pairs), sum(united for _, united in pairs)
