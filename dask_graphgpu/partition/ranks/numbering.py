"""The number of a vertex: the place of its id in the ascending order of the ids of all ranks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from dask_graphgpu.exchange.ranks import Ranks
from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.kernels.cpu.threads import even_blocks, for_blocks
from dask_graphgpu.partition.chunk import EdgeChunk, UncodedEdges, VertexChunk, to_host
from dask_graphgpu.partition.device.arrays import choose
from dask_graphgpu.partition.ids import Names, composite, shift_range
from dask_graphgpu.partition.ranks.agree import Agreed
from dask_graphgpu.partition.ranks.ghosts import Ghosts
from dask_graphgpu.partition.ranks.homes import Homes
from dask_graphgpu.partition.ranks.merging import merged
from dask_graphgpu.partition.ranks.splits import cuts_of, splits_of
from dask_graphgpu.partition.ranks.uncoded import number_at_homes
from dask_graphgpu.partition.ranks.wire import tables_to_all

if TYPE_CHECKING:
    from dask_graphgpu.partition.ranks.on_host import OnHost

# Integers are numbered through a table over their range when that is at most this many times the
# edge ends of a rank: every rank holds such a table, which is not to outweigh its edges.
_SPARSE = 2
# Ids of one column that are merged: for fewer, what merges them is not worth compiling.
_MANY = 1 << 16


@dataclass(eq=False)
class Codes:
    """Where the codes of a chunk are looked up: a part of one of the `Numbered.tables`."""

    table: int
    window: slice

    def of(self, tables: Sequence[np.ndarray]) -> np.ndarray:
        return tables[self.table][self.window]


@dataclass(eq=False)
class EdgeRun:
    """The edges of a chunk without its names."""

    source: np.ndarray
    destination: np.ndarray
    codes: Codes
    columns: dict[str, np.ndarray]

    def __len__(self) -> int:
        return len(self.source)

    def ends(self, part: slice) -> tuple[np.ndarray, np.ndarray]:
        """Codes of some edges, in host memory."""
        return to_host(self.source[part]), to_host(self.destination[part])


@dataclass(eq=False)
class VertexRun:
    """The rows of a chunk of the vertices frame without its names."""

    vertex: np.ndarray
    codes: Codes
    chunk: VertexChunk


@dataclass(eq=False)
class Numbered:
    """The chunks of a rank after all ranks have numbered their ids.

    Attributes
    ----------
    homes : Homes
    ids : Arrow arrays
        The ids of the vertices that this rank is home to, ascending.
    splits : list of size - 1 ids, each a tuple of a value for each id column
        The least id that homes 1, 2, ... may have.
    numbers : unsigned, ascending
        Of the vertices that occur on this rank.
    tables : arrays from code to place in ``numbers``
    runs, vertices : the chunks, with codes into ``tables``
    """

    homes: Homes
    ids: list[pa.Array]
    splits: list[tuple[Any, ...]]
    numbers: np.ndarray
    tables: list[np.ndarray]
    runs: list[EdgeRun] = field(default_factory=list)
    vertices: list[VertexRun] = field(default_factory=list)


def in_range(agreed: Agreed, size: int) -> bool:
    """Whether the ids of all ``size`` ranks are integers from a range that is narrow enough for tables."""
    if agreed.span is None:
        return False
    first, last = agreed.span
    return last - first <= max(_SPARSE * agreed.occurrences // size, 1 << 20)


def number(
    ranks: Ranks,
    chunks: list[Any],
    vertices: Sequence[VertexChunk],
    agreed: Agreed,
    passes: OnHost,
) -> Numbered:
    """Number the ids of all ranks. Collective; ``chunks``, `EdgeChunk` or `UncodedEdges`, is emptied.

    The numbers are the same however the chunks are dealt to ranks. Cost: a pass over the codes; of
    integers in a narrow range two bits of it a rank on the wire, of strings without codes all of them
    to their homes and their numbers back, of any others only the distinct ids of each rank.
    """
    vertices = [chunk for chunk in vertices if len(chunk)]
    edges = [chunk for chunk in chunks if len(chunk)]
    chunks.clear()
    if agreed.uncoded:
        return _number_at_homes(ranks, edges, vertices, agreed.types, passes)
    if agreed.span is not None and in_range(agreed, ranks.size):
        return _number_range(ranks, edges, vertices, agreed.span, agreed.types[0], passes)
    return _number_sorted(ranks, edges, vertices, agreed.types)


def _number_range(
    ranks: Ranks,
    edges: list[EdgeChunk],
    vertices: Sequence[VertexChunk],
    span: tuple[int, int],
    kind: pa.DataType,
    passes: OnHost,
) -> Numbered:
    """`number` for the integers of a range: homes by equal cuts of it."""
    first, size = span[0], span[1] - span[0]

    def codes(names: Names) -> Codes:
        assert names.first is not None
        return Codes(0, slice(names.first - first, names.first - first + names.size))

    runs = [EdgeRun(c.source, c.destination, codes(c.names), c.columns) for c in edges]
    rows = [VertexRun(c.vertex, codes(c.names), c) for c in vertices]
    present: np.ndarray = np.zeros(size, bool)
    for run in runs:
        for codes_of_end in (run.source, run.destination):
            passes.mark(codes_of_end, present[run.codes.window])
    for row in rows:
        window = present[row.codes.window]
        for_blocks(kernels.csr.mark, even_blocks(len(row.vertex)), row.vertex, window)
    cuts = [size * h // ranks.size for h in range(ranks.size + 1)]
    here, *others = ranks.all_to_all([np.packbits(present[lo:hi]) for lo, hi in pairwise(cuts)])
    here = here.copy()
    for other in others:
        here |= other
    everywhere: np.ndarray = np.concatenate(
        [
            np.unpackbits(bits, count=hi - lo)
            for bits, (lo, hi) in zip(ranks.all_gather(here), pairwise(cuts), strict=True)
        ]
    ).view(bool)
    counts = [int(np.count_nonzero(everywhere[lo:hi])) for lo, hi in pairwise(cuts)]
    homes = Homes.of(ranks, counts)
    own = slice(*cuts[ranks.rank : ranks.rank + 2])
    ids = shift_range(everywhere[own], first + own.start, kind)
    here_too = passes.at_work(present)
    numbers = np.cumsum(passes.at_work(everywhere), dtype=homes.dtype)
    numbers = to_host(choose(numbers, here_too))
    numbers -= homes.dtype.type(1)
    del everywhere
    places: Any = np.cumsum(here_too, dtype=np.uint32 if size <= 2**32 else np.uint64)
    np.maximum(places, 1, out=places)
    places -= 1  # what stands for ids that do not occur is looked up with the others
    table = to_host(places)
    del here_too, places
    splits = [(first + cut,) for cut in cuts[1:-1]]
    tables = [table] if runs or rows else []
    return Numbered(homes, [ids], splits, numbers, tables, runs, rows)


def _number_sorted(
    ranks: Ranks,
    edges: list[EdgeChunk],
    vertices: Sequence[VertexChunk],
    types: tuple[pa.DataType, ...],
) -> Numbered:
    """`number` by a sample sort of the distinct ids, which is for ids of any kind."""
    listed = _Listed(types)
    runs, rows = [], []
    edges.reverse()
    while edges:  # a chunk goes once its codes have become others
        chunk = edges.pop()
        (source, destination), codes = listed.add(chunk.names, [chunk.source, chunk.destination])
        runs.append(EdgeRun(source, destination, codes, chunk.columns))
        del chunk
    for vertex_chunk in vertices:
        (vertex,), codes = listed.add(vertex_chunk.names, [vertex_chunk.vertex])
        rows.append(VertexRun(vertex, codes, vertex_chunk))
    distinct, tables = listed.united()
    del listed
    splits = splits_of(ranks, distinct)
    ids, homes, numbers = _at_homes(ranks, distinct, splits)
    return Numbered(homes, ids, splits, numbers, tables, runs, rows)


def _number_at_homes(
    ranks: Ranks,
    edges: list[EdgeChunk | UncodedEdges],
    vertices: Sequence[VertexChunk],
    types: tuple[pa.DataType, ...],
    passes: OnHost,
) -> Numbered:
    """`number` for strings of which some have no codes yet."""
    listed, strings, rows = _Listed(types), [], []
    coded: list[EdgeRun | None] = []  # in the order of the edges
    columns: list[dict[str, np.ndarray]] = []
    edges.reverse()
    while edges:
        chunk = edges.pop()
        if isinstance(chunk, UncodedEdges):
            strings += [chunk.source, chunk.destination]
            coded.append(None)
        else:
            (source, destination), codes = listed.add(
                chunk.names, [chunk.source, chunk.destination]
            )
            coded.append(EdgeRun(source, destination, codes, chunk.columns))
        columns.append(chunk.columns)
        del chunk
    for vertex_chunk in vertices:
        (vertex,), codes = listed.add(vertex_chunk.names, [vertex_chunk.vertex])
        rows.append(VertexRun(vertex, codes, vertex_chunk))
    (distinct,), tables = listed.united()
    strings.append(distinct)
    del listed, distinct
    made = number_at_homes(ranks, strings)
    here = Ghosts.of(np.zeros(2), len(made.homes), made.numbers, passes)
    passes.to_local(here, made.numbers)  # all numbers are as those of others
    numbers = here.places(made.homes.dtype)
    places_of_table = made.numbers.pop()
    tables = [places_of_table.take(table) for table in tables]
    themselves = Codes(len(tables), slice(None))
    tables.append(np.arange(len(numbers), dtype=made.homes.dtype))
    ends = iter(made.numbers)
    runs = [
        EdgeRun(next(ends), next(ends), themselves, carried) if run is None else run
        for run, carried in zip(coded, columns, strict=True)
    ]
    return Numbered(made.homes, [made.ids], made.splits, numbers, tables, runs, rows)


class _Listed:
    """The tables of ids that chunks have, each once."""

    def __init__(self, types: tuple[pa.DataType, ...]) -> None:
        self._types = types
        self._columns: list[list[pa.Array]] = [[] for _ in types]
        self._ascending = True
        self._known: dict[int, tuple[Any, Codes]] = {}  # chunks may share tables

    def add(self, names: Names, codes: Sequence[np.ndarray]) -> tuple[list[np.ndarray], Codes]:
        """Codes into a table of ids, and which one."""
        named, codes = names.as_table(codes)
        table = named.table
        assert table is not None
        if id(table) not in self._known:
            # Kept beside, so that no other table gets the same identity.
            self._known[id(table)] = table, Codes(len(self._columns[0]), slice(None))
            self._ascending &= named.ascending
            for held, column, kind in zip(self._columns, table, self._types, strict=True):
                held.append(column.cast(kind))
        return list(codes), self._known[id(table)][1]

    def united(self) -> tuple[list[pa.Array], list[np.ndarray]]:
        """The distinct ids, ascending, and for each table the place of its ids among them."""
        if not self._columns[0]:
            return [pa.array([], kind) for kind in self._types], []
        if len(self._columns[0]) == 1 and self._ascending:
            every = np.arange(len(self._columns[0][0]), dtype=np.uint32)
            return [column for (column,) in self._columns], [every]
        distinct, tables = composite(self._columns)
        return distinct, [table.astype(np.uint32, copy=False) for table in tables]


def _at_homes(
    ranks: Ranks, distinct: Sequence[pa.Array], splits: Sequence[tuple[Any, ...]]
) -> tuple[list[pa.Array], Homes, np.ndarray]:
    """Unite the distinct ids of all ranks at their homes: the ids here, and numbers of those given."""
    cuts = pairwise(cuts_of(distinct, splits))
    received = tables_to_all(ranks, [[column[lo:hi] for column in distinct] for lo, hi in cuts])
    columns = [[table[k] for table in received] for k in range(len(distinct))]
    if len(columns) == 1 and sum(map(len, columns[0])) >= _MANY:
        one, rows = merged(columns[0])
        ids = [one]
    else:
        ids, rows = composite(columns)
    del received, columns
    homes = Homes.agreed(ranks, len(ids[0]))
    replies = [row.astype(homes.dtype) + homes.dtype.type(homes.first) for row in rows]
    return ids, homes, np.concatenate(ranks.all_to_all(replies))


def numbered_rows(ranks: Ranks, table: Sequence[pa.Array]) -> tuple[np.ndarray, int]:
    """Numbers of the rows of a table, the same for equal ones of all ranks, and how many there are. Collective.

    Every rank gives a table of its own with distinct rows, in columns of the same types.
    """
    if not ranks.sum(len(table[0])):
        return np.empty(0, np.int64), 0
    distinct, (codes,) = composite([[column] for column in table])
    _, homes, numbers = _at_homes(ranks, distinct, splits_of(ranks, distinct))
    return numbers.astype(np.int64).take(codes), len(homes)
