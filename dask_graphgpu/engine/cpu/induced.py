"""Edges among some of the vertices, in the order of the user's ids."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dask_graphgpu.kernels.cpu.threads import edge_blocks, for_blocks
from dask_graphgpu.partition.csr import offsets_of

if TYPE_CHECKING:
    from dask_graphgpu.partition.csr import Adjacency
    from dask_graphgpu.partition.view import View


def edges_among(view: View, inside: np.ndarray) -> tuple[np.ndarray, np.ndarray, Any]:
    """Edges with both ends in a set of vertices.

    Notes
    -----
    Two passes over the edges of the vertices inside; a sort of those found, where the user's order
    is another than that of the rows.
    """
    return chosen_edges(view, inside, view.user_rank)


def chosen_edges(
    view: Any, inside: np.ndarray, rank: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray, Any]:
    """As `edges_among`; ``rank``: the order of the vertices, None is as they are."""
    some = np.flatnonzero(inside[: view.out.num_vertices])
    return in_order(chosen_of(view.out, some, inside, rank, once=not view.directed), rank)


def chosen_of(
    out: Adjacency, some: np.ndarray, inside: np.ndarray, rank: np.ndarray | None, *, once: bool
) -> tuple[np.ndarray, np.ndarray, Any]:
    """As `chosen_edges`, of the rows ``some``, ascending, and in their order.

    ``once`` : only edges whose source comes first, or is the destination.
    """
    from dask_graphgpu.kernels.cpu import induced as kernels

    bounds = edge_blocks(offsets_of(out.offsets[some + 1] - out.offsets[some]))
    order = out.neighbours[:0] if rank is None else rank
    rows = out.offsets.view(np.uint64), out.neighbours
    given = bounds, some, *rows, inside, order, once
    counts, first = np.empty(len(bounds) - 1, np.int64), np.empty(len(some), np.uint64)
    blocks = np.arange(len(bounds))
    for_blocks(kernels.count_chosen, blocks, *given, counts, first)
    starts = offsets_of(counts)
    source, destination = (np.empty(starts[-1], out.neighbours.dtype) for _ in range(2))
    edge = np.empty(0 if out.weight is None else starts[-1], np.int64)
    for_blocks(kernels.list_chosen, blocks, *given, starts, first, source, destination, edge)
    return source, destination, None if out.weight is None else out.weight[edge]


def in_order(
    chosen: tuple[np.ndarray, np.ndarray, Any], rank: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray, Any]:
    """Edges in the order of the ranks of their ends; None: as they are."""
    source, destination, weight = chosen
    if rank is None:
        return chosen
    order = _order(rank[source], rank[destination])
    return source[order], destination[order], None if weight is None else weight[order]


def _order(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """What sorts by both; equal ones stay in their order."""
    most = max((int(part.max(initial=0)) for part in (first, second)), default=0)
    bits = most.bit_length()
    if 2 * bits > 64:
        return np.lexsort((second, first))
    key = (first.astype(np.uint64) << np.uint64(bits)) | second.astype(np.uint64)
    return np.argsort(key, kind="stable")
