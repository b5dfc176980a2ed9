"""Weakly connected components over pages: every edge is linked, in one pass.

References
----------
.. [1] Sutton, Ben-Nun, Barak. Optimizing parallel graph connectivity computation via subgraph sampling. IPDPS 2018.
"""

from __future__ import annotations

import time
from collections.abc import Mapping

import numpy as np

from dask_graphgpu.engine.cpu.components import largest_tree, smallest_members
from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.kernels.cpu.threads import even_blocks, for_blocks
from dask_graphgpu.partition.csr import all_below
from dask_graphgpu.partition.paged.rows import PagedView
from dask_graphgpu.partition.paged.unsorted import UnsortedView
from dask_graphgpu.partition.paged.window import Window, even_spans
from dask_graphgpu.partition.view import View
from dask_graphgpu.report import Report


def components(view: View | UnsortedView, report: Report) -> np.ndarray:
    """Component of every vertex, the direction of edges ignored, as `engine.cpu.components`.

    Notes
    -----
    Neighbours sampled first, which save most edges in memory, would be a pass of their own here:
    the trees are linked along all edges as they come by. Which vertices are in the largest tree is noted
    as it grows, in a bit each, and most edges are soon between two of those.
    """
    if isinstance(view, UnsortedView):
        return _linked(view, report)
    assert isinstance(view, PagedView)
    start = time.perf_counter()
    rows = view.rows.adjacency(view.rows.by, ())
    n, m = rows.num_vertices, rows.num_edges
    parent = np.arange(n, dtype=rows.neighbours.dtype)
    needed = 3 * parent.nbytes + rows.offsets.nbytes + rows.counts.nbytes
    rows.limits.require(needed + rows.limits.window_bytes(1), "weakly_connected_components")
    cuts = np.append(np.arange(0, m, rows.span_edges), m)
    inside = [np.zeros(-(-n // 64), np.uint64)]

    def link(i: int, held: Mapping[str, np.ndarray]) -> None:
        blocks = even_blocks(int(cuts[i + 1] - cuts[i])) + cuts[i]
        for_blocks(
            kernels.components.link_edges, blocks, rows.offsets, held["neighbours"], parent,
            inside[0],
        )  # fmt: skip
        # After 1, 2, 4, ... pages: trees are few soon, and met at once where they are flat.
        if not i & (i + 1):
            for_blocks(kernels.components.compress, even_blocks(n), parent)
            found = np.empty_like(inside[0])
            root, blocks = largest_tree(parent), even_blocks(n, multiple=64)
            for_blocks(kernels.components.mark_inside, blocks, parent[:0], parent, root, found)
            inside[0] = found

    window = Window({"neighbours": rows.arrays["neighbours"]})
    window.each(even_spans(cuts), link)
    blocks = even_blocks(n)
    for_blocks(kernels.components.compress, blocks, parent)
    report.disk_bytes += window.read_bytes
    report.advance(
        "link", supersteps=1, frontier=n, edges=m, bytes=2 * m * parent.itemsize + 3 * parent.nbytes,
        seconds=time.perf_counter() - start,
    )  # fmt: skip
    if view.user_rank is None:
        return parent
    return smallest_members(parent, view.user_rank, blocks)


def _linked(view: UnsortedView, report: Report) -> np.ndarray:
    """The same of edges that are in no rows: they are read of the files once more, and nothing is written."""
    start, edges = time.perf_counter(), 0
    parent = all_below(view.num_vertices, view.id_dtype)
    blocks = even_blocks(len(parent))
    for i, (source, destination, _) in enumerate(view.runs()):
        parts = even_blocks(len(source))
        for_blocks(kernels.components.link_pairs, parts, source, destination, parent)
        edges += len(source)
        if not i & (i + 1):  # as above
            for_blocks(kernels.components.compress, blocks, parent)
    for_blocks(kernels.components.compress, blocks, parent)
    report.advance(
        "link", supersteps=1, frontier=len(parent), edges=edges,
        bytes=(4 * edges + 3 * len(parent)) * parent.itemsize, seconds=time.perf_counter() - start,
    )  # fmt: skip
    return parent
