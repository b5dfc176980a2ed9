"""Files of Arrow's IPC format, also called Feather."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.ipc

from dask_graphgpu.errors import GraphError, UnreadableTable
from dask_graphgpu.io.tables.agreed_types import agreed_schema
from dask_graphgpu.io.tables.file_rows import FileRows
from dask_graphgpu.io.tables.table_files import TableFile

_MAGIC = b"ARROW1"
_MOST = 16  # parts of a file


@dataclass(frozen=True)
class ArrowPart:
    """Some batches of a file, or with None all of a stream."""

    file: TableFile
    batches: tuple[int, ...] | None
    rows: FileRows

    @property
    def path(self) -> str:
        return self.file.path

    @property
    def filesystem(self) -> Any:
        return self.file.filesystem

    def __dask_tokenize__(self) -> Any:
        return self.file.stamp, str(self)

    def read(self, columns: Sequence[str]) -> pa.Table | None:
        """Columns of the rows that are kept.

        Raises
        ------
        UnreadableTable
            The file is damaged, or has not all of them.
        """
        with _opened(self.file) as (source, is_file):
            names = _reader(source, is_file, None).schema.names
            stored = self.rows.stored(columns, pa.schema([]))
            for name in stored:
                if (number := names.count(name)) != 1:
                    raise UnreadableTable(
                        f"{self.path} has {number or 'no'} column {name!r}; it has {names}"
                    )
            source.seek(0)
            places = [names.index(name) for name in stored]
            options = pyarrow.ipc.IpcReadOptions(included_fields=places, use_threads=False)
            reader = _reader(source, is_file, options)
            batches = list(reader) if self.batches is None else map(reader.get_batch, self.batches)
            read = pa.Table.from_batches(list(batches), reader.schema)
            return self.rows.made(read, columns)


@dataclass(frozen=True)
class ArrowTable:
    """Files of Arrow's with one schema."""

    schema: pa.Schema
    batches: dict[str, int | None]

    def parts(self, file: TableFile, rows: FileRows) -> list[ArrowPart]:
        """What tasks read of a file: runs of its batches; all of a stream."""
        number = self.batches[file.path]
        if number is None:
            return [ArrowPart(file, None, rows)]
        runs = np.array_split(np.arange(number), min(number, _MOST) or 1)
        return [ArrowPart(file, tuple(run.tolist()), rows) for run in runs if len(run)]


def arrow_table(files: Sequence[TableFile], ids: Collection[str]) -> ArrowTable:
    """Look into files of Arrow's.

    Raises
    ------
    UnreadableTable
        A file is not of this format, or damaged.
    """
    schemas, batches = [], dict[str, int | None]()
    for file in files:
        with _opened(file) as (source, is_file):
            reader = _reader(source, is_file, None)
            schemas.append(reader.schema)
            batches[file.path] = reader.num_record_batches if is_file else None
    return ArrowTable(agreed_schema(schemas, ids), batches)


def _reader(source: Any, is_file: bool, options: Any) -> Any:
    reading = pyarrow.ipc.open_file if is_file else pyarrow.ipc.open_stream
    return reading(source, options=options)


@contextmanager
def _opened(file: TableFile) -> Iterator[tuple[Any, bool]]:
    """A file, and whether it is one rather than a stream; errors name it."""
    try:
        with ExitStack() as stack:
            if file.filesystem is None:
                source = stack.enter_context(pa.memory_map(file.path))
            else:
                source = pa.PythonFile(stack.enter_context(file.open()), "r")
            is_file = source.read(len(_MAGIC)) == _MAGIC
            source.seek(0)
            yield source, is_file
    except GraphError:
        raise
    except Exception as error:  # damage takes every form in readers
        raise UnreadableTable(
            f"cannot read {file.path}: {error}; it is not a complete file of Arrow's: write it again"
        ) from error
