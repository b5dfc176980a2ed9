"""Chunks of cuDF columns become one partition in the memory of the GPU."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from dask_graphgpu.partition.as_given import AsGiven
from dask_graphgpu.partition.build import SAMPLE, dense_dtype, same_columns
from dask_graphgpu.partition.csr import Adjacency
from dask_graphgpu.partition.device import elements
from dask_graphgpu.partition.device.arrays import module_of
from dask_graphgpu.partition.device.csr import Pairs, from_pairs, mirrored
from dask_graphgpu.partition.device.degrees import Degrees, near_ends
from dask_graphgpu.partition.device.host import as_given_on_host, to_new_memory
from dask_graphgpu.partition.device.ids import DeviceIds, as_arrow, nbytes_of
from dask_graphgpu.partition.device.masks import count_true
from dask_graphgpu.partition.device.memory import told
from dask_graphgpu.partition.device.numbering import Numbering, number
from dask_graphgpu.partition.device.rows import DeviceRows
from dask_graphgpu.partition.device.undirected import undirected
from dask_graphgpu.partition.empty import NoVertices
from dask_graphgpu.partition.ids import VertexIds
from dask_graphgpu.partition.layout import Layout
from dask_graphgpu.partition.order import NEAR_WINDOW, has_locality
from dask_graphgpu.partition.partition import Partition, VertexColumns
from dask_graphgpu.stages import Stage


@dataclass(frozen=True, eq=False)
class DeviceEdges:
    """A partition of an edge frame: id columns (arrays of integers, series of strings) and others."""

    source: tuple[Any, ...]
    destination: tuple[Any, ...]
    columns: dict[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.source[0])

    def __sizeof__(self) -> int:  # by which Dask places tasks and spills
        columns = (*self.source, *self.destination, *self.columns.values())
        return sum(nbytes_of(column) for column in columns)


@dataclass(frozen=True, eq=False)
class DeviceVertices:
    """A partition of a vertices frame: id columns, numeric ones, and which of their rows are null."""

    vertex: tuple[Any, ...]
    columns: dict[str, Any] = field(default_factory=dict)
    nulls: dict[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.vertex[0])

    def __sizeof__(self) -> int:  # by which Dask places tasks and spills
        columns = (*self.vertex, *self.columns.values(), *self.nulls.values())
        return sum(nbytes_of(column) for column in columns)

    def ids(self) -> tuple[Any, ...]:
        """The user's ids of the rows, an array or series an id column."""
        return self.vertex

    def id_at(self, row: int) -> tuple[Any, ...]:
        """The user's id of one row."""
        return tuple(
            column.iloc[row] if hasattr(column, "iloc") else column[row].item()
            for column in self.vertex
        )


class DevicePartition(Partition):
    """A partition whose arrays are CuPy's."""

    rows_kind = DeviceRows

    def on_host(self) -> Partition:
        """The same in host memory: each array is copied once, nothing is sorted again."""
        ids, given, vertices = self.ids, self.given, self.vertex_columns
        places = (
            None if each is None else to_new_memory(each) for each in (ids.position, ids.rank)
        )
        rows = Adjacency(
            to_new_memory(given.offsets).astype(np.int64),
            to_new_memory(given.neighbours),
            _on_host(given.columns),
        )
        columns = replace(
            vertices,
            columns=_on_host(vertices.columns),
            known=_on_host(vertices.known),
            listed=None if vertices.listed is None else to_new_memory(vertices.listed),
        )
        return Partition(
            VertexIds([as_arrow(column) for column in ids.columns], *places),
            rows,
            self.layout,
            columns,
            self.num_rows,
            as_given=None if self.as_given is None else as_given_on_host(self.as_given),
        )


def _on_host(columns: Mapping[str, Any]) -> dict[str, np.ndarray]:
    return {name: to_new_memory(column) for name, column in columns.items()}


@told("building a graph on the GPU")
def build(
    chunks: list[DeviceEdges], vertices: Sequence[DeviceVertices], layout: Layout
) -> DevicePartition:
    """Number the vertices of all chunks, choose their order, and sort the edges into rows.

    The list of chunks is emptied. By the rules of `partition.build.build`. Cost: two passes over the
    ends and a radix sort; memory above the frame is 16 bytes an edge while it sorts (32 with columns
    that do not fit beside the ends into 64 bits).

    Raises
    ------
    InvalidEdges
        The chunks' id types disagree, or there is no edge and no vertex at all.
    OutOfDeviceMemory
    """
    began, stage = time.monotonic(), Stage("building", 2)
    stage.say("numbering vertices")
    carried = {name: column[:0] for chunk in chunks[:1] for name, column in chunk.columns.items()}
    edges = same_columns([chunk for chunk in chunks if len(chunk)])
    chunks.clear()
    vertices = [chunk for chunk in vertices if len(chunk)]
    if not edges and not vertices:
        raise NoVertices
    ends = [end for chunk in edges for end in (chunk.source, chunk.destination)]
    given = [*ends, *(chunk.vertex for chunk in vertices)]
    numbering = [number(given, len(ends), dense_dtype)]
    held = [chunk.columns for chunk in edges] or [carried]
    edges.clear()
    del ends, given
    made = of_numbered(numbering, held, vertices, layout, stage)
    made.took = {"build": time.monotonic() - began}
    stage.step()
    return made


def of_numbered(
    given: list[Numbering],
    held: list[dict[str, Any]],
    vertices: Sequence[DeviceVertices],
    layout: Layout,
    stage: Stage,
) -> DevicePartition:
    """The partition of edges whose vertices have their numbers: their order is chosen, and edges sorted into rows.

    Parameters
    ----------
    given : list of one Numbering
        Of the ends of edges, and of the vertices frame; it is emptied.
    held : list of dict of arrays
        What the edges carry, without edges arrays of no length; it is emptied.
    """
    numbering = given.pop()
    num_vertices = len(numbering.ids[0])
    table, codes = numbering.table, numbering.codes
    xp = module_of(table)
    num_ends = len(codes) - len(vertices)
    forward = layout.by == "source" or not layout.directed
    runs = [
        Pairs(*(pair if forward else pair[::-1]), table, columns)
        for pair, columns in zip(
            zip(codes[:num_ends:2], codes[1:num_ends:2], strict=True), held, strict=False
        )
    ]
    if not runs:  # vertices only
        none = xp.empty(0, table.dtype)
        runs = [Pairs(none, none, table, held[0])]
    held.clear()
    sides = [(run.rows, run.neighbours) for run in runs]
    degrees, position = Degrees(numbering.ends), None
    if layout.order == "degree" or (
        layout.order == "auto" and degrees.skewed and not _has_locality(sides, table, num_vertices)
    ):
        position = degrees.falling(table.dtype)
        table = elements.gathered(position, table)
        runs = [replace(run, table=table) for run in runs]
    balanced = layout.directed or degrees.balanced
    columns = _vertex_columns(vertices, codes[num_ends:], table, num_vertices)
    ids = DeviceIds(numbering.ids, position)
    del numbering, codes, sides, degrees
    num_rows = sum(map(len, runs))
    stage.step("sorting edges into rows")
    as_given = layout.directed or (balanced and mirrored(runs))
    aside = None if layout.directed else AsGiven()
    if as_given:
        rows = from_pairs(num_vertices, runs, table.dtype)
    else:
        rows, aside = undirected(num_vertices, runs, table.dtype, ids.rank)
    return DevicePartition(ids, rows, layout, columns, num_rows, as_given=aside)


def _has_locality(sides: Sequence[tuple[Any, Any]], table: Any, num_vertices: int) -> bool:
    """Whether the ends of a sample of edges lie close in the order of the user's ids."""
    near = sampled = 0
    share = -(-SAMPLE // len(sides))
    window = num_vertices // NEAR_WINDOW
    for rows, neighbours in sides:
        step = max(len(rows) // share, 1)
        near += near_ends(rows, neighbours, table, step, window)
        sampled += -(-len(rows) // step)
    return has_locality(near, sampled)


def _vertex_columns(
    chunks: Sequence[DeviceVertices], codes: Sequence[Any], table: Any, num_vertices: int
) -> VertexColumns:
    """The vertices frame's columns in dense order, with how many vertices have no value."""
    xp = module_of(table)
    rows = [table[code] for code in codes]
    columns: dict[str, Any] = {}
    missing: dict[str, int] = {}
    gaps: dict[str, Any] = {}
    for name in chunks[0].columns if chunks else ():
        kinds = {chunk.columns[name].dtype for chunk in chunks}
        columns[name] = xp.zeros(num_vertices, np.result_type(*kinds))
        known = xp.zeros(num_vertices, bool)
        for chunk, row in zip(chunks, rows, strict=True):
            columns[name][row] = chunk.columns[name]
            known[row] = ~chunk.nulls[name] if name in chunk.nulls else True
        missing[name] = num_vertices - count_true(known)
        if missing[name]:
            gaps[name] = known
    if not rows:
        return VertexColumns(columns, missing, 0, gaps)
    listed = xp.zeros(num_vertices, bool)
    for row in rows:
        listed[row] = True
    repeated = sum(map(len, rows)) - count_true(listed)
    return VertexColumns(columns, missing, repeated, gaps, listed=listed)
