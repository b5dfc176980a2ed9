"""The log of a saved graph: a table of added rows and one of removed pairs for each update, with the user's ids."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from dask_graphgpu.io.generation import OpenFolder
from dask_graphgpu.partition.growth import Change
from dask_graphgpu.partition.ids import distinct_rows
from dask_graphgpu.store.mapped import digest
from dask_graphgpu.store.unread import checksum_of

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


def read_table(folder: OpenFolder, name: str, files: dict[str, Any]) -> pa.Table:
    """Read a table of the log, all of it.

    Raises
    ------
    ValueError, OSError, ArrowException
        It is not what was written.
    """
    if name not in files:
        raise ValueError(f"it lists no file {name!r}")
    with folder.open(name) as file:
        data = np.frombuffer(file.read(), np.uint8)
    if checksum_of(data) != files[name]["checksum"]:
        raise ValueError(f"{name} is not what was written")
    table = pa.ipc.open_file(pa.BufferReader(pa.py_buffer(data))).read_all()
    table.validate(full=True)
    if any(column.null_count for column in table.columns):
        raise ValueError(f"{name} has nulls")
    return table


def read_log(
    folder: OpenFolder, content: dict[str, Any], since: int
) -> list[tuple[pa.Table | None, pa.Table | None]]:
    """The tables of all updates after a number: rows added, and pairs removed. Raises as `read_table`."""
    found = []
    for entry in content["updates"]["log"]:
        if entry["number"] > since:
            names = entry["added"], entry["removed"]
            found.append(
                tuple(n and read_table(folder, n, content["files"]) for n in names)  # None: none
            )
    return found


def _whole(column: pa.ChunkedArray) -> pa.Array:
    """A column in one piece."""
    whole = column.combine_chunks()
    if isinstance(whole, pa.ChunkedArray):
        return whole.chunk(0) if whole.num_chunks else pa.array([], whole.type)
    return whole
