"""Rows of remote neighbours, which their owners send by parts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dask_graphgpu.partition import rowwise
from dask_graphgpu.partition.csr import Adjacency, offsets_of

if TYPE_CHECKING:
    from dask_graphgpu.partition.ranks.view import RankView

# Remote neighbours that come at once, if the rank's own rows are not more.
FEW_EDGES = 1 << 16


def asked_edges(view: RankView, rows: Adjacency, ghosts: np.ndarray) -> list[np.ndarray]:
    """The edges that each rank is to be sent of ``rows``, row after row; collective.

    ``ghosts``: whose rows this rank asks for, ascending local ids. What comes from all ranks, one
    after the other, is in their order.
    """
    border = view.border
    cuts = np.searchsorted(ghosts, border.ghosts)[1:-1]
    owner = np.searchsorted(border.ghosts, ghosts, side="right") - 1
    asked = view.ranks.all_to_all(np.split(ghosts - border.ghosts[owner], cuts))
    return [
        rowwise.edges_of(rows, sends[places])
        for sends, places in zip(border.sends, asked, strict=True)
    ]


def sent(view: RankView, parts: list[np.ndarray]) -> np.ndarray:
    """What all ranks have sent to this one, which sends them a part each; collective."""
    return np.concatenate(view.ranks.all_to_all(parts))


def rows_of_ghosts(
    view: RankView,
    rows: Adjacency,
    lengths: np.ndarray,
    ghosts: np.ndarray,
    columns: tuple[np.ndarray, ...],
) -> tuple[Adjacency, tuple[np.ndarray, ...]]:
    """The rows of some ghosts as far as they lead to vertices that are here, and what their edges have; collective.

    Parameters
    ----------
    rows : Adjacency
        Of own vertices, to send.
    lengths : array, shape (num_vertices,)
        Of the rows of all ghosts, on their owners.
    ghosts : ascending local ids
    columns : arrays over the edges of `rows`

    Returns
    -------
    Adjacency
        With a row for each vertex that is here; neighbours in the order of their owner's rows.
    columns : tuple of array
    """
    edges = asked_edges(view, rows, ghosts)
    places, here = view.places(
        sent(view, [view.numbers.take(rows.neighbours[each]) for each in edges])
    )
    came = tuple(sent(view, [column[each] for each in edges])[here] for column in columns)
    asked = np.zeros(view.num_vertices, np.int64)
    asked[ghosts] = lengths[ghosts]
    before = np.concatenate([np.zeros(1, np.int64), np.cumsum(here)])
    far = Adjacency(before[offsets_of(asked)], places.astype(rows.neighbours.dtype, copy=False))
    return far, came


def split_by_room(vertices: np.ndarray, lengths: np.ndarray, room: int) -> list[np.ndarray]:
    """Parts of some vertices, so that the rows of each part are about as long as there is room for."""
    part = (np.cumsum(lengths[vertices]) - 1) // max(room, FEW_EDGES)
    return np.split(vertices, np.flatnonzero(np.diff(part)) + 1) if len(vertices) else []
