"""Saved graphs: looking whether a folder is one, and mapping its partition."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from dask_graphgpu.errors import GraphError, InvalidSavedGraph
from dask_graphgpu.io.generation import OpenFolder
from dask_graphgpu.io.objects.object_folder import ObjectFolder
from dask_graphgpu.io.objects.object_generation import of_one_state
from dask_graphgpu.io.place import Place, place_of
from dask_graphgpu.io.schema import EdgeSchema
from dask_graphgpu.kernels.cpu.threads import for_blocks
from dask_graphgpu.partition.empty import EmptyPartition
from dask_graphgpu.partition.grown import Grown, grown
from dask_graphgpu.partition.growth import Change, Growth
from dask_graphgpu.partition.layout import Layout
from dask_graphgpu.partition.partition import Key, Origin, Partition, Prepared, VertexColumns
from dask_graphgpu.partition.rows import Rows
from dask_graphgpu.partition.weight_fault import WeightFault
from dask_graphgpu.store import manifest
from dask_graphgpu.store.arrays import LookedAt, SavedArrays
from dask_graphgpu.store.log import change_of, open_log, table_of
from dask_graphgpu.store.mapped import digest
from dask_graphgpu.store.saved_format import SAVED, schema_from_json
from dask_graphgpu.store.source import changed
from dask_graphgpu.store.unread import Unread

STALE = ("error", "ignore")  # what to do when the Parquet that was saved has changed since


class Replaced(InvalidSavedGraph):
    """Another graph has taken the place of the one that was loaded."""


@dataclass(frozen=True)
class Saved:
    """A saved graph that was found whole.

    Attributes
    ----------
    path : Path or ObjectFolder
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
    vertices, rows : int
        How many vertices it has, and rows of its frame.
    generation : int
        The number of the last update; 0 before the first.
    """

    path: Place
    fingerprint: str
    schema: EdgeSchema
    layout: Layout
    edge_columns: tuple[str, ...]
    vertex_columns: tuple[str, ...]
    npartitions: int
    source: dict[str, Any] | None
    vertices: int
    rows: int
    generation: int


def is_saved(path: str | Place, options: Any = None) -> bool:
    """Whether a path or URL is a saved graph, whole or torn, rather than Parquet."""

    def suffixes(folder: OpenFolder) -> set[str]:
        found = {Path(name).suffix for name in folder.names()}
        folder.require_current()
        return found

    try:
        kinds = of_one_state(place_of(path, "edges", options), suffixes)
    except (OSError, GraphError):  # no such path, nor home
        return False
    return ".parquet" not in kinds and bool(kinds & {SAVED.suffix, Path(manifest.NAME).suffix})


def read(path: str | Place, *, verify: bool = False, stale: str = "error") -> Saved:
    """Look whether a folder is a saved graph, whole and up to date; maps nothing.

    Parameters
    ----------
    verify
        Compare the checksum of every file too, which reads them all.
    stale
        One of `STALE`.

    Raises
    ------
    InvalidSavedGraph, InvalidArgument
    """
    path = place_of(path, "path")

    def found(folder: OpenFolder) -> Saved:
        content = manifest.read(folder, SAVED)
        saved = _described(path, content)
        news = None if saved.source is None or stale == "ignore" else changed(saved.source)
        if news is not None:
            raise InvalidSavedGraph(
                f"{path} is stale: of the Parquet it was built from, {news}; save the graph again, or "
                "load it as it is with stale='ignore'"
            )
        if verify:
            _verify(folder, content["files"])
        return saved

    return manifest.look(path, SAVED, found)


def _described(path: Place, content: dict[str, Any]) -> Saved:
    graph = content["graph"]
    try:
        schema, layout = schema_from_json(graph), _layout(content)
        if schema.directed != layout.directed or layout.layered != (content["levels"] is not None):
            raise ValueError("what it says of the graph and of its layout differs")
    except (ValueError, TypeError, NotImplementedError, pa.ArrowException) as error:
        raise _damaged(path, f"{manifest.NAME}: {error}") from error
    return Saved(
        path,
        content["fingerprint"],
        schema,
        layout,
        tuple(graph["edge_columns"]),
        tuple(graph["vertex_columns"]),
        content["npartitions"],
        content["source_files"],
        content["updates"]["vertices"],
        content["updates"]["rows"],
        content["updates"]["generation"],
    )


def _verify(folder: OpenFolder, files: dict[str, dict[str, Any]]) -> None:
    names = list(files)
    folder.fetch(names)

    def differs(name: str) -> bool:
        with folder.open(name) as file:
            return bool(digest(file) != files[name]["sha256"])

    def bad(lo: int, hi: int) -> list[str]:
        return [name for name in names[lo:hi] if differs(name)]

    wrong = [name for block in for_blocks(bad, np.arange(len(names) + 1)) for name in block]
    if wrong:
        raise _damaged(folder.path, f"the checksum of {wrong[0]} differs")


def open_partition(path: str | ObjectFolder, fingerprint: str) -> Partition | EmptyPartition:
    """Map the partition of a saved graph; none of its edges is read.

    With updates that are not in its files yet, it is a `Grown` one.

    Raises
    ------
    InvalidSavedGraph
        The folder is torn, or holds another graph than that of ``fingerprint``; that is `Replaced`.
    """

    def found(folder: OpenFolder) -> Partition | EmptyPartition:
        content = current(folder, fingerprint)
        base, changes = opened(folder, content)
        updates = content["updates"]
        if not updates["vertices"]:
            return EmptyPartition()
        if updates["generation"] == updates["base"]:
            assert base.origin is not None
            base.origin = replace(base.origin, path=path, nbytes=base.nbytes)
            return base
        made = Grown(lambda: grown(Growth(base, changes())), updates["vertices"])
        made.origin = Origin(path, fingerprint, 0, open_partition, lambda *_: None)
        return made

    return manifest.look(place_of(path, "path"), SAVED, found)


def open_growth(path: str | ObjectFolder, fingerprint: str) -> Growth:
    """The partition in the files of a saved graph and what has changed since, which is not put into its rows.

    So `Growth.edges_at` reads the rows of some vertices, and none of the others. Raises as `open_partition`.
    """

    def found(folder: OpenFolder) -> Growth:
        base, changes = opened(folder, current(folder, fingerprint))
        return Growth(base, changes())

    return manifest.look(place_of(path, "path"), SAVED, found)


def current(folder: OpenFolder, fingerprint: str) -> dict[str, Any]:
    """The manifest of the graph of a fingerprint. Raises `Replaced`: it is of another one."""
    content = manifest.read(folder, SAVED)
    if content["fingerprint"] != fingerprint:
        raise replaced(folder.path)
    return content


def replaced(path: Place) -> Replaced:
    """The error of a graph that is another one now than the one that was loaded."""
    return Replaced(
        f"{path} was replaced by another graph, or updated, since it was loaded; load it again, or go on with "
        "the graph that update(), append() or remove() gave"
    )


def opened(
    folder: OpenFolder, content: dict[str, Any]
) -> tuple[Partition, Callable[[], list[Change]]]:
    """The partition that the files of a folder hold, mapped, and what gives all that has changed since.

    Raises
    ------
    InvalidSavedGraph
        It is damaged; also of what has changed, when that is read.
    """
    folder.fetch(list(content["files"]))
    saved, unread = _described(folder.path, content), Unread(folder.path)
    with _whole(folder.path):
        base = _partition(SavedArrays(folder, content, unread), content, saved)
        base.origin = Origin(folder.path, content["fingerprint"], 0, open_partition, unread)
        tables = open_log(folder, content, content["updates"]["base"])

    def changes() -> list[Change]:
        with _whole(folder.path):
            return [change_of(*each, nothing_of(base)) for each in tables()]

    return base, changes


@contextmanager
def _whole(path: Place) -> Iterator[None]:
    """What is wrong with files of a saved graph is an InvalidSavedGraph."""
    try:
        yield
    except (ValueError, TypeError, KeyError, pa.ArrowException) as error:
        raise _damaged(path, str(error)) from error


def nothing_of(base: Partition) -> pa.Table:
    """A table of edges to add to a partition, without a row."""
    ids = [pa.array([], column.type) for column in base.ids.columns]
    return table_of([ids, ids], {n: column[:0] for n, column in base.given.columns.items()})


def _damaged(path: Place, what: str) -> InvalidSavedGraph:
    return InvalidSavedGraph(f"{path} is damaged: {what}; save the graph again")


def _layout(content: dict[str, Any]) -> Layout:
    given = {each.name: content["layout"].get(each.name) for each in fields(Layout)}
    if isinstance(given["root"], list):  # JSON has no tuples
        given["root"] = tuple(given["root"])
    return Layout(**given)


def _partition(arrays: SavedArrays, content: dict[str, Any], saved: Saved) -> Partition:
    layout, graph = saved.layout, content["graph"]
    level = content["levels"]
    levels = None if level is None else arrays.levels(level, layout.root)
    rows: dict[Key, Rows] = {}
    for entry in content["ready"]:
        if layout.by not in entry["held"]:
            raise ValueError(f"there are no rows by {layout.by}")
        made = Rows.of(
            {way: arrays.adjacency(held) for way, held in entry["held"].items()},
            arrays.adjacency(entry["symmetric"]) if entry["symmetric"] else None,
            by=layout.by,
            directed=layout.directed,
            before_use=arrays.unread,
        )
        held = [*entry["held"].values(), *([entry["layered"]] if entry["layered"] else [])]
        if any({*each["columns"]} != _carried(entry) for each in held):
            raise ValueError(f"rows do not carry what it says: {entry['columns']}")
        if entry["layered"] is not None and levels is not None:
            made.take_layered({"source": arrays.layered(entry["layered"], levels)})
        rows[entry["rule"], tuple(entry["columns"])] = made
    if content["plain"] != any(rule == "any" for rule, _ in rows):
        raise ValueError("it does not say which rows are ready")
    ids, vertices = arrays.ids(content, saved.schema), content["vertices"]
    columns = {name: arrays.of_vertices(file) for name, file in vertices["columns"].items()}
    if {*columns} != {*graph["vertex_columns"]} or not {*columns} <= {*vertices["missing"]}:
        raise ValueError("the columns of the vertices are not those that it names")
    known = {name: arrays.of_vertices(file, "bool") for name, file in vertices["known"].items()}
    if not {*known} <= {*columns}:
        raise ValueError("the columns of the vertices are not those that it names")
    listed = vertices["listed"]
    given = arrays.adjacency(content["given"])
    weight = ["weight"] if saved.schema.carries_weight else []
    if {*given.columns} != {*weight, *saved.edge_columns}:
        raise ValueError("the columns of the edges are not those that it names")
    return Partition(
        ids,
        given,
        layout,
        VertexColumns(
            LookedAt(columns, arrays.unread),
            vertices["missing"],
            vertices["repeated"],
            LookedAt(known, arrays.unread),
            listed=None if listed is None else arrays.of_vertices(listed, "bool"),
        ),
        content["counts"]["rows"],
        Prepared(content["plain"], rows),
        levels=levels,
        fault=content["fault"] and WeightFault(**content["fault"]),
        as_given=content["as_given"] and arrays.as_given(content["as_given"], given),
    )


def _carried(entry: dict[str, Any]) -> set[str]:
    """Names of the columns of rows under a rule: the sum of repeats is a weight, also where they have none."""
    return {*entry["columns"]} or ({"weight"} if entry["rule"] == "sum" else set())
