"""Chunks of edges, each with names of its own, become one partition with dense ids."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from dask_graphgpu import config
from dask_graphgpu.errors import InvalidArgument, InvalidEdges
from dask_graphgpu.partition.chunk import EdgeChunk, VertexChunk
from dask_graphgpu.partition.csr import Coo, from_coo, mirrored
from dask_graphgpu.partition.ids import VertexIds, common_type, shift_range, unite
from dask_graphgpu.partition.order import NEAR_WINDOW, falling_degree, has_locality, is_skewed
from dask_graphgpu.partition.partition import Partition, VertexColumns

# Consecutive integers are numbered through a table over their range when that is at most this
# many times the edge ends; beyond, through a hash of the distinct ones.
_SPARSE = 8
_SAMPLE = 1 << 16  # edges looked at to judge an order


@dataclass(frozen=True)
class Layout:
    """How a partition is to be built.

    ``by``: rows by "source" or "destination"; ``order``: "auto", "input" or "degree".
    """

    directed: bool = True
    duplicates: str = "auto"
    order: str = "auto"
    by: str = "source"


def build(chunks: list[EdgeChunk], vertices: Sequence[VertexChunk], layout: Layout) -> Partition:
    """Number the vertices of all chunks, choose their order, and sort the edges into rows.

    The list of chunks is emptied, so that they go once they are in rows. Cost: a pass over the
    codes and the counting sort; memory above the chunks is a table of the ids and the rows.

    Raises
    ------
    InvalidEdges
        The chunks' id types disagree, or there is no edge and no vertex at all.
    """
    pa.default_memory_pool().release_unused()  # what reading the frames left behind
    carried = {name: column[:0] for chunk in chunks[:1] for name, column in chunk.columns.items()}
    edges = [chunk for chunk in chunks if len(chunk)]
    chunks.clear()
    vertices = [chunk for chunk in vertices if len(chunk)]
    if not edges and not vertices:
        raise InvalidEdges("the edge frame is empty: a graph needs an edge, or a vertices= frame")
    edges, vertices = _same_types(edges, vertices)
    columns, bases, tables, degrees = _number(edges, vertices)
    position = None
    if layout.order == "degree" or (
        layout.order == "auto" and is_skewed(degrees) and not _has_locality(edges, tables, degrees)
    ):
        position = falling_degree(degrees, bases[0].dtype.type)
        for base in bases:
            base[:] = position[base]
    del bases, degrees
    runs = [_coo(chunk, table, layout.by) for chunk, table in zip(edges, tables, strict=False)]
    given = _vertex_columns(vertices, tables[len(edges) :], len(columns[0]))
    dtype = tables[0].dtype
    if not runs:  # vertices only
        none = np.empty(0, dtype)
        runs = [Coo(none, none, none, carried)]
    del edges, tables
    num_rows = sum(map(len, runs))
    # An undirected graph may be given with each edge once or in both directions.
    both = not layout.directed and not mirrored(runs)
    rows = from_coo(len(columns[0]), runs, dtype, both=both)
    return Partition(VertexIds(columns, position), rows, layout, given, num_rows)


def _coo(chunk: EdgeChunk, table: np.ndarray, by: str) -> Coo:
    ends = chunk.source, chunk.destination
    return Coo(*(ends if by == "source" else ends[::-1]), table, chunk.columns)


def _same_types(
    edges: Sequence[EdgeChunk], vertices: Sequence[VertexChunk]
) -> tuple[list[EdgeChunk], list[VertexChunk]]:
    """Give the names of all chunks the types that hold every chunk's ids."""
    given = [chunk.names.types for chunk in edges] + [chunk.names.types for chunk in vertices]
    types = tuple(common_type(list(kinds), "the partitions") for kinds in zip(*given, strict=True))

    def cast(chunk: Any) -> Any:
        names = chunk.names
        if names.types == types:
            return chunk
        table = names.table and tuple(t.cast(k) for t, k in zip(names.table, types, strict=True))
        return replace(chunk, names=replace(names, types=types, table=table))

    return [cast(chunk) for chunk in edges], [cast(chunk) for chunk in vertices]


def _number(
    edges: list[EdgeChunk], vertices: list[VertexChunk]
) -> tuple[list[pa.Array], list[np.ndarray], list[np.ndarray], np.ndarray]:
    """Find the distinct ids.

    Returns them in ascending order (a column each); the arrays that hold vertex numbers; for every
    chunk, edges first, its table from code to vertex, a window of one of those arrays; and the
    number of edge ends at each vertex. Chunks are replaced in the lists where their codes change.
    """
    names = [chunk.names for chunk in edges] + [chunk.names for chunk in vertices]
    ends = 2 * sum(map(len, edges)) + sum(map(len, vertices))
    if all(n.first is not None for n in names):
        first = min(n.first for n in names if n.first is not None)
        last = max(n.first + n.size for n in names if n.first is not None)
        if last - first <= max(_SPARSE * ends, 1 << 20):
            return _number_range(edges, vertices, first, last - first)
    for i, chunk in enumerate(edges):
        table, (source, destination) = chunk.names.as_table([chunk.source, chunk.destination])
        edges[i] = replace(chunk, names=table, source=source, destination=destination)
    for i, rows in enumerate(vertices):
        table, (vertex,) = rows.names.as_table([rows.vertex])
        vertices[i] = replace(rows, names=table, vertex=vertex)
    columns, rows_of = unite([c.names for c in edges] + [c.names for c in vertices])
    degrees = np.zeros(len(columns[0]), np.int64)
    for chunk, row in zip(edges, rows_of, strict=False):
        degrees[row] += _counts(chunk)
    tables: list[np.ndarray] = [
        row.astype(_dense_dtype(len(degrees)), copy=False) for row in rows_of
    ]
    return columns, tables, tables, degrees


def _number_range(
    edges: list[EdgeChunk], vertices: list[VertexChunk], first: int, size: int
) -> tuple[list[pa.Array], list[np.ndarray], list[np.ndarray], np.ndarray]:
    """`_number` for integers of a range that is small enough for a table over it."""
    degrees = np.zeros(size, np.int64)
    for chunk in edges:
        degrees[_window(chunk.names, first)] += _counts(chunk)
    present = degrees > 0
    for rows in vertices:
        present[_window(rows.names, first)][rows.vertex] = True
    ids = shift_range(present, first, (edges or vertices)[0].names.types[0])
    base: np.ndarray = (np.cumsum(present) - 1).astype(_dense_dtype(len(ids)))
    names = [chunk.names for chunk in edges] + [chunk.names for chunk in vertices]
    tables = [base[_window(n, first)] for n in names]
    return [ids], [base], tables, degrees[present]


def _window(names: Any, first: int) -> slice:
    return slice(names.first - first, names.first - first + names.size)


def _counts(chunk: EdgeChunk) -> np.ndarray:
    """How many edge ends each code of the chunk has."""
    from dask_graphgpu.kernels.cpu import csr

    counts = np.zeros(chunk.names.size, np.int64)
    for codes in (chunk.source, chunk.destination):
        csr.count(0, len(codes), codes, counts)
    return counts


def _has_locality(edges: list[EdgeChunk], tables: list[np.ndarray], degrees: np.ndarray) -> bool:
    """Whether the ends of a sample of edges lie close in the order of the user's ids."""
    from dask_graphgpu.kernels.cpu import naming

    near = sampled = 0
    share = -(-_SAMPLE // len(edges))
    for chunk, table in zip(edges, tables, strict=False):
        step = max(len(chunk) // share, 1)
        source, destination = chunk.source[::step].copy(), chunk.destination[::step].copy()
        gap = len(degrees) // NEAR_WINDOW
        near += naming.near(0, len(source), table, source, destination, gap)
        sampled += len(source)
    return has_locality(near, sampled)


def _vertex_columns(
    chunks: list[VertexChunk], tables: list[np.ndarray], num_vertices: int
) -> VertexColumns:
    """The vertices frame's columns in dense order, with how many vertices have no value."""
    columns: dict[str, np.ndarray] = {}
    missing: dict[str, int] = {}
    gaps: dict[str, np.ndarray] = {}
    for name in chunks[0].columns if chunks else ():
        kinds = {chunk.columns[name].dtype for chunk in chunks}
        columns[name] = np.zeros(num_vertices, np.result_type(*kinds))
        known = np.zeros(num_vertices, bool)
        for chunk, table in zip(chunks, tables, strict=True):
            rows = table[chunk.vertex]
            columns[name][rows] = chunk.columns[name]
            known[rows] = ~chunk.nulls[name] if name in chunk.nulls else True
        missing[name] = int(num_vertices - known.sum())
        if missing[name]:
            gaps[name] = known
    rows = [table[chunk.vertex] for chunk, table in zip(chunks, tables, strict=True)]
    repeated = sum(map(len, rows)) - len(np.unique(np.concatenate(rows))) if rows else 0
    return VertexColumns(columns, missing, repeated, gaps)


def _dense_dtype(num_vertices: int) -> type:
    bits = config.get("dense-id-bits")
    if bits not in (None, 32, 64):
        raise InvalidArgument(f"graphgpu.dense-id-bits is {bits!r}; allowed are 32, 64 and null")
    if bits == 32 and num_vertices > 2**32:
        raise InvalidArgument(
            f"graphgpu.dense-id-bits is 32 and the graph has {num_vertices:,} vertices; set it to 64"
        )
    return np.uint64 if bits == 64 or num_vertices > 2**32 else np.uint32
