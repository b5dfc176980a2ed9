"""Which format a table is kept in, and which files of a folder are of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fsspec.core import url_to_fs

from dask_graphgpu.errors import UnreadableTable
from dask_graphgpu.io.tables.table_files import SUFFIXES, TableFile, is_there, magic_of, told_of_url

FORMATS = ("parquet", "csv", "edgelist", "arrow", "delta", "iceberg")
# What lies in the folder of a table whose files are listed elsewhere than by its folders.
_LISTED = {"delta": "_delta_log/*.json", "iceberg": "metadata/*.metadata.json"}
_TEXT = ("csv", "edgelist")


def table_kind(
    path: str, form: str | None, storage_options: Mapping[str, Any] | None = None
) -> str | None:
    """The format of a table: as it is named or, of one of Delta or Iceberg, seen; None: its files tell."""
    if form is not None or "*" in path:
        return form
    if path.endswith(".metadata.json"):
        return "iceberg"
    return next((kind for kind in _LISTED if listings(path, kind, storage_options)), None)


def listings(
    path: str, kind: str | None = None, storage_options: Mapping[str, Any] | None = None
) -> list[str]:
    """The files in a table's folder that list its data, each of which is written once; of Delta or Iceberg, or both."""
    patterns = [_LISTED[kind]] if kind else list(_LISTED.values())
    if "://" in path:
        with told_of_url(path, storage_options):
            filesystem, root = url_to_fs(path, **(storage_options or {}))
            filesystem.invalidate_cache()  # what it has listed before
            root = root.rstrip("/")
            return [name for p in patterns for name in filesystem.glob(f"{root}/{p}")]
    if not is_there(Path(path)):
        return []
    return [str(name) for p in patterns for name in Path(path).glob(p)]


def chosen_files(
    files: Sequence[TableFile], kind: str | None, path: str
) -> tuple[str, list[TableFile]]:
    """The format of some files, and those that are of it.

    In a folder these are the files with a suffix of the format; where there is none, files of Parquet and Arrow that
    have no suffix, and of text those whose suffix stands for nothing else. Parquet goes before other formats.

    Raises
    ------
    UnreadableTable
        There is none, or files of several formats.
    """
    if len(files) == 1 and files[0].named:
        told = kind or files[0].kind or magic_of(files[0])
        if told is None and "." in Path(files[0].path).name:
            raise UnreadableTable(
                f"{path} is not Parquet, and its name does not say what it is: give --format csv, or --format edgelist "
                "for lines of two or three values with spaces between them"
            )
        return told or "parquet", list(files)
    kinds = {file.kind for file in files} - {None}
    if kind is None and len(kinds) > 1 and "parquet" not in kinds:
        raise UnreadableTable(
            f"{path} holds files of several formats, {', '.join(sorted(map(str, kinds)))}: name one with --format"
        )
    wanted = kind or ("parquet" if "parquet" in kinds else next(iter(kinds), None))
    found = [file for file in files if file.kind == wanted is not None]
    if found:
        return str(wanted), found
    bare = [file for file in files if file.kind is None]
    if wanted in _TEXT:
        found = bare
    else:
        by_magic = [(file, magic_of(file)) for file in bare if "." not in Path(file.path).name]
        wanted = wanted or next((magic for _, magic in by_magic if magic), None)
        found = [file for file, magic in by_magic if magic == wanted is not None]
    if not found:
        ends = SUFFIXES[kind] if kind else [end for ends in SUFFIXES.values() for end in ends]
        raise UnreadableTable(
            f"The folder {path} holds no file that ends in {', '.join(ends)}: files of text of another name are read "
            "with --format csv or --format edgelist"
        )
    return str(wanted), found
