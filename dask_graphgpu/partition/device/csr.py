"""Rows of neighbours on the device: built by sorting packed pairs, and turned over."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dask_graphgpu.errors import GraphError
from dask_graphgpu.partition.csr import Adjacency
from dask_graphgpu.partition.device import building, elements
from dask_graphgpu.partition.device.arrays import (
    blocks,
    module_of,
    offset_type,
    segments,
)
from dask_graphgpu.partition.device.memory import require


@dataclass(frozen=True, eq=False)
class Pairs:
    """Edges as (row, neighbour) with what they carry; arrays of one length.

    Both ends are codes; ``table`` says which vertex a code is, None that it is the code. ``back`` :
    edges lead from the neighbour to the row.
    """

    rows: Any
    neighbours: Any
    table: Any = None
    columns: dict[str, Any] = field(default_factory=dict)
    back: bool = False

    def __len__(self) -> int:
        return len(self.rows)

    def ends(self, part: slice) -> tuple[Any, Any]:
        """The vertices of some edges, 64 bits."""
        rows, neighbours = self.rows[part], self.neighbours[part]
        if self.table is not None:
            rows, neighbours = self.table[rows], self.table[neighbours]
        return rows.astype(np.uint64), neighbours.astype(np.uint64)


def from_edges(
    num_vertices: int, source: Any, destination: Any, columns: dict[str, Any] | None = None
) -> Adjacency:
    """Rows by source of one edge list; ids are 0 .. num_vertices - 1."""
    dtype = np.uint64 if num_vertices > 2**32 or source.dtype == np.uint64 else np.uint32
    return from_pairs(num_vertices, [Pairs(source, destination, None, columns or {})], dtype)


def from_pairs(
    num_vertices: int,
    runs: list[Pairs],
    dtype: Any,
    *,
    marked: bool = False,
    both: bool = False,
) -> Adjacency:
    """Rows from runs of edges; ``runs`` is emptied, as its memory is given back half-way.

    A radix sort of 64-bit keys: row, neighbour, and below them what an edge carries, if that is one
    column of integers that fits the bits that are left. Else the sort gives places, by which the
    columns are gathered. Repeated edges come in the order of a packed column, else as given.

    Parameters
    ----------
    marked : bool
        Give neighbours as ``vertex << 1 | mark``, where the mark is 1 of an edge that leads from the
        neighbour to the row. ``dtype`` is to hold that.
    both : bool
        Put every edge but a self-loop into the rows of both its ends.
    """
    xp = module_of(runs[0].rows)
    bits = max((num_vertices - 1).bit_length(), 1) + marked
    if bits > 32:
        raise GraphError(
            f"{num_vertices:,} vertices are more than one GPU holds (2**32; of an undirected graph whose "
            "edges are not given in both directions 2**31)"
        )
    names = [*runs[0].columns]
    kinds = {name: runs[0].columns[name].dtype for name in names}
    below = _packed_bits(runs, 64 - 2 * bits + marked) if len(names) == 1 else 0
    if xp is not np:
        num_edges = sum(map(len, runs)) * (1 + both)
        bytes_of_edge = 32 if names and not below else 16  # the keys twice, and places twice
        require(num_edges * bytes_of_edge, f"sorting {num_edges:,} edges")
    carries = bool(names) and not below
    if xp is np or (both and carries):
        keys, loops = _keys(xp, runs, bits, below, marked, both), 0
    else:
        keys, loops = building.edge_keys(runs, bits, below, marked=marked, both=both)
    columns: dict[str, Any] = {}
    if carries:
        whole = {name: _carried(xp, runs, name, both) for name in names}
        runs.clear()
        order = xp.argsort(keys, kind="stable")
        keys = elements.gathered(keys, order)
        for name in names:
            columns[name] = elements.gathered(whole.pop(name), order)
        del order
    else:
        runs.clear()
        keys.sort()
        keys = keys[: len(keys) - loops]
    if xp is not np:
        kind = kinds[names[0]] if below else None
        offset = offset_type(len(keys))
        offsets, neighbours, packed = building.rows_of_keys(
            keys, num_vertices, bits, below, offset, dtype, kind
        )
        return Adjacency(offsets, neighbours, {names[0]: packed} if below else columns)
    offsets = xp.empty(num_vertices + 1, offset_type(len(keys)))
    offsets[-1] = len(keys)
    first = xp.arange(num_vertices, dtype=xp.uint64) << np.uint64(bits + below)
    offsets[:-1] = xp.searchsorted(keys, first)
    del first
    neighbours = xp.empty(len(keys), dtype)
    if below:
        columns[names[0]] = xp.empty(len(keys), kinds[names[0]])
    for part in blocks(len(keys)):
        neighbours[part] = (keys[part] >> np.uint64(below)) & np.uint64((1 << bits) - 1)
        if below:
            columns[names[0]][part] = keys[part] & np.uint64((1 << below) - 1)
    return Adjacency(offsets, neighbours, columns)


def _packed_bits(runs: Sequence[Pairs], room: int) -> int:
    """Bits that the values of the only column take in a key; 0: they are not for packing."""
    (name,) = runs[0].columns
    most = 0
    for column in (run.columns[name] for run in runs if len(run)):
        if column.dtype.kind not in "iu" or int(column.min()) < 0:
            return 0
        most = max(most, int(column.max()))
    bits = max(most.bit_length(), 1)
    return bits if bits <= room else 0


def _keys(xp: Any, runs: Sequence[Pairs], bits: int, below: int, marked: bool, both: bool) -> Any:
    """Row, neighbour and what is packed below, of every edge and then of the mirror images."""
    total = sum(map(len, runs))
    keys = xp.empty(2 * total if both else total, xp.uint64)
    place = 0
    for mirror in (False, True) if both else (False,):
        for run in runs:
            for part in blocks(len(run)):
                rows, neighbours = run.ends(part)
                row, neighbour = (neighbours, rows) if mirror else (rows, neighbours)
                if marked:
                    neighbour = (neighbour << np.uint64(1)) | np.uint64(mirror ^ run.back)
                key = (row << np.uint64(bits)) | neighbour
                if below:
                    (column,) = run.columns.values()
                    key = (key << np.uint64(below)) | column[part].astype(np.uint64)
                if mirror:
                    key = key[rows != neighbours]
                keys[place : place + len(key)] = key
                place += len(key)
    return keys[:place]


def _carried(xp: Any, runs: Sequence[Pairs], name: str, both: bool) -> Any:
    """A column in the order of `_keys`."""
    parts = [run.columns[name] for run in runs]
    if both:
        parts += [
            run.columns[name][part][_joins(run, part)] for run in runs for part in blocks(len(run))
        ]
    if len(parts) == 1:
        return parts[0]
    return np.concatenate(parts) if xp is np else elements.concatenated(parts)


def _joins(run: Pairs, part: slice) -> Any:
    """Which edges join two different vertices."""
    rows, neighbours = run.ends(part)
    return rows != neighbours


def mirrored(runs: Sequence[Pairs]) -> bool:
    """Whether every edge stands in both directions, as often and with the same columns.

    Told by `mirror_sum`.
    """
    names: list[str | None] = [*runs[0].columns] if runs else []
    return all(mirror_sum(runs, name) == 0 for name in names or [None])


def mirror_sum(runs: Sequence[Pairs], name: str | None) -> int:
    """Hashes of the edges with a column (None: with none), less those of their mirror images.

    Sums over parts of a graph add up, modulo 2**64; of a mirrored graph to 0. With u and v hashes of
    an edge's ends, u v (u - v) of an edge and of its mirror image cancel out; a sum of 64 bits that
    is 0 by chance is one in 2**50.
    """
    total, table, hashes = 0, None, None
    for run in runs:
        if run.table is not table or hashes is None:
            table = run.table
            hashes = _mixed(table.astype(np.uint64) + _ODD)
        for part in blocks(len(run)):
            u, v = hashes[run.rows[part]], hashes[run.neighbours[part]]
            edges = u * v * (u - v)
            if name is not None:
                edges *= _mixed(_bits(run.columns[name][part]).astype(np.uint64) + _ODD)
            total += int(edges.sum(dtype=np.uint64))
    return total % 2**64


_ODD = np.uint64(0x9E3779B97F4A7C15)


def _mixed(x: Any) -> Any:
    """The finalizer of splitmix64."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def _bits(column: Any) -> Any:
    """A column as unsigned integers of the same width."""
    return column.view(f"u{column.dtype.itemsize}")


def row_ids(adjacency: Adjacency) -> Any:
    """The row that each edge is in."""
    dtype = adjacency.neighbours.dtype
    return segments(adjacency.offsets, adjacency.num_edges, dtype)


def transpose(adjacency: Adjacency) -> Adjacency:
    """Turn CSR into CSC or back; rows come out in order."""
    dtype = adjacency.neighbours.dtype
    turned = Pairs(adjacency.neighbours, row_ids(adjacency), None, adjacency.columns)
    return from_pairs(adjacency.num_vertices, [turned], dtype)


def transpose_column(adjacency: Adjacency, column: Any) -> Any:
    """A column of an adjacency in the order of its transpose; repeats in that which they had."""
    order = module_of(column).argsort(adjacency.neighbours, kind="stable")
    return elements.gathered(column, order)
