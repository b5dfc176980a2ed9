"""Chunks of edges, each with names of its own, become one partition with dense ids."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from dask_graphgpu import config
from dask_graphgpu.arguments import is_whole, refuse
from dask_graphgpu.errors import InvalidArgument
from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.kernels.cpu.threads import even_blocks, for_blocks
from dask_graphgpu.partition.as_given import AsGiven
from dask_graphgpu.partition.chunk import EdgeChunk, VertexChunk, reading
from dask_graphgpu.partition.csr import (
    Adjacency,
    Coo,
    all_below,
    from_coo,
    mirrored,
    offsets_of,
)
from dask_graphgpu.partition.edge_list import EdgeList, ListedEdges
from dask_graphgpu.partition.empty import NoVertices
from dask_graphgpu.partition.host_memory import give_back
from dask_graphgpu.partition.ids import Names, VertexIds, common_type, shift, shift_range, unite
from dask_graphgpu.partition.layered import find_levels
from dask_graphgpu.partition.layout import Form, Layout
from dask_graphgpu.partition.order import NEAR_WINDOW, falling_degree, has_locality, is_skewed
from dask_graphgpu.partition.partition import Partition, Prepared, VertexColumns
from dask_graphgpu.partition.row_sort import each, num_blocks
from dask_graphgpu.partition.undirected import undirected
from dask_graphgpu.partition.weight_fault import WeightFault
from dask_graphgpu.stages import Stage

# Consecutive integers are numbered through a table over their range when that is at most this
# many times the edge ends; beyond, through a hash of the distinct ones.
_SPARSE = 8
SAMPLE = 1 << 16  # edges looked at to judge an order


def build(
    chunks: list[EdgeChunk], vertices: Sequence[VertexChunk], layout: Layout, form: Form = "rows"
) -> Partition:
    """Number the vertices of all chunks, choose their order, and sort the edges into rows.

    The list of chunks is emptied, so that they go once they are in rows. Cost: a pass over the
    codes and the counting sort; memory above the chunks is a table of the ids and the rows.

    In the ``form`` "unsorted" vertices are in the order of the user's ids, and each row of the frame is an edge, of an
    undirected graph at both ends: no ends are counted, and nothing is sorted or merged. Where sums of weights may not
    fit 64 bits rows are sorted all the same, as a heavier repeat would be an error where the lightest is none.

    Raises
    ------
    InvalidEdges
        The chunks' id types disagree, or there is no edge and no vertex at all.
    """
    began, took = time.monotonic(), reading(chunks)
    stage = Stage("building", 2)
    carried = {name: column[:0] for chunk in chunks[:1] for name, column in chunk.columns.items()}
    edges, vertices = _taken(chunks, vertices)
    fault = WeightFault.worst(chunk.fault for chunk in edges)
    stage.say("numbering vertices")
    ordered = form == "rows" or not _sums_fit(edges)
    numbering = _number(edges, vertices, counted=ordered)
    columns, tables, num_vertices = numbering.ids, numbering.tables, len(numbering.ids[0])
    position = None
    if layout.order == "degree" or (
        ordered
        and layout.order == "auto"
        and is_skewed(numbering.degrees)
        and not _has_locality(edges, tables, num_vertices)
    ):
        position = falling_degree(numbering.degrees, tables[0].dtype.type)
        for base in numbering.bases:
            base[:] = position.take(base)
    balanced = ordered and not layout.directed and numbering.balanced
    of_edges = tables[: len(edges)]
    if position is None and numbering.plain and not any(first for _, first in numbering.places):
        of_edges = [tables[0][:0]] * len(edges)  # codes are vertices
    del numbering
    stage.step("sorting edges into rows")
    by = layout.by if layout.directed else "source"
    runs = [_coo(chunk, table, by) for chunk, table in zip(edges, of_edges, strict=True)]
    given = vertex_columns(vertices, tables[len(edges) :], num_vertices)
    dtype = tables[0].dtype
    if not runs:  # vertices only
        none = np.empty(0, dtype)
        runs = [Coo(none, none, none, carried)]
    del edges, tables, of_edges
    num_rows = sum(map(len, runs))
    ids = VertexIds(columns, position)
    if not ordered:
        rows = from_coo(num_vertices, runs, dtype, both=not layout.directed, ordered=False)
        made = Partition(ids, rows, layout, given, num_rows, Prepared(plain=True), fault=fault)
    else:
        # In a list that is its own mirror image every vertex is a source as often as a destination, which is
        # cheaper to see.
        aside = None if layout.directed else AsGiven()
        if layout.directed or (balanced and mirrored(runs)):
            rows = from_coo(num_vertices, runs, dtype)
        else:
            rows, aside = undirected(num_vertices, runs, dtype, ids.rank)
        made = of_rows(ids, rows, layout, given, num_rows, fault, aside)
    made.took = took | {"build": time.monotonic() - began}
    stage.step()
    return made


def build_edge_list(chunks: list[EdgeChunk], vertices: Sequence[VertexChunk]) -> EdgeList:
    """Number the vertices of all chunks, and leave the edges as they are.

    The list of chunks is emptied. Cost: a pass over the codes, which are kept; memory above them is a table of
    the ids. Raises as `build`.
    """
    began, took = time.monotonic(), reading(chunks)
    stage = Stage("building", 1)
    edges, vertices = _taken(chunks, vertices)
    fault = WeightFault.worst(chunk.fault for chunk in edges)
    stage.say("numbering vertices")
    numbering = _number(edges, vertices, counted=False)
    runs = [
        ListedEdges(chunk.source, chunk.destination, *place)
        for chunk, place in zip(edges, numbering.places, strict=False)
    ]
    dtype = numbering.bases[0].dtype
    tables = [np.empty(0, dtype)] if numbering.plain else numbering.bases
    stage.step()
    took |= {"build": time.monotonic() - began}
    return EdgeList(VertexIds(numbering.ids, None), runs, tables, dtype, fault, took)


def _taken(
    chunks: list[EdgeChunk], vertices: Sequence[VertexChunk]
) -> tuple[list[EdgeChunk], list[VertexChunk]]:
    """The chunks that are not empty, in types that hold the values of all; the list of ``chunks`` is emptied."""
    give_back(sum(map(len, chunks)))  # what reading the frames left behind
    edges = [chunk for chunk in chunks if len(chunk)]
    chunks.clear()
    vertices = [chunk for chunk in vertices if len(chunk)]
    if not edges and not vertices:
        raise NoVertices
    return _same_types(same_columns(edges), vertices)


def of_rows(
    ids: VertexIds,
    rows: Adjacency,
    layout: Layout,
    vertices: VertexColumns,
    num_rows: int,
    fault: WeightFault | None,
    aside: AsGiven | None,
) -> Partition:
    """The partition of sorted rows, with their layers where the layout asks for these."""
    levels = None
    if layout.layered:
        root = None if layout.root is None else ids.find_number(layout.root)
        levels = find_levels(rows, len(ids), ids.rank, root, None)
    made = Partition(
        ids, rows, layout, vertices, num_rows, levels=levels, fault=fault, as_given=aside
    )
    if levels is not None:
        made.order_by_layers()
    return made


@dataclass(frozen=True, eq=False)
class _Numbering:
    """The distinct ids and their numbers, in ascending order.

    Attributes
    ----------
    ids : Arrow arrays, one an id column
    bases : the arrays that hold vertex numbers
    places : for every chunk, edges first, which base its codes are of, and where they begin there
    ends : shape (2, num_vertices), how often each vertex is a source and a destination; without vertices where
        nobody asked for it
    plain : whether there is one base, and each place of it holds its own number
    """

    ids: list[pa.Array]
    bases: list[np.ndarray]
    places: list[tuple[int, int]]
    ends: np.ndarray
    plain: bool

    @property
    def tables(self) -> list[np.ndarray]:
        """For every chunk, code to vertex: windows of the bases."""
        return [self.bases[base][first:] for base, first in self.places]

    @cached_property
    def degrees(self) -> np.ndarray:
        degrees = np.empty(self.ends.shape[1], np.int64)

        def add(lo: int, hi: int) -> None:
            np.add(self.ends[0, lo:hi], self.ends[1, lo:hi], out=degrees[lo:hi])

        for_blocks(add, even_blocks(len(degrees)))
        return degrees

    @property
    def balanced(self) -> bool:
        """Whether every vertex is as often a source as a destination."""

        def same(lo: int, hi: int) -> bool:
            return np.array_equal(*self.ends[:, lo:hi])

        return all(for_blocks(same, even_blocks(self.ends.shape[1])))


def _sums_fit(edges: Sequence[EdgeChunk]) -> bool:
    """Whether no sum of weights along a path, told by their type, goes beyond 64 bits."""
    weights = [chunk.columns["weight"] for chunk in edges if "weight" in chunk.columns]
    if not weights or weights[0].dtype.kind == "f":
        return True
    return (sum(map(len, weights)) + 1) << 8 * weights[0].dtype.itemsize < 1 << 63


def _coo(chunk: EdgeChunk, table: np.ndarray, by: str) -> Coo:
    ends = chunk.source, chunk.destination
    return Coo(*(ends if by == "source" else ends[::-1]), table, chunk.columns)


def same_columns(edges: Sequence[Any]) -> list[Any]:
    """Chunks of edges, in memory of the host or of a GPU, that carry types which hold the values of all."""
    kinds = {
        name: np.result_type(*(chunk.columns[name].dtype for chunk in edges))
        for name in (edges[0].columns if edges else ())
    }
    return [
        replace(
            chunk,
            columns={
                name: column.astype(kinds[name], copy=False)
                for name, column in chunk.columns.items()
            },
        )
        for chunk in edges
    ]


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
    edges: list[EdgeChunk], vertices: list[VertexChunk], *, counted: bool = True
) -> _Numbering:
    """Find the distinct ids; chunks are replaced in the lists where their codes change.

    ``counted`` : whether the ends of edges are counted at each vertex.
    """
    names = [chunk.names for chunk in edges] + [chunk.names for chunk in vertices]
    occurrences = 2 * sum(map(len, edges)) + sum(map(len, vertices))
    if all(n.first is not None for n in names):
        first = min(n.first for n in names if n.first is not None)
        last = max(n.first + n.size for n in names if n.first is not None)
        if last - first <= max(_SPARSE * occurrences, 1 << 20):
            return _number_range(edges, vertices, first, last - first, counted=counted)
    for i, chunk in enumerate(edges):
        table, (source, destination) = chunk.names.as_table([chunk.source, chunk.destination])
        edges[i] = replace(chunk, names=table, source=source, destination=destination)
    for i, rows in enumerate(vertices):
        table, (vertex,) = rows.names.as_table([rows.vertex])
        vertices[i] = replace(rows, names=table, vertex=vertex)
    columns, rows_of = unite([c.names for c in edges] + [c.names for c in vertices])
    dtype = dense_dtype(len(columns[0]))
    bases: dict[int, np.ndarray] = {}  # chunks may share a table, which is to be changed once
    of_table: dict[int, list[EdgeChunk]] = {}
    for row in rows_of:
        bases.setdefault(id(row), row.astype(dtype, copy=False))
    for chunk, row in zip(edges, rows_of, strict=False):
        of_table.setdefault(id(row), []).append(chunk)
    plain = len(bases) == 1 and all(n.ascending for n in names)  # codes are vertices
    if not counted:
        ends = np.empty((2, 0), np.int64)
    elif plain:
        ends = _ends(edges, len(columns[0]))
    else:
        ends = np.zeros((2, len(columns[0])), np.int64)
        for key, chunks in of_table.items():  # a row of ``ends`` is of one place in a table only
            base = bases[key]
            counts = _ends(chunks, len(base))
            for_blocks(kernels.csr.add_at, even_blocks(len(base)), base, counts, ends)
    number = {key: i for i, key in enumerate(bases)}
    places = [(number[id(row)], 0) for row in rows_of]
    return _Numbering(columns, [*bases.values()], places, ends, plain)


def _number_range(
    edges: list[EdgeChunk], vertices: list[VertexChunk], first: int, size: int, *, counted: bool
) -> _Numbering:
    """`_number` for integers of a range that is small enough for a table over it."""
    ends = _ends(edges, size, first) if counted else np.empty((2, 0), np.int64)
    blocks = even_blocks(size)
    if counted:
        present = np.empty(size, bool)
        for_blocks(lambda lo, hi: np.any(ends[:, lo:hi], axis=0, out=present[lo:hi]), blocks)
    else:
        present = _present(edges, size, first)
    for rows in vertices:
        present[_window(rows.names, first)][rows.vertex.astype(np.intp)] = True
    dtype, kind = dense_dtype(int(np.count_nonzero(present))), (edges or vertices)[0].names.types[0]
    plain = bool(present.all())
    if plain:
        ids, base, kept = shift(np.arange(size), first, kind), all_below(size, dtype), ends
    else:
        ids = shift_range(present, first, kind)
        place, kept = offsets_of(present), np.empty((2, len(ids) if counted else 0), np.int64)
        base = np.empty(size, dtype)

        def keep(lo: int, hi: int) -> None:
            base[lo:hi] = place[lo:hi]
            if counted:
                for of, counts in zip(kept, ends, strict=True):
                    of[place[lo] : place[hi]] = counts[lo:hi][present[lo:hi]]

        for_blocks(keep, blocks)
    names = [chunk.names for chunk in edges] + [chunk.names for chunk in vertices]
    places = [(0, _window(n, first).start) for n in names]
    return _Numbering([ids], [base], places, kept, plain)


def _present(edges: list[EdgeChunk], size: int, first: int) -> np.ndarray:
    """Which integers of a range are ends of edges."""
    present = np.zeros(size, bool)
    for chunk in edges:
        within, blocks = present[_window(chunk.names, first)], even_blocks(len(chunk))
        for end in (chunk.source, chunk.destination):
            for_blocks(kernels.csr.mark, blocks, end, within)
    return present


def _window(names: Any, first: int) -> slice:
    return slice(names.first - first, names.first - first + names.size)


def _ends(edges: list[EdgeChunk], size: int, first: int | None = None) -> np.ndarray:
    """How often each number below ``size`` is a source and a destination, shape (2, size).

    Numbers are codes, or integers minus ``first``.
    """

    def within(chunk: EdgeChunk) -> slice:
        return slice(None) if first is None else _window(chunk.names, first)

    rows = sum(map(len, edges))
    blocks = num_blocks(rows)
    # Threads share counters where a set for each would outweigh the edges.
    sets = max(min(blocks, rows // size), 1)
    add = kernels.csr.count if sets == blocks else kernels.csr.count_together
    ends = np.zeros((sets, 2, size), np.uint32 if sets > 1 and rows < 2**32 else np.int64)
    starts = np.cumsum([0, *map(len, edges)])
    cuts = np.arange(blocks + 1) * rows // blocks

    def count(block: int) -> None:
        for chunk, start in zip(edges, starts[:-1], strict=True):
            lo, hi = max(cuts[block] - start, 0), min(cuts[block + 1] - start, len(chunk))
            if lo < hi:
                counters = ends[block % sets, :, within(chunk)]
                add(lo, hi, chunk.source, counters[0])
                add(lo, hi, chunk.destination, counters[1])

    each(count, blocks)
    if sets == 1:
        alone: np.ndarray = ends[0]
        return alone
    total: np.ndarray = np.empty((2, size), np.int64)
    for_blocks(
        lambda lo, hi: ends[:, :, lo:hi].sum(axis=0, dtype=np.int64, out=total[:, lo:hi]),
        even_blocks(size, work=2 * sets),
    )
    return total


def _has_locality(edges: list[EdgeChunk], tables: list[np.ndarray], num_vertices: int) -> bool:
    """Whether the ends of a sample of edges lie close in the order of the user's ids."""
    near = sampled = 0
    share = -(-SAMPLE // len(edges))
    for chunk, table in zip(edges, tables, strict=False):
        step = max(len(chunk) // share, 1)
        source, destination = chunk.source[::step].copy(), chunk.destination[::step].copy()
        gap = num_vertices // NEAR_WINDOW
        near += kernels.locality.near(0, len(source), table, source, destination, gap)
        sampled += len(source)
    return has_locality(near, sampled)


def vertex_columns(
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
            places = table.take(chunk.vertex).astype(np.intp)
            columns[name][places] = chunk.columns[name]
            known[places] = ~chunk.nulls[name] if name in chunk.nulls else True
        missing[name] = int(num_vertices - known.sum())
        if missing[name]:
            gaps[name] = known
    if not chunks:
        return VertexColumns()
    listed = np.zeros(num_vertices, bool)
    for chunk, table in zip(chunks, tables, strict=True):
        listed[table.take(chunk.vertex).astype(np.intp)] = True
    repeated = sum(map(len, chunks)) - int(listed.sum())
    return VertexColumns(columns, missing, repeated, gaps, listed=listed)


def listed_vertices(given: VertexColumns, names: Names, place: np.ndarray) -> list[VertexChunk]:
    """The rows of the vertices frame again, an id once; ``place`` : of each vertex that it lists, the code in names."""
    if given.listed is None:
        return []
    which = np.flatnonzero(given.listed)
    columns = {name: column[which] for name, column in given.columns.items()}
    gaps = {name: ~given.known[name][which] for name in given if given.missing[name]}
    return [VertexChunk(place[which], names, columns, gaps)]


def dense_dtype(num_vertices: int) -> type:
    """Type of dense ids: as configured, or 32 bits while they fit."""
    bits = config.get("dense-id-bits")
    if bits is not None and not (is_whole(bits) and bits in (32, 64)):
        refuse("graphgpu.dense-id-bits", bits, "are 32, 64 and null")
    if bits == 32 and num_vertices > 2**32:
        raise InvalidArgument(
            f"graphgpu.dense-id-bits is 32 and the graph has {num_vertices:,} vertices; set it to 64"
        )
    return np.uint64 if bits == 64 or num_vertices > 2**32 else np.uint32
