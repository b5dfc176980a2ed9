"""Lazy Dask frames of the parts of files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol

import pandas as pd
import pyarrow as pa
from dask._collections import new_collection
from dask.base import tokenize
from dask.dataframe.dask_expr._expr import Projection
from dask.dataframe.dask_expr.io.io import FromMapProjectable

from dask_graphgpu.io.schema import plain_type
from dask_graphgpu.io.views import without_views


class FilePart(Protocol):
    """A part of a table that one task reads; ``path`` is its file."""

    @property
    def path(self) -> str:
        """Its file."""

    @property
    def filesystem(self) -> Any:
        """Where that is; None: on the local file system."""

    def read(self, columns: Sequence[str]) -> pa.Table | None:
        """Columns of all its rows; None: it has no rows."""


class ReadFiles(FromMapProjectable):
    """A frame that is nothing but parts of files, one a partition.

    Parameters
    ----------
    given : str
        The path that was asked for.
    """

    _parameters = [*FromMapProjectable._parameters, "given"]  # noqa: RUF012  so Dask has it

    @property
    def parts(self) -> list[FilePart]:
        """The parts that are read."""
        expr: Any = self
        parts: list[FilePart] = expr.operand("iterables")[0]
        chosen = expr.operand("_partitions")
        parts = parts if chosen is None else [parts[i] for i in chosen]
        return [part for part in parts if not isinstance(part, _Nothing)]


def frame_of(parts: Sequence[FilePart], schema: pa.Schema, given: str) -> Any:
    """A Dask frame of parts, whose columns are those of a schema; without parts it has no rows."""
    meta = empty_frame(schema)
    made: Any = ReadFiles
    fields = [(field.name, str(field.type)) for field in schema]
    parts = list(parts) or [_Nothing(given)]
    expr = made(
        func=read_part,
        iterables=[parts],
        columns=None,
        args=[],
        kwargs={"meta": meta},
        columns_arg_required=True,
        user_meta=meta,
        label="read-files",
        given=given,
        _determ_token=tokenize(parts, fields, given),  # Dask's would be of the frame, twice
    )
    return new_collection(expr)


def parts_of(frame: Any) -> list[FilePart] | None:
    """The parts of files that a frame is nothing but, one a partition; None of any other frame."""
    expr = frame.expr.simplify()
    if isinstance(expr, Projection):  # columns in another order than in the files
        expr = expr.frame
    return expr.parts if isinstance(expr, ReadFiles) else None


def read_part(part: FilePart, columns: Sequence[str], meta: pd.DataFrame) -> pd.DataFrame:
    """Columns of a part as an Arrow-backed frame; ``meta`` has all columns, and no rows."""
    table = part.read(columns)
    return meta[list(columns)] if table is None else as_frame(table)


def as_frame(table: pa.Table) -> pd.DataFrame:
    """A table as an Arrow-backed frame; pandas knows no views of strings."""
    table = without_views(table)
    frame: pd.DataFrame = table.to_pandas(types_mapper=pd.ArrowDtype, ignore_metadata=True)
    return frame


def empty_frame(schema: pa.Schema) -> pd.DataFrame:
    """A frame without rows in the types that Dask's own reader of Parquet declares for a schema."""
    return _empty_frame(schema).copy(deep=False)  # who adds a column adds it to this one


@lru_cache(maxsize=64)
def _empty_frame(schema: pa.Schema) -> pd.DataFrame:
    made = {}
    for field in schema:
        kind = field.type
        kind = plain_type(kind)
        if pa.types.is_large_string(kind):
            dtype: Any = pd.StringDtype("pyarrow")
        elif pa.types.is_integer(kind) or pa.types.is_floating(kind):
            dtype = kind.to_pandas_dtype()
        else:
            dtype = pd.ArrowDtype(kind)
        made[field.name] = pd.Series([], dtype=dtype)
    return pd.DataFrame(made)


@dataclass(frozen=True)
class _Nothing:
    """The part of a table that has no files."""

    path: str
    filesystem: Any = None

    def read(self, columns: Sequence[str]) -> None:
        """Nothing."""
