"""Arrays as Arrow files of one column, written flat and opened by memory mapping."""

from __future__ import annotations

import hashlib
import mmap
from pathlib import Path
from typing import IO, Any

import numpy as np
import pyarrow as pa

from dask_graphgpu.partition.paged.files import PagedArray
from dask_graphgpu.partition.paged.window import Window, even_spans

# Where the system would count a private mapping against its memory, which would keep a graph that
# is larger than the memory from being opened (Python names the flag from 3.13 on).
_FLAGS = mmap.MAP_PRIVATE | getattr(mmap, "MAP_NORESERVE", 0)

# Types of arrays, by their names.
NUMBERS = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64"),
)


def write_column(path: Path, values: np.ndarray | pa.Array) -> None:
    """Write an array as an uncompressed Arrow IPC file with one record batch.

    Arrow packs bools into bits; they are written as bytes here, as NumPy and kernels have them.
    """
    if isinstance(values, np.ndarray):
        flat = np.ascontiguousarray(values)
        values = pa.array(flat.view(np.uint8) if flat.dtype.kind == "b" else flat)
    batch = pa.record_batch([values], names=["values"])
    options = pa.ipc.IpcWriteOptions(compression=None, allow_64bit=True)
    with (
        pa.OSFile(str(path), "wb") as sink,
        pa.ipc.new_file(sink, batch.schema, options=options) as writer,
    ):
        writer.write_batch(batch)


def write_paged(path: Path, values: PagedArray) -> None:
    """The same of an array that lies in pages on disk, of which a few at a time are in memory.

    A file of zeros is written first, which are no memory, and then filled in.
    """
    zeros = mmap.mmap(-1, max(values.nbytes, 1), flags=_FLAGS | mmap.MAP_ANONYMOUS)
    write_column(path, np.frombuffer(zeros, values.dtype, len(values)))
    if not len(values):
        return
    with path.open("r+b") as file:
        mapping = mmap.mmap(file.fileno(), 0)
    batch = pa.ipc.open_file(pa.BufferReader(pa.py_buffer(mapping))).get_batch(0)
    start = batch.column(0).buffers()[1].address - pa.py_buffer(mapping).address
    into = np.frombuffer(mapping, values.dtype, len(values), start)
    size = max(values.page_bytes // values.itemsize, 1)
    cuts = np.append(np.arange(0, len(values), size), len(values))
    for i, held in enumerate(Window({"values": values}).over(even_spans(cuts))):
        lo, hi = int(cuts[i]), int(cuts[i + 1])
        into[lo:hi] = held["values"][lo:hi]
    del batch, into
    mapping.flush()


def digest(file: Any) -> str:
    """SHA-256 of an open file, in hexadecimal."""
    return hashlib.file_digest(file, "sha256").hexdigest()


def mapped(file: IO[bytes]) -> mmap.mmap:
    """A whole file, mapped copy-on-write. Raises ValueError, OSError: it has no bytes, or cannot be."""
    return mmap.mmap(file.fileno(), 0, flags=_FLAGS, prot=mmap.PROT_READ | mmap.PROT_WRITE)


class Mapped:
    """The column of a file, mapped copy-on-write: no byte of it is read before it is used.

    Attributes
    ----------
    data : uint8 array
        The whole file.
    column : pyarrow.Array

    Raises
    ------
    ValueError, OSError, ArrowException
        The file is no such one.
    """

    def __init__(self, file: IO[bytes]) -> None:
        mapping = mapped(file)
        self._whole = pa.py_buffer(mapping)
        self.data = np.frombuffer(mapping, np.uint8)
        reader = pa.ipc.open_file(pa.BufferReader(self._whole))
        if reader.num_record_batches != 1 or len(reader.schema) != 1:
            raise ValueError("it is not one column in one record batch")
        self.column = reader.get_batch(0).column(0)
        self.column.validate()  # that what it leads to lies within the file

    def array(self, dtype: str) -> np.ndarray:
        """The column as a NumPy array.

        It is writable, so that Numba compiles no kernel a second time for read-only arrays; what would be written stays
        in this process and never reaches the file.

        Raises
        ------
        ValueError
            The file holds values of another type.
        """
        column, kind = self.column, np.dtype(dtype)
        stored = np.dtype(np.uint8) if kind.kind == "b" else kind
        if column.type != pa.from_numpy_dtype(stored) or column.null_count:
            raise ValueError(f"it holds {column.type}, not {dtype}")
        if not len(column):
            return np.empty(0, kind)
        start = column.buffers()[1].address - self._whole.address + column.offset * stored.itemsize
        return np.frombuffer(self.data, stored, len(column), start).view(kind)
