"""Answers over dense ids become frames over the user's ids."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from dask_graphgpu.io.schema import EdgeSchema, id_type
from dask_graphgpu.io.times import as_times
from dask_graphgpu.kernels.cpu.threads import copy_blocks, for_blocks
from dask_graphgpu.partition.chunk import to_host
from dask_graphgpu.partition.ids import VertexIds

_SEPARATE = 50  # columns that are arrays of their own


@dataclass(frozen=True)
class ColumnType:
    """Type of a result column: a number or a time of ``dtype``, a word ("U4") or a vertex; with or without nulls.

    ``names`` are those of the frame's columns, a vertex may take several; (): see `names_of`.
    ``time`` : dtype of the frame's column where the numbers, of int64, are those of `times.as_numbers`.
    """

    dtype: str
    nullable: bool = False
    names: tuple[str, ...] = ()
    time: Any = None

    @property
    def vertex(self) -> bool:
        return self.dtype == "vertex"


@dataclass(frozen=True, eq=False)
class Values:
    """A result column: ``data`` (dense ids where the column holds vertices), null where not ``valid``.

    ``fresh`` : both were made for this answer alone, so that a frame may have them, not copies.
    ``named`` : the column holds vertices, and ``data`` the user's ids of them, of one column of integers, all valid.
    """

    data: np.ndarray
    valid: np.ndarray | None = None
    fresh: bool = False
    named: bool = False

    def beside(self, values: np.ndarray) -> Values:
        """The same in the memory where ``values`` are."""
        valid = self.valid
        return Values(
            np.asarray(self.data, like=values),
            None if valid is None else np.asarray(valid, like=values),
        )

    def on_host(self) -> Values:
        """The same in host memory."""
        return Values(to_host(self.data), None if self.valid is None else to_host(self.valid))

    def for_exchange(self, kind: ColumnType, xp: Any = np) -> tuple[Any, Any]:
        """The data in the dtype that they have on all ranks, and which are not null, None of columns without nulls.

        Arrays of ``xp``.
        """
        dtype, data = np.int64 if kind.vertex else kind.dtype, xp.asarray(self.data)
        if not kind.nullable:
            return data.astype(dtype, copy=False), None
        if self.valid is None:
            return data.astype(dtype, copy=False), xp.ones(len(data), bool)
        valid = xp.asarray(self.valid)
        if kind.vertex:
            data = xp.where(valid, data, data.dtype.type(0))
        return data.astype(dtype, copy=False), valid.astype(bool, copy=False)

    def __sizeof__(self) -> int:  # by which Dask places tasks and spills
        return self.data.nbytes + (0 if self.valid is None else self.valid.nbytes)


Table = dict[str, Values]  # columns of one length, in row order


def empty_frame(columns: dict[str, ColumnType], schema: EdgeSchema) -> pd.DataFrame:
    """A result without rows: the dtypes that every partition of it will have."""
    ids = [pa.array([], type=id_type(dtype)) for dtype in schema.ids]
    table = {name: Values(np.empty(0, _storage(kind))) for name, kind in columns.items()}
    return to_frame(table, columns, VertexIds(ids, None), schema)


def to_frame(
    table: Table,
    columns: dict[str, ColumnType],
    ids: VertexIds,
    schema: EdgeSchema,
    rows: slice = slice(None),
) -> pd.DataFrame:
    """Some rows of an answer as a pandas frame, backed as the user's frame is.

    The index says where a row stands in the whole answer. Nulls are those of the masked types
    (``Int64``, ``Float64``) beside NumPy columns and of Arrow types beside Arrow columns; missing
    string ids are the null of their own type.
    """
    vertices = {
        name: _ids_of(table[name], ids, rows) for name, kind in columns.items() if kind.vertex
    }
    numbers = {name: table[name] for name, kind in columns.items() if not kind.vertex}
    part = {name: _part_of(values, rows) for name, values in numbers.items()}
    return assemble(part, vertices, columns, schema, rows.start or 0)


def _ids_of(values: Values, ids: VertexIds, rows: slice) -> list[Any]:
    """The user's ids in some rows; arrays of NumPy's are the frame's."""
    if not values.named:
        return ids.take(values.data, values.valid, rows)
    part = _part_of(values, rows)
    return [part.data if part.fresh else part.data.copy()]


def _part_of(values: Values, rows: slice) -> Values:
    """Some rows; a part does not keep the memory of the whole."""
    data, valid = values.data[rows], None if values.valid is None else values.valid[rows]
    return Values(data, valid, values.fresh and len(data) == len(values.data))


def assemble(
    table: Table,
    vertices: dict[str, list[Any]],
    columns: dict[str, ColumnType],
    schema: EdgeSchema,
    first: int = 0,
) -> pd.DataFrame:
    """As `to_frame`, with the user's ids of each column of vertices at hand.

    ``first`` : where the first row stands in the whole answer. Ids in arrays of NumPy's the frame may have.
    """
    out: dict[str, Any] = {}
    for name, kind in columns.items():
        if not kind.vertex:
            (column,) = names_of(name, kind, schema)
            out[column] = _numbers(table[name], kind, schema.arrow)
            continue
        for column, dtype, values in zip(
            names_of(name, kind, schema), schema.ids, vertices[name], strict=True
        ):
            out[column] = ids_as(values, dtype, kind.nullable)
    # Of more arrays pandas says that the frame is fragmented, as soon as somebody adds a column.
    frame = pd.DataFrame(out, copy=len(out) > _SEPARATE)
    frame.index = pd.RangeIndex(first, first + len(frame))
    return frame


def names_of(key: str, kind: ColumnType, schema: EdgeSchema) -> tuple[str, ...]:
    """Names of a frame's columns for one of a result: the edge frame's own for what an edge has."""
    own = {
        "vertex": schema.vertex,
        "edge source": schema.source,
        "edge destination": schema.destination,
        "edge weight": (str(schema.weight),),
    }
    return kind.names or own.get(key) or (schema.prefixed(key) if kind.vertex else (key,))


def _numbers(values: Values, kind: ColumnType, arrow: bool) -> Any:
    if kind.time is not None:
        return as_times(values.data, kind.time, values.valid).array
    whole = values.fresh and values.data.dtype == kind.dtype and values.data.flags.c_contiguous
    data = values.data if whole else _owned(values.data, kind.dtype)
    mask = _nulls(values.valid, len(data)) if kind.nullable else None
    if arrow:
        made = pa.array(data, mask=mask)
        return pd.array(made, dtype=pd.ArrowDtype(made.type))
    if mask is None:
        return data
    if np.dtype(kind.dtype).kind == "f":
        for_blocks(partial(_fill, data, mask), copy_blocks(len(data), data.itemsize))
        return pd.arrays.FloatingArray(data, mask)
    if kind.dtype == "bool":
        return pd.arrays.BooleanArray(data, mask)
    return pd.arrays.IntegerArray(data, mask)


def _nulls(valid: np.ndarray | None, n: int) -> np.ndarray:
    """Where values are null."""
    return np.zeros(n, bool) if valid is None else ~valid


def _fill(data: np.ndarray, mask: np.ndarray, lo: int, hi: int) -> None:
    """Give nulls a number: what stands there may be NaN, which pandas would take for one of its own."""
    np.putmask(data[lo:hi], mask[lo:hi], 1)


def ids_as(values: Any, dtype: Any, nullable: bool) -> Any:
    """Ids, an array of Arrow's or NumPy's, as pandas' of the result's dtype: NumPy's itself where it has that."""
    if isinstance(values, np.ndarray):
        if isinstance(dtype, np.dtype) and values.dtype == dtype and not nullable:
            return values
        values = pa.array(values)
    if isinstance(dtype, np.dtype) and dtype.kind in "iu":
        data = _owned(_filled(values), dtype)
        return pd.arrays.IntegerArray(data, np.asarray(values.is_null())) if nullable else data
    if isinstance(dtype, np.dtype):  # as a series: of a bare array pandas would make strings
        return pd.Series(values.to_numpy(zero_copy_only=False), dtype=object)
    if isinstance(dtype, pd.ArrowDtype):
        return pd.array(values.cast(dtype.pyarrow_dtype), dtype=dtype)
    if pa.types.is_integer(values.type):  # masked integers
        data = _filled(values)
        return pd.arrays.IntegerArray(_owned(data, data.dtype), np.asarray(values.is_null()))
    return pd.array(values, dtype=dtype)


def _filled(values: pa.Array) -> np.ndarray:
    """Integers as an array, in their own memory where none is null; nulls are 0."""
    whole = values.fill_null(0) if values.null_count else values
    found: np.ndarray = whole.to_numpy(zero_copy_only=False)
    return found


def _owned(data: np.ndarray, dtype: Any) -> np.ndarray:
    """A copy in a type, made by all threads: what a frame holds is its own, to be written to."""
    made = np.empty(len(data), dtype)

    def fill(lo: int, hi: int) -> None:
        made[lo:hi] = data[lo:hi]

    for_blocks(fill, copy_blocks(len(data), made.itemsize))
    return made


def _storage(kind: ColumnType) -> str:
    return "uint32" if kind.vertex else kind.dtype
