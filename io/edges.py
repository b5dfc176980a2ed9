"""One partition of an edge frame, checked and turned into codes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from dask_graphgpu.errors import InvalidEdges
from dask_graphgpu.io.frames import to_host
from dask_graphgpu.io.schema import (
    EdgeSchema,
    arrow_id_type,
    is_number,
    require_columns,
    value_type,
)
from dask_graphgpu.partition.chunk import EdgeChunk
from dask_graphgpu.partition.ids import Names, common_type, distinct_rows


def read_edges(
    frame: pd.DataFrame, schema: EdgeSchema, columns: Sequence[str], where: str
) -> EdgeChunk:
    """Check a partition of the edge frame and encode its ids.

    Parameters
    ----------
    frame : pandas.DataFrame
        Or cuDF's, whose columns are copied to the host.
    columns : sequence of str
        What an edge carries: "weight" (the schema's weight column) and names of other columns.

    Raises
    ------
    InvalidEdges
        Nulls, weights that are negative, NaN or infinite, or dtypes other than declared.
    """
    frame = to_host(frame)
    names = [*schema.source, *schema.destination]
    require_columns(frame, names)
    declared = dict(schema.dtypes)
    if not len(frame):  # readers give empty partitions any dtype
        return no_edges(schema, columns)
    for name in names:
        check_dtype(frame, name, declared[name], where)
    source = [id_array(frame[name], name, where) for name in schema.source]
    destination = [id_array(frame[name], name, where) for name in schema.destination]
    (source_codes, destination_codes), table = encode([source, destination])
    carried = {}
    for name in columns:
        column = schema.weight if name == "weight" else name
        assert column is not None
        require_columns(frame, [column])
        check_dtype(frame, column, declared[column], where)
        carried[name] = number_array(frame[column], column, where)
        if name == "weight":
            refuse_weights(carried[name], column, where)
            carried[name] = _narrowed(carried[name])
    return EdgeChunk(source_codes, destination_codes, table, carried)


def id_array(series: pd.Series[Any], name: str, where: str) -> pa.Array:
    """The ids of a column as one Arrow array of integers or large strings, without nulls."""
    # Arrow data knows how many nulls it holds, which is asked below.
    nulls = 0 if isinstance(series.dtype, pd.ArrowDtype) else int(series.isna().sum())
    if nulls:
        raise nulls_in_ids(name, nulls, where)
    if not len(series):
        return pa.array([], arrow_id_type(series.dtype) or pa.null())
    kind = arrow_id_type(series.dtype)
    if kind is not None and pa.types.is_integer(kind) and isinstance(series.dtype, np.dtype):
        return pa.array(series.to_numpy(series.dtype.newbyteorder("=")))
    try:
        values = pa.array(series, from_pandas=True)
    except (OverflowError, UnicodeEncodeError) as error:
        raise InvalidEdges(
            f"id column {name!r} has objects in {where} that are no ids ({error}); ids are integers "
            "of up to 64 bits or text in Unicode: cast the column first, as with .astype('uint64')"
        ) from error
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise InvalidEdges(
            f"id column {name!r} mixes types in {where} ({error}); ids are all "
            "integers or all strings: cast the column first"
        ) from error
    values = _one_chunk(
        values if isinstance(values, pa.ChunkedArray) else pa.chunked_array([values])
    )
    if values.null_count:  # a dictionary may hold a null as a value, which is no null to pandas
        raise nulls_in_ids(name, values.null_count, where)
    if pa.types.is_dictionary(values.type):
        if pa.types.is_integer(values.type.value_type):
            return values.dictionary_decode()
        codes, table = values.indices.cast(pa.int32()), values.dictionary.cast(pa.large_string())
        return pa.DictionaryArray.from_arrays(codes, table)
    if pa.types.is_string(values.type):
        return values.cast(pa.large_string())
    if not (pa.types.is_integer(values.type) or pa.types.is_large_string(values.type)):
        raise InvalidEdges(
            f"id column {name!r} holds {values.type} in {where}; ids are integers or "
            "strings: cast the column first"
        )
    return values


def _one_chunk(values: pa.ChunkedArray) -> pa.Array:
    if pa.types.is_dictionary(values.type):
        if any(chunk.dictionary.null_count for chunk in values.chunks):
            return values.cast(values.type.value_type).combine_chunks()
        values = values.unify_dictionaries()
    return values.chunk(0) if values.num_chunks == 1 else values.combine_chunks()


def nulls_in_ids(name: str, number: int, where: str) -> InvalidEdges:
    """The error of an id column with nulls."""
    return InvalidEdges(
        f"id column {name!r} has {number} nulls in {where}; drop them first, for example with "
        f".dropna(subset=[{name!r}])"
    )


def number_array(series: pd.Series[Any], name: str, where: str) -> np.ndarray:
    """A numeric column as a NumPy array, without nulls."""
    declared: Any = series.dtype
    arrow = isinstance(declared, pd.ArrowDtype)
    nulls = pa.array(series).null_count if arrow else int(series.isna().sum())
    if nulls:
        raise nulls_in_numbers(name, nulls, "nulls or NaN", where)
    if not is_number(declared):
        raise InvalidEdges(
            f"column {name!r} is of type {declared}; edges carry numbers of up to 64 bits only"
        )
    dtype: np.dtype[Any] = np.dtype(getattr(declared, "numpy_dtype", declared))
    if dtype == np.float16:  # Numba has none
        dtype = np.dtype(np.float32)
    values = np.ascontiguousarray(series.to_numpy(dtype=dtype))
    nan = int(np.isnan(values).sum()) if dtype.kind == "f" else 0  # pandas sees no NaN in Arrow
    if nan:
        raise nulls_in_numbers(name, nan, "NaN", where)
    return values


def nulls_in_numbers(name: str, number: int, what: str, where: str) -> InvalidEdges:
    """The error of a numeric column with nulls."""
    return InvalidEdges(
        f"column {name!r} has {number} {what} in {where}; fill or drop them first, for example "
        f"with .dropna(subset=[{name!r}])"
    )


def encode(sides: Sequence[Sequence[pa.Array]]) -> tuple[list[np.ndarray], Names]:
    """Give ids codes: several tables of ids over one set of names.

    Integers whose range fits 32 bits are coded by their distance from the smallest; everything
    else by a table of the distinct ids.
    """
    width = len(sides[0])
    types = tuple(
        common_type([_value_type(side[k]) for side in sides], "sources and destinations")
        for k in range(width)
    )
    arrays = [
        [
            side[k]
            if pa.types.is_dictionary(side[k].type) or side[k].type == types[k]
            else side[k].cast(types[k])
            for side in sides
        ]
        for k in range(width)
    ]
    if width == 1 and pa.types.is_integer(types[0]):
        coded = _encode_range(arrays[0], types[0])
        if coded is not None:
            return coded
    table, codes = distinct_rows(arrays)
    names = Names(types, len(table[0]), table=tuple(table))
    return [part.astype(np.uint32, copy=False) for part in codes], names


def _value_type(values: pa.Array) -> pa.DataType:
    return values.type.value_type if pa.types.is_dictionary(values.type) else values.type


def _encode_range(
    arrays: Sequence[pa.Array], kind: pa.DataType
) -> tuple[list[np.ndarray], Names] | None:
    """Codes of integers by distance from the smallest; None when they do not fit 32 bits."""
    if not all(map(len, arrays)):
        return None
    extremes = [pc.min_max(a).as_py() for a in arrays]
    first, last = min(e["min"] for e in extremes), max(e["max"] for e in extremes)
    if last - first >= 2**32:
        return None
    # Distances of less than 2**32 come out right of their lowest 32 bits alone.
    codes = [np.asarray(a).astype(np.uint32) for a in arrays]
    for code in codes:
        if first:
            code -= np.uint32(first % 2**32)
    return codes, Names((kind,), last - first + 1, first=first)


def check_dtype(frame: Any, name: str, declared: Any, where: str) -> None:
    """Refuse a partition whose column is of another type than the frame declares.

    Backends may differ (NumPy, masked, Arrow; the kinds of strings): what counts is the value type.
    """
    given, wanted = value_type(frame[name].dtype), value_type(declared)
    if given is not None and wanted is not None and given != wanted:
        raise InvalidEdges(
            f"column {name!r} is {_in_words(frame[name].dtype)} in {where} but the frame declares "
            f"{_in_words(declared)}; cast every partition to one type first, with "
            f".astype({{{name!r}: ...}})"
        )


def _in_words(dtype: Any) -> str:
    """A dtype, with that of its categories: of those that Dask has not read it declares text."""
    return f"{dtype} of {dtype.categories.dtype}" if hasattr(dtype, "categories") else str(dtype)


def refuse_weights(weight: Any, name: str, where: str) -> None:
    """Raise InvalidEdges for weights, NumPy's or CuPy's, that are negative or infinite."""

    def refuse(bad: int, what: str) -> None:
        raise InvalidEdges(
            f"weight column {name!r} has {bad} {what} weights in {where}; weights are "
            "finite and not negative: filter or correct them first"
        )

    if weight.dtype.kind == "f":
        infinite = int(np.isinf(weight).sum())
        if infinite:
            refuse(infinite, "infinite")
    if weight.dtype == np.uint64 and len(weight) and weight.max() > np.iinfo(np.int64).max:
        refuse(int((weight > np.uint64(np.iinfo(np.int64).max)).sum()), "2**63 or larger")
    if weight.dtype.kind != "u" and len(weight) and weight.min() < 0:
        refuse(int((weight < 0).sum()), "negative")


def _narrowed(weight: np.ndarray) -> np.ndarray:
    """64-bit integers in 32 bits where they fit: half of what every pass over the edges moves."""
    if weight.dtype not in (np.int64, np.uint64):
        return weight
    return weight.astype(np.uint32 if weight.max() < 2**32 else np.int64)


def no_edges(schema: EdgeSchema, columns: Sequence[str]) -> EdgeChunk:
    """A chunk without edges, which would carry these columns."""
    none = np.empty(0, np.uint32)
    types = tuple(arrow_id_type(dtype) or pa.large_string() for dtype in schema.ids)
    table = tuple(pa.array([], t) for t in types)
    return EdgeChunk(
        none, none, Names(types, 0, table=table), {name: np.empty(0) for name in columns}
    )
