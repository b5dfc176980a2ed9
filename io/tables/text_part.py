"""A part of a file of text, read when its task runs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from fsspec.utils import read_block

from dask_graphgpu.errors import GraphError, UnreadableTable
from dask_graphgpu.io.tables.file_rows import FileRows
from dask_graphgpu.io.tables.table_files import TableFile
from dask_graphgpu.io.tables.text_lines import chunks_of, table_of

_CHUNK = 16 << 20  # bytes that are read at once of a file that is not cut
_ROW = re.compile(r"Row #(\d+)")
PLAIN_INTEGER = r"^(0|-?[1-9][0-9]*)$"


@dataclass(frozen=True)
class TextFile:
    """A file of text, and what its columns are.

    Attributes
    ----------
    file : TableFile
    names : tuple of str
        Its columns.
    types : tuple of (name, type)
        Those of the table's columns.
    ids : tuple of str
        Columns that are ids: integers among them are written as such.
    separator : str
    header : bool
        Whether the first line is no row.
    spaced : bool
        As of `text_lines.table_of`.
    """

    file: TableFile
    names: tuple[str, ...]
    types: tuple[tuple[str, pa.DataType], ...]
    ids: tuple[str, ...]
    separator: str
    header: bool
    spaced: bool


@dataclass(frozen=True)
class TextPart:
    """All of a file, or the lines that begin in ``length`` bytes of it from ``start`` on."""

    of: TextFile
    rows: FileRows
    start: int = 0
    length: int | None = None

    @property
    def path(self) -> str:
        return self.of.file.path

    @property
    def filesystem(self) -> Any:
        return self.of.file.filesystem

    def __dask_tokenize__(self) -> Any:
        return self.of.file.stamp, str(self)

    def read(self, columns: Sequence[str]) -> pa.Table | None:
        """Columns of the rows that are kept.

        Raises
        ------
        UnreadableTable
            The file is damaged, or a value is not of its column's type; the message names file and line.
        """
        stored = self.rows.stored(columns, pa.schema([]))
        for name in stored:
            if (number := self.of.names.count(name)) != 1:
                raise UnreadableTable(
                    f"{self.path} has {number or 'no'} column {name!r}; it has {list(self.of.names)}"
                )
        tables, line = [], 0  # how many lines come before, in this part
        try:
            for data in self._chunks():
                lines, skipped = data, 0
                if self.of.header and self.start == line == 0:
                    lines, skipped = data[data.find(b"\n") + 1 or len(data) :], 1
                table = self._table(lines, stored, line + skipped)
                tables.append(self.rows.made(table, columns))
                line += data.count(b"\n")
        except GraphError:
            raise
        except Exception as error:  # of decompression, of file systems
            raise UnreadableTable(f"cannot read {self.path}: {error}") from error
        return pa.concat_tables(tables) if tables else None

    def _chunks(self) -> Iterator[bytes]:
        """Whole lines, as many as are read at once."""
        spaced = self.of.spaced
        if self.length is None:
            with self.of.file.open(decompress=True) as file:
                yield from chunks_of(file, _CHUNK, spaced=spaced)
            return
        with self.of.file.open() as file:
            data = read_block(file, self.start, self.length, b"\n")
        if not spaced and data.count(b'"') % 2:
            raise UnreadableTable(
                f"{self.path} has a line end within quotes near byte {self.start + self.length}, where it is cut to "
                "be read in parallel: compress it with gzip, for it to be read in one piece, or write it as Parquet"
            )
        if data:
            yield data

    def _table(self, lines: bytes, stored: list[str], before: int) -> pa.Table:
        """Columns of some lines, of which so many others come before in the part."""
        kinds = dict(self.of.types)
        whole = [n for n in stored if n in self.of.ids and pa.types.is_integer(kinds[n])]
        types = {name: pa.string() if name in whole else kinds[name] for name in stored}
        names, spaced = list(self.of.names), self.of.spaced
        try:
            table = table_of(lines, names, self.of.separator, types, stored, spaced=spaced)
        except pa.ArrowInvalid as error:
            said = _ROW.sub(lambda row: f"line {self._line(int(row[1]), before)}", str(error))
            raise UnreadableTable(
                f"cannot read {self.path}: {said}; a column's type is that of the lines at the beginning, unless "
                "--type=COL=TYPE names one"
            ) from error
        for name in whole:
            place = table.schema.get_field_index(name)
            made = self._integers(table.column(name), name, kinds[name], before)
            table = table.set_column(place, name, made)
        return table

    def _integers(
        self, texts: pa.ChunkedArray, name: str, kind: pa.DataType, before: int
    ) -> pa.ChunkedArray:
        """Ids as integers: none is written in another way, such as 007, which would be another id as text."""
        odd = pc.or_(
            pc.and_(pc.starts_with(texts, "0"), pc.greater(pc.binary_length(texts), 1)),
            pc.or_(pc.starts_with(texts, "-0"), pc.starts_with(texts, "+")),
        )
        try:
            if not pc.any(odd).as_py():
                return texts.cast(kind)
        except pa.ArrowInvalid:
            odd = pa.array([not _fits(text, kind) for text in texts.to_pylist()])
        row = pc.index(odd, True).as_py()
        raise UnreadableTable(
            f"{self.path} has {texts[row].as_py()!r} in line {self._line(row + 1, before)} as an id in column "
            f"{name!r}, whose ids at the beginning are written as {kind}: read them all as text, with "
            f"--type={name}=text"
        )

    def _line(self, row: int, before: int) -> int:
        """About which line of the file a row of some lines is, of which so many others come before in the part."""
        if self.start:
            with self.of.file.open() as file:
                left = self.start
                while left > 0 and (data := file.read(min(left, _CHUNK))):
                    before += data.count(b"\n")
                    left -= len(data)
            before += 1  # the line that begins before the part
        return row + before


def _fits(text: str | None, kind: pa.DataType) -> bool:
    """Whether a text is an integer of a type, or null."""
    if text is None:
        return True
    if not re.fullmatch(PLAIN_INTEGER, text):
        return False
    low, high = (-(2**63), 2**63) if kind == pa.int64() else (0, 2**64)
    return low <= int(text[:30]) < high
