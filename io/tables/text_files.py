"""Tables of text: what their columns are, as the beginning of each file has it, and the parts that are read."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from fsspec.utils import read_block

from dask_graphgpu.errors import UnreadableTable
from dask_graphgpu.io.tables.agreed_types import agreed_schema
from dask_graphgpu.io.tables.file_rows import FileRows
from dask_graphgpu.io.tables.table_files import COMPRESSED, TableFile
from dask_graphgpu.io.tables.text_lines import chunks_of, table_of
from dask_graphgpu.io.tables.text_options import TYPES, TextOptions
from dask_graphgpu.io.tables.text_part import PLAIN_INTEGER, TextFile, TextPart

_SAMPLE = 1 << 20  # bytes at the beginning of a file that tell what its columns are
_MORE = 8, 1 << 16  # so many further looks into it, of so many bytes
_BLOCK = 64 << 20  # bytes of a file that one task reads


@dataclass(frozen=True)
class TextTable:
    """Files of text with one schema."""

    schema: pa.Schema
    files: dict[str, TextFile]

    def parts(self, file: TableFile, rows: FileRows) -> list[TextPart]:
        """What tasks read of a file: blocks of it, unless it is compressed."""
        of = self.files[file.path]
        if file.size <= _BLOCK or file.path.lower().endswith(COMPRESSED):
            return [TextPart(of, rows)]
        return [TextPart(of, rows, start, _BLOCK) for start in range(0, file.size, _BLOCK)]


def text_table(
    files: Sequence[TableFile], ids: Collection[str], options: TextOptions, *, spaced: bool
) -> TextTable:
    """Look into files of text.

    Parameters
    ----------
    files : sequence of TableFile
    ids : collection of str
        Columns that are ids. They are integers where all that are seen are written as such, without a sign + or
        leading zeros, and else text.
    options : TextOptions
    spaced : bool
        As of `text_lines.table_of`; there is no header then.

    Raises
    ------
    UnreadableTable
        A file is damaged, or empty though it should name its columns.
    """
    header = options.header and not spaced
    looks = [_look(file, ids, options, header, spaced) for file in files]
    filled = [look for look in looks if look.num_rows] or looks
    schemas = [look.schema for look in filled]
    texts = {
        f.name for schema in schemas for f in schema if f.name in ids and pa.types.is_string(f.type)
    }
    for names in options.alike:
        texts |= set(names) if texts & set(names) else set()
    agreed = agreed_schema(schemas, ids)
    fields = [field.with_type(_settled(field, texts, options)) for field in agreed]
    types = tuple((field.name, field.type) for field in fields)
    made = {
        file.path: TextFile(
            file,
            tuple(look.column_names),
            types,
            tuple(ids),
            _separator(file, options, spaced),
            header,
            spaced,
        )
        for file, look in zip(files, looks, strict=True)
    }
    return TextTable(pa.schema(fields), made)


def _separator(file: TableFile, options: TextOptions, spaced: bool) -> str:
    if spaced:
        return " "
    tabs = ".tsv" in file.path.lower()[-8:]
    return options.separator or ("\t" if tabs else ",")


def _look(
    file: TableFile, ids: Collection[str], options: TextOptions, header: bool, spaced: bool
) -> pa.Table:
    """The rows at the beginning of a file, with ids in the type that they have there."""
    types = {name: TYPES[kind] for name, kind in options.types.items()}
    read = {**dict.fromkeys(ids, pa.string()), **types}
    separator = _separator(file, options, spaced)
    try:
        data = _sample(file, spaced)
        if header and not data.strip():
            raise UnreadableTable(f"{file.path} is empty: its first line is to name the columns")
        names = None if header else _numbers(data, separator, spaced)
        table = table_of(data, names, separator, read, spaced=spaced)
    except UnreadableTable:
        raise
    except Exception as error:  # of decompression, of file systems, of what is no text
        raise UnreadableTable(f"cannot read {file.path}: {error}") from error
    for place, name in enumerate(table.column_names):
        if name in ids and name not in types and not options.text_ids:
            table = table.set_column(place, name, _with_integers(table.column(place)))
    return table


def _sample(file: TableFile, spaced: bool) -> bytes:
    """Whole lines of a file: its first ones and, where it can be looked into, some others."""
    with file.open(decompress=True) as opened:
        data = next(chunks_of(opened, _SAMPLE, spaced=spaced), b"")
        if len(data) >= _SAMPLE // 2 and not file.path.lower().endswith(COMPRESSED):
            number, size = _MORE
            for k in range(1, number + 1):
                more = read_block(opened, k * file.size // (number + 1), size, b"\n")
                if spaced or more.count(b'"') % 2 == 0:
                    data += more
        return data


def _numbers(data: bytes, separator: str, spaced: bool) -> list[str]:
    """Names of columns that have none: "0", "1" and so on."""
    first: Any = None
    for line in data.splitlines():
        if line.strip() and not (spaced and line.lstrip()[:1] in (b"#", b"%")):
            first = line
            break
    if first is None:
        return ["0", "1"]
    table = table_of(first + b"\n" + first, None, separator, {}, spaced=spaced)
    return [str(i) for i in range(table.num_columns)]


def _with_integers(texts: pa.ChunkedArray) -> pa.ChunkedArray:
    """Ids as integers where all of them are written as such."""
    filled = texts.drop_null()
    if not len(filled) or not pc.all(pc.match_substring_regex(filled, PLAIN_INTEGER)).as_py():
        return texts
    for kind in (pa.int64(), pa.uint64()):
        try:
            return texts.cast(kind)
        except pa.ArrowInvalid:
            continue
    return texts


def _settled(field: pa.Field, texts: Collection[str], options: TextOptions) -> pa.DataType:
    """The type in which a column is read; ``texts`` are ids that are text in some file."""
    if field.name in options.types:
        return TYPES[options.types[field.name]]
    if field.name in texts or pa.types.is_null(field.type) or pa.types.is_large_string(field.type):
        return pa.string()
    if pa.types.is_timestamp(field.type) and field.type.unit == "s":
        return pa.timestamp("us", field.type.tz)
    return field.type
