"""What errors say can be done to a column, in words of the library that its frame is of."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pyarrow as pa

_WIDE = 38  # digits


def how_to_drop(name: str, dtype: Any, *, nan: bool = False) -> str:
    """How rows without a value in a column are left out; in Arrow's columns ``nan`` is another thing than null."""
    if not _is_arrow(dtype):
        return f".dropna(subset=[{name!r}])"
    if nan:
        return f".drop_nans({name!r}) of polars or `where not isnan({name})` of SQL"
    return f".drop_nulls({name!r}) of polars or `where {name} is not null` of SQL"


def how_to_make_ids(dtype: Any) -> str:
    """How numbers that are no integers, though their values may be, become ids."""
    if not _is_arrow(dtype):
        return "; integers become floats where a column has nulls: fill or drop them, then .astype('int64')"
    return f"{_of_sums(dtype)}; cast whole numbers first, with .cast(pl.Int64) of polars or ::BIGINT of SQL"


def how_to_make_weights(dtype: Any) -> str:
    """How numbers of another type become weights."""
    if not _is_arrow(dtype):
        return "cast the column first"
    return f"cast the column first, with .cast(pl.Float64) of polars or ::DOUBLE of SQL{_of_sums(dtype)}"


def _is_arrow(dtype: Any) -> bool:
    """Whether it is Arrow's: of a frame of polars, pyarrow or DuckDB, mostly."""
    return isinstance(dtype, pd.ArrowDtype)


def _of_sums(dtype: pd.ArrowDtype) -> str:
    wide = pa.types.is_decimal(dtype.pyarrow_dtype) and dtype.pyarrow_dtype.precision == _WIDE
    return " (integers of 128 bits come as this: sums of DuckDB, Int128 of polars)" if wide else ""
