"""Between cuDF's columns and arrays, in the memory of the GPU."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

import cudf
import cupy
import pyarrow as pa
import pylibcudf


def array_of(series: Any) -> Any:
    """A numeric column without nulls as an array, in the same memory."""
    return series.values


def series_of(array: Any, valid: Any = None) -> Any:
    """An array as a column, in the same memory; null where not ``valid``, which may be in host memory."""
    if not len(array):
        return cudf.Series([], dtype=array.dtype)
    column = pylibcudf.Column.from_cuda_array_interface(array)
    if valid is not None:
        valid = cupy.ascontiguousarray(cupy.asarray(valid, bool))
        flags = pylibcudf.Column.from_cuda_array_interface(valid)
        mask, nulls = pylibcudf.transform.bools_to_mask(flags)
        if nulls:
            column = column.with_mask(mask, nulls)
    return cudf.Series.from_pylibcudf(column)


def series_of_text(ids: pa.Array) -> Any:
    """Strings of Arrow as a column."""
    return cudf.Series.from_arrow(ids)


def frame_of(columns: dict[str, Any], first: int = 0) -> Any:
    """Columns of one length as a frame, which shares their memory until somebody writes to it.

    Its index counts from ``first`` on.

    `cudf.DataFrame` would compare their indexes, of which they have none of their own, and look for
    other kinds of values: it takes as long as a small search.
    """
    made = {name: series._column.copy(deep=False) for name, series in columns.items()}
    length = len(next(iter(made.values())))
    return cudf.DataFrame._from_data(made, index=cudf.RangeIndex(first, first + length))


def taken(series: Any, rows: Any, valid: Any = None) -> Any:
    """Some rows of a column; null where not ``valid``, which may be in host memory."""
    if not len(rows):
        return series.iloc[:0]
    if valid is not None:
        rows = cupy.where(cupy.asarray(valid), rows, len(series))  # beyond its end
    column, _ = series.to_pylibcudf()
    found = pylibcudf.copying.gather(
        pylibcudf.Table([column]),
        pylibcudf.Column.from_cuda_array_interface(rows.astype(cupy.int64)),
        pylibcudf.copying.OutOfBoundsPolicy.NULLIFY,
    )
    return cudf.Series.from_pylibcudf(found.columns()[0])


def factorized(parts: list[Any]) -> tuple[list[Any], Any]:
    """The rank of each value of some columns among the distinct ones, and those in ascending order."""
    whole = cudf.concat(parts, ignore_index=True) if len(parts) > 1 else parts[0]
    codes, values = whole.factorize(sort=True)
    ends = list(accumulate(map(len, parts)))
    return [
        codes[end - len(part) : end] for end, part in zip(ends, parts, strict=True)
    ], cudf.Series(values)
