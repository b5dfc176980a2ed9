"""Triangles at every vertex, along edges oriented by degree.

References
----------
.. [1] Latapy. Main-memory triangle computations for very large (sparse (power-law)) graphs. TCS 407 (2008).
.. [2] Ortmann, Brandes. Triangle listing algorithms: back from the diversion. ALENEX 2014.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from dask_graphgpu.engine.cpu.hub_triangles import count_hubs, pays, without
from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.kernels.cpu.threads import (
    LITTLE_WORK,
    edge_blocks,
    for_blocks,
    num_threads,
    step_blocks,
)
from dask_graphgpu.partition.csr import Adjacency, offsets_of
from dask_graphgpu.partition.view import View
from dask_graphgpu.report import Report

# Steps of such a walk, for each edge, below which it is faster than to keep every edge at one end, which is passes over
# all edges with little to find after.
SHORT_WALKS = 8

BLOCKS_PER_THREAD = 16


def triangles(view: View, report: Report) -> np.ndarray:
    """Triangles that each vertex of the simple undirected graph is in: int64, shape (num_vertices,).

    Notes
    -----
    Every edge is kept at its end of fewer neighbours [1]_. The kept neighbours of a vertex are marked, and the kept
    neighbours of each of them looked at: a marked one closes a triangle [2]_. Where that takes many reads, `count_hubs`
    finds the triangles of hubs. Where rows are short, as of roads, rows are walked along two by two instead. Cost:
    O(E^1.5) time in the worst case, O(V + E) memory and 4 V bytes a thread.
    """
    none = np.empty(0, np.int64)
    if _short(view.symmetric):
        return _of_short_rows(view.symmetric, none, none, report)
    return _along_up(view.symmetric, _all_oriented(view.symmetric), None, report)


def neighbour_arcs(view: View, report: Report) -> np.ndarray:
    """Edges that join two neighbours of each vertex: int64, shape (num_vertices,).

    Notes
    -----
    As `triangles`.
    """
    if not view.directed:
        return 2 * triangles(view, report)
    if _short(view.symmetric):
        return _of_short_rows(view.symmetric, view.out.offsets, view.out.neighbours, report)
    up = _all_oriented(view.symmetric)
    ways = ways_of(up, view.out, view.into)
    return _along_up(view.symmetric, up, ways, report)


def _along_up(
    rows: Adjacency, up: Adjacency, ways: np.ndarray | None, report: Report
) -> np.ndarray:
    """What is found over all vertices, of symmetric rows that are oriented; with ``ways`` edges by direction."""
    counts = np.zeros(up.num_vertices, np.int64)
    work, far, far_ways = work_of(up, up), up, ways
    if pays(int(work[-1]), up):
        hubs = count_hubs(rows.degrees, up, ways, counts, report)
        far, far_ways = without(hubs, up, ways)
        work = work_of(up, far)
    if ways is None or far_ways is None:
        count_into(counts, up, far, work, kernels.triangles.count, (), (), report)
    else:
        arcs = kernels.triangles.count_arcs
        count_into(counts, up, far, work, arcs, (ways,), (far_ways,), report)
    return counts


def _short(rows: Adjacency) -> bool:
    """Whether to walk along both rows of each edge takes few steps, as on roads."""
    degree = rows.degrees
    return int(degree @ degree) <= SHORT_WALKS * rows.num_edges


def _of_short_rows(
    rows: Adjacency, out_offsets: np.ndarray, out: np.ndarray, report: Report
) -> np.ndarray:
    """Triangles of symmetric rows, or with rows of edges these by direction, without rows that go up."""
    start = time.perf_counter()
    counts = np.zeros(rows.num_vertices, np.int64)
    blocks = edge_blocks(rows.offsets)
    for_blocks(
        kernels.triangles.count_short, blocks, rows.offsets, rows.neighbours, out_offsets, out,
        counts,
    )  # fmt: skip
    report.advance(
        "intersect", supersteps=1, frontier=rows.num_vertices, edges=rows.num_edges,
        bytes=rows.num_edges * rows.neighbours.itemsize, seconds=time.perf_counter() - start,
    )  # fmt: skip
    return counts


def ways_of(up: Adjacency, out: Adjacency, into: Adjacency) -> np.ndarray:
    """Directions, 1 or 2, in which the ends of each edge of oriented rows are joined."""
    ways = np.empty(up.num_edges, np.uint8)
    for_blocks(
        kernels.triangles.up_ways, edge_blocks(up.offsets), up.offsets, up.neighbours,
        out.offsets, out.neighbours, into.offsets, into.neighbours, ways,
    )  # fmt: skip
    return ways


def count_into(
    counts: np.ndarray,
    up: Adjacency,
    far: Adjacency,
    work: np.ndarray,
    kernel: Any,
    of_up: tuple[np.ndarray, ...],
    of_far: tuple[np.ndarray, ...],
    report: Report,
) -> None:
    """Add what a kernel finds over all vertices, of rows and what it needs to know of their edges.

    ``work`` : as of `work_of`.
    """
    start = time.perf_counter()
    rows = (
        up.offsets.view(np.uint64), up.neighbours, *of_up, far.offsets.view(np.uint64), far.neighbours, *of_far
    )  # fmt: skip
    over_blocks(kernel, blocks_of(work), rows, [], counts)
    read = int(work[-1]) - up.num_vertices
    report.advance(
        "intersect", supersteps=1, frontier=up.num_vertices, edges=read,
        bytes=read * (up.neighbours.itemsize + 4), seconds=time.perf_counter() - start,
    )  # fmt: skip


def blocks_of(work: np.ndarray) -> np.ndarray:
    """Bounds of blocks of equal work, as of `work_of`: rows of hubs are read again and again."""
    return step_blocks(work, max(int(work[-1]) // (num_threads() * BLOCKS_PER_THREAD), LITTLE_WORK))


def over_blocks(
    kernel: Any,
    blocks: np.ndarray,
    rows: tuple[np.ndarray, ...],
    marks: list[np.ndarray],
    counts: np.ndarray,
) -> None:
    """Run a kernel that counts over blocks; ``marks`` : those that no thread uses, of a number a vertex each."""

    def count(lo: int, hi: int) -> None:
        try:
            mark = marks.pop()
        except IndexError:
            mark = np.zeros(len(counts), np.uint32)
        kernel(lo, hi, *rows, mark, counts)
        marks.append(mark)

    for_blocks(count, blocks)


def work_of(up: Adjacency, far: Adjacency) -> np.ndarray:
    """Offsets of rows that would be as long as looking for triangles from each vertex takes steps."""
    steps = np.empty(up.num_vertices, np.int64)
    rows = up.offsets, up.neighbours, far.offsets
    for_blocks(kernels.triangles.work, edge_blocks(up.offsets), *rows, steps)
    return offsets_of(steps)


def oriented(
    rows: Adjacency, degree: np.ndarray, number: np.ndarray | None = None, *, first: int = 0
) -> tuple[Adjacency, np.ndarray]:
    """Every edge of a symmetric adjacency once, in the row of its lower end.

    Parameters
    ----------
    rows : Adjacency
        Of some vertices one after another, or of all.
    degree : array, shape (vertices,)
        A vertex of more is higher.
    number : array, shape (vertices,), optional
        Of two of one degree the vertex of the smaller number is higher. Default: the vertices themselves.
    first : int
        The vertex of the first row.

    Returns
    -------
    Adjacency
        With a row for each of those.
    lengths : array of int64
        Of these.
    """
    blocks = edge_blocks(rows.offsets)
    lengths = np.empty(rows.num_vertices, np.int64)
    listed = np.empty_like(rows.neighbours)
    number = np.empty(0, degree.dtype) if number is None else number
    begins = rows.offsets.view(np.uint64)
    given = begins, rows.neighbours, degree, number
    for_blocks(kernels.triangles.list_up, blocks, first, *given, listed, lengths)
    offsets = offsets_of(lengths)
    up = np.empty(offsets[-1], rows.neighbours.dtype)
    for_blocks(kernels.triangles.up_rows, blocks, begins, listed, offsets.view(np.uint64), up)
    return Adjacency(offsets, up), lengths


def _all_oriented(rows: Adjacency) -> Adjacency:
    """Of all vertices; degrees of a simple graph fit the type of its ids."""
    return oriented(rows, rows.degrees.astype(rows.neighbours.dtype))[0]
