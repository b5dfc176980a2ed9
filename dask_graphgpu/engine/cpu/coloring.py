"""First free colors of vertices in an order, of rows in memory.

References
----------
.. [1] Jones, Plassmann, "A parallel graph coloring heuristic", SIAM J. Scientific Computing 1993.
"""

from __future__ import annotations

import time

import numpy as np

from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.kernels.cpu.threads import LITTLE_WORK, for_blocks, num_threads
from dask_graphgpu.partition.view import View
from dask_graphgpu.report import Report

ROUNDS = 8  # after which one thread does the rest


def first_free_colors(view: View, priority: np.ndarray, report: Report) -> np.ndarray:
    """The first color of each vertex that no neighbour before it has; see `contract_sets.Sets`.

    Notes
    -----
    Threads take the vertices one after the other. Who meets a neighbour before it that has no color yet waits a
    moment, for another thread is most likely at it, and else leaves its vertex to the next round: a thread that the
    system has stopped costs the others no more than a round. Colors do not depend on that. Cost: O(V log V + E).
    """
    rows, start = view.symmetric, time.perf_counter()
    n = rows.num_vertices
    kind = np.int32 if n < 2**31 else np.int64
    order = np.argsort(priority)
    state = np.empty(n, kind)
    state[order] = -1 - np.arange(n, dtype=kind)
    places = np.arange(n, dtype=kind)
    rounds = 0
    while len(places):
        work = len(places) * (rows.num_edges // n + 1)
        alone = rounds == ROUNDS or work < 2 * LITTLE_WORK
        blocks = np.arange((1 if alone else num_threads()) + 1)
        taken, left = np.zeros(2, np.int64), np.empty_like(places)
        along = rows.offsets.view(np.uint64), rows.neighbours
        for_blocks(kernels.coloring.take, blocks, places, order, state, *along, taken, left)
        places = np.sort(left[: taken[1]])
        rounds += 1
    report.advance(
        "greedy", supersteps=rounds, frontier=n, edges=rows.num_edges,
        bytes=rows.num_edges * (rows.neighbours.itemsize + state.itemsize) + n * (16 + 3 * state.itemsize),
        seconds=time.perf_counter() - start,
    )  # fmt: skip
    return state.astype(np.int64)
