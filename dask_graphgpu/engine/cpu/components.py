"""Weakly connected components by linking trees.

References
----------
.. [1] Sutton, Ben-Nun, Barak. Optimizing parallel graph connectivity computation via subgraph sampling. IPDPS 2018.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.kernels.cpu.threads import edge_blocks, even_blocks, for_blocks
from dask_graphgpu.partition.csr import all_below
from dask_graphgpu.partition.edge_list import EdgeList, ListedEdges
from dask_graphgpu.partition.view import View
from dask_graphgpu.report import Report

# Neighbours of each vertex that are linked before the largest tree is looked for [1].
ROUNDS = 2

# Edges of a list for each code of a vertex from which a sample of them is linked first.
MANY = 4

# Edges of a list that a thread takes at once.
PIECE = 1 << 17

# Vertices whose trees are compared to find the largest one [1].
SAMPLES = 1024


def components(view: View | EdgeList, report: Report) -> np.ndarray:
    """Component of every vertex, the direction of edges ignored.

    Notes
    -----
    A few neighbours of each vertex are linked first. What is then the largest tree need not be left again when every
    edge is seen from both ends: its vertices are skipped, and most edges are never read. Of a directed view without
    in-edges all edges are linked; the in-edges are not made for this.
    """
    if isinstance(view, EdgeList):
        return _of_list(view, report)
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


def _of_list(given: EdgeList, report: Report) -> np.ndarray:
    """`components` of edges in any order.

    Of many edges a sample is linked first; what then has both ends in the largest tree is skipped.
    """
    n, total = given.num_vertices, given.num_rows
    parent = all_below(n, given.id_dtype)
    flat = even_blocks(n)
    pieces = [
        (run, lo, min(lo + PIECE, len(run)))
        for run in given.runs
        for lo in range(0, len(run), PIECE)
    ]

    def link(kernel: Any, edges: int, of_run: Callable[[ListedEdges], tuple[Any, ...]]) -> None:
        def of_pieces(first: int, last: int) -> None:
            for run, lo, hi in pieces[first:last]:
                table = given.tables[run.table]
                ends = run.source, run.destination, np.uint64(run.first), table
                kernel(lo, hi, *ends, *of_run(run), parent)

        start = time.perf_counter()
        for_blocks(of_pieces, np.arange(len(pieces) + 1))
        for_blocks(kernels.components.compress, flat, parent)
        seconds = time.perf_counter() - start
        moved = (edges * 4 + n * 2) * parent.itemsize  # an edge: two ends and their parents
        report.advance("link", supersteps=1, frontier=n, edges=edges, bytes=moved, seconds=seconds)

    codes = [len(table) or n for table in given.tables]
    if total < MANY * sum(codes):
        link(kernels.components.link_some, total, lambda _: (np.uint64(1),))
        return parent  # its trees have their smallest vertices as roots
    step = total // (ROUNDS * n)
    link(kernels.components.link_some, total // step, lambda _: (np.uint64(step),))
    root = parent.dtype.type(largest_tree(parent))
    inside = [np.empty((number + 63) // 64, np.uint64) for number in codes]
    for number, table, bits in zip(codes, given.tables, inside, strict=True):
        words = even_blocks(number, multiple=64)
        for_blocks(kernels.components.mark_inside, words, table, parent, root, bits)
    link(kernels.components.link_outside, total, lambda run: (inside[run.table],))
    return parent


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
