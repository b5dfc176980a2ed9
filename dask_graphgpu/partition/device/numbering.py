"""Numbers for the distinct ids of some columns, in ascending order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
import pyarrow as pa

from dask_graphgpu.partition.device import building
from dask_graphgpu.partition.device.arrays import count, module_of
from dask_graphgpu.partition.device.module import of_columns
from dask_graphgpu.partition.ids import common_type

# As in `partition.build`; CuPy scatters into 2**31 elements at most.
_SPARSE = 8
_LARGEST = 2**31 - 1


@dataclass(frozen=True, eq=False)
class Numbering:
    """The distinct ids and their numbers.

    Attributes
    ----------
    ids : arrays or series of length n, ascending
    codes : what stands for the ids of each part
    table : number of each code
    ends : shape (2, n), how often each id is a source and a destination
    """

    ids: list[Any]
    codes: list[Any]
    table: Any
    ends: Any


def number(
    parts: Sequence[Sequence[Any]], num_ends: int, dtype_of: Callable[[int], type]
) -> Numbering:
    """Number the ids of some parts, each a column or several of one length, not all empty.

    The first ``num_ends`` parts are in turn sources and destinations of edges; ``dtype_of`` gives
    the type of so many numbers.
    """
    if len(parts[0]) == 1 and not any(hasattr(part[0], "iloc") for part in parts):
        numbering = _number_range([part[0] for part in parts], num_ends, dtype_of)
        if numbering is not None:
            return numbering
    ids, codes = composite(list(zip(*parts, strict=True)))
    xp = module_of(codes[0])
    table = xp.arange(len(ids[0]), dtype=dtype_of(len(ids[0])))
    return Numbering(ids, codes, table, ends_of(xp, codes[:num_ends], len(table)))


def _number_range(
    parts: list[Any], num_ends: int, dtype_of: Callable[[int], type]
) -> Numbering | None:
    """By a table over the range of the integers; None where that is wide."""
    xp = module_of(parts[0])
    full = [part for part in parts if len(part)]
    first, last = min(int(p.min()) for p in full), max(int(p.max()) for p in full) + 1
    limit = min(max(_SPARSE * sum(map(len, parts)), 1 << 20), _LARGEST)
    if last - first > limit:
        return None
    kind = common_dtype([part.dtype for part in parts], "the partitions")
    if first >= 0 and last <= limit:
        first, codes = 0, parts  # no copy of the columns
    else:
        codes = [_distance(part, first) for part in parts]
    if xp is not np:
        ids, table, ends = building.number(codes, num_ends, last - first, first, kind, dtype_of)
        return Numbering([ids], codes, table, ends)
    ends = ends_of(xp, codes[:num_ends], last - first)
    present = ends.any(axis=0)
    for code in codes[num_ends:]:
        present[code] = True
    found = xp.flatnonzero(present)
    table = (xp.maximum(xp.cumsum(present), 1) - 1).astype(dtype_of(len(found)))
    wide = found.astype(np.uint64 if first > 2**63 - 2**33 else np.int64)
    ids = (wide + wide.dtype.type(first)).astype(kind)
    return Numbering([ids], codes, table, ends[:, found])


def ends_of(xp: Any, codes: Sequence[Any], size: int) -> Any:
    """How often each code is a source and a destination, int64 of shape (2, size)."""
    ends = xp.zeros((2, size), xp.int64)
    for i, code in enumerate(codes):
        if len(code):
            ends[i % 2] += count(code, size)
    return ends


def _distance(part: Any, first: int) -> Any:
    """Integers as their distance from the smallest, which comes out right of 32 bits alone."""
    return part.astype(np.uint32) - np.uint32(first % 2**32)


def composite(columns: Sequence[Sequence[Any]]) -> tuple[list[Any], list[Any]]:
    """Number the distinct rows of some tables in ascending order, as `partition.ids.composite`.

    ``columns[k]`` holds column k of each table.
    """
    codes, values = _ranked(columns[0])
    distinct = [values]
    for column in columns[1:]:
        more, values = _ranked(column)
        xp = module_of(codes[0])
        pairs = [
            code.astype(xp.int64) * len(values) + other
            for code, other in zip(codes, more, strict=True)
        ]
        codes, both = _ranked(pairs)
        first, second = both // len(values), both % len(values)
        distinct = [taken_rows(part, first) for part in distinct] + [taken_rows(values, second)]
    return distinct, codes


def _ranked(parts: Sequence[Any]) -> tuple[list[Any], Any]:
    """The rank of each value among the distinct ones, and those in ascending order."""
    if any(hasattr(part, "iloc") for part in parts):
        ranked: tuple[list[Any], Any] = of_columns().factorized(list(parts))
        return ranked
    xp = module_of(parts[0])
    kind = common_dtype([part.dtype for part in parts], "sources and destinations")
    parts = [part.astype(kind, copy=False) for part in parts]
    values = reduce(xp.union1d, parts[1:], xp.unique(parts[0]))
    return [xp.searchsorted(values, part) for part in parts], values


def taken_rows(part: Any, rows: Any) -> Any:
    """Some rows of an id column."""
    if not hasattr(part, "iloc"):
        return part[rows]
    return of_columns().taken(part, rows)


def common_dtype(dtypes: Sequence[Any], where: str) -> Any:
    """The integer dtype that holds values of all of these exactly."""
    kinds = [pa.from_numpy_dtype(dtype) for dtype in dict.fromkeys(dtypes)]
    return np.dtype(common_type(kinds, where).to_pandas_dtype())
