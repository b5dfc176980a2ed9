"""Ids of vertices and of groups as numbers, over both frames."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from dask_graphgpu.io.edges import encode
from dask_graphgpu.partition.csr import offsets_of
from dask_graphgpu.partition.ids import shift_range, unite

Ids = Sequence[pa.Array]  # an array an id column
_SPARSE = 4  # integers of a range that is so many times as long as the arrays are not numbered by their distance


def numbered(tables: Sequence[Ids]) -> tuple[list[np.ndarray], int]:
    """Numbers of the rows of tables of ids, equal ones for equal rows, in any order; all are below the second."""
    codes, names = encode(tables)
    if names.first is not None and names.size > _SPARSE * sum(map(len, codes)):
        names, codes = names.as_table(codes)
    return codes, names.size


def ranked(tables: Sequence[Ids]) -> tuple[list[np.ndarray], list[pa.Array]]:
    """Numbers of the rows of tables of ids in ascending order, and what they stand for."""
    codes, names = encode(tables)
    if names.first is None:
        columns, (rows,) = unite([names])
        return [rows.take(each) for each in codes], columns
    if names.size > _SPARSE * sum(map(len, codes)):
        names, codes = names.as_table(codes)
        assert names.table is not None
        return codes, list(names.table)
    assert names.first is not None
    present = np.zeros(names.size, bool)
    for each in codes:
        present[each] = True
    place = offsets_of(present)
    return [place.take(each) for each in codes], [shift_range(present, names.first, names.types[0])]
