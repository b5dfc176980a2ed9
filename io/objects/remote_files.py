"""Files of fsspec's file systems, each opened as a stream of its own."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.fs
from fsspec.implementations.local import LocalFileSystem
from fsspec.implementations.memory import MemoryFileSystem


def arrow_filesystem(filesystem: Any) -> Any:
    """A file system for pyarrow; None for the local one, which it reads without Python's help."""
    if isinstance(filesystem, (LocalFileSystem, pa.fs.LocalFileSystem)) or filesystem is None:
        return None
    if isinstance(filesystem, pa.fs.FileSystem):
        return filesystem
    return pa.fs.PyFileSystem(_OwnStreams(filesystem))


def opened(filesystem: Any, path: str) -> Any:
    """A file of a file system of fsspec, to be read as bytes.

    A file in memory is one object for all who open it: here everyone gets a copy, with a place of its own.
    """
    if isinstance(filesystem, MemoryFileSystem):
        return pa.BufferReader(filesystem.cat_file(path))
    return filesystem.open(path, "rb")


class _OwnStreams(pa.fs.FSSpecHandler):  # type: ignore[misc]  # pyarrow has no types
    def open_input_stream(self, path: str) -> Any:
        return self.open_input_file(path)

    def open_input_file(self, path: str) -> Any:
        if not self.fs.isfile(path):
            raise FileNotFoundError(path)
        file = opened(self.fs, path)
        return file if isinstance(file, pa.NativeFile) else pa.PythonFile(file, mode="r")
