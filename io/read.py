"""Parquet frames in, checked before any work is done."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from glob import glob
from pathlib import Path
from typing import Any

import dask.dataframe as dd
import fsspec
import pyarrow as pa

from dask_graphgpu.errors import InvalidArgument, UnreadableParquet
from dask_graphgpu.io.object_folder import is_object, plain
from dask_graphgpu.io.parquet_file import footer_schema
from dask_graphgpu.io.schema import plain_type
from dask_graphgpu.io.storage_options import StorageOptions, redacted


def read_parquet(path: str, ids: Collection[str] = (), options: Any = None) -> Any:
    """A Parquet file, folder or URL as a lazy Dask frame.

    Parameters
    ----------
    path
        As `dask.dataframe.read_parquet` takes it. With a ``*`` it is a pattern, in which ``?`` and
        ``[`` have a meaning too; without one they stand for themselves. ``~`` is the user's home.
        The files of a local folder, also of one that a pattern matches, are those that end in
        ``.parquet``.
    ids
        Columns that stay integers where only some files have floats.
    options : mapping, optional
        Of the object store that a URL is on.

    Returns
    -------
    dask.dataframe.DataFrame
        With the columns of the first file, in types that hold those of all local files.

    Raises
    ------
    UnreadableParquet
        There is no such file or folder, or a local file in it is truncated or not Parquet.
    InvalidArgument
        The path is empty.

    Notes
    -----
    Reads the footer of every local file, which stands at its end: a file that was cut off is found before any work is
    done.
    """
    path = expanded(path)
    given: Any = path
    agreed: dict[str, pa.DataType] = {}
    if "://" not in path:
        files = local_files(path)
        if "*" in path and any(Path(entry).is_dir() for entry in glob(path)):
            given = list(map(str, files))  # Dask finds nothing in folders that a pattern matches
        agreed = _agreed([footer_schema(str(file)) for file in files], ids)
    more: dict[str, Any] = {}
    if is_object(path):
        given, more = _of_store(path, StorageOptions(options))
    try:
        frame = dd.read_parquet(given, **more)
        first = frame.expr._dataset_info["schema"]
        fields = [field.with_type(agreed.get(field.name, field.type)) for field in first]
        if agreed and fields != list(first):
            schema = pa.schema(fields, metadata=first.metadata)
            frame = dd.read_parquet(given, dataset={"schema": schema}, **more)
        return frame
    except Exception as error:  # damage takes every form in readers
        text = StorageOptions(options).without_secrets(f"cannot read {path}: {error}")
        raise UnreadableParquet(text) from error


def _of_store(url: str, options: StorageOptions) -> tuple[Any, dict[str, Any]]:
    """What Dask is given to read of a store: not the options, which it would show, but a file system that has them."""
    shown = redacted(url)
    try:
        fs, path = fsspec.core.url_to_fs(url, **options)
        fs.invalidate_cache()  # what it has listed before
        found = sorted(fs.glob(path)) if "*" in path else [path] * fs.exists(path)
    except Exception as error:
        reason = plain(error, url, options)
        raise UnreadableParquet(f"Cannot read {shown}: {reason.strerror}.") from error
    if not found:
        raise UnreadableParquet(f"There is no object or folder {shown}.")
    return found if "*" in path else path, {"filesystem": fs}


def expanded(path: str) -> str:
    """A path to read, with the user's home for ``~``.

    Raises
    ------
    InvalidArgument
        It is empty, which would be the current folder.
    """
    if not path:
        raise InvalidArgument("a path to read is empty: give a file, a folder or a URL, such as .")
    return path if "://" in path else str(Path(path).expanduser())


def local_files(path: str) -> list[Path]:
    """The files of a local path or pattern, sorted.

    Raises
    ------
    UnreadableParquet
        There are none.
    """
    found = [Path(name) for name in sorted(glob(path))] if "*" in path else [Path(path)]
    if not found:
        raise UnreadableParquet(
            f"No file or folder matches {path}; in a pattern, write [[] for a [ of a name."
        )
    files = []
    for entry in found:
        if not _is_there(entry):
            raise UnreadableParquet(f"There is no file or folder {str(entry)[:300]}.")
        inside = [entry]
        if entry.is_dir():
            inside = sorted(p for p in entry.rglob("*.parquet") if p.is_file())
        if not inside:
            raise UnreadableParquet(f"The folder {entry} holds no file that ends in .parquet.")
        files += inside
    return files


def _is_there(entry: Path) -> bool:
    """Whether it exists; a name that is too long or has a character that no name has is no name of a file."""
    try:
        return entry.exists()
    except (OSError, ValueError):
        return False


def _agreed(schemas: Iterable[pa.Schema], ids: Collection[str]) -> dict[str, pa.DataType]:
    """Types that hold those of all files, of columns of which they are not the same."""
    types: dict[str, list[pa.DataType]] = {}
    for schema in schemas:
        for field in schema:
            types.setdefault(field.name, []).append(field.type)
    return {
        name: _common(kinds, name in ids) for name, kinds in types.items() if len(set(kinds)) > 1
    }


def _common(kinds: list[pa.DataType], integers: bool) -> pa.DataType:
    """A type that holds others; the first where there is none, and reading names the file then."""
    plain = list(dict.fromkeys(plain_type(kind) for kind in kinds if not pa.types.is_null(kind)))
    if integers:
        plain = [kind for kind in plain if not pa.types.is_floating(kind)] or plain
    if not plain:
        return kinds[0]
    try:
        fields = [pa.schema([("column", kind)]) for kind in plain]
        return pa.unify_schemas(fields, promote_options="permissive").field(0).type
    except pa.ArrowException:
        return plain[0]
