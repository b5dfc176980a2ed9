"""Weakly connected components by linking trees.

References
----------
.. [1] Sutton, Ben-Nun, Barak. Optimizing parallel graph connectivity computation via subgraph sampling. IPDPS 2018.
"""

from __future__ import annotations

import time

import numpy as np

from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.kernels.cpu.threads import edge_blocks, even_blocks, for_blocks
from dask_graphgpu.partition.csr import all_below
from dask_graphgpu.partition.view import View
from dask_graphgpu.report import Report

# Neighbours of each vertex that are linked before the largest tree is looked for [1].
ROUNDS = 2

# Vertices whose trees are compared to find the largest one [1].
SAMPLES = 1024


def components(view: View, report: Report) -> np.ndarray:
    """Component of every vertex, the direction of edges ignored.

    Notes
    -----
    A few neighbours of each vertex are linked first. What is then the largest tree need not be left again when every
    edge is seen from both ends: its vertices are skipped, and most edges are never read. Of a directed view without
    in-edges all edges are linked; the in-edges are not made for this.
    """
    rows = view.out
    n = rows.num_vertices
    parent = all_below(n, rows.neighbours.dtype)
    blocks = even_blocks(n)
    id_bytes = parent.itemsize

    def note(edges: int, start: float) -> None:
        moved = edges * 2 * id_bytes + n * (2 * id_bytes + 16)  # an edge: an id and its parent
        seconds = time.perf_counter() - start
        report.advance("link", supersteps=1, frontier=n, edges=edges, bytes=moved, seconds=seconds)

    start = time.perf_counter()
    for place in range(ROUNDS):
        for_blocks(
            kernels.components.link_sampled, blocks, rows.offsets, rows.neighbours, parent, place
        )
        for_blocks(kernels.components.compress, blocks, parent)
    note(min(ROUNDS * n, rows.num_edges), start)

    start = time.perf_counter()
    read = 0
    if view.has_into:
        skipped = largest_tree(parent)
        directions = [(rows, ROUNDS)] if view.into is rows else [(rows, ROUNDS), (view.into, 0)]
    else:
        skipped, directions = n, [(rows, ROUNDS)]
    for adjacency, first in directions:
        read += sum(for_blocks(
            kernels.components.link_rest, edge_blocks(adjacency.offsets),
            adjacency.offsets, adjacency.neighbours, parent, first, skipped,
        ))  # fmt: skip
    for_blocks(kernels.components.compress, blocks, parent)
    note(read, start)
    if view.user_rank is None:
        return parent  # its trees have their smallest vertices as roots
    return smallest_members(parent, view.user_rank, blocks)


def largest_tree(parent: np.ndarray) -> int:
    """Root of what is probably the largest tree; any number when there are no vertices."""
    if not len(parent):
        return 0
    sampled = np.random.default_rng(0).integers(len(parent), size=SAMPLES)
    roots, counts = np.unique(parent[sampled], return_counts=True)
    return int(roots[counts.argmax()])


def smallest_members(parent: np.ndarray, rank: np.ndarray | None, blocks: np.ndarray) -> np.ndarray:
    """Turn labels that are members of their component into the members of the smallest rank.

    `rank` None: the smallest ones.
    """
    labels = np.empty_like(parent)
    if rank is None:
        best = np.arange(len(parent), dtype=parent.dtype)
        for_blocks(kernels.components.smallest_rank, blocks, parent, best.copy(), best)
        for_blocks(kernels.components.relabel, blocks, parent, best, labels)
        return labels
    best = rank.copy()
    for_blocks(kernels.components.smallest_rank, blocks, parent, rank, best)
    holder = np.empty_like(parent)
    for_blocks(kernels.components.holder_of_rank, blocks, parent, rank, best, holder)
    for_blocks(kernels.components.relabel, blocks, parent, holder, labels)
    return labels
