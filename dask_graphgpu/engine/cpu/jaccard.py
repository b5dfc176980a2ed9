"""Jaccard coefficients of pairs of vertices."""

from __future__ import annotations

import time

import numpy as np

from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.kernels.cpu.threads import edge_blocks, for_blocks
from dask_graphgpu.partition.csr import offsets_of
from dask_graphgpu.partition.view import View
from dask_graphgpu.report import Report

# Neighbours of both vertices of a pair, in the mean, from which putting pairs in order costs less than it saves.
LONG_ROWS = 64


def jaccard_of_pairs(
    view: View, first: np.ndarray, second: np.ndarray, report: Report
) -> np.ndarray:
    """Part of the neighbours of either of two vertices that are those of both: float64.

    Notes
    -----
    Cost: at most three times the neighbours of both for each pair, mostly far less where rows are long
    (`common_neighbours`). Memory: 48 bytes a pair, and V / 8 a block at work.
    """
    start = time.perf_counter()
    rows = view.symmetric
    counts = common_neighbours(rows.offsets, rows.neighbours, view.num_vertices, first, second)
    either = rows.degrees[first] + rows.degrees[second]
    values: np.ndarray = counts / np.maximum(either - counts, 1)
    note(report, int(either.sum()), len(first), rows.neighbours.itemsize, start)
    return values


def common_neighbours(
    offsets: np.ndarray,
    neighbours: np.ndarray,
    vertices: int,
    first: np.ndarray,
    second: np.ndarray,
) -> np.ndarray:
    """How many neighbours the rows of each pair have in common: int64.

    Parameters
    ----------
    offsets, neighbours : rows, ascending and without repeats
    vertices : int
        More than any neighbour.
    first, second : integer arrays of one length
        Rows.

    Notes
    -----
    Where rows are long, pairs are taken in the order of the longer row of each: vertices with many neighbours are in
    many pairs, and their rows are read once for all of them.
    """
    lengths = np.diff(offsets)
    turned = lengths[first] > lengths[second]
    shorter = np.where(turned, second, first).astype(np.uint64)
    longer = np.where(turned, first, second).astype(np.uint64)
    steps = lengths.take(shorter) + lengths.take(longer)
    order = np.argsort(longer) if steps.sum() > LONG_ROWS * len(steps) else None
    if order is not None:
        shorter, longer, steps = shorter[order], longer[order], steps[order]
    counts = np.empty(len(shorter), np.int64)
    for_blocks(
        kernels.jaccard.common, edge_blocks(offsets_of(steps)),
        offsets.view(np.uint64), neighbours, vertices, shorter, longer, counts,
    )  # fmt: skip
    if order is None:
        return counts
    given = np.empty_like(counts)
    given[order] = counts
    return given


def jaccard_two_hop(view: View, report: Report) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """As `jaccard_of_pairs`, of all pairs of vertices with a neighbour in common.

    Notes
    -----
    The neighbours of the neighbours of each vertex are counted, twice: for how many pairs there are,
    then for the pairs. Cost: O(sum of squared degrees) time; memory of the pairs, and 8 V bytes a
    block at work.
    """
    start = time.perf_counter()
    rows, n, kind = view.symmetric, view.num_vertices, view.symmetric.neighbours.dtype
    rank = np.arange(n, dtype=kind) if view.user_rank is None else view.user_rank.astype(kind)
    order = np.empty(n, kind)
    order[rank.astype(np.intp)] = np.arange(n, dtype=kind)
    given = rows.offsets, rows.neighbours, order
    steps = np.empty(n, np.int64)
    for_blocks(kernels.jaccard.two_hop_steps, edge_blocks(rows.offsets), *given, steps)
    work = offsets_of(steps)
    blocks = edge_blocks(work)
    lengths = np.empty(n, np.int64)
    for_blocks(kernels.jaccard.two_hop_lengths, blocks, *given, rank, lengths)
    bounds = offsets_of(lengths)
    first, second = np.empty(bounds[-1], kind), np.empty(bounds[-1], kind)
    values = np.empty(bounds[-1])
    for_blocks(kernels.jaccard.two_hop_pairs, blocks, *given, rank, bounds, first, second, values)
    note(report, 2 * int(work[-1]), n, 2 * kind.itemsize + 8, start)
    return first, second, values


def note(report: Report, edges: int, frontier: int, edge_bytes: int, start: float) -> None:
    """Add what was intersected since ``start`` to a report."""
    seconds, moved = time.perf_counter() - start, edges * edge_bytes
    report.advance(
        "intersect", supersteps=1, frontier=frontier, edges=edges, bytes=moved, seconds=seconds
    )
