"""The log of a saved graph: a table of added rows and one of removed pairs for each update, with the user's ids."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from dask_graphgpu.io.generation import OpenFolder
from dask_graphgpu.partition.growth import Change
from dask_graphgpu.partition.ids import distinct_rows
from dask_graphgpu.store.mapped import digest, mapped
from dask_graphgpu.store.unread import checksum_of

Tables: TypeAlias = tuple[pa.Table | None, pa.Table | None]  # of rows added and of pairs removed
TABLE = "table"  # what a manifest says that such a file holds


def name_of(number: int, what: str) -> str:
    """The file of the update of a number; ``what`` is "added" or "removed"."""
    return f"log-{number:010d}-{what}.arrow"


def table_of(
    ends: Sequence[Sequence[pa.Array]], columns: dict[str, np.ndarray] | None = None
) -> pa.Table:
    """A table of edges: ids of sources and of destinations, a column each, and what edges carry."""
    named = {
        f"{end}-{k}": ids
        for end, side in zip(("source", "destination"), ends, strict=True)
        for k, ids in enumerate(side)
    }
    named |= {f"column-{name}": pa.array(values) for name, values in (columns or {}).items()}
    return pa.table(named)


def ends_of(table: pa.Table) -> list[list[pa.Array]]:
    """Ids of the sources and of the destinations of a table, a column each."""
    width = sum(name.startswith("source-") for name in table.column_names)
    return [
        [_whole(table[f"{end}-{k}"]) for k in range(width)] for end in ("source", "destination")
    ]


def columns_of(table: pa.Table) -> dict[str, np.ndarray]:
    """What the edges of a table carry."""
    names = [name for name in table.column_names if name.startswith("column-")]
    return {
        name.removeprefix("column-"): _whole(table[name]).to_numpy(zero_copy_only=False)
        for name in names
    }


def change_of(added: pa.Table | None, removed: pa.Table | None, nothing: pa.Table) -> Change:
    """A change of its tables; None is as ``nothing``, a table of added rows that has none."""
    added = nothing if added is None else added
    removed = nothing if removed is None else removed
    sides = [*ends_of(added), *ends_of(removed)]
    ids, codes = distinct_rows([list(column) for column in zip(*sides, strict=True)])
    numbers = [code.astype(np.int64) for code in codes]
    return Change(tuple(ids), (numbers[0], numbers[1]), (numbers[2], numbers[3]), columns_of(added))


def write_table(path: Path, table: pa.Table) -> dict[str, Any]:
    """Write a table as an uncompressed Arrow file; returns what a manifest says of it."""
    options = pa.ipc.IpcWriteOptions(compression=None, allow_64bit=True)
    with (
        pa.OSFile(str(path), "wb") as sink,
        pa.ipc.new_file(sink, table.schema, options=options) as writer,
    ):
        writer.write_table(table.combine_chunks())
    data = np.fromfile(path, np.uint8)
    with path.open("rb") as file:
        sha256 = digest(file)
    about = {"type": TABLE, "length": table.num_rows, "bytes": len(data), "sha256": sha256}
    return {**about, "checksum": checksum_of(data)}


def open_log(folder: OpenFolder, content: dict[str, Any], since: int) -> Callable[[], list[Tables]]:
    """Map the tables of all updates after a number; what is given reads and checks them.

    Raises
    ------
    ValueError, OSError, ArrowException
        They are not what was written; also when it is called.
    """
    kept = [entry for entry in content["updates"]["log"] if entry["number"] > since]
    names = [name for entry in kept for name in (entry["added"], entry["removed"]) if name]
    tables = {name: _Table(folder, name, content["files"]) for name in names}

    def read() -> list[Tables]:
        made = {name: table.read() for name, table in tables.items()}
        return [(made.get(entry["added"]), made.get(entry["removed"])) for entry in kept]

    return read


class _Table:
    """A table of the log, mapped: it is read when it is asked for."""

    def __init__(self, folder: OpenFolder, name: str, files: dict[str, Any]) -> None:
        if name not in files:
            raise ValueError(f"it lists no file {name!r}")
        self._name, self._checksum = name, files[name]["checksum"]
        with folder.open(name) as file:
            self._data = mapped(file)

    def read(self) -> pa.Table:
        data = np.frombuffer(self._data, np.uint8)
        if checksum_of(data) != self._checksum:
            raise ValueError(f"{self._name} is not what was written")
        table = pa.ipc.open_file(pa.BufferReader(pa.py_buffer(self._data))).read_all()
        table.validate(full=True)
        if any(column.null_count for column in table.columns):
            raise ValueError(f"{self._name} has nulls")
        return table


def _whole(column: pa.ChunkedArray) -> pa.Array:
    """A column in one piece."""
    whole = column.combine_chunks()
    if isinstance(whole, pa.ChunkedArray):
        return whole.chunk(0) if whole.num_chunks else pa.array([], whole.type)
    return whole
