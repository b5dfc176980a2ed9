"""Ids of vertices and of groups as numbers, over both frames."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dask_graphgpu.errors import InvalidVertices
from dask_graphgpu.io.edges import encode
from dask_graphgpu.partition.csr import offsets_of
from dask_graphgpu.partition.ids import shift_range, unite
from dask_graphgpu.partition.ranks.merging import merged

Ids = Sequence[pa.Array]  # an array an id column
_SPARSE = 4  # integers of a range that is so many times as long as the arrays are not numbered by their distance


def numbered(old: Ids, new: Ids) -> tuple[tuple[np.ndarray, np.ndarray], int]:
    """Numbers of the rows of two tables of vertices, equal ones for equal rows; all are below the second.

    Those of one column in ascending order, as results are, are merged; others are hashed.

    Raises
    ------
    InvalidVertices
        A row is in one of the tables twice.
    """
    if len(old) == 1 and _ascends(old[0]) and _ascends(new[0]):
        ids, (first, second) = merged([old[0], new[0]])
        return (first, second), len(ids)
    (first, second), names = encode([old, new])
    if names.first is not None and names.size > _SPARSE * (len(first) + len(second)):
        names, (first, second) = names.as_table([first, second])
    for what, table, numbers in (("old", old, first), ("new", new, second)):
        _refuse_repeated(what, table, numbers, names.size)
    return (first, second), names.size


def _ascends(ids: pa.Array) -> bool:
    """Whether each is larger than the one before."""
    return bool(pc.all(pc.less(ids[:-1], ids[1:])).as_py()) if len(ids) > 1 else True


def _refuse_repeated(what: str, table: Ids, numbers: np.ndarray, vertices: int) -> None:
    place = np.zeros(vertices, np.int64)
    rows = np.arange(len(numbers))
    place[numbers] = rows
    repeated = np.flatnonzero(place[numbers] != rows)
    if len(repeated):
        first = tuple(column[int(repeated[0])].as_py() for column in table)
        raise InvalidVertices(
            f"{what}: the vertex {first[0] if len(first) == 1 else first!r} is in several rows, as are "
            f"{len(repeated):,} rows in all; each vertex has one"
        )


def ranked(old: Ids, new: Ids) -> tuple[tuple[np.ndarray, np.ndarray], list[pa.Array]]:
    """Numbers of the rows of two tables of ids in ascending order, and what they stand for."""
    (first, second), names = encode([old, new])
    if names.first is not None and names.size > _SPARSE * (len(first) + len(second)):
        names, (first, second) = names.as_table([first, second])
    if names.first is None:
        columns, (place,) = unite([names])
    else:
        present = np.zeros(names.size, bool)
        present[first] = present[second] = True
        place = offsets_of(present)
        columns = [shift_range(present, names.first, names.types[0])]
    return (place.take(first), place.take(second)), columns
