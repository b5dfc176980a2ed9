"""Where the pages of a Parquet file begin, out of its footer.

Arrow tells it too, by `RowGroupMetaData.column`, but of some damage to sizes and keys that ends the process. Whatever
else it is asked of such a file is an error. The footer is Thrift's compact protocol, of which this reads all values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

# Fields, by the numbers that Parquet's parquet.thrift gives them.
_ROW_GROUPS, _COLUMNS, _METADATA = 4, 1, 3
_DATA_PAGE, _DICTIONARY_PAGE = 9, 11

_TRUE, _FALSE, _BYTE, _I16, _I32, _I64, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = range(1, 13)


def page_offsets(metadata: pq.FileMetaData, groups: int) -> list[list[tuple[int | None, int]]]:
    """By row group and column, where its dictionary begins (None: there is none), and its data.

    Of so many row groups, the first ones. Cost: some 45 us for each of their columns, in Python.

    Raises
    ------
    KeyError
        A column has no description, as is one that is encrypted.
    """
    sink = pa.BufferOutputStream()
    metadata.write_metadata_file(sink)
    found = _Reader(sink.getvalue().to_pybytes()[4:-8]).first_of(_ROW_GROUPS, groups)
    columns = [[chunk[_METADATA] for chunk in group[_COLUMNS]] for group in found]
    return [[(column.get(_DICTIONARY_PAGE), column[_DATA_PAGE]) for column in g] for g in columns]


class _Reader:
    """Values of Thrift's compact protocol, one after the other; structs are dicts by field number."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0
        self._read: dict[int, Callable[[], Any]] = {
            _TRUE: self._byte,  # in lists, where it has a byte of its own
            _FALSE: self._byte,
            _BYTE: self._byte,
            _I16: self._integer,
            _I32: self._integer,
            _I64: self._integer,
            _DOUBLE: lambda: self._bytes(8),
            _BINARY: lambda: self._bytes(self._number()),
            _LIST: self._list,
            _SET: self._list,
            _MAP: self._map,
            _STRUCT: self._struct,
        }

    def value(self, kind: int) -> Any:
        return self._read[kind]()

    def first_of(self, wanted: int, most: int) -> list[Any]:
        """The first values of a list that is a field of the struct here; what comes after them is not read."""
        for field, kind in self._fields():
            if field == wanted:
                return self._list(most)
            self._field(kind)
        return []

    def _byte(self) -> int:
        self._at += 1
        return self._data[self._at - 1]

    def _bytes(self, number: int) -> bytes:
        self._at += number
        return self._data[self._at - number : self._at]

    def _number(self) -> int:
        found = shift = 0
        while True:
            byte = self._byte()
            found |= (byte & 0x7F) << shift
            if byte < 0x80:
                return found
            shift += 7

    def _integer(self) -> int:
        number = self._number()
        return (number >> 1) ^ -(number & 1)

    def _list(self, most: int | None = None) -> list[Any]:
        head = self._byte()
        number = head >> 4 if head < 0xF0 else self._number()
        read = self._read[head & 0xF]
        return [read() for _ in range(number if most is None else min(number, most))]

    def _map(self) -> list[tuple[Any, Any]]:
        number = self._number()
        kinds = self._byte() if number else 0
        return [(self.value(kinds >> 4), self.value(kinds & 0xF)) for _ in range(number)]

    def _struct(self) -> dict[int, Any]:
        return {field: self._field(kind) for field, kind in self._fields()}

    def _fields(self) -> Iterator[tuple[int, int]]:
        """Number and kind of each field of a struct, whose value is to be read before the next one."""
        field = 0
        while head := self._byte():
            field = field + (head >> 4) if head >> 4 else self._integer()
            yield field, head & 0xF

    def _field(self, kind: int) -> Any:
        return kind == _TRUE if kind in (_TRUE, _FALSE) else self.value(kind)
