"""Frames of other libraries, whose columns come as Arrow streams: polars, pyarrow, DuckDB and others."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import pandas as pd
import pyarrow as pa
from dask.base import is_dask_collection

from dask_graphgpu.errors import InvalidArgument

_OURS = ("pandas", "cudf", "dask", "dask_cudf", "dask_expr")  # which are read as they are
_KNOWN = ("polars", "pyarrow", "duckdb")
_READ: weakref.WeakSet[pa.RecordBatchReader] = weakref.WeakSet()  # that have no row left
_OF_128_BITS = ("Int128", "UInt128")  # names of polars' types: early versions lack one


class ArrowFrame:
    """A frame of another library, as an edge frame or one of vertices.

    Of tables and polars frames nothing is copied. A stream that can be read once is read when this is made, with all
    columns. A query (polars' LazyFrame, DuckDB's relation) is run by each `read`, for the columns that this is of: its
    rows may come in another order each time, so who needs several columns reads them together.

    Parameters
    ----------
    native
        What the user gave.
    """

    def __init__(self, native: Any) -> None:
        self._kind = type(native).__name__
        self._library = _library(native)
        if isinstance(native, pa.RecordBatchReader):
            native = _rows_of(native)
        elif self._library not in _KNOWN:
            native = pa.table(native)
        self._native = native

    def __repr__(self) -> str:
        return f"<{self._library} {self._kind}>"

    @property
    def columns(self) -> list[str]:
        return list(self.meta.columns)

    @cached_property
    def meta(self) -> pd.DataFrame:
        """A frame of pandas without rows, whose columns are Arrow's."""
        if self._library == "duckdb":
            made = _of_pandas(pa.table(self._native.limit(0)))
            made.columns = self._native.columns  # Arrow's are told apart where two have one name
            return made
        if self._library != "polars":
            return _of_pandas(self._native_table.slice(0, 0))
        none = self._native.head(0)
        return _of_polars(none.collect() if self.is_query else none)

    @property
    def is_query(self) -> bool:
        """Whether only running it would tell its rows."""
        return self._library == "duckdb" or _is_lazy(self._native)

    def __len__(self) -> int:
        if self.is_query:
            return len(self.read(self.columns[:1]))
        return len(self._native if self._library == "polars" else self._native_table)

    def read(self, names: Sequence[str]) -> pd.DataFrame:
        """Some columns as a frame of pandas whose columns are Arrow's."""
        if self._library == "duckdb":
            quoted = ('"' + name.replace('"', '""') + '"' for name in names)
            return _of_pandas(pa.table(self._native.project(", ".join(quoted))))
        if self._library != "polars":
            return _of_pandas(self._native_table.select(names))
        chosen = self._native.select(names)
        return _of_polars(chosen.collect() if self.is_query else chosen)

    def back(self, answer: Any) -> Any:
        """A result as a frame of the same library, of a query as one that has been run; Dask's as it is."""
        if is_dask_collection(answer) or not isinstance(answer, pd.DataFrame):
            return answer
        table = pa.Table.from_pandas(answer, preserve_index=False).replace_schema_metadata()
        if self._library == "polars":
            return sys.modules["polars"].from_arrow(table)
        if self._library == "duckdb":
            dask_graphgpu_answer = table  # which the query finds by its name
            found = self._native.query("dask_graphgpu_edges", "select * from dask_graphgpu_answer")
            del dask_graphgpu_answer
            return found.set_alias("answer")
        return table

    @cached_property
    def _native_table(self) -> pa.Table:
        native = self._native
        return native if isinstance(native, pa.Table) else pa.table(native)


def taken(value: Any) -> Any:
    """An `ArrowFrame` of a frame of another library; anything else as it is."""
    return ArrowFrame(value) if _is_foreign(value) else value


def _rows_of(reader: pa.RecordBatchReader) -> pa.Table:
    """What a reader gives; InvalidArgument where this has had it already, and there would be no row."""
    if reader in _READ:
        raise InvalidArgument(
            "this RecordBatchReader has been read for an earlier graph or argument, and gives its rows once: keep that "
            "graph, or give a table, which reader.read_all() makes of a new one"
        )
    _READ.add(reader)
    return reader.read_all()


def settled(value: Any) -> Any:
    """All columns of an `ArrowFrame`, by one reading; anything else as it is."""
    return value.read(value.columns) if isinstance(value, ArrowFrame) else value


def _is_foreign(value: Any) -> bool:
    """Whether something is a frame, and not pandas', cuDF's or Dask's, which are read as they are."""
    if isinstance(value, type) or _library(value) in _OURS:
        return False
    if _is_lazy(value) or isinstance(value, pa.RecordBatchReader):
        return True
    return hasattr(value, "__arrow_c_stream__") and hasattr(value, "columns")


def _is_lazy(value: Any) -> bool:
    kind = getattr(sys.modules.get("polars"), "LazyFrame", None)
    return kind is not None and isinstance(value, kind)


def _library(value: Any) -> str:
    """The package that a value's class is of, or the known one of a class that this derives from."""
    packages = [kind.__module__.partition(".")[0].lstrip("_") for kind in type(value).__mro__]
    return next((each for each in packages if each in _OURS + _KNOWN), packages[0])


def _of_polars(frame: Any) -> pd.DataFrame:
    """A polars DataFrame; integers of 128 bits, which Arrow has no type for, as the decimals that DuckDB gives."""
    polars = sys.modules["polars"]
    wide = [name for name, kind in frame.schema.items() if str(kind) in _OF_128_BITS]
    decimals = [polars.col(name).cast(polars.Decimal(38, 0), strict=False) for name in wide]
    return _of_pandas(pa.table(frame.with_columns(decimals) if wide else frame))


def _of_pandas(table: pa.Table) -> pd.DataFrame:
    plain = table.replace_schema_metadata()
    frame: pd.DataFrame = plain.to_pandas(types_mapper=pd.ArrowDtype, ignore_metadata=True)
    return frame
