"""Partitions of cuDF frames, checked; `io.edges` and `io.vertices` do it for pandas'."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import cupy
import numpy as np
import pyarrow as pa

from dask_graphgpu.errors import InvalidEdges, InvalidVertices
from dask_graphgpu.io.columns import check_dtype, nulls_in_ids, nulls_in_numbers, refuse_weights
from dask_graphgpu.io.edges import read_edges as read_on_host
from dask_graphgpu.io.schema import EdgeSchema, arrow_id_type, is_integer, require_columns
from dask_graphgpu.partition.chunk import EdgeChunk
from dask_graphgpu.partition.device.build import DeviceEdges, DeviceVertices
from dask_graphgpu.partition.device.columns import array_of
from dask_graphgpu.partition.device.masks import any_true, count_nan
from dask_graphgpu.partition.device.memory import use_pool
from dask_graphgpu.partition.device.numbering import common_dtype
from dask_graphgpu.partition.ids import Names


def read_edges(frame: Any, schema: EdgeSchema, columns: Sequence[str], where: str) -> DeviceEdges:
    """Check a partition of the edge frame; its columns are not copied.

    Raises
    ------
    InvalidEdges
        Nulls, weights that are negative, NaN or infinite, or dtypes other than declared.
    """
    use_pool()
    names = [*schema.source, *schema.destination]
    require_columns(frame, names)
    declared = dict(schema.dtypes)
    if not len(frame):  # readers give empty partitions any dtype
        none = cupy.empty(0, np.int64)
        empty = {name: cupy.empty(0) for name in columns}
        return DeviceEdges((none,) * len(schema.source), (none,) * len(schema.source), empty)
    for name in names:
        check_dtype(frame[name], name, declared[name], where)
    source = tuple(id_column(frame[name], name, where) for name in schema.source)
    destination = tuple(id_column(frame[name], name, where) for name in schema.destination)
    carried = {}
    for name in columns:
        column = schema.weight if name == "weight" else name
        assert column is not None
        require_columns(frame, [column])
        check_dtype(frame[column], column, declared[column], where)
        carried[name] = number_column(frame[column], column, where)
        if name == "weight":
            carried[name] = _checked_weights(carried[name], column, where)
    return DeviceEdges(source, destination, carried)


def read_edges_of_rank(
    frame: Any, schema: EdgeSchema, columns: Sequence[str], where: str
) -> EdgeChunk:
    """Check a partition of the edge frame, and encode its ids as `io.edges.read_edges` does.

    Integers of a narrow range stay on the device, and so do the columns; all else is copied to the
    host.

    Raises
    ------
    InvalidEdges
        As of `read_edges`.
    """
    made = read_edges(frame, schema, columns, where)
    ends = made.source + made.destination
    if not len(made) or len(ends) > 2 or any(hasattr(end, "iloc") for end in ends):
        return read_on_host(frame, schema, columns, where)
    kind = pa.from_numpy_dtype(
        common_dtype([end.dtype for end in ends], "sources and destinations")
    )
    first, last = min(int(end.min()) for end in ends), max(int(end.max()) for end in ends) + 1
    if last - first > 2**32:
        return read_on_host(frame, schema, columns, where)
    if 0 <= first < last - first and last <= 2**32:
        first = 0  # no copy of 32 bits
    source, destination = (_distances(end, first) for end in ends)
    return EdgeChunk(source, destination, Names((kind,), last - first, first=first), made.columns)


def _distances(ids: Any, first: int) -> Any:
    """Integers as their distance from the least, which comes out right of 32 bits alone."""
    if not first and ids.dtype.itemsize == 4:
        return ids.view(np.uint32)
    return ids.astype(np.uint32) - np.uint32(first % 2**32)


def read_vertices(
    frame: Any, ids: Sequence[str], columns: Sequence[str], what: str, where: str
) -> DeviceVertices:
    """Check a partition of a frame with one row a vertex; nulls in its columns are noted."""
    missing = [name for name in [*ids, *columns] if name not in frame.columns]
    if missing:
        raise InvalidVertices(
            f"{what} has no column {missing[0]!r} in {where}; it has "
            f"{[str(c) for c in frame.columns]}"
        )
    try:
        vertex = tuple(id_column(frame[name], name, where) for name in ids)
    except InvalidEdges as error:
        raise InvalidVertices(f"{what}: {error}") from error
    values, nulls = {}, {}
    for name in columns:
        series = frame[name]
        if _numpy_dtype(series.dtype).kind not in "iufb":
            raise InvalidVertices(
                f"column {name!r} of {what} is of type {series.dtype}; a program reads numbers only"
            )
        null = series.isna()
        if bool(null.any()):
            nulls[name] = array_of(null)
            series = series.fillna(0)
        values[name] = array_of(series)
        if values[name].dtype.kind == "f":
            nan = cupy.isnan(values[name])
            if any_true(nan):
                nulls[name] = nan | nulls.get(name, False)
    return DeviceVertices(vertex, values, nulls)


def id_column(series: Any, name: str, where: str) -> Any:
    """The ids of a column: an array of integers or a series of strings, without nulls."""
    if series.null_count:
        raise nulls_in_ids(name, series.null_count, where)
    if hasattr(series.dtype, "categories"):
        series = series.astype(series.dtype.categories.dtype)
    arrow_id_type(series.dtype)  # refuses what is neither
    return array_of(series) if is_integer(series.dtype) else series.astype("str")


def number_column(series: Any, name: str, where: str) -> Any:
    """A column of numbers or times, as of `times.as_numbers`, as an array, without nulls."""
    if series.null_count:
        raise nulls_in_numbers(name, series.null_count, "nulls or NaN", where)
    if _numpy_dtype(series.dtype).kind == "M":
        series = series.astype("int64")
    if _numpy_dtype(series.dtype).kind not in "iufb":
        raise InvalidEdges(
            f"column {name!r} is of type {series.dtype}; edges carry numbers and times only"
        )
    values = array_of(series)
    if values.dtype.kind == "f":
        nan = count_nan(values)
        if nan:
            raise nulls_in_numbers(name, nan, "NaN", where)
    return values


def _checked_weights(weight: Any, name: str, where: str) -> Any:
    """Weights that are finite and not negative, in 32 bits where 64-bit integers fit."""
    least, most = weight.min().item(), weight.max().item()
    if least < 0 or most > (np.inf if weight.dtype.kind == "f" else 2**63 - 1) or most == np.inf:
        refuse_weights(weight, name, where)
    if weight.dtype not in (np.int64, np.uint64):
        return weight
    return weight.astype(np.uint32 if most < 2**32 else np.int64, copy=False)


def _numpy_dtype(dtype: Any) -> Any:
    try:
        return np.dtype(getattr(dtype, "numpy_dtype", dtype))
    except TypeError:  # of cuDF's own
        return np.dtype(object)
