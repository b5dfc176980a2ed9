"""Saved graphs: looking whether a folder is one, and mapping its partition."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from dask_graphgpu.errors import InvalidArgument, InvalidSavedGraph
from dask_graphgpu.io.schema import EdgeSchema
from dask_graphgpu.kernels.cpu.threads import for_blocks
from dask_graphgpu.partition.csr import Adjacency
from dask_graphgpu.partition.ids import VertexIds
from dask_graphgpu.partition.layered import Layered, Levels
from dask_graphgpu.partition.layout import Layout
from dask_graphgpu.partition.partition import Origin, Partition, Prepared, VertexColumns
from dask_graphgpu.partition.rows import Rows
from dask_graphgpu.store import manifest
from dask_graphgpu.store.mapped import digest, map_array, map_column
from dask_graphgpu.store.saved_format import SAVED, schema_from_json
from dask_graphgpu.store.source import changed


@dataclass(frozen=True)
class Saved:
    """A saved graph that was found whole.

    Attributes
    ----------
    path : Path
    fingerprint : str
        Of the content; a reader that opens the folder later sees whether it is still the same.
    schema : EdgeSchema
    layout : Layout
    edge_columns, vertex_columns : tuple of str
        Held beside the weight.
    npartitions : int
        Of the edge frame that was saved.
    source : dict, optional
        The Parquet files that it was built from; see `store.source`.
    """

    path: Path
    fingerprint: str
    schema: EdgeSchema
    layout: Layout
    edge_columns: tuple[str, ...]
    vertex_columns: tuple[str, ...]
    npartitions: int
    source: dict[str, Any] | None


def is_saved(path: str | Path) -> bool:
    """Whether a path is a saved graph, whole or torn, rather than Parquet."""
    try:
        folder = Path(path).expanduser()
        kinds = {entry.suffix for entry in folder.iterdir()} if folder.is_dir() else set()
    except OSError:
        return False
    return ".parquet" not in kinds and bool(kinds & {SAVED.suffix, Path(manifest.NAME).suffix})


def read(path: str | Path, *, verify: bool = False, stale: str = "error") -> Saved:
    """Look whether a folder is a saved graph, whole and up to date; maps nothing.

    Parameters
    ----------
    verify
        Compare the checksum of every file too, which reads them all.
    stale
        "error" or "ignore": what to do when the Parquet that was saved has changed since.

    Raises
    ------
    InvalidSavedGraph, InvalidArgument
    """
    if stale not in ("error", "ignore"):
        raise InvalidArgument(f"stale={stale!r}; allowed are 'error', 'ignore'")
    folder = Path(path).expanduser().resolve()
    content = manifest.read(folder, SAVED)
    source = content["source_files"]
    news = None if source is None or stale == "ignore" else changed(source)
    if news is not None:
        raise InvalidSavedGraph(
            f"{folder} is stale: of the Parquet it was built from, {news}; save the graph again, or "
            "load it as it is with stale='ignore'"
        )
    if verify:
        _verify(folder, content["files"])
    graph = content["graph"]
    return Saved(
        folder,
        content["fingerprint"],
        schema_from_json(graph),
        _layout(content),
        tuple(graph["edge_columns"]),
        tuple(graph["vertex_columns"]),
        content["npartitions"],
        source,
    )


def _verify(folder: Path, files: dict[str, dict[str, Any]]) -> None:
    names = list(files)

    def bad(lo: int, hi: int) -> list[str]:
        return [name for name in names[lo:hi] if digest(folder / name) != files[name]["sha256"]]

    wrong = [name for block in for_blocks(bad, np.arange(len(names) + 1)) for name in block]
    if wrong:
        raise InvalidSavedGraph(
            f"{folder} is damaged: the checksum of {wrong[0]} differs; save the graph again"
        )


def open_partition(path: str, fingerprint: str) -> Partition:
    """Map the partition of a saved graph; none of its edges is read.

    Raises
    ------
    InvalidSavedGraph
        The folder is torn, or holds another graph than that of ``fingerprint``.
    """
    folder = Path(path)
    content = manifest.read(folder, SAVED)
    if content["fingerprint"] != fingerprint:
        raise InvalidSavedGraph(
            f"{folder} was replaced by another graph since it was loaded; load it again"
        )
    try:
        partition = _mapped(_Mapped(folder, content["files"]), content)
    except (OSError, ValueError, pa.ArrowException) as error:
        raise InvalidSavedGraph(f"{folder} is damaged: {error}; save the graph again") from error
    partition.origin = Origin(path, fingerprint, partition.nbytes, open_partition)
    return partition


def _layout(content: dict[str, Any]) -> Layout:
    given = dict(content["layout"])
    if isinstance(given.get("root"), list):  # JSON has no tuples
        given["root"] = tuple(given["root"])
    return Layout(**given)


def _mapped(arrays: _Mapped, content: dict[str, Any]) -> Partition:
    layout = _layout(content)
    rows = {
        (entry["rule"], tuple(entry["columns"])): Rows.of(
            {way: arrays.adjacency(held) for way, held in entry["held"].items()},
            arrays.adjacency(entry["symmetric"]) if entry["symmetric"] else None,
            by=layout.by,
            directed=layout.directed,
        )
        for entry in content["ready"]
    }
    levels = None
    if (found := content.get("levels")) is not None:
        level = arrays.array(found["level"])
        levels = Levels(found["root"], level, found["layers"], found["seconds"])
        for entry, held in zip(content["ready"], rows.values(), strict=True):
            if entry["layered"] is not None:
                held.take_layered({"source": arrays.layered(entry["layered"], levels)})
    position, rank = content["position"], content["rank"]
    ids = VertexIds(
        [arrays.column(name) for name in content["ids"]],
        None if position is None else arrays.array(position),
        None if rank is None else arrays.array(rank),
    )
    vertices = content["vertices"]
    columns = {name: arrays.array(file) for name, file in vertices["columns"].items()}
    return Partition(
        ids,
        arrays.adjacency(content["given"]),
        layout,
        VertexColumns(columns, vertices["missing"], vertices["repeated"]),
        content["counts"]["rows"],
        Prepared(content["plain"], rows),
        levels=levels,
    )


class _Mapped:
    """The arrays of a folder; each file is mapped once."""

    def __init__(self, folder: Path, files: dict[str, dict[str, Any]]) -> None:
        self._folder = folder
        self._files = files
        self._mapped: dict[str, np.ndarray] = {}

    def column(self, file: str) -> pa.Array:
        column = map_column(self._folder / file)
        self._check(file, len(column))
        return column

    def array(self, file: str) -> np.ndarray:
        if file not in self._mapped:
            array = map_array(self._folder / file, self._files[file]["type"])
            self._check(file, len(array))
            self._mapped[file] = array
        return self._mapped[file]

    def adjacency(self, files: dict[str, Any]) -> Adjacency:
        columns = {name: self.array(file) for name, file in files["columns"].items()}
        rows = Adjacency(self.array(files["offsets"]), self.array(files["neighbours"]), columns)
        if rows.offsets[0] or rows.offsets[-1] != rows.num_edges:
            raise ValueError(f"{files['offsets']} does not fit {files['neighbours']}")
        return rows

    def layered(self, files: dict[str, Any], levels: Levels) -> Layered:
        columns = {name: self.array(file) for name, file in files["columns"].items()}
        starts, neighbours = self.array(files["starts"]), self.array(files["neighbours"])
        if len(starts) != levels.num_layers + 1 or starts[0] or starts[-1] != len(neighbours):
            raise ValueError(f"{files['starts']} does not fit {files['neighbours']}")
        return Layered(
            starts,
            self.array(files["sources"]),
            neighbours,
            levels.level,
            columns,
            files["seconds"],
        )

    def _check(self, file: str, length: int) -> None:
        if length != self._files[file]["length"]:
            raise ValueError(f"{file} has {length} values")
