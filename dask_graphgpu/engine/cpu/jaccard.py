"""Jaccard coefficients of pairs of vertices."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from dask_graphgpu.kernels.cpu.threads import edge_blocks, for_blocks
from dask_graphgpu.partition.csr import offsets_of

if TYPE_CHECKING:
    from dask_graphgpu.partition.view import View
    from dask_graphgpu.report import Report


def jaccard_of_pairs(
    view: View, first: np.ndarray, second: np.ndarray, report: Report
) -> np.ndarray:
    """Part of the neighbours of either of two vertices that are those of both: float64.

    Parameters
    ----------
    view : View
        Only `symmetric` is used: direction, repeats and self-loops do not count.
    first, second : integer arrays of one length
        Dense ids.
    report : Report
        Gets one row, "intersect".

    Notes
    -----
    Of each pair the neighbours of the one with fewer are marked, and those of the other looked up, or searched by
    bisection where they are many more. Cost: at most the neighbours of both, and of one again, for each pair; V / 8
    bytes a block at work.
    """
    from dask_graphgpu.kernels.cpu import jaccard as kernels

    start = time.perf_counter()
    rows = view.symmetric
    first, second = first.astype(np.uint64), second.astype(np.uint64)
    either = rows.degrees[first] + rows.degrees[second]
    steps = offsets_of(either)
    counts = np.empty(len(first), np.int64)
    for_blocks(
        kernels.common, edge_blocks(steps),
        rows.offsets.view(np.uint64), rows.neighbours, view.num_vertices, first, second, counts,
    )  # fmt: skip
    values: np.ndarray = counts / np.maximum(either - counts, 1)
    _note(report, int(steps[-1]), len(first), rows.neighbours.itemsize, start)
    return values


def jaccard_two_hop(view: View, report: Report) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """As `jaccard_of_pairs`, of all pairs of vertices with a neighbour in common.

    Returns
    -------
    first, second : arrays of the type of the neighbours
        Dense ids, first before second in the order of the user's ids; ordered by both.
    values : float64

    Notes
    -----
    The neighbours of the neighbours of each vertex are counted, twice: for how many pairs there are,
    then for the pairs. Cost: O(sum of squared degrees) time; memory of the pairs, and 8 V bytes a
    block at work.
    """
    from dask_graphgpu.kernels.cpu import jaccard as kernels

    start = time.perf_counter()
    rows, n, kind = view.symmetric, view.num_vertices, view.symmetric.neighbours.dtype
    rank = np.arange(n, dtype=kind) if view.user_rank is None else view.user_rank.astype(kind)
    order = np.empty(n, kind)
    order[rank] = np.arange(n, dtype=kind)
    given = rows.offsets, rows.neighbours, order
    steps = np.empty(n, np.int64)
    for_blocks(kernels.two_hop_steps, edge_blocks(rows.offsets), *given, steps)
    work = offsets_of(steps)
    blocks = edge_blocks(work)
    lengths = np.empty(n, np.int64)
    for_blocks(kernels.two_hop_lengths, blocks, *given, rank, lengths)
    bounds = offsets_of(lengths)
    first, second = np.empty(bounds[-1], kind), np.empty(bounds[-1], kind)
    values = np.empty(bounds[-1])
    for_blocks(kernels.two_hop_pairs, blocks, *given, rank, bounds, first, second, values)
    _note(report, 2 * int(work[-1]), n, 2 * kind.itemsize + 8, start)
    return first, second, values


def _note(report: Report, edges: int, frontier: int, edge_bytes: int, start: float) -> None:
    seconds, moved = time.perf_counter() - start, edges * edge_bytes
    report.advance(
        "intersect", supersteps=1, frontier=frontier, edges=edges, bytes=moved, seconds=seconds
    )
