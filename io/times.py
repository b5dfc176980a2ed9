"""Columns of times: edges carry them as whole numbers of the column's unit, since 1970 and in UTC."""

from __future__ import annotations

import math
from contextlib import suppress
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from dask_graphgpu.arguments import is_real, refuse
from dask_graphgpu.io.schema import value_type

_NAT = np.iinfo(np.int64).min  # of NumPy's times


def is_time(dtype: Any) -> bool:
    """Whether a dtype of pandas holds dates or times of a calendar."""
    if isinstance(dtype, pd.DatetimeTZDtype):
        return True
    kind = value_type(dtype)
    return kind is not None and (pa.types.is_timestamp(kind) or pa.types.is_date(kind))


def as_numbers(series: pd.Series[Any] | pd.arrays.ArrowExtensionArray) -> np.ndarray:
    """The times of a column without nulls, int64."""
    if not isinstance(series.dtype, pd.ArrowDtype):
        return np.asarray(series.astype("int64"))
    values = pa.chunked_array(pa.array(series))
    narrow = pa.int32() if pa.types.is_date32(values.type) else pa.int64()
    return np.asarray(values.cast(narrow).cast(pa.int64()))


def number_of(time: Any, dtype: Any) -> int:
    """A time as columns of this dtype have it.

    Raises
    ------
    ValueError, TypeError
        It is no time, or one has a zone and the other has none.
    """
    if isinstance(time, bool | int | float):
        raise TypeError("a number is no time")
    if isinstance(dtype, pd.ArrowDtype) and not hasattr(dtype.pyarrow_dtype, "tz"):
        time = pd.Timestamp(time).date()  # of dates
    else:
        time = pd.Timestamp(time)
        if (time.tz is None) != (_zone(dtype) is None):
            raise TypeError("of a time and a column, one has a time zone and the other has none")
    if time is pd.NaT:
        raise ValueError("NaT is no time")
    return int(as_numbers(pd.Series([time]).astype(dtype))[0])


def as_bound(name: str, value: Any, kind: Any) -> int | float | None:
    """A value of a column of some dtype as edges carry it; None stays None."""
    if value is None:
        return None
    if is_time(kind):
        with suppress(ValueError, TypeError):
            return number_of(value, kind)
    elif is_real(value) and value == value:  # NaN is above and below nothing
        number: int | float = value.item() if hasattr(value, "item") else value
        return number
    refuse(name, value, f"is {_in_words(kind)}, or None")


def _zone(dtype: Any) -> Any:
    """The time zone of a dtype of times, if it has one."""
    return getattr(dtype, "tz", getattr(getattr(dtype, "pyarrow_dtype", None), "tz", None))


def _in_words(kind: Any) -> str:
    if not is_time(kind):
        return "a number"
    zone = _zone(kind)
    return f"a time of {kind}, such as pandas.Timestamp('2026-11-26'{f', tz={str(zone)!r}' if zone else ''})"


def as_times(numbers: np.ndarray, dtype: Any, valid: np.ndarray | None = None) -> pd.Series[Any]:
    """`as_numbers` undone; null where not ``valid``."""
    if isinstance(dtype, pd.ArrowDtype):
        days = pa.types.is_date32(dtype.pyarrow_dtype)
        values = pa.array(
            numbers.astype(np.int32) if days else numbers, mask=None if valid is None else ~valid
        )
        return pd.Series(values.cast(dtype.pyarrow_dtype), dtype=dtype)
    return pd.Series(numbers if valid is None else np.where(valid, numbers, _NAT)).astype(dtype)


def units_of(length: Any, dtype: Any) -> int | float:
    """How many units of columns of this dtype a length of time has.

    Raises
    ------
    ValueError, TypeError
        It is no length of time.
    """
    if isinstance(length, bool | int | float):
        raise TypeError("a number is no length of time")
    units = pd.Timedelta(length) / pd.Timedelta(1, _unit(dtype))
    return int(units) if units.is_integer() else float(units)


def _unit(dtype: Any) -> Any:
    kind = getattr(dtype, "pyarrow_dtype", None)
    if kind is None:
        return getattr(dtype, "unit", None) or np.datetime_data(dtype)[0]
    if pa.types.is_timestamp(kind):
        return kind.unit
    return "D" if pa.types.is_date32(kind) else "ms"


def as_length(name: str, value: Any, kind: Any) -> int | float:
    """A length above 0 in the units of a column of some dtype.

    Raises
    ------
    InvalidArgument
    """
    found: Any = value if is_real(value) else None
    if is_time(kind):
        found = None
        with suppress(ValueError, TypeError):
            found = units_of(value, kind)
    if is_time(kind) and found is not None and found != int(found):
        refuse(name, value, f"is a whole number of the units that a column of {kind} has")
    if found is None or not 0 < found < math.inf:
        what = "a length of time, such as pandas.Timedelta('1D')" if is_time(kind) else "a number"
        refuse(name, value, f"is {what}, above 0")
    length: int | float = (
        int(found) if found == int(found) else float(found)
    )  # as exact as the column
    return length


def in_units_of(series: Any, dtype: Any) -> Any:
    """Times of a column, pandas' or cuDF's, as numbers of the unit of another column of times, rounded down.

    Raises
    ------
    TypeError
        They are no times, or one of the columns has a time zone and the other has none.
    """
    if not is_time(series.dtype):
        raise TypeError(f"{series.dtype} is no type of times")
    if _has_zone(series.dtype) != _has_zone(dtype):
        raise TypeError("of two columns of times, one has a time zone and the other has none")
    pandas = isinstance(series, pd.Series)
    numbers = pd.Series(as_numbers(series)) if pandas else series.astype("int64")
    step = pd.Timedelta(1, _unit(series.dtype)) / pd.Timedelta(1, _unit(dtype))
    if step >= 1:  # what is beyond all times of the other unit is its last one
        last = np.iinfo(np.int64).max // int(step)
        found = numbers.clip(-last, last) * int(step)
    else:
        found = numbers // round(1 / step)
    return found.to_numpy() if pandas else found


def _has_zone(dtype: Any) -> bool:
    kind = getattr(dtype, "pyarrow_dtype", dtype)
    return getattr(kind, "tz", None) is not None
