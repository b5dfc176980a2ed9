"""Folders of Parquet files as tables."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import pyarrow as pa

from dask_graphgpu.io.objects.remote_files import arrow_filesystem
from dask_graphgpu.io.parquet import Piece
from dask_graphgpu.io.parquet_file import footer_schema
from dask_graphgpu.io.tables.agreed_types import agreed_schema
from dask_graphgpu.io.tables.file_rows import FileRows
from dask_graphgpu.io.tables.table_files import TableFile


@dataclass(frozen=True)
class ParquetTable:
    """Parquet files with one schema."""

    schema: pa.Schema

    def parts(self, file: TableFile, rows: FileRows) -> list[Piece]:
        """What tasks read of a file: all of it."""
        changed = rows if rows != FileRows() else None
        where = arrow_filesystem(file.filesystem)
        return [Piece(file.path, None, where, rows=changed, stamp=file.stamp)]


def parquet_table(files: Sequence[TableFile], ids: Collection[str]) -> ParquetTable:
    """Look into Parquet files: the footers of all local ones, and of the first of others.

    Raises
    ------
    UnreadableParquet
        A file is truncated, or none of Parquet's.
    """
    looked_at = [file for file in files if file.filesystem is None] or files[:1]
    schemas = [footer_schema(file.path, arrow_filesystem(file.filesystem)) for file in looked_at]
    return ParquetTable(agreed_schema(schemas, ids))
