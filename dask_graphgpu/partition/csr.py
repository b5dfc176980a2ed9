"""Rows of neighbours (CSR and CSC): built by counting sort, and turned over."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from dask_graphgpu.kernels.cpu.threads import even_blocks, for_blocks, num_threads

# Each block of a counting sort holds a counter a row; more blocks than this cost more than they win.
_MAX_SORT_BLOCKS = 8


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
    does not hold its edges twice.
    """

    rows: np.ndarray
    neighbours: np.ndarray
    table: np.ndarray
    columns: dict[str, np.ndarray] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.rows)

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
    itself = np.arange(num_vertices, dtype=dtype)
    coo = Coo(source.astype(dtype), destination.astype(dtype), itself, columns or {})
    return from_coo(num_vertices, [coo], dtype)


def from_coo(num_vertices: int, runs: list[Coo], dtype: Any, *, both: bool = False) -> Adjacency:
    """Rows from runs of edges; ``runs`` is emptied, as its memory is given back half-way.

    A counting sort by neighbour, whose rows are in no order, then its transpose, whose rows are in
    order because it is filled from row after row. Cost: each edge is moved twice; extra memory is
    the edges once more, and 8 bytes a vertex and block (at most 8 blocks).

    Parameters
    ----------
    both : bool
        Put every edge but a self-loop into the rows of both its ends.
    """
    from dask_graphgpu.kernels.cpu import csr

    blocks = _even_runs(runs, min(num_threads(), _MAX_SORT_BLOCKS))
    counts: np.ndarray = np.zeros((len(blocks), num_vertices), np.int64)

    def count(block: int) -> None:
        for coo in blocks[block]:
            csr.count_edges(0, *coo.ends(), both, counts[block])

    _each(count, len(blocks))
    offsets = offsets_of(counts.sum(axis=0))
    for_blocks(csr.cursors, even_blocks(num_vertices), counts, offsets)

    def place_column(name: str) -> np.ndarray:
        out: np.ndarray = np.empty(offsets[-1], runs[0].columns[name].dtype)
        cursors = counts.copy()

        def scatter(block: int) -> None:
            for coo in blocks[block]:
                csr.scatter_column(0, *coo.ends(), both, cursors[block], coo.columns[name], out)

        _each(scatter, len(blocks))
        return out

    columns = {name: place_column(name) for name in (runs[0].columns if runs else ())}
    neighbours: np.ndarray = np.empty(offsets[-1], dtype)

    def scatter(block: int) -> None:
        for coo in blocks[block]:
            csr.scatter_edges(0, *coo.ends(), both, counts[block], neighbours)

    _each(scatter, len(blocks))
    runs.clear()
    blocks.clear()
    return transpose(Adjacency(offsets, neighbours, columns))


def mirrored(runs: Sequence[Coo]) -> bool:
    """Whether every edge stands in both directions, as often and with the same columns.

    Decided by sums of 64-bit hashes over the edges and over their mirror images: one pass, and
    wrong once in 2**64.
    """
    from dask_graphgpu.kernels.cpu import csr

    blocks = _even_runs(runs, num_threads())
    none = np.empty(0, np.uint8)
    names: list[str | None] = [*runs[0].columns] if runs else []
    for name in names or [None]:
        sums = np.zeros(len(blocks), np.uint64)

        def add(block: int, name: str | None = name, sums: np.ndarray = sums) -> None:
            for coo in blocks[block]:
                bits = none if name is None else _bits(coo.columns[name])
                sums[block : block + 1] += csr.hash_edges(0, *coo.ends(), bits)  # arrays may wrap

        _each(add, len(blocks))
        if sums.sum() != 0:
            return False
    return True


def transpose(adjacency: Adjacency) -> Adjacency:
    """Turn CSR into CSC or back; rows come out in order. Cost: O(V + E), each edge moved once."""
    from dask_graphgpu.kernels.cpu import csr

    bounds, offsets, cursors = _turned(adjacency)
    columns = {
        name: _carried(adjacency, column, bounds, cursors)
        for name, column in adjacency.columns.items()
    }
    old, neighbours = adjacency.offsets, adjacency.neighbours
    turned = np.empty_like(neighbours)

    def turn(block: int) -> None:
        csr.transpose_rows(
            bounds[block], bounds[block + 1], old, neighbours, cursors[block], turned
        )

    _each(turn, len(cursors))
    return Adjacency(offsets, turned, columns)


def transpose_column(adjacency: Adjacency, column: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """A column of an adjacency in the order of its transpose, whose offsets are given."""
    bounds, _, cursors = _turned(adjacency, offsets)
    return _carried(adjacency, column, bounds, cursors)


def _turned(
    adjacency: Adjacency, offsets: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What a transposition needs: bounds of blocks of rows, the transpose's offsets, and where
    each block's edges start in each of its rows.
    """  # noqa: D205
    from dask_graphgpu.kernels.cpu import csr

    num_blocks = min(num_threads(), _MAX_SORT_BLOCKS)
    targets = np.linspace(0, adjacency.num_edges, num_blocks + 1).astype(np.int64)
    bounds = np.searchsorted(adjacency.offsets, targets).astype(np.int64)
    bounds[0], bounds[-1] = 0, adjacency.num_vertices
    counts = np.zeros((num_blocks, adjacency.num_vertices), np.int64)

    def count(block: int) -> None:
        rows = bounds[block], bounds[block + 1]
        csr.transpose_count(*rows, adjacency.offsets, adjacency.neighbours, counts[block])

    _each(count, num_blocks)
    if offsets is None:
        offsets = offsets_of(counts.sum(axis=0))
    for_blocks(csr.cursors, even_blocks(adjacency.num_vertices), counts, offsets)
    return bounds, offsets, counts


def _carried(
    adjacency: Adjacency, column: np.ndarray, bounds: np.ndarray, cursors: np.ndarray
) -> np.ndarray:
    """A column moved to the transpose's order; ``cursors`` are left as they are."""
    from dask_graphgpu.kernels.cpu import csr

    out, places = np.empty_like(column), cursors.copy()

    def carry(block: int) -> None:
        lo, hi = adjacency.offsets[bounds[block]], adjacency.offsets[bounds[block + 1]]
        csr.scatter(lo, hi, adjacency.neighbours, places[block], column, out)

    _each(carry, len(cursors))
    return out


def _bits(column: np.ndarray) -> np.ndarray:
    """A column as unsigned integers of the same width."""
    return column.view(f"u{column.dtype.itemsize}")


def offsets_of(lengths: np.ndarray) -> np.ndarray:
    """Where rows of these lengths start, and where the last one ends."""
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def _each(function: Callable[[int], None], number: int) -> None:
    """Run ``function(i)`` for every i on the threads."""

    def block(lo: int, hi: int) -> None:
        for i in range(lo, hi):
            function(i)

    for_blocks(block, np.arange(number + 1, dtype=np.int64))


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
            dealt[place // size].append(Coo(*ends, run.table, columns))
            lo += take
            place += take
    return dealt
