"""Rows of neighbours (CSR and CSC): built by sorting edges, and turned over."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.kernels.cpu.threads import copy_blocks, even_blocks, for_blocks, num_threads
from dask_graphgpu.partition.placing import placed
from dask_graphgpu.partition.row_sort import RowSort, as_bits, each, num_blocks, read_only, to_move

_BLOCK = 1 << 16  # entries of `at_ends`


@dataclass(frozen=True, eq=False)
class Adjacency:
    """Rows of neighbours: CSR when a row is a source, CSC when a row is a destination.

    Attributes
    ----------
    offsets : int64, shape (num_vertices + 1,)
        Row v is ``neighbours[offsets[v]:offsets[v + 1]]``.
    neighbours : uint32 or uint64, shape (num_edges,)
        Dense ids, ascending within a row. Unsigned, because a signed index costs a test for
        negative values at every gather.
    columns : dict of arrays, each of shape (num_edges,)
        What an edge carries: "weight" and the columns that a program reads.
    """

    offsets: np.ndarray
    neighbours: np.ndarray
    columns: dict[str, np.ndarray] = field(default_factory=dict)

    @property
    def num_vertices(self) -> int:
        return len(self.offsets) - 1

    @property
    def num_edges(self) -> int:
        return len(self.neighbours)

    @property
    def weight(self) -> np.ndarray | None:
        return self.columns.get("weight")

    @cached_property
    def degrees(self) -> np.ndarray:
        """Row lengths, int64, shape (num_vertices,)."""
        return np.diff(self.offsets)


@dataclass(frozen=True, eq=False)
class Coo:
    """A run of edges as (row, neighbour) pairs with what they carry; arrays of one length.

    Both ends are codes; ``table`` says which vertex a code is, so that a graph that is being built
    does not hold its edges twice. An empty one: codes are vertices. ``back`` : edges lead from the
    neighbour to the row; None: neighbours are marked, as of `from_coo`.
    """

    rows: np.ndarray
    neighbours: np.ndarray
    table: np.ndarray
    columns: dict[str, np.ndarray] = field(default_factory=dict)
    back: bool | None = False

    def __len__(self) -> int:
        return len(self.rows)

    def vertex(self, code: Any) -> int:
        """The vertex that a code is."""
        return int(self.table[code] if len(self.table) else code)

    def ends(self) -> tuple[int, np.ndarray, np.ndarray, np.ndarray]:
        """What kernels over the run take: its length, the table, rows and neighbours."""
        return len(self), self.table, self.rows, self.neighbours


def from_edges(
    num_vertices: int,
    source: np.ndarray,
    destination: np.ndarray,
    columns: dict[str, np.ndarray] | None = None,
) -> Adjacency:
    """Rows by source of one edge list; ids are 0 .. num_vertices - 1 of any integer type."""
    dtype = np.uint64 if num_vertices > 2**32 or source.dtype == np.uint64 else np.uint32
    coo = Coo(source.astype(dtype), destination.astype(dtype), np.empty(0, dtype), columns or {})
    return from_coo(num_vertices, [coo], dtype)


def from_coo(
    num_vertices: int,
    runs: list[Coo],
    dtype: Any,
    *,
    marked: bool = False,
    both: bool = False,
    ordered: bool = True,
) -> Adjacency:
    """Rows from runs of edges; ``runs`` is emptied, as its memory is given back half-way.

    Edges are dealt to buckets of rows that fit the cache, and each bucket is sorted where it is.
    Cost: each edge is moved about five times, four of them in the cache; once where the edges come in
    order, or nearly so (`placed`). Extra memory is a key an edge (4 bytes while there are fewer than
    some million vertices, else 8); what the edges carry goes before their keys come, and they before
    rows do. Of edges nearly in order it is 4 bytes an entry at most, and they go when the rows are there.

    Parameters
    ----------
    marked : bool
        Give neighbours as ``vertex << 1 | mark``, where the mark is 1 of an edge that leads from the
        neighbour to the row. ``dtype`` is to hold that.
    both : bool
        Put every edge but a self-loop into the rows of both its ends.
    ordered : bool
        False: the neighbours of a row may stand in any order.
    """
    kinds = {name: column.dtype for name, column in runs[0].columns.items()} if runs else {}
    blocks = _even_runs(runs, num_blocks(sum(map(len, runs))))
    runs.clear()
    if not (marked or both):
        made = _in_order(num_vertices, blocks, dtype, ordered)
        if made is not None:
            return made
    rows = placed(num_vertices, blocks, dtype, kinds, marked=marked, both=both, ordered=ordered)
    if rows is not None:
        return Adjacency(*rows)

    def count(block: int, shift: Any, counts: np.ndarray) -> None:
        for coo in blocks[block]:
            kernels.row_sort.count_edges(0, *coo.ends(), both, shift, counts)

    def deal(
        block: int,
        sort: RowSort,
        cursor: np.ndarray,
        keys: np.ndarray,
        name: str | None,
        carried: np.ndarray,
    ) -> None:
        for coo in blocks[block]:
            column = carried[:0] if name is None else coo.columns[name]
            marks = np.uint64(marked and coo.back is not None), np.uint64(bool(coo.back))
            kernels.row_sort.deal_edges(
                0, *coo.ends(), both, *marks, sort.shift, sort.bits, sort.bucket, sort.first,
                cursor, keys, *to_move(column, carried),
            )  # fmt: skip
        # What is not needed any more is given back: the column, in the end all.
        if name is None:
            blocks[block].clear()
        elif not len(keys):
            for coo in blocks[block]:
                del coo.columns[name]

    sort = RowSort.plan(num_vertices, len(blocks), count, deal, marked=marked, ordered=ordered)
    columns, last = _without_last(sort, kinds)
    carried = None if last is None else sort.deal_column(last, kinds[last])
    keys, none = sort.deal_all(None, np.uint8)
    return _sorted(sort, (keys, none if carried is None else carried), dtype, columns, last)


def _in_order(
    num_vertices: int, blocks: list[list[Coo]], dtype: Any, ordered: bool
) -> Adjacency | None:
    """Rows of edges that come in the order of their rows, each moved once; None of others.

    Where rows are to be ``ordered``, edges are to come in the order of their neighbours, too.
    Blocks are emptied if they do, before what the edges carry is copied.
    """
    runs = [coo for block in blocks for coo in block]
    if not runs:
        return None
    starts = np.cumsum([0, *map(len, runs)])
    ends = [(run.vertex(run.rows[-1]), run.vertex(run.neighbours[-1])) for run in runs]
    before = [(-1, -1), *ends[:-1]]
    offsets = np.empty(num_vertices + 1, np.int64)
    offsets[ends[-1][0] + 1 :] = starts[-1]
    neighbours = np.empty(starts[-1], dtype)

    def copy(lo: int, hi: int) -> bool:
        return all(
            kernels.row_sort.copy_in_order(
                0, *runs[i].ends(), *before[i], ordered, starts[i], offsets, neighbours
            )
            for i in range(lo, hi)
        )

    each_one = np.arange(len(runs) + 1)
    if not all(for_blocks(copy, each_one)):
        return None
    carried = [run.columns for run in runs]
    for given in (*blocks, runs):
        given.clear()

    def gathered(name: str, dtype: Any) -> np.ndarray:
        made = np.empty(starts[-1], dtype)

        def take(lo: int, hi: int) -> None:
            for i in range(lo, hi):
                made[starts[i] : starts[i + 1]] = carried[i].pop(name)

        for_blocks(take, each_one)
        return made

    kinds = {name: column.dtype for name, column in carried[0].items()}
    return Adjacency(offsets, neighbours, {name: gathered(name, kinds[name]) for name in kinds})


def mirrored(runs: Sequence[Coo]) -> bool:
    """Whether every edge stands in both directions, as often and with the same columns.

    Decided by sums of 64-bit hashes over the edges and over their mirror images: one pass, and
    wrong once in 2**64.
    """
    names: list[str | None] = [*runs[0].columns] if runs else []
    return all(mirror_sum(runs, name) == 0 for name in names or [None])


def mirror_sum(runs: Sequence[Coo], name: str | None) -> np.uint64:
    """Hashes of the edges with a column (None: with none), less those of their mirror images.

    Sums over parts of a graph add up, modulo 2**64; of a mirrored graph to 0.
    """
    blocks = _even_runs(runs, num_threads())
    none = np.empty(0, np.uint8)
    sums = np.zeros(len(blocks), np.uint64)

    def add(block: int) -> None:
        for coo in blocks[block]:
            bits = none if name is None else as_bits(coo.columns[name])
            found = kernels.csr.hash_edges(0, *coo.ends(), read_only(bits))
            sums[block : block + 1] += found  # arrays may wrap

    each(add, len(blocks))
    total: np.uint64 = sums.sum()
    return total


def transpose(adjacency: Adjacency) -> Adjacency:
    """Turn CSR into CSC or back; rows come out in order. Cost: O(V + E), each edge moved twice."""
    kinds = {name: column.dtype for name, column in adjacency.columns.items()}
    sort = _turned(adjacency)
    columns, last = _without_last(sort, kinds)
    dealt = sort.deal_all(last, None if last is None else kinds[last])
    return _sorted(sort, dealt, adjacency.neighbours.dtype, columns, last)


def transpose_column(adjacency: Adjacency, column: np.ndarray) -> np.ndarray:
    """A column of an adjacency in the order of its transpose."""
    sort = _turned(Adjacency(adjacency.offsets, adjacency.neighbours, {"": column}))
    return sort.sort(sort.deal_all("", column.dtype), None)[2]


def _turned(adjacency: Adjacency) -> RowSort:
    """The edges of an adjacency, to be sorted by their neighbours."""
    offsets, neighbours = adjacency.offsets, adjacency.neighbours
    blocks = num_blocks(adjacency.num_edges)
    bounds = np.searchsorted(offsets, np.linspace(0, adjacency.num_edges, blocks + 1))
    bounds[0], bounds[-1] = 0, adjacency.num_vertices

    def count(block: int, shift: Any, counts: np.ndarray) -> None:
        edges = offsets[bounds[block : block + 2]]
        kernels.row_sort.count_turned(*edges, neighbours, shift, counts)

    def deal(
        block: int,
        sort: RowSort,
        cursor: np.ndarray,
        keys: np.ndarray,
        name: str | None,
        carried: np.ndarray,
    ) -> None:
        column = carried[:0] if name is None else adjacency.columns[name]
        kernels.row_sort.deal_turned(
            *bounds[block : block + 2], offsets, neighbours, sort.shift, sort.bits, sort.bucket,
            sort.first, cursor, keys, *to_move(column, carried),
        )  # fmt: skip

    return RowSort.plan(adjacency.num_vertices, blocks, count, deal)


def _without_last(
    sort: RowSort, kinds: dict[str, np.dtype[Any]]
) -> tuple[dict[str, np.ndarray], str | None]:
    """The columns but for the last, each by a sort of its own; the last is carried beside the neighbours."""
    if not kinds:
        return {}, None
    *others, last = kinds
    made = {name: sort.sort(sort.deal_all(name, kinds[name]), None)[2] for name in others}
    return made, last


def _sorted(
    sort: RowSort,
    dealt: tuple[np.ndarray, np.ndarray],
    dtype: Any,
    columns: dict[str, np.ndarray],
    last: str | None,
) -> Adjacency:
    """Rows with their columns; the one that is carried is ``last``, None if there is none."""
    offsets, neighbours, column = sort.sort(dealt, dtype)
    return Adjacency(offsets, neighbours, columns | ({} if last is None else {last: column}))


def at_ends(values: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Values of the vertices at ends of edges; in blocks, as `take` makes 8 bytes of each narrower place."""
    found = np.empty(len(ends), values.dtype)

    def take(lo: int, hi: int) -> None:
        for first in range(lo, hi, _BLOCK):
            last = min(first + _BLOCK, hi)
            found[first:last] = values.take(ends[first:last])

    for_blocks(take, copy_blocks(len(ends), found.itemsize))
    return found


def are_ascending(first: np.ndarray, second: np.ndarray | None = None) -> bool:
    """Whether pairs ascend by both, equal ones allowed; by all threads."""

    def ascend(lo: int, hi: int) -> bool:
        before, after = first[lo:hi], first[lo + 1 : hi + 1]
        if second is None:
            return bool((after >= before).all())
        tied = (after == before) & (second[lo + 1 : hi + 1] >= second[lo:hi])
        return bool(((after > before) | tied).all())

    return all(for_blocks(ascend, even_blocks(max(len(first) - 1, 0))))


def offsets_of(lengths: np.ndarray) -> np.ndarray:
    """Where rows of these lengths start, and where the last one ends."""
    offsets = np.zeros(len(lengths) + 1, np.int64)
    blocks = even_blocks(len(lengths))
    sums = for_blocks(lambda lo, hi: lengths[lo:hi].sum(dtype=np.int64), blocks)
    before = dict(zip(blocks[:-1].tolist(), np.cumsum([0, *sums])[:-1], strict=True))

    def fill(lo: int, hi: int) -> None:
        ends = np.cumsum(lengths[lo:hi], dtype=np.int64, out=offsets[lo + 1 : hi + 1])
        if before[lo]:
            ends += before[lo]

    for_blocks(fill, blocks)
    return offsets


def all_below(n: int, dtype: Any) -> np.ndarray:
    """The numbers below ``n``, in ascending order."""
    made = np.empty(n, dtype)

    def fill(lo: int, hi: int) -> None:
        made[lo:hi] = np.arange(lo, hi, dtype=dtype)

    for_blocks(fill, copy_blocks(n, made.itemsize))
    return made


def _even_runs(runs: Sequence[Coo], blocks: int) -> list[list[Coo]]:
    """Deal the edges, in their order, to blocks of about equal size."""
    total = sum(map(len, runs))
    size = max(-(-total // blocks), 1)
    dealt: list[list[Coo]] = [[] for _ in range(max(-(-total // size), 1))]
    place = 0
    for run in runs:
        lo = 0
        while lo < len(run):
            take = min(size - place % size, len(run) - lo)
            part = slice(lo, lo + take)
            columns = {name: column[part] for name, column in run.columns.items()}
            ends = run.rows[part], run.neighbours[part]
            dealt[place // size].append(Coo(*ends, run.table, columns, run.back))
            lo += take
            place += take
    return dealt
