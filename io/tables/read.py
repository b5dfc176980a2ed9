"""Tables in, whatever they are kept as: what is at a path, checked before any work is done."""

from __future__ import annotations

import importlib
from collections.abc import Collection, Mapping, Sequence
from types import ModuleType
from typing import Any

import dask
import dask.dataframe as dd
import pyarrow as pa

from dask_graphgpu.errors import GraphError, MissingPackage
from dask_graphgpu.io.objects.remote_files import arrow_filesystem
from dask_graphgpu.io.objects.storage_options import StorageOptions
from dask_graphgpu.io.parquet_file import footer_schema
from dask_graphgpu.io.tables.arrow_files import arrow_table
from dask_graphgpu.io.tables.file_frames import FilePart, frame_of
from dask_graphgpu.io.tables.file_rows import FileRows
from dask_graphgpu.io.tables.parquet_table import parquet_table
from dask_graphgpu.io.tables.partition_values import partition_columns
from dask_graphgpu.io.tables.table_files import TableFile, expanded, files_at
from dask_graphgpu.io.tables.table_kind import chosen_files, listings, table_kind
from dask_graphgpu.io.tables.text_files import text_table
from dask_graphgpu.io.tables.text_options import TextOptions
from dask_graphgpu.io.tables.where import Where


def read_table(
    path: str,
    ids: Collection[str] = (),
    *,
    form: str | None = None,
    where: str | None = None,
    text: TextOptions | None = None,
    storage_options: Mapping[str, Any] | None = None,
    only: Collection[str] | None = None,
) -> Any:
    """A table at a path or URL as a lazy Dask frame.

    Parameters
    ----------
    path
        A file, a folder, or with a ``*`` a pattern, in which ``?`` and ``[`` have a meaning too; without one they
        stand for themselves. ``~`` is the user's home. Of a folder what begins with ``_`` or ``.`` is left out, and
        files that are not of its format. Folders that are called ``name=value`` give a column.
    ids
        Columns that are ids: of Parquet, they stay integers where only some files have floats; of text they are
        integers only where each of them is written as one.
    form
        Format: one of `table_kind.FORMATS`. None: what the names of files say, or what there is beside them.
    where
        Which rows are kept, as `where_clause.parsed` reads it. Files and row groups that cannot have one are not read.
    text
        How files of text are read.
    storage_options
        Of fsspec, for URLs.
    only
        Files that are read, by their paths as `files_of` gives them; of Delta and Iceberg it says nothing.

    Returns
    -------
    dask.dataframe.DataFrame
        With the columns of the first file, in types that hold those of all local files.

    Raises
    ------
    UnreadableTable
        There is no such file or folder, or nothing of that format in it, or a file is damaged.
    InvalidArgument
        The path is empty, or ``where`` does not fit the table.

    Notes
    -----
    Reads the footer of every local Parquet file, which stands at its end: a file that was cut off is found before any
    work is done. Of files of text it reads the beginning.
    """
    path, text = expanded(path), text or TextOptions()
    options = StorageOptions(storage_options)
    try:
        return _read(path, ids, form, where, text, options, only)
    except GraphError as error:
        plain = options.without_secrets(str(error))
        if plain == str(error):
            raise
        raise type(error)(plain) from None


def files_of(
    path: str, form: str | None = None, storage_options: Mapping[str, Any] | None = None
) -> tuple[str, list[TableFile]]:
    """The format of a table and its files, as `read_table` finds them; of Delta and Iceberg those that list others.

    Raises
    ------
    UnreadableTable
    """
    path, options = expanded(path), StorageOptions(storage_options)
    kind = table_kind(path, form, options)
    if kind in ("delta", "iceberg"):
        return kind, [TableFile(name) for name in sorted(listings(path, kind, options)) or [path]]
    return _files(path, kind, options)


def _files(
    path: str, kind: str | None, storage_options: StorageOptions
) -> tuple[str, list[TableFile]]:
    kind, files = chosen_files(files_at(path, storage_options), kind, path)
    return kind, [file.from_anywhere() for file in files]


def _read(
    path: str,
    ids: Collection[str],
    form: str | None,
    where: str | None,
    text: TextOptions,
    storage_options: StorageOptions,
    only: Collection[str] | None,
) -> Any:
    """As `read_table`; errors may show the values of options."""
    kind = table_kind(path, form, storage_options)
    if kind in ("delta", "iceberg"):
        frame = _reader(kind).read(path, where, storage_options)
        return frame.to_backend("cudf") if _on_device() else frame
    kind, files = _files(path, kind, storage_options)
    if only is not None:
        files = [file for file in files if file.path in only]
    if kind == "parquet":
        table: Any = parquet_table(files, ids)
    elif kind == "arrow":
        table = arrow_table(files, ids)
    else:
        table = text_table(files, ids, text, spaced=kind == "edgelist")
    constants = partition_columns(files, ids, path)
    schema = _with_constants(table.schema, constants)
    condition = None if where is None else Where.of(where, schema, path)
    parts: list[FilePart] = []
    for file, values in zip(files, constants, strict=True):
        if condition is None or condition.may_hold(dict(values)):
            parts += table.parts(file, FileRows(condition, values))
    if _on_device() and kind == "parquet" and schema == table.schema and where is None:
        return _read_by_cudf(files, schema)
    frame = frame_of(parts, schema, path)
    return frame.to_backend("cudf") if _on_device() else frame


def _reader(kind: str) -> ModuleType:
    """The module that reads tables of Delta Lake or Iceberg, by a package that is installed apart."""
    try:
        return importlib.import_module(f"dask_graphgpu.io.tables.{kind}_table")
    except ImportError as error:
        raise MissingPackage(
            f"a table of {kind.capitalize()} is read by a package that cannot be imported ({error}): "
            f"pip install 'dask-graphgpu[{kind}]'"
        ) from None


def _with_constants(
    schema: pa.Schema, constants: Sequence[Sequence[tuple[str, pa.Scalar]]]
) -> pa.Schema:
    """A schema with columns that the names of folders have; these go before those in the files."""
    for name, value in constants[0] if constants else ():
        field = pa.field(name, value.type)
        place = schema.get_field_index(name)
        schema = schema.append(field) if place < 0 else schema.set(place, field)
    return schema


def _read_by_cudf(files: Sequence[TableFile], schema: pa.Schema) -> Any:
    """Bare Parquet, which cuDF decodes on the GPU."""
    paths, where = [file.path for file in files], files[0].filesystem
    first = footer_schema(files[0].path, arrow_filesystem(where))
    differ = any(first.field(field.name).type != field.type for field in schema)
    options: dict[str, Any] = {"dataset": {"schema": schema}} if differ else {}
    return dd.read_parquet(paths, filesystem=where or "fsspec", **options)


def _on_device() -> bool:
    """Whether Dask's frames are cuDF's."""
    return bool(dask.config.get("dataframe.backend", "pandas") == "cudf")
