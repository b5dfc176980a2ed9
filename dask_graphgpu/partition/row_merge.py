"""Rows of an adjacency under other numbers of vertices, without some of its edges and with others among them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.kernels.cpu.threads import edge_blocks, for_blocks
from dask_graphgpu.partition.as_given import find_cells
from dask_graphgpu.partition.csr import Adjacency, offsets_of
from dask_graphgpu.partition.row_sort import as_bits, read_only


@dataclass(frozen=True, eq=False)
class Renumbering:
    """Which vertex is which, before and after a change.

    Attributes
    ----------
    dense : unsigned array
        New dense id of each old one, and of others behind these; of vertices that are gone anything.
    of_old : int64, shape (new vertices,)
        The old dense id of each; -1 of a vertex that is new.
    fell : bool array, one an old vertex, or empty
        Which of them stand behind some that they stood before. Empty: none.
    """

    dense: np.ndarray
    of_old: np.ndarray
    fell: np.ndarray


@dataclass(frozen=True, eq=False)
class Edges:
    """Some edges by their dense ids, in any order, with what they carry."""

    rows: np.ndarray
    neighbours: np.ndarray
    columns: dict[str, np.ndarray]


def merged(old: Adjacency, vertices: Renumbering, lost: np.ndarray, added: Edges) -> Adjacency:
    """The rows of the vertices that are there now.

    An added edge comes behind those that lead to the same neighbour already, and added ones come in their order.
    Cost: O(V + E), a pass that copies the edges, and one more for each column; what is out of order is sorted.

    Parameters
    ----------
    lost : int64
        Places of the edges of ``old`` that are gone, ascending.
    """
    of_old = vertices.of_old
    order = np.argsort(added.rows, kind="stable")
    added_at = offsets_of(np.bincount(added.rows, minlength=len(of_old)))
    lost_at = np.searchsorted(lost, old.offsets)
    left = np.append(old.degrees - np.diff(lost_at), 0)  # the last: of vertices that are new
    offsets = offsets_of(left[of_old] + np.diff(added_at))
    neighbours = np.empty(offsets[-1], vertices.dense.dtype)
    taken = np.empty(offsets[-1] if old.columns else 0, np.uint32)
    blocks = edge_blocks(offsets)
    for_blocks(
        kernels.row_merge.merge_rows, blocks, of_old, old.offsets, old.neighbours, lost_at, lost,
        vertices.dense, vertices.fell, added_at, added.neighbours[order], offsets, neighbours, taken,
    )  # fmt: skip
    columns = {}
    for name, column in old.columns.items():
        columns[name] = np.empty(len(neighbours), column.dtype)
        new = added.columns[name].astype(column.dtype, copy=False)[order]
        for_blocks(
            kernels.row_merge.merge_column, blocks, of_old, old.offsets, read_only(as_bits(column)), added_at,
            read_only(as_bits(new)), offsets, taken, as_bits(columns[name]),
        )  # fmt: skip
    return Adjacency(offsets, neighbours, columns)


def places_of(adjacency: Adjacency, rows: np.ndarray, neighbours: np.ndarray) -> np.ndarray:
    """Places of all edges from ``rows`` to ``neighbours``, which are distinct pairs, pair after pair; int64."""
    first, end = find_cells(adjacency, rows, neighbours)
    lengths = end - first
    places: np.ndarray = np.repeat(first - np.cumsum(lengths) + lengths, lengths)
    places += np.arange(len(places))
    return places
