"""Frames of other libraries, whose columns come as Arrow streams: polars, pyarrow, DuckDB and others."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

import pandas as pd
import pyarrow as pa
from dask.base import is_dask_collection


class ArrowFrame:
    """A frame of another library, as an edge frame or one of vertices.

    Of tables and polars frames nothing is copied. A stream that can be read once is read when this is made, with all
    columns. A query (polars' LazyFrame, DuckDB's relation) is run for each `read`, for the columns that this is of.

    Parameters
    ----------
    native
        What the user gave.
    """

    def __init__(self, native: Any) -> None:
        self._library = _library(native)
        if isinstance(native, pa.RecordBatchReader):
            native = native.read_all()
        self._native = native

    @property
    def columns(self) -> list[str]:
        return list(self.meta.columns)

    @cached_property
    def meta(self) -> pd.DataFrame:
        """A frame of pandas without rows, whose columns are Arrow's."""
        if self._library == "duckdb":
            return _of_pandas(pa.table(self._native.limit(0)))
        if self.is_query:
            return _of_pandas(pa.table(self._native.head(0).collect()))
        return _of_pandas(self._table.slice(0, 0))

    @property
    def is_query(self) -> bool:
        """Whether only running it would tell its rows."""
        return self._library == "duckdb" or _is_lazy(self._native)

    def __len__(self) -> int:
        return len(self.read(self.columns[:1]) if self.is_query else self._table)

    def read(self, names: Sequence[str]) -> pd.DataFrame:
        """Some columns as a frame of pandas whose columns are Arrow's."""
        if self._library == "duckdb":
            quoted = ('"' + name.replace('"', '""') + '"' for name in names)
            return _of_pandas(pa.table(self._native.project(", ".join(quoted))))
        if self.is_query:
            return _of_pandas(pa.table(self._native.select(names).collect()))
        return _of_pandas(self._table.select(names))

    def back(self, answer: Any) -> Any:
        """A result as a frame of the same library, a query's as one that has been run; Dask's as it is."""
        if is_dask_collection(answer) or not isinstance(answer, pd.DataFrame):
            return answer
        table = pa.Table.from_pandas(answer, preserve_index=False).replace_schema_metadata()
        if self._library == "polars":
            return sys.modules["polars"].from_arrow(table)
        if self._library == "duckdb":
            return sys.modules["duckdb"].from_arrow(table)
        return table

    @cached_property
    def _table(self) -> pa.Table:
        return pa.table(self._native)


def taken(value: Any) -> Any:
    """An `ArrowFrame` of a frame of another library; anything else as it is."""
    return ArrowFrame(value) if _is_foreign(value) else value


def all_taken(values: Iterable[Any]) -> list[Any]:
    """`taken`, of each."""
    return [taken(value) for value in values]


def _is_foreign(value: Any) -> bool:
    """Whether something is a frame, and not pandas', cuDF's or Dask's, which are read as they are."""
    if isinstance(value, type) or _library(value) in ("pandas", "cudf", "dask", "dask_cudf"):
        return False
    if _is_lazy(value) or isinstance(value, pa.RecordBatchReader):
        return True
    return hasattr(value, "__arrow_c_stream__") and hasattr(value, "columns")


def _is_lazy(value: Any) -> bool:
    return _library(value) == "polars" and type(value).__name__ == "LazyFrame"


def _library(value: Any) -> str:
    """The package that a value's class is of."""
    return type(value).__module__.partition(".")[0].lstrip("_")


def _of_pandas(table: pa.Table) -> pd.DataFrame:
    plain = table.replace_schema_metadata()
    frame: pd.DataFrame = plain.to_pandas(types_mapper=pd.ArrowDtype, ignore_metadata=True)
    return frame
