"""Columns that stand in the names of folders: ``day=2026-11-01``."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from datetime import date

import pyarrow as pa

from dask_graphgpu.errors import UnreadableTable
from dask_graphgpu.io.tables.table_files import TableFile

_INTEGER = re.compile(r"[+-]?\d{1,18}")
_PLAIN_INTEGER = re.compile(r"0|-?[1-9]\d{0,17}")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def partition_columns(
    files: Sequence[TableFile], ids: Collection[str], what: str
) -> list[tuple[tuple[str, pa.Scalar], ...]]:
    """What the folders of each file say of its rows, as columns of one value.

    A column is of integers, else of dates, else of numbers, else of text: of the first of these that all its values
    are. An id with leading zeros is text.

    Raises
    ------
    UnreadableTable
        Not all files stand in folders of the same names.
    """
    names = [name for name, _ in files[0].partition] if files else []
    for file in files:
        if [name for name, _ in file.partition] != names or len(set(names)) < len(names):
            raise UnreadableTable(
                f"{what}: {files[0].path} and {file.path} stand in folders for different columns, {names} and "
                f"{[name for name, _ in file.partition]}: give files that stand alike"
            )
    texts = {name: {dict(file.partition)[name] for file in files} - {None} for name in names}
    kinds = {name: _kind({t for t in texts[name] if t}, name in ids) for name in names}
    return [
        tuple((name, _value(text, kinds[name])) for name, text in file.partition) for file in files
    ]


def _kind(texts: set[str], is_id: bool) -> pa.DataType:
    if texts and all(map((_PLAIN_INTEGER if is_id else _INTEGER).fullmatch, texts)):
        return pa.int64()
    if texts and all(map(_is_date, texts)):
        return pa.string() if is_id else pa.date32()
    if texts and not is_id and all(map(_NUMBER.fullmatch, texts)):
        return pa.float64()
    return pa.string()


def _is_date(text: str) -> bool:
    try:
        return len(text) == 10 and bool(date.fromisoformat(text))
    except ValueError:
        return False


def _value(text: str | None, kind: pa.DataType) -> pa.Scalar:
    if text is None:
        return pa.scalar(None, kind)
    if pa.types.is_string(kind):
        return pa.scalar(text)
    if pa.types.is_date32(kind):
        return pa.scalar(date.fromisoformat(text), kind)
    return pa.scalar(int(text) if pa.types.is_integer(kind) else float(text), kind)
