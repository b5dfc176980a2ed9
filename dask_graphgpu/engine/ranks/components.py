"""Weakly connected components on many ranks: trees on each, then labels of whole trees are exchanged."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from dask_graphgpu.kernels.cpu.threads import edge_blocks, even_blocks, for_blocks

if TYPE_CHECKING:
    from dask_graphgpu.partition.ranks.view import RankView
    from dask_graphgpu.report import Report


def components(view: RankView, report: Report) -> np.ndarray:
    """Component of every vertex, the direction of edges ignored. Collective.

    Parameters
    ----------
    view : RankView
    report : Report
        Gets a row for the trees of this rank, "link", and one for the exchanges, "label".

    Returns
    -------
    array of the dtype of numbers, shape (num_vertices,)
        The smallest number in the component; right for own vertices.

    Notes
    -----
    One read of each edge that is here. An exchange sends the labels of border vertices whose tree
    has got a smaller one; labels are lowered tree by tree, so there are about as many exchanges as
    trees of ranks on the way to the smallest number.
    """
    start = time.perf_counter()
    parent = _trees(view)
    edges = view.out.num_edges + (view.into.num_edges if view.directed else 0)
    n, item = view.num_vertices, parent.itemsize
    report.advance(
        "link", supersteps=1, frontier=n, edges=edges, bytes=edges * 2 * item + n * 4 * item,
        seconds=time.perf_counter() - start,
    )  # fmt: skip
    start = time.perf_counter()
    label = _smallest_numbers(view, parent)
    rounds, told = _agree(view, parent, label)
    report.advance(
        "label", supersteps=rounds, frontier=told, edges=0, bytes=told * 3 * item,
        seconds=time.perf_counter() - start,
    )  # fmt: skip
    found: np.ndarray = label[parent]
    return found


def _trees(view: RankView) -> np.ndarray:
    """The root of every vertex, ghosts too, in the forest of the edges that are here.

    No tree is passed over, however large, as on one rank: an edge to a ghost stands in one row only.
    """
    from dask_graphgpu.kernels.cpu import components as kernels

    n = view.num_vertices
    parent = np.arange(n, dtype=view.out.neighbours.dtype)
    blocks = even_blocks(n)
    for rows in (view.out, view.into) if view.directed else (view.out,):
        for_blocks(
            kernels.link_rest,
            edge_blocks(rows.offsets),
            rows.offsets,
            rows.neighbours,
            parent,
            0,
            n,
        )
        for_blocks(kernels.compress, blocks, parent)
    return parent


def _smallest_numbers(view: RankView, parent: np.ndarray) -> np.ndarray:
    """The smallest number in the tree of each root; other vertices hold anything."""
    from dask_graphgpu.kernels.cpu import components as kernels

    smallest = view.numbers.copy()
    for_blocks(kernels.smallest_rank, even_blocks(len(parent)), parent, view.numbers, smallest)
    return smallest


def _agree(view: RankView, parent: np.ndarray, label: np.ndarray) -> tuple[int, int]:
    """Lower the labels of roots until they are those of the component; exchanges and labels sent."""
    border = view.border
    vertices = np.unique(np.concatenate(border.sends))
    roots = parent[vertices]
    sent = np.empty_like(view.numbers)
    changed = np.zeros(view.num_owned, bool)
    changed[vertices] = True
    rounds = total = 0
    while True:
        sent[vertices] = label[roots]
        count = int(np.count_nonzero(changed))
        got, every = border.refresh([sent], changed, np.array([count]))
        if not every.any():
            return rounds, total
        rounds, total = rounds + 1, total + count
        np.minimum.at(label, parent[got], sent[got])
        changed[vertices] = label[roots] != sent[vertices]
