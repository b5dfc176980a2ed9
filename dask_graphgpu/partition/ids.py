"""The user's ids and their dense ids."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dask_graphgpu.errors import InvalidArgument, InvalidEdges, UnknownVertex


@dataclass(frozen=True, eq=False)
class Names:
    """What the codes of a chunk stand for.

    Either the consecutive integers from ``first`` on (``size`` of them, of Arrow type ``types[0]``),
    or the rows of ``table``: one Arrow array an id column, rows distinct.
    """

    types: tuple[pa.DataType, ...]
    size: int
    first: int | None = None
    table: tuple[pa.Array, ...] | None = None

    def as_table(self, codes: Sequence[np.ndarray]) -> tuple[Names, list[np.ndarray]]:
        """The same with only the ids that occur in ``codes``, and the codes into that table."""
        if self.first is None:
            return self, list(codes)
        used, inverse = np.unique(np.concatenate(codes), return_inverse=True)
        ids = _shift(used, self.first, self.types[0])
        cuts = np.cumsum([len(c) for c in codes])[:-1]
        return Names(self.types, len(ids), table=(ids,)), np.split(inverse.astype(np.uint32), cuts)


class VertexIds:
    """The vertices of a graph: the user's ids in ascending order, and where each is densely.

    Parameters
    ----------
    columns : Arrow arrays of length n
        One an id column, rows distinct and ascending (lexicographically when there are several).
    position : unsigned array of shape (n,), optional
        Dense id of each row of ``columns``; None when it is the row number.
    """

    def __init__(self, columns: Sequence[pa.Array], position: np.ndarray | None) -> None:
        self.columns = list(columns)
        self.position = position
        self.rank: np.ndarray | None = None
        if position is not None:
            self.rank = np.empty_like(position)
            self.rank[position] = np.arange(len(position), dtype=position.dtype)

    def __len__(self) -> int:
        return len(self.columns[0])

    @property
    def nbytes(self) -> int:
        places = 0 if self.position is None else 2 * self.position.nbytes
        return places + sum(int(column.nbytes) for column in self.columns)

    def in_user_order(self) -> np.ndarray:
        """Dense ids of all vertices, in ascending order of the user's ids."""
        return (
            np.arange(len(self), dtype=np.uint32 if len(self) <= 2**32 else np.uint64)
            if (self.position is None)
            else self.position
        )

    def take(self, dense: np.ndarray, valid: np.ndarray | None = None) -> list[pa.Array]:
        """The user's ids of some dense ids, an array an id column; null where not ``valid``."""
        rows = dense if self.rank is None else self.rank[dense]
        index = pa.array(rows.astype(np.int64), mask=None if valid is None else ~valid)
        return [column.take(index) for column in self.columns]

    def find(self, values: Sequence[Any]) -> np.ndarray:
        """Dense ids of some of the user's ids (tuples when there are several id columns).

        Raises
        ------
        UnknownVertex
            One of them is not a vertex; the message names it and the type of the graph's ids.
        """
        rows = []
        for value in values:
            parts = value if len(self.columns) > 1 else (value,)
            if not isinstance(parts, (tuple, list)) or len(parts) != len(self.columns):
                raise InvalidArgument(
                    f"vertex {value!r}: this graph's ids have {len(self.columns)} columns; give a "
                    "tuple of as many values"
                )
            row = self._find_one(parts)
            if row is None:
                kind = ", ".join(str(column.type) for column in self.columns)
                raise UnknownVertex(
                    f"{value!r} is not a vertex of this graph ({len(self):,} vertices, ids of type "
                    f"{kind}); give an id that occurs in the edges or in the vertices frame"
                )
            rows.append(row)
        found = np.array(rows, dtype=np.int64)
        return found if self.position is None else self.position[found].astype(np.int64)

    def find_rows(self, table: Sequence[pa.Array]) -> tuple[np.ndarray, np.ndarray]:
        """Dense ids of the rows of an id table, and which rows are vertices at all."""
        if len(self.columns) == 1:
            index = pc.index_in(table[0].cast(self.columns[0].type), self.columns[0])
        else:
            both = [
                pa.concat_arrays([own, other.cast(own.type)])
                for own, other in zip(self.columns, table, strict=True)
            ]
            codes = composite(both)[0]
            index = pc.index_in(pa.array(codes[len(self) :]), pa.array(codes[: len(self)]))
        known = np.asarray(index.is_valid())
        rows = np.asarray(index.fill_null(0)).astype(np.int64)
        return (rows if self.position is None else self.position[rows].astype(np.int64)), known

    def _find_one(self, parts: Sequence[Any]) -> int | None:
        """Row of an id by binary search, column after column."""
        lo, hi = 0, len(self)
        for column, part in zip(self.columns, parts, strict=True):
            try:
                if isinstance(part, (bool, float)):
                    return None
                if isinstance(part, np.generic):
                    part = part.item()
                wanted = pa.scalar(part, column.type).as_py()
            except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError):
                return None
            if wanted is None:
                return None
            lo, hi = _bisect(column, wanted, lo, hi, False), _bisect(column, wanted, lo, hi, True)
        return lo if lo < hi else None


def unite(names: Sequence[Names]) -> tuple[list[pa.Array], list[np.ndarray]]:
    """Merge tables of ids.

    Returns the distinct ids in ascending order, a column each, and for every table the row that
    each of its ids has there (int64).
    """
    tables = [n.table for n in names]
    assert all(table is not None for table in tables)
    columns = [pa.concat_arrays([t[k] for t in tables if t]) for k in range(len(names[0].types))]
    codes, distinct = composite(columns)
    return distinct, np.split(codes, np.cumsum([n.size for n in names])[:-1])


def composite(columns: Sequence[pa.Array]) -> tuple[np.ndarray, list[pa.Array]]:
    """Number the distinct rows of a table in ascending order.

    Returns the number of each row (int64), and the distinct rows, a column each.
    """
    codes, (values,) = _ranked(columns[0])
    distinct = [values]
    for column in columns[1:]:
        more, (values,) = _ranked(column)
        pairs, codes = np.unique(codes * len(values) + more, return_inverse=True)
        first, second = pa.array(pairs // len(values)), pa.array(pairs % len(values))
        distinct = [column.take(first) for column in distinct] + [values.take(second)]
    return codes, distinct


def common_type(types: Sequence[pa.DataType], where: str) -> pa.DataType:
    """The type that holds the ids of all ``types`` exactly.

    Raises
    ------
    InvalidEdges
        Strings with integers, or uint64 with a signed type: no type holds both exactly.
    """
    distinct = list(dict.fromkeys(types))
    if len(distinct) == 1:
        return distinct[0]
    given = ", ".join(map(str, distinct))
    if not all(pa.types.is_integer(t) for t in distinct):
        raise InvalidEdges(f"{where} mix the id types {given}; cast the columns to one type first")
    bits = max(t.bit_width for t in distinct)
    if all(pa.types.is_unsigned_integer(t) for t in distinct):
        return {8: pa.uint8(), 16: pa.uint16(), 32: pa.uint32(), 64: pa.uint64()}[bits]
    unsigned = max((t.bit_width for t in distinct if pa.types.is_unsigned_integer(t)), default=0)
    if unsigned == 64:
        raise InvalidEdges(
            f"{where} mix the id types {given}: no integer type holds both exactly; cast them to "
            "int64 if no id is 2**63 or more, to uint64 if none is negative"
        )
    bits = max(bits, 2 * unsigned)
    return {8: pa.int8(), 16: pa.int16(), 32: pa.int32(), 64: pa.int64()}[bits]


def _ranked(values: pa.Array) -> tuple[np.ndarray, tuple[pa.Array]]:
    """The rank of each value among the distinct ones, and those in ascending order."""
    encoded = values.dictionary_encode()
    order = np.asarray(pc.sort_indices(encoded.dictionary)).astype(np.int64)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return rank[np.asarray(encoded.indices)], (encoded.dictionary.take(pa.array(order)),)


def _shift(codes: np.ndarray, first: int, kind: pa.DataType) -> pa.Array:
    """The integers ``first + codes`` as an Arrow array of type ``kind``."""
    wide = np.uint64 if first > 2**63 - 2**33 else np.int64
    return pa.array(codes.astype(wide) + wide(first)).cast(kind)


def shift_range(present: np.ndarray, first: int, kind: pa.DataType) -> pa.Array:
    """The integers ``first + i`` for every i that is ``present``."""
    return _shift(np.flatnonzero(present), first, kind)


def _bisect(column: pa.Array, value: Any, lo: int, hi: int, right: bool) -> int:
    while lo < hi:
        middle = (lo + hi) // 2
        here = column[middle].as_py()
        before = here <= value if right else here < value
        lo, hi = (middle + 1, hi) if before else (lo, middle)
    return lo
