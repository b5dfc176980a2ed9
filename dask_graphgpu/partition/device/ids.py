"""The user's ids on the device, and their dense ids."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from dask_graphgpu.partition.chunk import to_host
from dask_graphgpu.partition.device import elements
from dask_graphgpu.partition.device.arrays import module_of
from dask_graphgpu.partition.device.host import to_new_memory
from dask_graphgpu.partition.device.module import of_columns
from dask_graphgpu.partition.device.numbering import composite
from dask_graphgpu.partition.ids import VertexIds

_MOST = 1024  # ranges of rows that are kept as series


class DeviceIds(VertexIds):
    """The vertices of a graph on the device.

    Parameters
    ----------
    columns : CuPy arrays (integers) and cuDF series (strings) of length n
        One an id column, rows distinct and ascending (lexicographically when there are several).
    position, rank : CuPy arrays, optional
        As of `VertexIds`.
    """

    def __init__(self, columns: Sequence[Any], position: Any, rank: Any = None) -> None:
        super().__init__(columns, position, rank)
        self._user_order: Any = None
        self._shown: dict[tuple[int, int], list[Any]] = {}

    @property
    def nbytes(self) -> int:
        places = 0 if self.position is None else 2 * self.position.nbytes
        return places + sum(nbytes_of(column) for column in self.columns)

    @property
    def kinds(self) -> list[str]:
        return [str(column.dtype) for column in self.columns]

    def in_user_order(self) -> Any:
        """Dense ids of all vertices, in ascending order of the user's ids; always the same array."""
        if self._user_order is None:
            xp = _module(self.columns)
            self._user_order = (
                elements.counted_up(xp, len(self), np.uint32 if len(self) <= 2**32 else np.uint64)
                if self.position is None
                else self.position
            )
        return self._user_order

    def take(self, dense: Any, valid: Any = None, rows: slice = slice(None)) -> list[Any]:
        """The user's ids of ``dense[rows]``, a cuDF series an id column; null where not ``valid[rows]``.

        Of `in_user_order` the ids are not looked up: they are the series that are kept, which nobody
        writes to.
        """
        if dense is self._user_order and valid is None:
            return self._shown_in(rows)
        dense, valid = dense[rows], None if valid is None else valid[rows]
        places = _module(self.columns).asarray(dense)
        places = places if self.rank is None else elements.gathered(self.rank, places)
        shown = of_columns()
        return [
            shown.taken(column, places, valid)
            if hasattr(column, "iloc")
            else shown.series_of(elements.gathered(column, places), valid)
            for column in self.columns
        ]

    def _shown_in(self, rows: slice) -> list[Any]:
        """Some rows of the columns as cuDF series in their memory; frames of them copy on write.

        Kept, for those of a result's partitions are the same in each call.
        """
        start, stop, _ = rows.indices(len(self))
        shown = self._shown.get((start, stop))
        if shown is None:
            if len(self._shown) >= _MOST:
                self._shown.clear()
            shown = self._shown[start, stop] = [
                column.iloc[rows].reset_index(drop=True)
                if hasattr(column, "iloc")
                else of_columns().series_of(column[rows])
                for column in self.columns
            ]
        return shown

    def find_each(self, values: Sequence[Any]) -> np.ndarray:
        return to_host(super().find_each(values))

    def _as_column(self, column: Any, values: Sequence[Any]) -> Any:
        text = hasattr(column, "iloc")
        if set(map(type, values)) != {str if text else int}:
            return None
        try:
            if text:
                return of_columns().series_of_text(pa.array(values, pa.large_string()))
            return module_of(column).asarray(np.array(values, column.dtype))
        except (OverflowError, UnicodeError):
            return None

    def _width(self, column: Any) -> Any:
        return None if hasattr(column, "iloc") else column.dtype

    def _rows_of(self, table: Sequence[Any]) -> tuple[Any, Any]:
        xp = _module(self.columns)
        own, other = self.columns[0], table[0]
        if len(table) == 1 and not hasattr(own, "iloc") and own.dtype == other.dtype:
            rows = elements.find_ids(own, other)
            return xp.maximum(rows, 0), rows >= 0
        sides = [[own, other] for own, other in zip(self.columns, table, strict=True)]
        columns, (own, other) = composite(sides)
        place = xp.full(len(columns[0]), len(self), xp.int64)
        place[own] = xp.arange(len(self), dtype=xp.int64)
        rows = place[other]
        known = rows < len(self)
        return xp.where(known, rows, 0), known

    def _dense(self, rows: Any) -> Any:
        """Dense ids of rows of the columns, where these numbers are: on the host or on the device."""
        if self.position is None:
            return rows
        dense = elements.gathered(self.position, module_of(self.position).asarray(rows))
        return (to_host(dense) if isinstance(rows, np.ndarray) else dense).astype(np.int64)

    def _find_one(self, parts: Sequence[Any]) -> int | None:
        """Row of an id by binary search, column after column."""
        lo, hi = 0, len(self)
        for column, part in zip(self.columns, parts, strict=True):
            within = (column.iloc if hasattr(column, "iloc") else column)[lo:hi]
            first, end = _rows_of(within, part)
            lo, hi = lo + first, lo + end
        return lo if lo < hi else None


def _module(columns: Sequence[Any]) -> Any:
    """NumPy for NumPy arrays; else CuPy, of which cuDF's series are made."""
    return module_of(columns[0])


def nbytes_of(column: Any) -> int:
    """Bytes of an array or a series."""
    return int(
        column.memory_usage(index=False) if hasattr(column, "memory_usage") else column.nbytes
    )


def as_arrow(column: Any) -> pa.Array:
    """An id column in host memory."""
    if hasattr(column, "to_arrow"):
        return column.to_arrow()
    return pa.array(to_new_memory(column))


def _rows_of(column: Any, part: Any) -> tuple[int, int]:
    """From where to where an ascending column holds a part of an id; no rows where it does not."""
    if isinstance(part, np.generic):
        part = part.item()
    if isinstance(part, bool):
        return 0, 0
    if hasattr(column, "iloc"):
        if not isinstance(part, str):
            return 0, 0
        return int(column.searchsorted(part, "left")), int(column.searchsorted(part, "right"))
    limits = np.iinfo(column.dtype)
    if not isinstance(part, int) or not limits.min <= part <= limits.max:
        return 0, 0
    if not isinstance(column, np.ndarray):
        return elements.find_id(column, part)
    value = column.dtype.type(part)  # else NumPy would compare floats
    return int(column.searchsorted(value, "left")), int(column.searchsorted(value, "right"))
