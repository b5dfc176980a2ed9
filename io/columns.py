"""One column of a partition as one array: ids or numbers, checked."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from dask_graphgpu.errors import InvalidEdges
from dask_graphgpu.io import times
from dask_graphgpu.io.hints import how_to_drop
from dask_graphgpu.io.schema import (
    OR_NO_WEIGHTS,
    arrow_id_type,
    is_integer,
    is_number,
    is_run_end_encoded,
    is_string_view,
    require_columns,
    value_type,
)
from dask_graphgpu.partition.weight_fault import WeightFault

# Of a frame, or of a table, which need not become a frame for it.
Column: TypeAlias = "pd.Series[Any] | pd.arrays.ArrowExtensionArray"

_MOST = np.uint64(np.iinfo(np.int64).max)  # of weights


def column_of(frame: pd.DataFrame | pa.Table, name: str) -> Column:
    """A column of a frame, or of a table that has it.

    Raises
    ------
    InvalidEdges
        A frame has none of the name, or several.
    """
    if isinstance(frame, pa.Table):
        return pd.arrays.ArrowExtensionArray(frame[name])
    require_columns(frame, [name])
    return frame[name]


def id_array(series: Column, name: str, where: str, declared: Any = None) -> pa.Array:
    """The ids of a column as one Arrow array of integers or large strings, without nulls.

    Integers come in the type that the frame declares, if it does.

    Raises
    ------
    InvalidEdges
        Nulls, neither integers nor strings, integers that the declared type does not hold, or
        text or codes that are damaged.
    """
    kind = _id_type(series, name, where, declared)
    # Arrow data knows how many nulls it holds, which is asked below.
    nulls = 0 if isinstance(series.dtype, pd.ArrowDtype) else int(series.isna().sum())
    if nulls:
        raise nulls_in_ids(name, nulls, where, _of_users(series, declared))
    if not len(series):
        return pa.array([], kind or pa.null())
    wanted = None if declared is None else value_type(declared)
    if kind is not None and pa.types.is_integer(kind) and isinstance(series.dtype, np.dtype):
        numbers = series.to_numpy(series.dtype.newbyteorder("="))
        return _in_type(pa.array(numbers), wanted, name, where)
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
    values = _one_chunk(_chunked(values), name, where)
    if values.null_count:  # a dictionary may hold a null as a value, which is no null to pandas
        raise nulls_in_ids(name, values.null_count, where, _of_users(series, declared))
    if pa.types.is_dictionary(values.type):
        if pa.types.is_integer(values.type.value_type):
            return _in_type(values.dictionary_decode(), wanted, name, where)
        codes, table = values.indices.cast(pa.int32()), values.dictionary.cast(pa.large_string())
        return pa.DictionaryArray.from_arrays(codes, table, safe=False)  # they are checked
    if pa.types.is_string(values.type) or is_string_view(values.type):
        return values.cast(pa.large_string())
    if not (pa.types.is_integer(values.type) or pa.types.is_large_string(values.type)):
        raise InvalidEdges(
            f"id column {name!r} holds {values.type} in {where}; ids are integers or "
            "strings: cast the column first"
        )
    return _in_type(values, wanted, name, where)


def check_text(table: tuple[pa.Array, ...], what: str, where: str) -> None:
    """Raise InvalidEdges where the distinct ids of a partition are damaged text."""
    for column in table:
        _check_sound(column, what, where)


def number_array(
    series: Column,
    name: str,
    where: str,
    declared: Any = None,
    instead: str = "",
    *,
    gaps: bool = False,
) -> np.ndarray:
    """A column of numbers or times as a NumPy array, without nulls, in the type that the frame declares.

    Times are int64, as of `times.as_numbers`.

    ``instead`` : what else errors may say can be done.
    ``gaps`` : whether NaN, and nulls among floats, are NaN instead of an error.
    """
    users = _of_users(series, declared)
    if times.is_time(series.dtype) and not instead:
        if nulls := int(series.isna().sum()):
            raise nulls_in_numbers(name, nulls, "nulls or NaT", where, instead, users)
        return times.as_numbers(series)
    if not is_number(series.dtype):
        carried = "numbers of up to 64 bits" + ("" if instead else " and times")
        raise InvalidEdges(
            f"column {name!r} is of type {series.dtype}; edges carry {carried} only{instead}"
        )
    if isinstance(series.dtype, pd.ArrowDtype):
        plain = _one_chunk(_chunked(pa.array(series)), name, where)
        if pa.types.is_dictionary(plain.type):
            plain = plain.dictionary_decode()
        nulls, kind = plain.null_count, plain.type.to_pandas_dtype()
        series = pd.arrays.ArrowExtensionArray(plain)
    else:
        nulls, kind = int(series.isna().sum()), getattr(series.dtype, "numpy_dtype", series.dtype)
    dtype: np.dtype[Any] = np.dtype(kind).newbyteorder("=")
    gaps = gaps and dtype.kind == "f"
    if nulls and not gaps:
        raise nulls_in_numbers(name, nulls, "nulls or NaN", where, instead, users)
    if dtype == np.float16:  # Numba has none
        dtype = np.dtype(np.float32)
    missing: dict[str, Any] = {"na_value": np.nan} if nulls else {}
    values = np.ascontiguousarray(series.to_numpy(dtype=dtype, **missing))
    nan = int(np.isnan(values).sum()) if dtype.kind == "f" else 0  # pandas sees no NaN in Arrow
    if nan and not gaps:
        raise nulls_in_numbers(name, nan, "NaN", where, instead, users)
    wanted = None if declared is None else value_type(declared)
    if wanted is None or wanted in (pa.from_numpy_dtype(dtype), pa.float16()):
        return values
    return np.asarray(_in_type(pa.array(values), wanted, name, where))


def weight_array(
    series: Column, name: str, where: str, declared: Any
) -> tuple[np.ndarray, WeightFault | None]:
    """The weights of a partition as they are, and what is wrong with them, if anything is.

    Where no number of the declared kind says what stands there they are zeros.
    """
    try:
        check_kind(series, name, declared, where)
        weight = number_array(series, name, where, declared, OR_NO_WEIGHTS)
        refuse_weights(weight, name, where)
        return weight, None
    except InvalidEdges as error:
        message = str(error)
    with suppress(InvalidEdges):  # of which the message speaks
        check_kind(series, name, declared, where)
        weight = number_array(series, name, where, declared, gaps=True)
        if weight.dtype != np.uint64 or weight.max() <= _MOST:
            return weight, WeightFault(message, lost=False)
    zeros = np.zeros(len(series), np.uint32 if is_integer(declared) else np.float32)
    return zeros, WeightFault(message, lost=True)


def check_dtype(series: Any, name: str, declared: Any, where: str) -> None:
    """Refuse a partition whose column is of another type than the frame declares.

    Backends may differ (NumPy, masked, Arrow; the kinds of strings): what counts is the value type.
    """
    given, wanted = value_type(series.dtype), value_type(declared)
    if given is not None and wanted is not None and given != wanted:
        raise InvalidEdges(
            f"column {name!r} is {_in_words(series.dtype)} in {where} but the frame declares "
            f"{_in_words(declared)}; cast every partition to one type first, with "
            f".astype({{{name!r}: ...}})"
        )


def check_kind(series: Any, name: str, declared: Any, where: str) -> None:
    """As `check_dtype`, but numbers may be of other widths: those that do not fit are refused later."""
    given, wanted = value_type(series.dtype), value_type(declared)
    if given is None or wanted is None or not (_is_real(given) and _is_real(wanted)):
        check_dtype(series, name, declared, where)


def nulls_in_ids(name: str, number: int, where: str, dtype: Any = None) -> InvalidEdges:
    """The error of an id column with nulls."""
    return InvalidEdges(
        f"id column {name!r} has {number} nulls in {where}; drop them first, for example with "
        f"{how_to_drop(name, dtype)}"
    )


def nulls_in_numbers(
    name: str, number: int, what: str, where: str, instead: str = "", dtype: Any = None
) -> InvalidEdges:
    """The error of a numeric column with nulls."""
    return InvalidEdges(
        f"column {name!r} has {number} {what} in {where}; fill or drop them first, for example "
        f"with {how_to_drop(name, dtype, nan=what == 'NaN')}{instead}"
    )


def refuse_weights(weight: Any, name: str, where: str) -> None:
    """Raise InvalidEdges for weights, NumPy's or CuPy's, that are negative or infinite."""

    def refuse(bad: int, what: str) -> None:
        raise InvalidEdges(
            f"weight column {name!r} has {bad} {what} weights in {where}; weights are "
            f"finite and not negative: filter or correct them first{OR_NO_WEIGHTS}"
        )

    if weight.dtype.kind == "f":
        infinite = int(np.isinf(weight).sum())
        if infinite:
            refuse(infinite, "infinite")
    if weight.dtype == np.uint64 and len(weight) and weight.max() > _MOST:
        refuse(int((weight > _MOST).sum()), "2**63 or larger")
    if weight.dtype.kind != "u" and len(weight) and weight.min() < 0:
        refuse(int((weight < 0).sum()), "negative")


def _of_users(series: Column, declared: Any) -> Any:
    """The dtype that users know of a column: what is read to Arrow need not be of a library with columns of Arrow's."""
    return series.dtype if declared is None else declared


def _id_type(series: Column, name: str, where: str, declared: Any) -> pa.DataType | None:
    try:
        return arrow_id_type(series.dtype, _of_users(series, declared))
    except InvalidEdges as error:
        raise InvalidEdges(f"id column {name!r} in {where}: {error}") from None


def _chunked(values: pa.Array | pa.ChunkedArray) -> pa.ChunkedArray:
    """Values as chunks, none of which is run-end-encoded."""
    chunks = values.chunks if isinstance(values, pa.ChunkedArray) else [values]
    if is_run_end_encoded(values.type):
        return pa.chunked_array([pc.run_end_decode(chunk) for chunk in chunks])
    return pa.chunked_array(chunks, values.type)


def _one_chunk(values: pa.ChunkedArray, name: str, where: str) -> pa.Array:
    if pa.types.is_dictionary(values.type):
        for chunk in values.chunks:
            _check_sound(chunk, f"id column {name!r}", where)
        if any(chunk.dictionary.null_count for chunk in values.chunks):
            return values.cast(values.type.value_type).combine_chunks()
        values = values.unify_dictionaries()
    return values.chunk(0) if values.num_chunks == 1 else values.combine_chunks()


def _check_sound(values: pa.Array, what: str, where: str) -> None:
    """Raise InvalidEdges for text that is not UTF-8, and for codes beyond their dictionary."""
    try:
        values.validate(full=True)
    except pa.ArrowInvalid as error:
        raise InvalidEdges(
            f"{what} is damaged in {where} ({error}): write what holds it again"
        ) from error


def _in_type(values: pa.Array, wanted: Any, name: str, where: str) -> pa.Array:
    """Numbers in another type, which has to hold them exactly."""
    if wanted is None or values.type == wanted or not (_is_real(values.type) and _is_real(wanted)):
        return values
    try:
        made = values.cast(wanted)
        if pa.types.is_floating(values.type) and not np.array_equal(
            np.asarray(made.cast(values.type)), np.asarray(values), equal_nan=True
        ):
            raise pa.ArrowInvalid(f"of {wanted} they would be others")
    except pa.ArrowInvalid as error:
        raise InvalidEdges(
            f"column {name!r} is {values.type} in {where} but the frame declares {wanted}, which does not "
            f"hold its values ({error}); cast the whole column first, with "
            f".astype({{{name!r}: {str(values.type)!r}}})"
        ) from error
    return made


def _is_real(kind: pa.DataType) -> bool:
    """Whether it is a type of numbers, not of truth values."""
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def _in_words(dtype: Any) -> str:
    """A dtype, with that of its categories."""
    return f"{dtype} of {dtype.categories.dtype}" if hasattr(dtype, "categories") else str(dtype)
