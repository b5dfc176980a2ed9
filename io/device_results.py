"""Answers over dense ids on the device become cuDF frames over the user's ids."""

from __future__ import annotations

from typing import Any

import cudf
import cupy
import numpy as np
import pyarrow as pa

from dask_graphgpu.io.results import ColumnType, Table, names_of
from dask_graphgpu.io.schema import EdgeSchema
from dask_graphgpu.partition.device.columns import frame_of, series_of
from dask_graphgpu.partition.device.elements import converted
from dask_graphgpu.partition.device.ids import DeviceIds


def empty_frame(columns: dict[str, ColumnType], schema: EdgeSchema) -> Any:
    """A result without rows: the dtypes that every partition of it will have."""
    out = {}
    for name, kind in columns.items():
        names = names_of(name, kind, schema)
        if not kind.vertex:
            out[names[0]] = cudf.Series(
                [], dtype="str" if _is_text(kind) else kind.time or kind.dtype
            )
            continue
        for column, dtype in zip(names, schema.ids, strict=True):
            out[column] = cudf.Series([], dtype=_integer(dtype) or "str")
    return cudf.DataFrame(out)


def to_frame(
    table: Table,
    columns: dict[str, ColumnType],
    ids: DeviceIds,
    schema: EdgeSchema,
    rows: slice = slice(None),
) -> Any:
    """Some rows of an answer as a cuDF frame; its columns of all vertices share their memory.

    The index says where a row stands in the whole answer.
    """
    out = {}
    for name, kind in columns.items():
        data, valid = table[name].data, table[name].valid if kind.nullable else None
        names = names_of(name, kind, schema)
        if not kind.vertex:
            if _is_text(kind):
                out[names[0]] = cudf.Series(data[rows].tolist(), dtype="str")
                continue
            data = cupy.ascontiguousarray(converted(cupy.asarray(data[rows]), kind.dtype))
            out[names[0]] = _numbers(data, None if valid is None else valid[rows], kind)
            continue
        found = ids.take(data, valid, rows)
        for column, dtype, series in zip(names, schema.ids, found, strict=True):
            wanted = _integer(dtype)
            out[column] = series if wanted in (None, series.dtype) else series.astype(wanted)
    return frame_of(out, rows.start or 0)


def assemble(
    table: Table,
    vertices: dict[str, list[Any]],
    columns: dict[str, ColumnType],
    schema: EdgeSchema,
    first: int = 0,
) -> Any:
    """As `results.assemble`, a cuDF frame of rows in host memory or on the GPU.

    Ids may be series, as of `series_of_ids`, or arrays on the GPU, whose memory it shares until somebody writes to it.
    """
    out = {}
    for name, kind in columns.items():
        names = names_of(name, kind, schema)
        if not kind.vertex:
            data, valid = table[name].data, table[name].valid if kind.nullable else None
            if _is_text(kind):
                out[names[0]] = cudf.Series(data.tolist(), dtype="str")
                continue
            data = cupy.ascontiguousarray(converted(cupy.asarray(data), kind.dtype))
            out[names[0]] = _numbers(data, valid, kind)
            continue
        for column, dtype, ids in zip(names, schema.ids, vertices[name], strict=True):
            series, wanted = _series(ids), _integer(dtype)
            out[column] = series if wanted in (None, series.dtype) else series.astype(wanted)
    return frame_of(out, first)


def _numbers(data: Any, valid: Any, kind: ColumnType) -> Any:
    series = series_of(data, valid)
    return series if kind.time is None else series.astype(kind.time)


def series_of_ids(ids: list[pa.Array]) -> list[Any]:
    """Ids on the GPU."""
    return [cudf.Series.from_arrow(each) for each in ids]


def _series(ids: Any) -> Any:
    if isinstance(ids, cupy.ndarray):
        return series_of(ids)
    return ids if isinstance(ids, cudf.Series) else cudf.Series.from_arrow(ids)


def _is_text(kind: ColumnType) -> bool:
    """Whether a column has words, which are an array in host memory."""
    return np.dtype(kind.dtype).kind == "U"


def _integer(dtype: Any) -> np.dtype[Any] | None:
    """The NumPy dtype of integer ids; None: they are strings."""
    dtype = getattr(dtype, "numpy_dtype", dtype)
    return dtype if isinstance(dtype, np.dtype) and dtype.kind in "iu" else None
