"""Edges among some of the vertices, in the order of the user's ids."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from dask_graphgpu.partition.view import View


def edges_among(view: View, inside: np.ndarray) -> tuple[np.ndarray, np.ndarray, Any]:
    """Edges with both ends in a set of vertices.

    Parameters
    ----------
    view : View
        Only `out` is used.
    inside : array of bool, shape (num_vertices,)

    Returns
    -------
    tuple of array
        Sources and destinations (dense ids), ordered by the places of both in the order of the
        user's ids, equal ones as in `out`; of an undirected graph every edge once, the end that
        comes first as source. And where each is in `out`; None of a view without weights.

    Notes
    -----
    One pass over the edges; a sort of those found, where the user's order is another than that of
    the rows.
    """
    source, destination, edge = chosen_edges(view, inside, view.user_rank)
    return source, destination, None if view.out.weight is None else edge


def chosen_edges(
    view: Any, inside: np.ndarray, rank: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """As `edges_among`; ``rank``: the order of the vertices, None is as they are."""
    out, source = view.out, view.sources()
    edge = np.flatnonzero(inside[source] & inside[out.neighbours])
    source, destination = source[edge], out.neighbours[edge]
    first, second = (source, destination) if rank is None else (rank[source], rank[destination])
    if not view.directed:
        once = first <= second
        source, destination, edge = source[once], destination[once], edge[once]
        first, second = first[once], second[once]
    if rank is None:
        return source, destination, edge
    order = _order(first, second)
    return source[order], destination[order], edge[order]


def _order(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """What sorts by both; equal ones stay in their order."""
    most = max((int(part.max(initial=0)) for part in (first, second)), default=0)
    bits = most.bit_length()
    if 2 * bits > 64:
        return np.lexsort((second, first))
    key = (first.astype(np.uint64) << np.uint64(bits)) | second.astype(np.uint64)
    return np.argsort(key, kind="stable")
