"""Tables of Delta Lake: the files that the last version has, and which of their rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import deltalake
import pyarrow as pa
from fsspec.core import url_to_fs

from dask_graphgpu.errors import UnreadableTable
from dask_graphgpu.io.objects.remote_files import arrow_filesystem
from dask_graphgpu.io.parquet import Piece
from dask_graphgpu.io.tables.file_frames import FilePart, frame_of
from dask_graphgpu.io.tables.file_rows import FileRows
from dask_graphgpu.io.tables.s3_options import s3_options
from dask_graphgpu.io.tables.where import Where

_NAMES = {
    "key": "AWS_ACCESS_KEY_ID",
    "secret": "AWS_SECRET_ACCESS_KEY",
    "token": "AWS_SESSION_TOKEN",
    "endpoint_url": "AWS_ENDPOINT_URL",
    "region_name": "AWS_REGION",
}
# Features of a table that do not change what its files hold, or that are read here.
_PLAIN = {"deletionVectors", "timestampNtz", "v2Checkpoint", "vacuumProtocolCheck", "variantType"}


@dataclass(frozen=True)
class KeptRows:
    """A Parquet file of which some rows are deleted.

    ``kept`` : a truth value for each row; rows beyond them are kept.
    """

    piece: Piece
    kept: pa.BooleanArray

    @property
    def path(self) -> str:
        return self.piece.path

    @property
    def filesystem(self) -> Any:
        return self.piece.filesystem

    def __dask_tokenize__(self) -> Any:
        return "kept", self.piece.__dask_tokenize__()

    def read(self, columns: Sequence[str]) -> pa.Table | None:
        """Columns of the rows that are left."""
        rows = self.piece.rows
        assert rows is not None
        where, needed = rows.where, list(columns)
        if where is not None:
            needed = list(dict.fromkeys([*columns, *where.columns]))
        table = replace(self.piece, rows=replace(rows, where=None)).read(needed)
        if table is None:
            return None
        rest = pa.array([True] * (len(table) - len(self.kept)), pa.bool_())
        table = table.filter(pa.chunked_array([self.kept, rest]))
        return (table if where is None else where.kept(table)).select(list(columns))


@dataclass(frozen=True)
class DeltaScan:
    """All of a table whose columns have other names in its files, as deltalake itself reads it."""

    path: str
    version: int
    options: tuple[tuple[str, str], ...]
    rows: FileRows
    filesystem: Any = "that of deltalake"

    def __dask_tokenize__(self) -> Any:
        return self.path, self.version, str(self.rows)

    def read(self, columns: Sequence[str]) -> pa.Table | None:
        """Columns of the rows that are kept."""
        table = deltalake.DeltaTable(self.path, self.version, dict(self.options))
        needed = self.rows.stored(columns, pa.schema([]))
        batches = pa.RecordBatchReader.from_stream(table.scan(needed))
        tables = [self.rows.made(pa.Table.from_batches([batch]), columns) for batch in batches]
        return pa.concat_tables(tables) if tables else None


def read(path: str, where: str | None, storage_options: Mapping[str, Any] | None) -> Any:
    """The last version of a table as a lazy Dask frame.

    Its files are read as Parquet, without rows that are marked as deleted. A table whose columns have other names in
    its files is read by deltalake, as one partition.

    Raises
    ------
    UnreadableTable
        It cannot be read, or needs what deltalake does not know.
    InvalidArgument
        ``where`` does not fit it.
    """
    options = s3_options(storage_options, _NAMES)
    if options.get("AWS_ENDPOINT_URL", "").startswith("http:"):
        options["AWS_ALLOW_HTTP"] = "true"
    try:
        table = deltalake.DeltaTable(path, storage_options=options)
        schema = pa.schema(table.schema().to_arrow())
        mapped = _is_mapped(table)
        actions = pa.table(table.get_add_actions(flatten=True)).to_pylist()
        deleted = {} if mapped else _kept_rows(table)
    except Exception as error:  # deltalake has no class of errors of its own
        raise UnreadableTable(f"cannot read the Delta table {path}: {error}") from error
    condition = None if where is None else Where.of(where, schema, path)
    if mapped:
        place = path if "://" in path else str(Path(path).absolute())  # as another process finds it
        scan = DeltaScan(place, table.version(), tuple(options.items()), FileRows(condition))
        return frame_of([scan], schema, path)
    fields = tuple((field.name, None, field.type) for field in schema)
    partitions = table.metadata().partition_columns
    parts: list[FilePart] = []
    for action in actions:
        constants = tuple((n, _value(action, n, schema.field(n).type)) for n in partitions)
        if condition is not None and not condition.may_hold(dict(constants)):
            continue
        uri = unquote(action["path"])
        uri = uri if "://" in uri else table.table_uri.rstrip("/") + "/" + uri
        filesystem, file = url_to_fs(uri, **(storage_options or {}) if "://" in path else {})
        rows = FileRows(condition, constants, fields)
        piece = Piece(
            file, None, arrow_filesystem(filesystem), rows=rows, stamp=f"version {table.version()}"
        )
        kept = deleted.get(action["path"].rpartition("/")[2])
        parts.append(piece if kept is None else KeptRows(piece, kept))
    return frame_of(parts, schema, path)


def _is_mapped(table: Any) -> bool:
    """Whether its files are to be read by deltalake alone."""
    features = set(table.protocol().reader_features or ())
    mapping = table.metadata().configuration.get("delta.columnMapping.mode", "none")
    return mapping != "none" or not features <= _PLAIN


def _kept_rows(table: Any) -> dict[str, pa.BooleanArray]:
    """Of files with deleted rows, by the name of the file, which of its rows are kept."""
    found = pa.table(table.deletion_vectors())
    return {
        unquote(uri).rpartition("/")[2]: kept.values
        for uri, kept in zip(found["filepath"].to_pylist(), found["selection_vector"], strict=True)
    }


def _value(action: Mapping[str, Any], name: str, kind: pa.DataType) -> pa.Scalar:
    return pa.scalar(action[f"partition.{name}"], kind)
