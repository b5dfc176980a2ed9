"""The files of a table: what is in a folder, as Spark and Hive see it, and what their folders' names say."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from glob import glob
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote

from fsspec.compression import compr
from fsspec.core import url_to_fs
from fsspec.utils import infer_compression

from dask_graphgpu.errors import GraphError, InvalidArgument, UnreadableTable
from dask_graphgpu.io.objects.object_folder import plain
from dask_graphgpu.io.objects.remote_files import opened
from dask_graphgpu.io.objects.storage_options import StorageOptions, redacted

COMPRESSED = (".gz", ".bz2", ".xz", ".zst")
SUFFIXES = {
    "parquet": (".parquet", ".parq", ".pq"),
    "csv": (".csv", ".tsv"),
    "arrow": (".arrow", ".feather", ".ipc", ".arrows"),
    "edgelist": (".el", ".edgelist"),
}
HIVE_NULL = "__HIVE_DEFAULT_PARTITION__"
_MAGIC = {b"PAR1": "parquet", b"ARROW1": "arrow"}


@dataclass(frozen=True)
class TableFile:
    """A file with rows of a table.

    Attributes
    ----------
    path : str
        Of the local file system, or as ``filesystem`` takes it.
    filesystem : fsspec filesystem or None
        None: the local one.
    size : int
        Bytes.
    stamp : str
        Changes when the file is written again.
    partition : tuple of (name, text or None)
        What folders that are called ``name=text`` say of its rows; None is null.
    named : bool
        Whether it is what was asked for, rather than found in a folder or by a pattern.
    """

    path: str
    filesystem: Any = field(default=None, compare=False)
    size: int = 0
    stamp: str = ""
    partition: tuple[tuple[str, str | None], ...] = ()
    named: bool = False

    @property
    def kind(self) -> str | None:
        """Format as the suffix of the name has it; None: it tells nothing."""
        return kind_of(self.path)

    def from_anywhere(self) -> TableFile:
        """The same by a path that holds for other processes too, whose current folder is another one."""
        if self.filesystem is not None:
            return self
        return replace(self, path=str(Path(self.path).absolute()))

    @contextmanager
    def open(self, *, decompress: bool = False) -> Iterator[Any]:
        """The file, to be read as bytes."""
        local = self.filesystem is None
        with open(self.path, "rb") if local else opened(self.filesystem, self.path) as file:
            kind = infer_compression(self.path) if decompress else None
            with compr[kind](file, mode="rb") if kind else nullcontext(file) as plain:
                yield plain


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


def kind_of(name: str) -> str | None:
    """The format that the suffix of a name stands for; None where it stands for none."""
    name = name.lower()
    for suffix in COMPRESSED:
        if name.endswith(suffix):
            name = name.removesuffix(suffix)
            return next((k for k in ("csv", "edgelist") if name.endswith(SUFFIXES[k])), None)
    return next((kind for kind, ends in SUFFIXES.items() if name.endswith(ends)), None)


def files_at(path: str, storage_options: Mapping[str, Any] | None = None) -> list[TableFile]:
    """The files at a path, in a folder or that match a pattern, by their names in order.

    Of a folder these are all files in it and in the folders within it, whatever they are, but for files without bytes
    and for names that begin with ``_`` or ``.`` and are of no partition, such as ``_day=1``. So it is of a folder that
    a pattern matches.

    Raises
    ------
    UnreadableTable
        There is no such file or folder.
    """
    if "://" in path:
        return _remote_files(path, storage_options or {})
    found = [Path(name) for name in sorted(glob(path))] if "*" in path else [Path(path)]
    if not found:
        raise UnreadableTable(
            f"No file or folder matches {path}; in a pattern, write [[] for a [ of a name."
        )
    fixed = _fixed_parts(Path(path).parts)
    files = []
    for entry in found:
        if not is_there(entry):
            raise UnreadableTable(f"There is no file or folder {str(entry)[:300]}.")
        known, named = entry.parts[fixed:], "*" not in path
        if _is_passed_over(known, Path(path).parts[fixed:]):
            continue
        if not entry.is_dir():
            if named or entry.stat().st_size:
                files.append(_local(entry, known[:-1], named=named))
            continue
        for each in _walked(entry):
            files.append(_local(each, (*known, *each.relative_to(entry).parts[:-1])))
    return files


def _walked(folder: Path) -> list[Path]:
    """The files with rows of a local folder, sorted."""
    found = []
    for where, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not _is_hidden(name)]
        found += [Path(where, name) for name in names if not _is_hidden(name)]
    return sorted(path for path in found if path.is_file() and path.stat().st_size)


def _local(path: Path, folders: Iterable[str], *, named: bool = False) -> TableFile:
    state = path.stat()
    stamp = str(state.st_mtime_ns)
    return TableFile(str(path), None, state.st_size, stamp, _partition(folders), named)


def _remote_files(url: str, storage_options: Mapping[str, Any]) -> list[TableFile]:
    """The files at a URL."""
    with told_of_url(url, storage_options):
        filesystem, root = url_to_fs(url, **storage_options)
        filesystem.invalidate_cache()  # what it has listed before
        entries = sorted(filesystem.glob(root)) if "*" in root else [root.rstrip("/")]
        fixed = _fixed_parts(PurePosixPath(root).parts)
        files = []
        for entry in entries:
            known = PurePosixPath(entry).parts[fixed:]
            if _is_passed_over(known, PurePosixPath(root).parts[fixed:]):
                continue
            for path, info in sorted(filesystem.find(entry, detail=True).items()):
                inside = PurePosixPath(path).parts[len(PurePosixPath(entry).parts) :]
                named = not inside and "*" not in root
                if not named and (any(map(_is_hidden, inside)) or not info.get("size")):
                    continue
                stamp = str([info.get(name) for name in _STAMPS])
                folders = (*known, *inside)[:-1]
                size = info.get("size") or 0
                files.append(TableFile(path, filesystem, size, stamp, _partition(folders), named))
        missing = not files and not any(filesystem.exists(entry) for entry in entries)
    if missing:
        raise UnreadableTable(f"There is no object or folder {redacted(url)}.")
    return files


@contextmanager
def told_of_url(url: str, options: Mapping[str, Any] | None) -> Iterator[None]:
    """Make an UnreadableTable that names a URL of what file systems raise, without credentials."""
    try:
        yield
    except GraphError:
        raise
    except Exception as error:  # of whatever library the file system is made of
        reason = plain(error, url, StorageOptions(options))
        raise UnreadableTable(f"Cannot read {redacted(url)}: {reason.strerror}.") from error


_STAMPS = ("size", "ETag", "etag", "LastModified", "last_modified", "mtime", "updated", "created")


def _is_hidden(name: str) -> bool:
    return name.startswith(".") or (name.startswith("_") and "=" not in name)


def _is_passed_over(parts: tuple[str, ...], patterns: tuple[str, ...]) -> bool:
    """Whether a part of a name is hidden, and the pattern that it matches does not begin as it does."""
    return any(
        _is_hidden(part) and part[0] != pattern[0]
        for part, pattern in zip(parts, patterns, strict=True)
    )


def _fixed_parts(parts: tuple[str, ...]) -> int:
    """How many parts of a path come before the first that is a pattern."""
    return next((i for i, part in enumerate(parts) if "*" in part), len(parts))


def _partition(folders: Iterable[str]) -> tuple[tuple[str, str | None], ...]:
    """Names and values of folders such as ``day=2026-11-01``."""
    return tuple(_named_values(folders))


def _named_values(folders: Iterable[str]) -> Iterator[tuple[str, str | None]]:
    for folder in folders:
        name, equals, text = folder.partition("=")
        if equals and name:
            yield unquote(name), None if text == HIVE_NULL else unquote(text)


def magic_of(file: TableFile) -> str | None:
    """The format that the first bytes of a file stand for; None where they stand for none."""
    with file.open() as source:
        head = source.read(6)
    return next((kind for magic, kind in _MAGIC.items() if head.startswith(magic)), None)


def is_there(entry: Path) -> bool:
    """Whether it exists; a name that is too long or has a character that no name has is no name of a file."""
    try:
        return entry.exists()
    except (OSError, ValueError):
        return False
