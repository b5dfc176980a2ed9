"""Chunks of edges, read twice, become rows on disk; only the ids are in memory at once."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from dask_graphgpu.errors import InvalidArgument, InvalidEdges, LimitTooSmall
from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.partition.build import dense_dtype, vertex_columns
from dask_graphgpu.partition.chunk import EdgeChunk, VertexChunk
from dask_graphgpu.partition.csr import Coo, mirror_sum
from dask_graphgpu.partition.empty import NoVertices
from dask_graphgpu.partition.ids import Names, VertexIds, common_type, shift_range, unite
from dask_graphgpu.partition.layout import Layout
from dask_graphgpu.partition.paged.as_given import AsGivenWriter, PagedAsGiven
from dask_graphgpu.partition.paged.folder import SpillFolder
from dask_graphgpu.partition.paged.limits import OF_ROW, Limits
from dask_graphgpu.partition.paged.rows import PagedPartition
from dask_graphgpu.partition.paged.sort import (
    AboutEdges,
    Edges,
    PagedAdjacency,
    SortRoom,
    bytes_sorted,
    sorted_rows,
)
from dask_graphgpu.partition.paged.unsorted import UnsortedPartition, UnsortedView
from dask_graphgpu.partition.partition import VertexColumns
from dask_graphgpu.partition.undirected import mark, marked_dtype
from dask_graphgpu.partition.weight_fault import WeightFault
from dask_graphgpu.stages import Stage

# Integers are looked up in a table over their range where that is at most this many times the ids.
_SPARSE = 8

_NEW_IDS = "there are ids that were not there at first"

# Bytes of a vertex while edges are sorted: offsets, lengths, degrees and a sort's own. And while they are linked, of
# ids in 32 bits: its parent, which becomes its label, and what is made of that for the result.
_SORTING, _LINKING = 40, 12


def build(
    chunks: Callable[[], Iterator[EdgeChunk]],
    vertices: Sequence[VertexChunk],
    layout: Layout,
    limits: Limits,
) -> PagedPartition:
    """Number the vertices, then sort the edges into rows on disk.

    Parameters
    ----------
    chunks : function that gives all chunks of edges, small ones, each time it is called

    Raises
    ------
    InvalidEdges
        Types disagree, or there is no edge and no vertex at all.
    InvalidArgument
        ``order="degree"``: vertices are numbered before their degrees are known.
    LimitTooSmall, SpillError
    """
    vertices = [chunk for chunk in vertices if len(chunk)]
    began, stage = time.monotonic(), Stage("building")
    known = _Known(limits, _SORTING)
    ids = known.all(chunks, vertices, layout, stage)
    stage.say("sorting edges into pages")
    num_vertices = len(ids[0])
    dtype = np.dtype(dense_dtype(num_vertices))
    finder = _Finder(ids, dtype)
    given = _values(vertices, finder, num_vertices)
    held = finder.nbytes + num_vertices * _SORTING + sum(c.nbytes for c in given.columns.values())
    # Of a row group or run that is no longer than is dealt at a time the bytes are counted there.
    row_group = max(known.largest - limits.run_length, 0) * OF_ROW
    held += limits.window_bytes(1 + len(known.kinds)) + row_group
    forward = layout.by == "source" or not layout.directed

    def edges() -> Iterator[Edges]:
        return _runs(chunks(), finder, known, known.kinds, limits.run_length, forward=forward)

    what = f"a graph of {num_vertices:,} vertices"
    about = AboutEdges(num_vertices, known.rows, dtype, known.kinds)
    room = SortRoom(SpillFolder(limits.directories), limits, held)
    try:
        limits.require(limits.least(held), what, largest=row_group)
        rows, directions = on_disk(edges, about, layout, room)
    except LimitTooSmall:
        # Of all that it needs the most is told, at once.
        longest = _longest_row(edges, num_vertices, dtype, layout)
        on_sort = limits.least(held, longest * bytes_sorted(known.kinds))
        what += f" and a vertex with {longest:,} edges on one side"
        limits.require(on_sort, what, largest=row_group)
        raise
    ids_of = VertexIds(ids, None)
    made = PagedPartition(
        ids_of, rows, layout, given, known.rows, fault=known.fault, directions=directions
    )
    made.took = {"build": time.monotonic() - began}
    return made


def numbered(
    chunks: Callable[[], Iterator[EdgeChunk]],
    vertices: Sequence[VertexChunk],
    layout: Layout,
    limits: Limits,
) -> UnsortedPartition:
    """Number the vertices, and leave the edges where they are; for a method that reads no rows.

    Parameters and errors are those of `build`.
    """
    vertices = [chunk for chunk in vertices if len(chunk)]
    began = time.monotonic()
    known = _Known(limits, _LINKING)
    ids = known.all(chunks, vertices, layout, Stage("building"))
    num_vertices = len(ids[0])
    dtype = np.dtype(dense_dtype(num_vertices))
    finder = _Finder(ids, dtype)
    row_group = max(known.largest - limits.run_length, 0) * OF_ROW
    held = finder.nbytes + num_vertices * _LINKING * dtype.itemsize // 4 + row_group
    limits.require(limits.least(held), f"a graph of {num_vertices:,} vertices", largest=row_group)

    def runs() -> Iterator[Edges]:
        return _runs(chunks(), finder, known, {}, limits.run_length, forward=True)

    edges = UnsortedView(num_vertices, dtype, runs, finder.nbytes)
    took = {"build": time.monotonic() - began}
    return UnsortedPartition(VertexIds(ids, None), known.rows, edges, known.fault, took)


def _runs(
    chunks: Iterator[EdgeChunk],
    finder: _Finder,
    known: _Known,
    kinds: Mapping[str, np.dtype[Any]],
    length: int,
    *,
    forward: bool,
) -> Iterator[Edges]:
    """Edges by dense ids in runs of at most a ``length``, by source or, if not ``forward``, by destination.

    Raises
    ------
    InvalidEdges
        They are not those whose ids were read before.
    """
    rows = 0
    for chunk in chunks:
        rows += len(chunk)
        found = finder.of(chunk.names)
        for lo in range(0, len(chunk), length):
            run = slice(lo, lo + length)
            ends = found(chunk.source[run], chunk.destination[run])
            columns = {
                name: chunk.columns[name][run].astype(kind, copy=False)
                for name, kind in kinds.items()
            }
            source, destination = ends if forward else ends[::-1]
            yield source, destination, columns
    if rows != known.rows:
        raise _other_rows(f"{known.rows:,} rows were read first, and {rows:,} after that")


def _other_rows(how: str) -> InvalidEdges:
    return InvalidEdges(
        f"the edges changed while they were read: {how}. Beyond graphgpu.host-memory-limit edges are read at least "
        "twice: call again when nobody writes to their files, or raise the limit"
    )


def on_disk(
    edges: Callable[[], Iterator[Edges]], about: AboutEdges, layout: Layout, room: SortRoom
) -> tuple[PagedAdjacency, PagedAsGiven | None]:
    """Rows of edges in any order, and what those of an undirected graph do not say of edges that carry something.

    ``edges`` gives all of them each time that it is called.
    """
    num_vertices, dtype, kinds = about.num_vertices, about.dtype, about.kinds
    both = not layout.directed and not _mirrored(edges(), num_vertices, dtype)
    aside = None
    if both and kinds:
        aside = AsGivenWriter(dtype, kinds, room.folder, room.limits.page_bytes)
    rows = sorted_rows(
        _both(edges(), marked_dtype(num_vertices, dtype)) if both else edges(),
        replace(about, number=about.number * (2 if both else 1)),
        room,
        marked=both,
        aside=aside,
    )
    if both:
        return rows, None if aside is None else aside.close()
    return rows, None if layout.directed else PagedAsGiven(None, {})


def _longest_row(
    edges: Callable[[], Iterator[Edges]], num_vertices: int, dtype: np.dtype[Any], layout: Layout
) -> int:
    """Edges of the longest row, in whichever direction rows may be asked for."""
    counts = np.zeros((2, num_vertices), np.int64)
    for rows, neighbours, _ in edges():
        for ends, count in zip((rows, neighbours), counts, strict=True):
            kernels.csr.count(0, len(ends), ends, count)
    if not layout.directed and not _mirrored(edges(), num_vertices, dtype):
        counts[0] += counts[1]
    return int(counts.max(initial=0))


class _Known:
    """The ids, types and number of rows of chunks that come and go.

    ``vertex`` : bytes of each vertex while edges are worked on.
    """

    def __init__(self, limits: Limits, vertex: int) -> None:
        self._limits, self._vertex = limits, vertex
        self._tables: list[Names] = []
        self._pending = self._united = 0
        self.rows = self.largest = 0
        self.fault: WeightFault | None = None
        self.kinds: dict[str, np.dtype[Any]] = {}

    def all(
        self,
        chunks: Callable[[], Iterator[EdgeChunk]],
        vertices: Sequence[VertexChunk],
        layout: Layout,
        stage: Stage,
    ) -> list[pa.Array]:
        """The ids of all chunks and of the vertices frame, in ascending order."""
        if layout.order == "degree":
            raise InvalidArgument(
                "order='degree' of a graph beyond graphgpu.host-memory-limit, whose vertices are in the "
                "order of their ids: use order='input' or 'auto', or raise the limit"
            )
        stage.say("numbering vertices")
        for vertex in vertices:
            self.add(vertex.names, [vertex.vertex])
        for chunk in chunks():
            self.add_edges(chunk)
            stage.step()
        return self.finish()

    def add_edges(self, chunk: EdgeChunk) -> None:
        if not len(chunk):
            if not self.kinds:
                self.kinds = {name: column.dtype for name, column in chunk.columns.items()}
            return
        for name, column in chunk.columns.items():
            kind = column.dtype if not self.rows else np.result_type(self.kinds[name], column)
            if kind == np.uint64:
                if column.max() > np.iinfo(np.int64).max:
                    raise InvalidEdges(f"column {name!r} holds values beyond int64; give floats")
                kind = np.dtype(np.int64)
            self.kinds[name] = kind
        self.rows += len(chunk)
        self.fault = WeightFault.worst([self.fault, chunk.fault])
        self.largest = max(self.largest, len(chunk))
        self.add(chunk.names, [chunk.source, chunk.destination])

    def add(self, names: Names, codes: list[np.ndarray]) -> None:
        if names.first is None:
            found = names
        else:
            present = np.zeros(names.size, bool)
            for code in codes:
                present[code.astype(np.intp)] = True
            ids = shift_range(present, names.first, names.types[0])
            found = self._new(Names(names.types, len(ids), table=(ids,)))
        self._tables.append(found)
        self._pending += found.size
        if self._pending > max(2 * self._united, 1 << 16):
            self._unite()

    def _new(self, names: Names) -> Names:
        """Those of some integers that are not among the united ones."""
        first = self._tables[0] if self._united else names
        if first is names or first.types != names.types:
            return names
        assert first.table is not None
        assert names.table is not None
        held, values = np.asarray(first.table[0]), np.asarray(names.table[0])
        place = np.minimum(np.searchsorted(held, values), len(held) - 1)
        ids = pa.array(values[held[place] != values], names.types[0])
        return Names(names.types, len(ids), table=(ids,))

    def finish(self) -> list[pa.Array]:
        if not self._tables:
            raise NoVertices
        self._unite(so_far=False)
        assert self._tables[0].table is not None
        return list(self._tables[0].table)

    def _unite(self, *, so_far: bool = True) -> None:
        kinds = [names.types for names in self._tables]
        types = tuple(
            common_type(list(each), "the partitions") for each in zip(*kinds, strict=True)
        )
        tables = [_cast(names, types) for names in self._tables]
        if len(types) == 1 and pa.types.is_integer(types[0]):
            values = [np.asarray(names.table[0]) for names in tables if names.table is not None]
            # Sorted, not hashed: runs that ascend are merged.
            every = np.sort(np.concatenate(values), kind="stable")
            columns = [pa.array(every[np.append(True, every[1:] != every[:-1])], types[0])]
        else:
            columns = unite(tables)[0]
        size = len(columns[0])
        self._limits.require(
            3 * sum(column.nbytes for column in columns) + size * self._vertex,
            f"a graph of {'at least ' * so_far}{size:,} vertices",
            so_far=so_far,
        )
        self._tables = [Names(types, size, table=tuple(columns))]
        self._united, self._pending = size, 0


class _Finder:
    """From ids to dense ids."""

    def __init__(self, ids: list[pa.Array], dtype: np.dtype[Any]) -> None:
        self._ids, self._dtype, self._base = ids, dtype, None
        self._types = tuple(column.type for column in ids)
        self._vertices = VertexIds(ids, None)
        if len(ids) == 1 and pa.types.is_integer(ids[0].type) and len(ids[0]):
            values = np.asarray(ids[0])
            self._first = int(values[0])
            span = int(values[-1]) - self._first + 1
            if span <= _SPARSE * len(values):
                self._base = np.full(span, np.iinfo(dtype).max, dtype)  # which no vertex is
                places = _offsets(values, self._first).astype(np.intp)
                self._base[places] = np.arange(len(values), dtype=dtype)

    @property
    def nbytes(self) -> int:
        base = 0 if self._base is None else self._base.nbytes
        return base + sum(int(column.nbytes) for column in self._ids)

    def of(self, names: Names) -> Callable[..., list[np.ndarray]]:
        """What gives dense ids of arrays of codes into some names.

        Raises
        ------
        InvalidEdges
            An id is not known; what is given raises it, too.
        """
        if names.first is None:
            return self._in_table(names)
        if self._base is None:
            return lambda *codes: self._few(names, *codes)
        start = names.first - self._first
        window = self._base[max(start, 0) : max(start + names.size, 0)]
        # The ends of a chunk's range occur in it.
        if start < 0 or len(window) < names.size:
            raise _other_rows(_NEW_IDS)
        return lambda *codes: self._known(window, codes)

    def _in_table(self, names: Names) -> Callable[..., list[np.ndarray]]:
        names = _cast(names, self._types)
        assert names.table is not None
        rows, known = self._vertices.find_rows(names.table)
        if not known.all():
            raise _other_rows(_NEW_IDS)
        table = rows.astype(self._dtype)
        return lambda *codes: [table.take(code) for code in codes]

    def _few(self, names: Names, *codes: np.ndarray) -> list[np.ndarray]:
        """Dense ids of codes into a range, of which only those that occur are looked up."""
        named, codes_in = names.as_table(codes)
        return self._in_table(named)(*codes_in)

    def _known(self, window: np.ndarray, codes: Sequence[np.ndarray]) -> list[np.ndarray]:
        found = [window.take(code) for code in codes]
        if any(len(each) and each.max() >= len(self._ids[0]) for each in found):
            raise _other_rows(_NEW_IDS)
        return found


def _offsets(values: np.ndarray, first: int) -> np.ndarray:
    """Distances of ascending integers from the first, without a look at the sign."""
    away = values - values.dtype.type(first)  # which may wrap
    unsigned: np.ndarray = away.view(f"u{away.itemsize}")
    return unsigned.astype(np.uint64)


def _cast(names: Names, types: tuple[pa.DataType, ...]) -> Names:
    if names.types == types:
        return names
    assert names.table is not None
    table = tuple(column.cast(kind) for column, kind in zip(names.table, types, strict=True))
    return replace(names, types=types, table=table)


def _values(vertices: list[VertexChunk], finder: _Finder, num_vertices: int) -> VertexColumns:
    """Columns of the vertices frame, whose rows are codes into tables of dense ids."""
    tables, chunks = [], []
    for chunk in vertices:
        (rows,) = finder.of(chunk.names)(chunk.vertex)
        chunks.append(replace(chunk, vertex=np.arange(len(rows), dtype=np.uint32)))
        tables.append(rows)
    return vertex_columns(chunks, tables, num_vertices)


def _mirrored(edges: Iterator[Edges], num_vertices: int, dtype: np.dtype[Any]) -> bool:
    """Whether every edge stands in both directions, as often and with the same columns."""
    itself = np.arange(num_vertices, dtype=dtype)
    sums: dict[str | None, np.ndarray] = {}
    for rows, neighbours, columns in edges:
        names: list[str | None] = [*columns]
        for name in names or [None]:
            more = mirror_sum([Coo(rows, neighbours, itself, columns)], name)
            sums[name] = sums.get(name, np.zeros(1, np.uint64)) + more  # arrays may wrap
    return all(int(each[0]) == 0 for each in sums.values())


def _both(edges: Iterator[Edges], dtype: Any) -> Iterator[Edges]:
    """Every edge in both directions, a self-loop once; the neighbours are marked."""
    for rows, neighbours, columns in edges:
        yield rows, mark(neighbours, dtype), columns
        other = rows != neighbours
        turned = {name: column[other] for name, column in columns.items()}
        yield neighbours[other], mark(rows[other], dtype, back=True), turned
