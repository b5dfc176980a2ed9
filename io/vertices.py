"""One partition of a vertices frame, checked and turned into codes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from dask_graphgpu.errors import InvalidEdges, InvalidVertices
from dask_graphgpu.io.columns import check_text, id_array
from dask_graphgpu.io.edges import encode
from dask_graphgpu.io.frames import to_host
from dask_graphgpu.partition.chunk import VertexChunk
from dask_graphgpu.partition.ids import Names


def is_readable(dtype: Any) -> bool:
    """Whether a column of vertices is of numbers, truth values included."""
    kind = getattr(dtype, "pyarrow_dtype", None)
    if kind is None:
        return bool(pd.api.types.is_numeric_dtype(dtype)) and getattr(dtype, "kind", "") != "c"
    number = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    return bool(number or pa.types.is_boolean(kind))


def read_vertices(
    frame: pd.DataFrame, ids: Sequence[str], columns: Sequence[str], what: str, where: str
) -> VertexChunk:
    """Check a partition of a frame with one row a vertex, pandas' or cuDF's, and encode its ids.

    ``columns`` are numeric; nulls in them are noted, and are an error when a program reads the
    column for a vertex that has none.
    """
    frame = to_host(frame)
    missing = [name for name in [*ids, *columns] if name not in frame.columns]
    if missing:
        raise InvalidVertices(
            f"{what} has no column {missing[0]!r} in {where}; it has "
            f"{[str(c) for c in frame.columns]}"
        )
    try:
        arrays = [id_array(frame[name], name, where) for name in ids]
    except InvalidEdges as error:
        raise InvalidVertices(f"{what}: {error}") from error
    if not len(frame):
        names = Names(tuple(a.type for a in arrays), 0, table=tuple(arrays))
        return VertexChunk(np.empty(0, np.uint32), names)
    (codes,), table = encode([arrays])
    try:
        check_text(table.table or (), f"text of the id columns {list(ids)}", where)
    except InvalidEdges as error:
        raise InvalidVertices(f"{what}: {error}") from error
    values, nulls = {}, {}
    for name in columns:
        series = frame[name]
        if not is_readable(series.dtype):
            raise InvalidVertices(
                f"column {name!r} of {what} is of type {series.dtype}; a program reads numbers only"
            )
        null = series.isna().to_numpy().copy()
        none = False if pd.api.types.is_bool_dtype(series.dtype) else 0
        filled = series.fillna(none) if null.any() else series
        values[name] = filled.to_numpy()
        if values[name].dtype == object:
            values[name] = filled.to_numpy(dtype=np.float64)
        if values[name].dtype.kind == "f":
            null |= np.isnan(values[name])  # pandas sees no NaN in Arrow
        if null.any():
            nulls[name] = null
    return VertexChunk(codes, table, values, nulls)
