"""A partition with the changes since it was built in its rows: what building it anew of the same rows would give."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from dask_graphgpu.partition.as_given import rows_as_given
from dask_graphgpu.partition.build import build, listed_vertices
from dask_graphgpu.partition.chunk import EdgeChunk
from dask_graphgpu.partition.grown_vertices import merged_ids
from dask_graphgpu.partition.growth import Growth
from dask_graphgpu.partition.ids import Names
from dask_graphgpu.partition.merged import is_mergeable, merged_partition
from dask_graphgpu.partition.partition import Partition
from dask_graphgpu.partition.row_merge import places_of
from dask_graphgpu.partition.rowwise import row_ids


def grown(growth: Growth) -> Partition:
    """The partition of all rows that are there now.

    It has the order of vertices, by ids or by degree, that the old one had. Ids are not numbered anew: old and new ones
    are merged. Cost: O(V + E), of directed graphs see `merged_partition`, of others that of sorting edges into rows.
    Nothing is read of frames.

    Raises
    ------
    NoVertices
        Nothing is left.
    """
    base = growth.base
    if is_mergeable(growth):
        return merged_partition(growth)
    ids, place = merged_ids(growth)[:2]
    names = Names(tuple(c.type for c in ids), len(ids[0]), table=tuple(ids), ascending=True)
    source, destination, columns = _rows_left(growth)
    old = place[source], place[destination], names, columns, base.fault
    new = place[growth.source], place[growth.destination], names, growth.columns
    chunks = [chunk for chunk in (EdgeChunk(*old), EdgeChunk(*new)) if len(chunk)]
    if not chunks:
        chunks = [EdgeChunk(*old)]
    layout = replace(base.layout, order=base.order)
    made = build(chunks, listed_vertices(base.vertex_columns, names, place), layout)
    made.layout = base.layout
    made.vertex_columns = replace(made.vertex_columns, repeated=base.vertex_columns.repeated)
    return made


def _rows_left(growth: Growth) -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]:
    """Ends and columns of the rows of the old partition that are still there."""
    given = rows_as_given(growth.base)
    source, destination, columns = row_ids(given), given.neighbours, dict(given.columns)
    gone = places_of(given, *growth.gone_cells())
    if not len(gone):
        return source, destination, columns
    stay = np.ones(len(source), bool)
    stay[gone] = False
    left = {name: column[stay] for name, column in columns.items()}
    return source[stay], destination[stay], left


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
