"""The user's ids and their dense ids."""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dask_graphgpu.arguments import said
from dask_graphgpu.errors import InvalidArgument, InvalidEdges, UnknownVertex
from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.kernels.cpu.threads import even_blocks, for_blocks
from dask_graphgpu.partition.csr import all_below, at_ends
from dask_graphgpu.partition.device.beside import Beside
from dask_graphgpu.partition.device.elements import gathered
from dask_graphgpu.partition.id_table import numbered, ranked
from dask_graphgpu.partition.searching import first_places
from dask_graphgpu.partition.string_entries import buffers, taken

# Strings are searched for where they are so many times fewer than the vertices, and these more than so many: else all
# are hashed.
_SEARCHED, _MANY = 32, 1 << 16
_ONE_BY_ONE = 16  # ids given as Python values that are looked up one by one, at most


@dataclass(frozen=True, eq=False)
class Names:
    """What the codes of a chunk stand for.

    Either the consecutive integers from ``first`` on (``size`` of them, of Arrow type ``types[0]``),
    or the rows of ``table``: one Arrow array an id column, rows distinct, and in order where
    ``ascending``.
    """

    types: tuple[pa.DataType, ...]
    size: int
    first: int | None = None
    table: tuple[pa.Array, ...] | None = None
    ascending: bool = False

    @property
    def nbytes(self) -> int:
        return sum(int(column.nbytes) for column in self.table or ())

    @property
    def pending(self) -> bool:
        """Whether a table that is still being filled will say what codes stand for."""
        return self.first is None and self.table is None

    def as_table(self, codes: Sequence[np.ndarray]) -> tuple[Names, list[np.ndarray]]:
        """The same with only the ids that occur in ``codes``, and the codes into that table."""
        if self.first is None:
            return self, list(codes)
        (used,), codes = composite([[pa.array(each) for each in codes]])
        ids = shift(np.asarray(used), self.first, self.types[0])
        return Names(self.types, len(ids), table=(ids,)), list(codes)


class VertexIds:
    """The vertices of a graph: the user's ids in ascending order, and where each is densely.

    Parameters
    ----------
    columns : Arrow arrays of length n
        One an id column, rows distinct and ascending (lexicographically when there are several).
    position : unsigned array of shape (n,), optional
        Dense id of each row of ``columns``; None when it is the row number.
    rank : unsigned array of shape (n,), optional
        Row of each dense id, where it is known already.
    """

    def __init__(
        self,
        columns: Sequence[pa.Array],
        position: np.ndarray | None,
        rank: np.ndarray | None = None,
    ) -> None:
        self.columns = list(columns)
        self.position = position
        self.rank = rank
        self._order: weakref.ref[Any] | None = None  # to what `in_user_order` gave last
        self._beside = Beside()  # `in_user_order` on GPUs
        self._ids_beside, self._rank_beside = Beside(), Beside()  # the only column, and `rank`
        if position is not None and rank is None:
            self.rank = np.empty_like(position)
            self.rank[position.astype(np.intp)] = np.arange(
                len(position), dtype=position.dtype, like=position
            )

    def __len__(self) -> int:
        return len(self.columns[0])

    @property
    def kinds(self) -> list[str]:
        """Type of each id column, in words."""
        return [str(column.type) for column in self.columns]

    @property
    def nbytes(self) -> int:
        places = 0 if self.position is None else 2 * self.position.nbytes
        return places + sum(int(column.nbytes) for column in self.columns)

    def __sizeof__(self) -> int:
        return self.nbytes  # by which Dask places tasks and spills

    def in_user_order(self) -> np.ndarray:
        """Dense ids of all vertices, in ascending order of the user's ids."""
        if self.position is not None:
            return self.position
        made = all_below(len(self), np.uint32 if len(self) <= 2**32 else np.uint64)
        self._order = weakref.ref(made)
        return made

    def in_user_order_beside(self, values: Any) -> Any:
        """`in_user_order` on the GPU where ``values`` are."""
        return self._beside.of(self.in_user_order, values)

    @property
    def are_integers(self) -> bool:
        """Whether the user's ids are one column of integers, which a GPU can look up."""
        return len(self.columns) == 1 and self._width(self.columns[0]) is not None

    def named_beside(self, places: Any, *, dense: bool = False) -> Any:
        """The user's ids, which `are_integers`, at some places of their order on a GPU, or of ``dense`` ids there."""
        rank = self.rank
        if dense and rank is not None:
            places = gathered(self._rank_beside.of(lambda: rank, places), places)
        ids = self._ids_beside.of(lambda: np.asarray(self.columns[0]), places)
        return gathered(ids, places)

    def take(
        self, dense: np.ndarray, valid: np.ndarray | None = None, rows: slice = slice(None)
    ) -> list[pa.Array]:
        """The user's ids of ``dense[rows]``, an array an id column; null where not ``valid[rows]``.

        Of `in_user_order` nothing is looked up: they are those of the columns, in their memory.
        """
        ordered = self.position if self._order is None else self._order()
        if valid is None and dense is ordered:
            return [column[rows] for column in self.columns]
        dense, valid = dense[rows], None if valid is None else valid[rows]
        places = dense if self.rank is None else at_ends(self.rank, dense)
        if valid is None:
            return [taken(column, places) for column in self.columns]
        index = pa.array(places.astype(np.int64), mask=~valid)
        return [column.take(index) for column in self.columns]

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_order": None}  # it is of this process

    def find(self, values: Sequence[Any]) -> np.ndarray:
        """Dense ids of some of the user's ids (tuples when there are several id columns).

        Raises
        ------
        UnknownVertex
            One of them is not a vertex; the message names it and the type of the graph's ids.
        """
        rows = self.find_each(values)
        if len(missing := (rows < 0).nonzero()[0]):
            raise unknown_vertex(values[missing[0]], len(self), self.kinds)
        return self._dense(rows)

    def find_each(self, values: Sequence[Any]) -> np.ndarray:
        """Row of ``columns`` of each of some ids (tuples when there are several), int64; -1 where none is it."""
        if len(values) > _ONE_BY_ONE:
            if (table := self._as_table(values)) is not None:
                rows, known = self._rows_of(table)
                return np.where(known, rows, -1)
            kinds = self._kinds_of(values)
            if (
                len(distinct := dict.fromkeys(kinds)) > 1
            ):  # of some columns, maybe: those all at once
                rows = np.empty(len(values), np.int64)
                for kind in distinct:
                    some = [each == kind for each in kinds]
                    rows[some] = self.find_each(list(compress(values, some)))
                return rows
        found = map(self.find_row, values)
        return np.array([-1 if row is None else row for row in found], np.int64)

    def _kinds_of(self, values: Sequence[Any]) -> list[Any]:
        """Of each id Python's type, or those of a tuple's values, and which integer no column of its type can hold."""
        kinds = list(map(_types_of, values))
        for k, column in enumerate(self.columns):
            if (width := self._width(column)) is not None:
                limits = np.iinfo(width)
                lo, hi = int(limits.min), int(limits.max)
                parts = values
                if len(self.columns) > 1:
                    parts = [
                        each[k] if type(each) is tuple and len(each) > k else None
                        for each in values
                    ]
                kinds = [
                    kind if type(part) is not int or lo <= part <= hi else (kind, k)
                    for kind, part in zip(kinds, parts, strict=True)
                ]
        return kinds

    def find_number(self, value: Any) -> int:
        """Place of one of the user's ids in their order.

        Raises
        ------
        UnknownVertex
        """
        row = self.find_row(value)
        if row is None:
            raise unknown_vertex(value, len(self), self.kinds)
        return row

    def find_row(self, value: Any) -> int | None:
        """Row of ``columns`` that holds an id (a tuple when there are several); None if none does."""
        parts = value if len(self.columns) > 1 else (value,)
        if not isinstance(parts, (tuple, list)) or len(parts) != len(self.columns):
            raise InvalidArgument(
                f"vertex {said(value)}: this graph's ids have {len(self.columns)} columns; give a "
                "tuple of as many values"
            )
        return self._find_one(parts)

    def find_rows(self, table: Sequence[Any]) -> tuple[np.ndarray, np.ndarray]:
        """Dense ids of the rows of an id table, and which rows are vertices at all."""
        rows, known = self._rows_of(table)
        return self._dense(rows), known

    def _as_table(self, values: Sequence[Any]) -> list[Any] | None:
        """Ids as an id table; None where they are not all of the types of the columns."""
        parts = [values]
        if len(self.columns) > 1:
            if any(type(each) is not tuple or len(each) != len(self.columns) for each in values):
                return None
            parts = list(zip(*values, strict=True))
        table = [self._as_column(*each) for each in zip(self.columns, parts, strict=True)]
        return None if any(column is None for column in table) else table

    def _as_column(self, column: pa.Array, values: Sequence[Any]) -> pa.Array | None:
        kind = int if pa.types.is_integer(column.type) else str
        if set(map(type, values)) != {kind}:
            return None
        try:
            return pa.array(values, column.type)
        except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError, UnicodeError):
            return None

    def _width(self, column: Any) -> Any:
        """NumPy's dtype of a column of integers; None of another."""
        return column.type.to_pandas_dtype() if pa.types.is_integer(column.type) else None

    def _rows_of(self, table: Sequence[pa.Array]) -> tuple[np.ndarray, np.ndarray]:
        """Row of ``columns`` of each row of an id table, any where it is none, and which rows are vertices at all."""
        both = []
        for own, other in zip(self.columns, table, strict=True):
            kind = common_type([own.type, other.type], "the graph's ids and those given")
            both.append([own.cast(kind), other.cast(kind)])
        if len(both) == 1 and pa.types.is_integer(both[0][0].type) and len(self):
            own, other = map(np.asarray, both[0])
            rows = np.minimum(first_places(own, other), len(own) - 1)
            return rows, own[rows] == other
        few = _SEARCHED * len(table[0]) < len(self) and len(self) > _MANY
        if len(both) == 1 and few and pa.types.is_large_string(both[0][0].type):
            rows, known = find_strings(*both[0])
            return np.minimum(rows, len(self) - 1), known
        if len(both) == 1:
            index = pc.index_in(both[0][1], both[0][0])
        else:
            own_codes, other_codes = composite(both)[1]
            index = pc.index_in(pa.array(other_codes), pa.array(own_codes))
        known = np.asarray(index.is_valid())
        rows = np.asarray(index.fill_null(0)).astype(np.int64)
        return rows, known

    def _dense(self, rows: np.ndarray) -> np.ndarray:
        """Dense ids of a few rows of the columns."""
        return rows if self.position is None else self.position[rows].astype(np.int64)

    def _find_one(self, parts: Sequence[Any]) -> int | None:
        """Row of an id by binary search, column after column."""
        if len(parts) == 1 and type(parts[0]) is int and pa.types.is_integer(self.columns[0].type):
            return _row_of_integer(self.columns[0], parts[0])
        lo, hi = 0, len(self)
        for column, part in zip(self.columns, parts, strict=True):
            try:
                if isinstance(part, (bool, float)):
                    return None
                if isinstance(part, np.generic):
                    part = part.item()
                wanted = pa.scalar(part, column.type).as_py()
            except (
                pa.ArrowInvalid,
                pa.ArrowTypeError,
                pa.ArrowNotImplementedError,
                OverflowError,
                UnicodeError,
            ):
                return None
            if wanted is None:
                return None
            lo = bisect(column, wanted, lo, hi, False)
            if lo == hi or column[lo].as_py() != wanted:
                return None
            if column is not self.columns[-1]:
                hi = bisect(column, wanted, lo, hi, True)
        return lo


def _types_of(value: Any) -> Any:
    return tuple(map(type, value)) if isinstance(value, tuple) else type(value)


def _row_of_integer(column: pa.Array, value: int) -> int | None:
    """Row of an ascending column without nulls, by few calls: a search along a road takes no longer than these."""
    rows = np.asarray(column)
    if not (len(rows) and rows[0] <= value <= rows[-1]):
        return None
    row = int(rows.searchsorted(rows.dtype.type(value)))
    return row if rows[row] == value else None


def find_strings(ascending: pa.Array, wanted: pa.Array) -> tuple[np.ndarray, np.ndarray]:
    """Where strings stand among distinct ones in ascending order, int64, and which are there.

    The place of others is that of the next one. Cost: O(k log n) comparisons for k strings among n.
    """
    places, known = np.empty(len(wanted), np.int64), np.zeros(len(wanted), bool)
    blocks = even_blocks(len(wanted), work=_SEARCHED)
    given = *buffers(ascending), *buffers(wanted)
    for_blocks(kernels.searching.find_strings, blocks, *given, places, known)
    return places, known


def unknown_vertex(value: Any, num_vertices: int, kinds: Sequence[str]) -> UnknownVertex:
    """The error of an id that is no vertex."""
    several = (
        len(kinds) == 1 and isinstance(value, Iterable) and not isinstance(value, (str, bytes))
    )
    return UnknownVertex(
        f"{said(value)} is not a vertex of this graph ({num_vertices:,} vertices, ids of type "
        f"{', '.join(kinds)}); give an id that occurs in the edges or in the vertices frame"
        + ("; several vertices are given as a list" if several else "")
    )


def unite(names: Sequence[Names]) -> tuple[list[pa.Array], list[np.ndarray]]:
    """Merge tables of ids.

    Returns the distinct ids in ascending order, a column each, and for every table the row that
    each of its ids has there: the same array for the same table.
    """
    tables = [n.table for n in names if n.table is not None]
    assert len(tables) == len(names)
    once = {id(table): table for table in tables}
    if len(once) == 1 and all(n.ascending for n in names):
        every = all_below(names[0].size, np.uint32)
        return list(tables[0]), [every] * len(tables)
    columns, rows = composite([list(column) for column in zip(*once.values(), strict=True)])
    found = dict(zip(once, rows, strict=True))
    return columns, [found[id(table)] for table in tables]


def composite(columns: Sequence[Sequence[pa.Array]]) -> tuple[list[pa.Array], list[np.ndarray]]:
    """Number the distinct rows of some tables in ascending order.

    ``columns[k]`` holds column k of each table. Returns the distinct rows, a column each, and the
    number of each row of each table.
    """
    codes, values = ranked(columns[0])
    distinct = [values]
    cuts = np.cumsum([len(c) for c in codes])[:-1]
    for column in columns[1:]:
        more, values = ranked(column)
        pairs = np.concatenate(codes).astype(np.int64) * len(values) + np.concatenate(more)
        pairs, both = np.unique(pairs, return_inverse=True)
        codes = np.split(both, cuts)
        first, second = pa.array(pairs // len(values)), pa.array(pairs % len(values))
        distinct = [column.take(first) for column in distinct] + [values.take(second)]
    return distinct, codes


def distinct_rows(
    columns: Sequence[Sequence[pa.Array]],
) -> tuple[list[pa.Array], list[np.ndarray]]:
    """Number the distinct rows of some tables in any order; as `composite` otherwise."""
    codes, values = numbered(columns[0])
    table = [values]
    cuts = np.cumsum([len(c) for c in codes])[:-1]
    for column in columns[1:]:
        more, values = numbered(column)
        pairs = np.concatenate(codes).astype(np.int64) * len(values) + np.concatenate(more)
        (both,), rows = numbered([pa.array(pairs)])
        codes = np.split(both, cuts)
        first, second = np.divmod(np.asarray(rows), len(values))
        table = [part.take(pa.array(first)) for part in table] + [values.take(pa.array(second))]
    return table, codes


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


def shift(codes: np.ndarray, first: int, kind: pa.DataType) -> pa.Array:
    """The integers ``first + codes`` as an Arrow array of type ``kind``."""
    wide = np.uint64 if first > 2**63 - 2**33 else np.int64
    return pa.array(codes.astype(wide) + wide(first)).cast(kind)


def shift_range(present: np.ndarray, first: int, kind: pa.DataType) -> pa.Array:
    """The integers ``first + i`` for every i that is ``present``."""
    return shift(np.flatnonzero(present), first, kind)


def bisect(column: pa.Array, value: Any, lo: int, hi: int, right: bool) -> int:
    """First of the rows ``lo`` to ``hi``, which ascend, that is not below ``value``.

    If ``right``, the first that is above it.
    """
    while lo < hi:
        middle = (lo + hi) // 2
        here = column[middle].as_py()
        before = here <= value if right else here < value
        lo, hi = (middle + 1, hi) if before else (lo, middle)
    return lo
