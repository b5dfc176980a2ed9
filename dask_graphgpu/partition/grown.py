"""A partition with the changes since it was built in its rows: what building it anew of the same rows would give."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from dask_graphgpu.partition.as_given import find_cells, rows_as_given
from dask_graphgpu.partition.build import build, dense_dtype
from dask_graphgpu.partition.chunk import EdgeChunk, VertexChunk
from dask_graphgpu.partition.growth import Growth
from dask_graphgpu.partition.ids import Names, composite
from dask_graphgpu.partition.partition import Partition
from dask_graphgpu.partition.rowwise import row_ids


def grown(growth: Growth) -> Partition:
    """The partition of all rows that are there now.

    It has the order of vertices, by ids or by degree, that the old one had. Ids are not numbered anew: old and new ones
    are merged. Cost: O(V + E), those of sorting edges into rows; nothing is read of frames.

    Raises
    ------
    NoVertices
        Nothing is left.
    """
    base = growth.base
    ids, place = _merged_ids(growth)
    names = Names(tuple(c.type for c in ids), len(ids[0]), table=tuple(ids), ascending=True)
    source, destination, columns = _rows_left(growth)
    old = place[source], place[destination], names, columns, base.fault
    new = place[growth.source], place[growth.destination], names, growth.columns
    chunks = [chunk for chunk in (EdgeChunk(*old), EdgeChunk(*new)) if len(chunk)]
    if not chunks:
        chunks = [EdgeChunk(*old)]
    layout = replace(base.layout, order=base.order)
    made = build(chunks, _vertices(growth, names, place), layout)
    made.layout = base.layout
    made.vertex_columns = replace(made.vertex_columns, repeated=base.vertex_columns.repeated)
    return made


def _merged_ids(growth: Growth) -> tuple[list[pa.Array], np.ndarray]:
    """The ids that are left and new, ascending, and the place of each number there; of those that are gone anything."""
    base, old = growth.base, growth.base.num_vertices
    dense = np.ones(old, bool)
    dense[growth.vanished] = False
    ranked = base.ids.rank
    left = dense if ranked is None else dense[base.ids.in_user_order()]  # by the user's order
    kept = [column if left.all() else column.filter(pa.array(left)) for column in base.ids.columns]
    used = np.zeros(growth.num_numbered - old, bool)
    for ends in (growth.source, growth.destination):
        used[ends[ends >= old] - old] = True
    fresh = [column.filter(pa.array(used)) for column in growth.fresh]
    dtype = dense_dtype(len(kept[0]) + len(fresh[0]))
    place: np.ndarray = np.zeros(growth.num_numbered, dtype)
    if len(fresh[0]):
        ids, (of_kept, of_fresh) = composite([list(both) for both in zip(kept, fresh, strict=True)])
        place[old:][used] = of_fresh
    else:
        ids, of_kept = kept, np.arange(len(kept[0]), dtype=dtype)
    in_order: np.ndarray = np.zeros(old, dtype)
    in_order[left] = of_kept
    place[:old] = in_order if ranked is None else in_order[ranked]
    return ids, place


def _rows_left(growth: Growth) -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]:
    """Ends and columns of the rows of the old partition that are still there."""
    given = rows_as_given(growth.base)
    source, destination, columns = row_ids(given), given.neighbours, dict(given.columns)
    rows, neighbours = growth.gone
    if not growth.base.layout.directed:
        rows, neighbours = growth.gone_cells()
    first, end = find_cells(given, rows, neighbours)
    lengths = end - first
    if not lengths.any():
        return source, destination, columns
    stay = np.ones(len(source), bool)
    starts = np.repeat(first - np.cumsum(lengths) + lengths, lengths)
    stay[starts + np.arange(len(starts))] = False
    left = {name: column[stay] for name, column in columns.items()}
    return source[stay], destination[stay], left


def _vertices(growth: Growth, names: Names, place: np.ndarray) -> list[VertexChunk]:
    """What the vertices frame has said, whose vertices are all there still."""
    given = growth.base.vertex_columns
    if given.listed is None:
        return []
    which = np.flatnonzero(given.listed)
    columns = {name: column[which] for name, column in given.columns.items()}
    gaps = {name: ~given.known[name][which] for name in given if given.missing[name]}
    return [VertexChunk(place[which], names, columns, gaps)]


class Grown(Partition):
    """A partition and its changes, which are put into its rows when something of it is first asked for.

    Parameters
    ----------
    make
        Gives the partition; called once.
    num_vertices : int
        That it has.
    """

    def __init__(self, make: Callable[[], Partition], num_vertices: int) -> None:
        self._make, self._size = make, num_vertices
        self._making = threading.RLock()
        self.origin = None

    def __getattr__(self, name: str) -> Any:
        # Called where an attribute is not there: those of a partition are not until it is made.
        if name.startswith("__") or name in ("_make", "_making", "_size"):
            raise AttributeError(name)
        with self._making:
            if "ids" not in self.__dict__:
                made = self._make()
                self.__dict__.update(
                    {key: value for key, value in vars(made).items() if key != "origin"}
                )
        if name not in self.__dict__:
            raise AttributeError(name)
        return self.__dict__[name]

    @property
    def num_vertices(self) -> int:
        return self._size

    def __sizeof__(self) -> int:
        return super().__sizeof__() if "ids" in self.__dict__ else 0
