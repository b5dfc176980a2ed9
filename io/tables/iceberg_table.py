"""Tables of Iceberg: the files of the current snapshot, and which of their rows."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

import pyarrow as pa
from fsspec.core import url_to_fs
from pyiceberg import expressions
from pyiceberg.catalog import load_catalog
from pyiceberg.io.pyarrow import ArrowScan, schema_to_pyarrow
from pyiceberg.table import StaticTable

from dask_graphgpu.errors import UnreadableTable
from dask_graphgpu.io.objects.remote_files import arrow_filesystem
from dask_graphgpu.io.parquet import Piece
from dask_graphgpu.io.tables.file_frames import FilePart, frame_of
from dask_graphgpu.io.tables.file_rows import FileRows
from dask_graphgpu.io.tables.s3_options import s3_options
from dask_graphgpu.io.tables.table_kind import listings
from dask_graphgpu.io.tables.where import Where
from dask_graphgpu.io.tables.where_types import Several, Test, Typed

_NAMES = {
    "key": "s3.access-key-id",
    "secret": "s3.secret-access-key",
    "token": "s3.session-token",
    "endpoint_url": "s3.endpoint",
    "region_name": "s3.region",
}
_NUMBER = re.compile(r"v?(\d+)")
made: Any = expressions  # whose classes mypy takes for those of their JSON
_EVERYTHING = made.AlwaysTrue()
_OF_TESTS = {
    "=": made.EqualTo,
    "!=": made.NotEqualTo,
    "<": made.LessThan,
    "<=": made.LessThanOrEqual,
    ">": made.GreaterThan,
    ">=": made.GreaterThanOrEqual,
}


@dataclass(frozen=True, eq=False)
class IcebergPart:
    """A data file that pyiceberg reads itself: rows of it are deleted, or its columns have no numbers."""

    task: Any
    metadata: Any
    files: Any
    rows: FileRows
    filesystem: Any = "that of pyiceberg"

    @property
    def path(self) -> str:
        return str(self.task.file.file_path)

    def __dask_tokenize__(self) -> Any:
        deletes = sorted(file.file_path for file in self.task.delete_files)
        return self.path, deletes, self.metadata.current_snapshot_id, str(self.rows)

    def read(self, columns: Sequence[str]) -> pa.Table | None:
        """Columns of the rows that are kept."""
        needed = self.rows.stored(columns, pa.schema([]))
        schema = self.metadata.schema().select(*needed)
        table = ArrowScan(self.metadata, self.files, schema, _EVERYTHING).to_table([self.task])
        return self.rows.made(table, columns)


def read(path: str, where: str | None, storage_options: Mapping[str, Any] | None) -> Any:
    """The current snapshot of a table as a lazy Dask frame.

    Parameters
    ----------
    path
        The table's folder, one of its ``.metadata.json`` files, or ``catalog.namespace.table`` of a catalog that
        pyiceberg is configured for.
    where
        Which rows are kept. Files whose partition or statistics rule them out are not read.
    storage_options
        Of fsspec, for URLs.

    Raises
    ------
    UnreadableTable
        It cannot be read, or needs what pyiceberg does not know, such as equality deletes.
    InvalidArgument
        ``where`` does not fit it.
    """
    try:
        table = _table(path, storage_options)
        schema = schema_to_pyarrow(table.schema(), include_field_ids=False)
    except UnreadableTable:
        raise
    except Exception as error:  # of catalogs, of file systems, of what is no metadata
        raise UnreadableTable(f"cannot read the Iceberg table {path}: {error}") from error
    condition = None if where is None else Where.of(where, schema, path)
    kept = _EVERYTHING if condition is None else _expression(condition.tree)
    try:
        tasks = list(table.scan(row_filter=kept).plan_files())
    except Exception as error:
        raise UnreadableTable(f"cannot read the Iceberg table {path}: {error}") from error
    by_number = table.name_mapping() is None
    fields = tuple(
        (field.name, field.field_id, schema.field(field.name).type)
        for field in table.schema().fields
    )
    parts: list[FilePart] = []
    for task in tasks:
        if task.delete_files or not by_number or task.file.file_format.name != "PARQUET":
            parts.append(IcebergPart(task, table.metadata, table.io, FileRows(condition)))
            continue
        uri = task.file.file_path
        remote_options = (storage_options or {}) if "://" in path else {}
        filesystem, file = url_to_fs(uri, **remote_options)
        rows = FileRows(condition, (), fields)
        parts.append(Piece(file, None, arrow_filesystem(filesystem), rows=rows, stamp=uri))
    return frame_of(parts, schema, path)


def _table(path: str, storage_options: Mapping[str, Any] | None) -> Any:
    options = s3_options(storage_options, _NAMES)
    if path.endswith(".metadata.json"):
        return StaticTable.from_metadata(path, options)
    if "/" not in path and not listings(path, "iceberg"):
        catalog, dot, name = path.partition(".")
        if not dot:
            raise UnreadableTable(
                f"{path} is neither the folder of an Iceberg table nor catalog.namespace.table"
            )
        return load_catalog(catalog).load_table(name)
    found = listings(path, "iceberg", storage_options)
    if not found:
        raise UnreadableTable(
            f"{path} is no folder of an Iceberg table: it has no metadata/*.metadata.json"
        )
    numbers = {name: _version(name) for name in found}
    last = [name for name in found if numbers[name] == max(numbers.values())]
    if len(last) > 1:
        raise UnreadableTable(
            f"{path} has several metadata files of one version, of which a catalog knows which is the table: give "
            f"one of {sorted(last)}, or the table's name in the catalog"
        )
    scheme = path.partition("://")[0] + "://" if "://" in path else ""
    return StaticTable.from_metadata(scheme + last[0].removeprefix(scheme), options)


def _version(name: str) -> int:
    found = _NUMBER.match(PurePosixPath(name).name)
    return int(found[1]) if found else -1


def _expression(tree: Typed) -> Any:
    """A condition of pyiceberg's that is true wherever another is, for what it knows of files."""
    if isinstance(tree, Several):
        joined = made.And if tree.word == "and" else made.Or
        return joined(*map(_expression, tree.parts))
    return _of_test(tree)


def _of_test(test: Test) -> Any:
    if test.operation == "is not null":
        return made.NotNull(test.column)
    if test.operation == "is null" or any(pa.types.is_floating(v.type) for v in test.values):
        return _EVERYTHING  # NaN is a null here, and none there
    values = [_literal(value) for value in test.values]
    if test.operation == "in":
        return made.In(test.column, values) if values else made.AlwaysFalse()
    if test.operation == "not in":
        return made.NotIn(test.column, values)
    return _OF_TESTS[test.operation](test.column, values[0])


def _literal(value: pa.Scalar) -> Any:
    found = value.as_py()
    return found.isoformat() if hasattr(found, "isoformat") else found
