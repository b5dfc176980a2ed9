"""Predecessors of a finished path search, by a rule that does not depend on how the search went."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from dask_graphgpu.kernels.cpu.threads import edge_blocks, even_blocks, for_blocks

if TYPE_CHECKING:
    from dask_graphgpu.partition.view import View
    from dask_graphgpu.report import Report


def predecessors(
    view: View,
    source: int,
    distance: np.ndarray,
    reached: np.ndarray,
    *,
    hops: bool,
    report: Report,
) -> np.ndarray:
    """Predecessor of every vertex on a shortest path from `source`.

    Notes
    -----
    Of the neighbours u with ``distance[u] + weight == distance[v]`` and ``distance[u] < distance[v]`` the one of
    highest degree (both directions counted), then the smallest in the order of the user's ids. A vertex without such a
    neighbour lies on a plateau: weights of zero, or so small that the sum absorbs them, lead to it. It gets the
    neighbour that reaches it first, breadth-first within the plateau, with the same preference. So the predecessors are
    a tree whatever the weights, and the same tree for any number of threads and any dense order.

    At most one read of each edge, two with plateaus; early exit when rows are in the order of preference.
    """
    from dask_graphgpu.kernels.cpu import predecessors as kernels

    start = time.perf_counter()
    rows = view.out
    n = rows.num_vertices
    weight = np.empty(0, np.int64) if hops or rows.weight is None else rows.weight
    rank = np.empty(0, np.int64) if view.user_rank is None else view.user_rank
    degree = _degrees(view)
    predecessor = np.arange(n, dtype=rows.neighbours.dtype)
    if view.has_into:
        into = view.into
        into_weight = np.empty(0, np.int64) if hops or into.weight is None else into.weight
        first_is_best = all(for_blocks(kernels.in_order, even_blocks(n), degree, rank))
        counts: list[tuple[int, int]] = for_blocks(
            kernels.pull, edge_blocks(into.offsets), into.offsets, into.neighbours, into_weight,
            distance, reached, degree, rank, first_is_best, predecessor,
        )  # fmt: skip
        without, read = np.sum(counts, axis=0).tolist()
    else:
        read = sum(for_blocks(
            kernels.push, edge_blocks(rows.offsets), rows.offsets, rows.neighbours, weight,
            distance, reached, degree, rank, predecessor,
        ))  # fmt: skip
        without = sum(for_blocks(kernels.count_without, even_blocks(n), reached, predecessor))
    edge_bytes = (
        rows.neighbours.itemsize + distance.itemsize + (weight.itemsize if len(weight) else 0)
    )

    def note(supersteps: int, frontier: int, edges: int, start: float) -> None:
        report.advance(
            "predecessor", supersteps=supersteps, frontier=frontier, edges=edges,
            bytes=edges * edge_bytes + n * (8 + degree.itemsize + predecessor.itemsize),
            seconds=time.perf_counter() - start,
        )  # fmt: skip

    note(1, n, read, start)
    if without > 1:  # one is the source
        start = time.perf_counter()
        rounds, read = kernels.cross_plateaus(
            source,
            rows.offsets,
            rows.neighbours,
            weight,
            distance,
            reached,
            degree,
            rank,
            predecessor,
        )
        note(rounds, without - 1, read, start)
    return predecessor


def path(
    view: View, source: int, target: int, predecessor: np.ndarray
) -> tuple[np.ndarray, np.ndarray, int]:
    """The vertices on the path that predecessors make, without the source."""
    found = []
    while target != source:
        found.append(target)
        target = int(predecessor[target])
    left = np.arange(len(found))
    return np.array(found[::-1], predecessor.dtype), left[::-1], len(found)


def _degrees(view: View) -> np.ndarray:
    """Edges at each vertex: of a directed view, in both directions."""
    from dask_graphgpu.kernels.cpu import predecessors as kernels

    if not view.directed:
        return view.out.degrees
    degree: np.ndarray = view.out.degrees.copy()
    if view.has_into:
        degree += view.into.degrees
    else:
        neighbours = view.out.neighbours
        for_blocks(kernels.in_degrees, even_blocks(len(neighbours)), neighbours, degree)
    return degree
