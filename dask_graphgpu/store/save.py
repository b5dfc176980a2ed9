"""Saving a graph: its partition as a folder of flat files, with all that the first method needs."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from dask_graphgpu.errors import GraphError, OutputError
from dask_graphgpu.io.claims import claimed
from dask_graphgpu.io.generation import NoFolder, OpenFolder
from dask_graphgpu.io.objects import commits
from dask_graphgpu.io.objects.object_generation import filling, of_one_state
from dask_graphgpu.io.place import Place, place_of
from dask_graphgpu.io.replace import NotOnDisk
from dask_graphgpu.io.schema import EdgeSchema
from dask_graphgpu.kernels.cpu.threads import for_blocks
from dask_graphgpu.partition.csr import Adjacency
from dask_graphgpu.partition.empty import EmptyPartition
from dask_graphgpu.partition.layered import Layered
from dask_graphgpu.partition.paged.files import PagedArray
from dask_graphgpu.partition.partition import Key, Partition
from dask_graphgpu.store import manifest
from dask_graphgpu.store.mapped import Mapped, digest, write_column, write_paged
from dask_graphgpu.store.saved_format import SAVED, schema_to_json
from dask_graphgpu.store.unread import checksum_of

# Rows that are saved ready for use: the rule for repeated rows, with weights, also into vertices,
# also without loops and directions. Searches and components; paths; ranks. Where nothing repeats
# these are the same rows.
_READY = (
    ("one", False, True, True),
    ("min", True, False, False),
    ("sum", True, True, False),
)
_PIECE = 1 << 20  # values compared at a time
_PATIENCE, _LOOK = (
    5.0,
    0.2,
)  # seconds until a folder that another machine has made is seen here; between two looks

# What is written as a file.
Values: TypeAlias = np.ndarray | pa.Array | PagedArray


def check_destination(path: str | Place, options: Any = None) -> Place:
    """The folder to save to, behind links; refused when it holds anything but a saved graph.

    It comes with what a writer has to know of what is there now: give it to `write`.
    """
    folder = place_of(path, "path", options)
    if isinstance(folder, Path):
        if folder == folder.parent:
            raise OutputError(f"cannot save a graph over {folder}: name a folder of its own")
        if not folder.exists():
            return claimed(folder)
        if not folder.is_dir():
            raise OutputError(
                f"{folder} is a file, and a saved graph is a folder; name another one; nothing was "
                "changed"
            )
    elif folder.began is not None:
        return folder
    try:
        others = of_one_state(folder, lambda opened: manifest.others(opened, SAVED))
    except NoFolder:
        others = []
    except OSError as error:
        raise failed(folder, error) from error
    if others:
        raise OutputError(
            f"{folder} is not a saved graph: it holds {', '.join(others[:3])}; name a folder that "
            "is new, empty or a saved graph; nothing was changed"
        )
    if isinstance(folder, Path):
        return claimed(folder)
    try:
        return commits.claimed(folder, folder)
    except OSError as error:
        raise failed(folder, error) from error


def check_seen(folder: Place) -> None:
    """Raise OutputError where what a worker of a cluster has saved is not here: it has another file system."""
    if not isinstance(folder, Path):  # all have one object store
        return
    until = time.monotonic() + _PATIENCE
    while isinstance(folder, Path) and not folder.is_dir():
        if time.monotonic() > until:
            raise OutputError(
                f"the graph was saved to {folder} by a worker of the cluster, whose file system this process does "
                "not share: name a folder that both see"
            )
        with suppress(OSError):
            os.listdir(folder.parent)  # has a network file system look anew
        time.sleep(_LOOK)


def others_in(path: Path) -> list[str]:
    """What is in a local folder that is no saved graph's."""
    with OpenFolder(path) as opened:
        return manifest.others(opened, SAVED)


def write(
    partition: Partition | EmptyPartition,
    folder: Place,
    schema: EdgeSchema,
    npartitions: int,
    source: dict[str, Any] | None,
    library: str,
    nothing: Partition,
) -> None:
    """Write a partition to a folder, in place of the saved graph that is there.

    ``nothing`` stands for a graph without a vertex.

    Files are written beside it and forced to disk; then the folders change places in one step.
    Cost: rows under each rule are made where they are not yet, and each byte is written once and
    read once for its checksum.

    Raises
    ------
    OutputError
        No space, no permission, or ``folder`` holds something else; what was there is untouched.
    """
    check_destination(folder)
    if isinstance(partition, EmptyPartition):
        partition = nothing
    content, files = described(partition.on_host(), schema)
    about = {"library": library, "npartitions": npartitions, "source_files": source}
    size = {"rows": partition.num_rows, "vertices": partition.num_vertices}
    about["updates"] = {"generation": 0, "base": 0, **size, "log": []}
    try:
        with filling(folder, SAVED.name, others_in) as new:
            fill(new, content, files, about)
    except GraphError:
        raise
    except (OSError, pa.ArrowException) as error:
        raise failed(folder, error) from error


def fill(
    folder: Path,
    content: dict[str, Any],
    files: Files,
    about: dict[str, Any],
    more: Mapping[str, Any] | None = None,
) -> None:
    """Write files and a manifest; ``more`` is what it says of files that are there already."""
    content["files"] = files.write(folder)
    content["fingerprint"] = manifest.fingerprint(content)
    content["files"] |= more or {}
    manifest.write(folder, SAVED, content | about)


def described(partition: Partition, schema: EdgeSchema) -> tuple[dict[str, Any], Files]:
    """What the manifest says of a partition, and the arrays that are to be written."""
    partition.use_vertices()
    files = Files()
    given = files.adjacency("given", partition.use_given())
    ready, plain = _ready(partition, files)
    ids, vertices = partition.ids, partition.vertex_columns
    content: dict[str, Any] = {
        "graph": _graph(partition, schema),
        "layout": asdict(partition.layout),
        "order": partition.order,
        "counts": {
            "rows": partition.num_rows,
            "vertices": partition.num_vertices,
            "edges": partition.given.num_edges,
        },
        "ids": [files.add(f"id-{i}", column) for i, column in enumerate(ids.columns)],
        "position": None if ids.position is None else files.add("position", ids.position),
        "rank": None if ids.rank is None else files.add("rank", ids.rank),
        "given": given,
        "fault": None if partition.fault is None else asdict(partition.fault),
        "plain": plain,
        "ready": ready,
        "levels": _levels(partition, files),
        "vertices": {
            "columns": {
                name: files.add(f"vertex-{i}", column)
                for i, (name, column) in enumerate(vertices.columns.items())
            },
            "missing": vertices.missing,
            "repeated": vertices.repeated,
            "known": {
                name: files.add(f"known-{i}", known)
                for i, (name, known) in enumerate(vertices.known.items())
            },
            "listed": None if vertices.listed is None else files.add("listed", vertices.listed),
        },
        "as_given": _as_given(partition, files),
    }
    return content, files


def _graph(partition: Partition, schema: EdgeSchema) -> dict[str, Any]:
    """The schema, and which columns the partition holds."""
    extra = [name for name in partition.given.columns if name != "weight"]
    return {
        **schema_to_json(schema, extra),
        "edge_columns": extra,
        "vertex_columns": list(partition.vertex_columns),
    }


def _as_given(partition: Partition, files: Files) -> dict[str, Any] | None:
    """What the rows of an undirected graph do not say of those of its frame."""
    aside = partition.as_given
    if aside is None:
        return None
    partition.use_as_given()
    return {
        "turned": None if aside.turned is None else files.add("turned", aside.turned),
        "places": files.add("left-places", aside.places),
        "rows": files.add("left-rows", aside.rows),
        "neighbours": files.add("left-neighbours", aside.neighbours),
        "columns": {
            name: files.add(f"left-column-{i}", column)
            for i, (name, column) in enumerate(aside.columns.items())
        },
    }


def _levels(partition: Partition, files: Files) -> dict[str, Any] | None:
    """The layer of each vertex, of a layered graph."""
    levels = partition.levels
    if levels is None:
        return None
    return {
        "root": levels.root,
        "layers": levels.num_layers,
        "seconds": levels.seconds,
        "level": files.add("level", levels.level),
    }


def _ready(partition: Partition, files: Files) -> tuple[list[dict[str, Any]], bool]:
    """The rows that algorithms will ask for, and whether no rule makes a difference to them."""
    ready: dict[Key, dict[str, Any]] = {}
    by, directed = partition.layout.by, partition.layout.directed
    other = "destination" if by == "source" else "source"
    for rule, weight, against, symmetric in _READY:
        weight = weight and partition.fault is None  # else nobody asks for what is made of them
        key, rows, _ = partition.under(rule, weight)
        entry = ready.setdefault(
            key,
            {
                "rule": key[0],
                "columns": list(key[1]),
                "held": {},
                "symmetric": None,
                "layered": None,
            },
        )
        role = f"{key[0]}-{list(ready).index(key)}"
        for direction in (by, other) if against and directed else (by,):
            rows_by = rows.adjacency(direction, rows.names)
            entry["held"][direction] = files.adjacency(f"{role}-{direction}", rows_by)
        if partition.levels is not None and rule != "sum":  # no program of sums reads them
            made = rows.layered("source", partition.levels)
            entry["layered"] = files.layered(f"{role}-layered", made)
        # Of edges on disk these would be made in memory.
        if symmetric and not directed and not partition.paged:
            entry["symmetric"] = files.adjacency(f"{role}-symmetric", rows.symmetric())
    return list(ready.values()), any(key[0] == "any" for key in ready)


class Files:
    """Arrays to write, each once, and the names of their files."""

    def __init__(self) -> None:
        self._arrays: dict[str, Values] = {}
        self._names: dict[int, str] = {}
        self._held: list[Values] = []  # so that no other array gets the id of one

    def add(self, role: str, array: Values) -> str:
        """The file of an array. Equal ones, such as the neighbours under several rules, have one file."""
        if id(array) not in self._names:
            equal = (name for name, other in self._arrays.items() if _equal(array, other))
            self._names[id(array)] = name = next(equal, f"{role}{SAVED.suffix}")
            self._held.append(array)
            self._arrays.setdefault(name, array)
        return self._names[id(array)]

    def adjacency(self, role: str, rows: Adjacency) -> dict[str, Any]:
        return {
            "offsets": self.add(f"{role}-offsets", rows.offsets),
            "neighbours": self.add(f"{role}-neighbours", rows.neighbours),
            "columns": {
                name: self.add(f"{role}-column-{i}", column)
                for i, (name, column) in enumerate(rows.columns.items())
            },
        }

    def layered(self, role: str, edges: Layered) -> dict[str, Any]:
        return {
            "starts": self.add(f"{role}-starts", edges.starts),
            "sources": self.add(f"{role}-sources", edges.sources),
            "neighbours": self.add(f"{role}-neighbours", edges.neighbours),
            "columns": {
                name: self.add(f"{role}-column-{i}", column)
                for i, (name, column) in enumerate(edges.columns.items())
            },
            "seconds": edges.seconds,
        }

    def write(self, folder: Path) -> dict[str, dict[str, Any]]:
        """Write all arrays; returns what each file is."""
        paged = [name for name, array in self._arrays.items() if isinstance(array, PagedArray)]
        # One after the other: each takes a window of memory.
        found = {name: _write(folder / name, self._arrays[name]) for name in paged}
        names = [name for name in self._arrays if name not in found]

        def write_some(lo: int, hi: int) -> list[dict[str, Any]]:
            return [_write(folder / name, self._arrays[name]) for name in names[lo:hi]]

        blocks = for_blocks(write_some, np.arange(len(names) + 1))
        found |= {name: described for name, (described,) in zip(names, blocks, strict=True)}
        return {name: found[name] for name in self._arrays}


def _equal(one: Values, other: Values) -> bool:
    """Whether two NumPy arrays are the same, bit by bit; compared in pieces, up to a difference."""
    if not (isinstance(one, np.ndarray) and isinstance(other, np.ndarray)):
        return False
    if one.dtype != other.dtype or len(one) != len(other):
        return False
    bits = np.dtype(f"u{one.dtype.itemsize}")
    pieces = (slice(i, i + _PIECE) for i in range(0, len(one), _PIECE))
    return all(np.array_equal(one[p].view(bits), other[p].view(bits)) for p in pieces)


def _write(path: Path, array: Values) -> dict[str, Any]:
    """Write an array and describe the file."""
    if isinstance(array, PagedArray):
        write_paged(path, array)
    else:
        write_column(path, array)
    return {
        "type": str(array.type) if isinstance(array, pa.Array) else array.dtype.name,
        "length": len(array),
        **_bytes(path),
    }


def _bytes(path: Path) -> dict[str, Any]:
    """What is known of the bytes of a file."""
    with path.open("rb") as file:
        return {
            "bytes": os.fstat(file.fileno()).st_size,
            "sha256": digest(file),
            "checksum": checksum_of(Mapped(file).data),
        }


def failed(folder: Place, error: Exception) -> OutputError:
    """The error of a graph that could not be written."""
    if isinstance(error, NotOnDisk):
        return OutputError(f"the graph {error.strerror}; save it again if you need to be sure")
    reason = getattr(error, "strerror", None) or str(error)
    return OutputError(
        f"the graph could not be saved to {folder}: {reason}; free space or choose another folder; "
        "what was there before is untouched"
    )
