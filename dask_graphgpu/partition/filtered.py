"""Partitions of some rows of a frame, by their values in a column, made of the partition of all."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from dask_graphgpu.errors import InvalidArgument
from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.kernels.cpu.threads import even_blocks, for_blocks
from dask_graphgpu.partition.as_given import AsGiven
from dask_graphgpu.partition.bounds import Bound, window_numbers, within
from dask_graphgpu.partition.build import dense_dtype, of_rows
from dask_graphgpu.partition.csr import Adjacency, Coo, at_ends, offsets_of
from dask_graphgpu.partition.empty import NoVertices
from dask_graphgpu.partition.ids import VertexIds
from dask_graphgpu.partition.layout import Layout
from dask_graphgpu.partition.partition import Partition, VertexColumns
from dask_graphgpu.partition.row_sort import each, to_move
from dask_graphgpu.partition.rowwise import row_ids
from dask_graphgpu.partition.undirected import undirected
from dask_graphgpu.partition.weight_fault import WeightFault

_FEW = 8  # the rows of so small a share of the edges are looked up one by one


@dataclass(frozen=True, eq=False)
class SomeRows:
    """Rows of the frame of a partition, and what a partition of them is made of.

    Attributes
    ----------
    ids, vertices, layout, fault
        Of the partition. Rows of a directed graph are in the order in which it holds them.
    source, destination : dense ids
    columns : dict of arrays
    """

    ids: VertexIds
    vertices: VertexColumns
    layout: Layout
    fault: WeightFault | None
    source: np.ndarray
    destination: np.ndarray
    columns: dict[str, np.ndarray]

    def __len__(self) -> int:
        return len(self.source)

    def each(self, made: Callable[[np.ndarray], np.ndarray]) -> SomeRows:
        """The same of what is made of every array."""
        columns = {name: made(values) for name, values in self.columns.items()}
        return replace(
            self, source=made(self.source), destination=made(self.destination), columns=columns
        )

    def between(self, lo: int, hi: int) -> SomeRows:
        """Some of them, in a row."""
        return self.each(lambda values: values[lo:hi])

    def partition(self) -> Partition:
        """The partition of these rows, with vertices in the order of the whole.

        Vertices are those of the rows, and those that a vertices frame has named. Cost: that of sorting the rows, of a
        directed graph of going over them, as they are in order; and a pass over the vertices. Ids are not compared.

        Raises
        ------
        NoVertices
            There is no row and no such vertex.
        """
        began, about, layout = time.monotonic(), self.vertices, self.layout
        there = np.zeros(len(self.ids), bool) if about.listed is None else about.listed.copy()
        for places in (self.source, self.destination):
            there[places.astype(np.intp)] = True
        left = Left.of(self.ids, about, there)
        turned = layout.directed and layout.by == "destination"
        ends = (self.destination, self.source) if turned else (self.source, self.destination)
        size, dtype, aside = len(left.ids), left.place.dtype, None
        columns = {
            name: values.copy() for name, values in self.columns.items()
        }  # not those of all windows
        if layout.directed:
            lengths = np.bincount(at_ends(left.place, ends[0]), minlength=size)
            rows = Adjacency(offsets_of(lengths), at_ends(left.place, ends[1]), columns)
        else:
            rows, aside = undirected(size, [Coo(*ends, left.place, columns)], dtype, left.ids.rank)
        fault = fault_left(self.fault, self.columns)
        made = of_rows(left.ids, rows, layout, left.vertices, len(self), fault, aside)
        made.took = {"build": time.monotonic() - began}
        return made


@dataclass(frozen=True, eq=False)
class Left:
    """Vertices that are left of a graph, in the order that they have there.

    Attributes
    ----------
    ids : VertexIds
    vertices : VertexColumns
    place : array
        The dense id of each vertex of the graph that is left; of others, anything.
    """

    ids: VertexIds
    vertices: VertexColumns
    place: np.ndarray

    @classmethod
    def of(cls, ids: VertexIds, about: VertexColumns, there: np.ndarray) -> Left:
        """``there`` : whether each vertex is left.

        Raises
        ------
        NoVertices
        """
        number = int(np.count_nonzero(there))
        if not number:
            raise NoVertices
        place: np.ndarray = offsets_of(there)[:-1].astype(dense_dtype(number))
        in_order, position = there, ids.position
        if position is not None:
            in_order = there.take(position)
            position = place.take(position[in_order])
        columns = [each.filter(pa.array(in_order)) for each in ids.columns]
        return cls(
            VertexIds(columns, position), columns_left(about, there, np.count_nonzero), place
        )


def columns_left(
    about: VertexColumns, left: Any, count_true: Callable[[Any], int]
) -> VertexColumns:
    """What a vertices frame says of the vertices that are left: of a mask, or of dense ids."""
    known = {name: has[left] for name, has in about.known.items()}
    absent = {name: len(has) - int(count_true(has)) for name, has in known.items()}
    return replace(
        about,
        columns={name: values[left] for name, values in about.columns.items()},
        missing=about.missing | absent,
        known={name: has for name, has in known.items() if absent[name]},
        listed=None if about.listed is None else about.listed[left],
    )


def filtered(partition: Partition, column: str, low: Bound, high: Bound) -> Partition:
    """The partition that building the rows with ``low <= column < high`` gives; as `SomeRows.partition`.

    Cost: a pass over the column more.
    """
    return _rows_of(partition, column, low, high).partition()


def by_windows(partition: Partition, column: str, edges: Sequence[int | float]) -> list[SomeRows]:
    """The rows of each window: those with ``edges[i] <= column < edges[i + 1]``; no row lies outside all of them."""
    return to_windows(_rows_of(partition, column, None, None), column, edges)


def to_windows(rows: SomeRows, column: str, edges: Sequence[int | float]) -> list[SomeRows]:
    """As `by_windows`, of some rows. Cost: a pass over the column, and one over the rows."""
    values, windows = rows.columns[column], np.arange(len(edges) - 1)
    number = np.empty(len(rows), np.uint16)
    blocks = list(pairwise(even_blocks(len(rows)).tolist()))
    counts = np.zeros((len(blocks), len(windows)), np.int64)

    def find(block: int) -> None:
        lo, hi = blocks[block]
        number[lo:hi] = window_numbers(values[lo:hi], edges)
        kernels.shuffle.count_entries(lo, hi, number, windows, counts[block])

    each(find, len(blocks))
    ends = offsets_of(counts.sum(axis=0))
    first = ends[:-1] + np.cumsum(counts, axis=0) - counts

    def dealt(values: np.ndarray) -> np.ndarray:
        made = np.empty_like(values)
        moved = to_move(values, made)

        def deal(block: int) -> None:
            cursor = first[block].copy()
            kernels.shuffle.deal_column(*blocks[block], number, windows, cursor, *moved)

        each(deal, len(blocks))
        return made

    rows = rows.each(dealt)
    return [rows.between(lo, hi) for lo, hi in pairwise(ends.tolist())]


def _rows_of(partition: Partition, column: str, low: Bound, high: Bound) -> SomeRows:
    """The rows of the frame with values within bounds; repeats are in any order.

    Raises
    ------
    InvalidArgument
        Nobody knows in which direction they were given.
    """
    check_directions(partition)
    partition.use_vertices()
    layout = partition.layout
    aside = None if partition.as_given is None else partition.use_as_given()
    rows, neighbours, columns = rows_within(partition.use_given(), aside, column, low, high)
    turned = layout.directed and layout.by == "destination"
    ends = (neighbours, rows) if turned else (rows, neighbours)
    about = partition.ids, partition.vertex_columns, layout, partition.fault
    return SomeRows(*about, *ends, columns)


def rows_within(
    given: Adjacency, aside: AsGiven | None, column: str, low: Bound, high: Bound
) -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]:
    """Rows, neighbours and columns of the rows of the frame with values within bounds, as they were given."""
    if low is None and high is None and (aside is None or aside.turned is None):
        return row_ids(given), given.neighbours, dict(given.columns)
    chosen = _chosen(given, column, low, high, aside)
    if _FEW * len(chosen) < given.num_edges:
        rows = np.searchsorted(given.offsets, chosen, "right") - 1
        rows = rows.astype(given.neighbours.dtype)
    else:
        rows = at_ends(row_ids(given), chosen)
    neighbours = at_ends(given.neighbours, chosen)
    columns = {name: at_ends(values, chosen) for name, values in given.columns.items()}
    if aside is None or not len(aside.places):
        return rows, neighbours, columns
    left = within(aside.columns[column], low, high)
    return (
        np.concatenate([rows, aside.rows[left]]),
        np.concatenate([neighbours, aside.neighbours[left]]),
        {
            name: np.concatenate([values, aside.columns[name][left]])
            for name, values in columns.items()
        },
    )


def values_given(given: Adjacency, aside: AsGiven | None, column: str) -> Iterator[np.ndarray]:
    """The values of a column in all rows of the frame, in arrays."""
    values = given.columns[column]
    if aside is None or aside.turned is None:
        yield values
        return
    yield at_ends(values, _chosen(given, column, None, None, aside))
    if len(aside.places):
        yield aside.columns[column]


def _chosen(
    given: Adjacency, column: str, low: Bound, high: Bound, aside: AsGiven | None
) -> np.ndarray:
    """The places of entries within bounds, of an undirected graph of those that were given as they stand."""
    values = given.columns[column]
    turned = None if aside is None else aside.turned

    def some(lo: int, hi: int) -> np.ndarray:
        keep = within(values[lo:hi], low, high)
        if turned is not None:
            first = lo // 8
            bits = np.unpackbits(turned[first : -(-hi // 8)])
            keep &= ~bits[lo - 8 * first : hi - 8 * first].view(bool)
        return np.flatnonzero(keep) + lo

    return np.concatenate([np.empty(0, np.int64), *for_blocks(some, even_blocks(len(values)))])


def check_directions(partition: Partition) -> None:
    """Raise InvalidArgument where nobody knows in which direction edges were given."""
    if not partition.layout.directed and partition.as_given is None:
        raise InvalidArgument(
            "where() and windows() need the directions in which edges were given, which this undirected graph, "
            "saved by an earlier version or from pages on disk, does not hold: filter the frame instead"
        )


def fault_left(fault: WeightFault | None, columns: dict[str, np.ndarray]) -> WeightFault | None:
    """What is wrong with the weights that stay."""
    if fault is None or fault.lost:
        return fault
    weight = columns["weight"]
    return None if bool(np.all(np.isfinite(weight) & (weight >= 0))) else fault
