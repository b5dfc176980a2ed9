"""Partitions of some rows of a frame, by their values in a column, made of the partition of all."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import pyarrow as pa

from dask_graphgpu.errors import InvalidArgument
from dask_graphgpu.kernels.cpu.threads import even_blocks, for_blocks
from dask_graphgpu.partition.as_given import AsGiven
from dask_graphgpu.partition.bounds import Bound, window_numbers, within
from dask_graphgpu.partition.build import build, dense_dtype, listed_vertices
from dask_graphgpu.partition.chunk import EdgeChunk
from dask_graphgpu.partition.csr import Adjacency, at_ends, offsets_of
from dask_graphgpu.partition.ids import Names, VertexIds
from dask_graphgpu.partition.layout import Layout
from dask_graphgpu.partition.partition import Partition, VertexColumns
from dask_graphgpu.partition.rowwise import row_ids
from dask_graphgpu.partition.weight_fault import WeightFault

_FEW = 8  # the rows of so small a share of the edges are looked up one by one


@dataclass(frozen=True, eq=False)
class SomeRows:
    """Rows of the frame of a partition, and what a partition of them is made of.

    Attributes
    ----------
    ids, vertices, layout, fault
        Of the partition.
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
        """The partition that building these rows anew gives.

        Vertices are those of the rows, and those that a vertices frame has named. Cost: that of sorting the rows, and a
        pass over the vertices. Ids are not compared.

        Raises
        ------
        NoVertices
            There is no row and no such vertex.
        """
        about = self.vertices
        there = np.zeros(len(self.ids), bool) if about.listed is None else about.listed.copy()
        for places in (self.source, self.destination):
            there[places.astype(np.intp)] = True
        columns, place = ids_left(self.ids, there)
        types = tuple(each.type for each in columns)
        names = Names(types, len(columns[0]), table=tuple(columns), ascending=True)
        edges = at_ends(place, self.source), at_ends(place, self.destination)
        fault = fault_left(self.fault, self.columns)
        chunk = EdgeChunk(*edges, names, self.columns, fault)
        made = build([chunk], listed_vertices(about, names, place), self.layout)
        made.vertex_columns = replace(made.vertex_columns, repeated=about.repeated)
        return made


def filtered(partition: Partition, column: str, low: Bound, high: Bound) -> Partition:
    """The partition that building the rows with ``low <= column < high`` gives; as `SomeRows.partition`.

    Cost: a pass over the column more.
    """
    return _rows_of(partition, column, low, high).partition()


def by_windows(partition: Partition, column: str, edges: Sequence[int | float]) -> list[SomeRows]:
    """The rows of each window: those with ``edges[i] <= column < edges[i + 1]``.

    Cost: a pass over the column, and a sort of the rows by their window.
    """
    rows = _rows_of(partition, column, edges[0], edges[-1])
    values = rows.columns[column]
    number = np.empty(len(rows), np.uint16)

    def find(lo: int, hi: int) -> None:
        number[lo:hi] = window_numbers(values[lo:hi], edges)

    for_blocks(find, even_blocks(len(rows)))
    order = np.argsort(number, kind="stable")
    rows = rows.each(lambda values: at_ends(values, order))
    ends = offsets_of(np.bincount(number, minlength=len(edges) - 1)).tolist()
    return [rows.between(lo, hi) for lo, hi in pairwise(ends)]


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


def ids_left(ids: VertexIds, there: np.ndarray) -> tuple[list[pa.Array], np.ndarray]:
    """The ids of the vertices that are there, ascending, and the place among them of each of these."""
    in_order = there if ids.position is None else there.take(ids.position)
    dtype = dense_dtype(int(np.count_nonzero(there)))
    place: np.ndarray = offsets_of(in_order)[:-1].astype(dtype)
    place = place if ids.rank is None else place.take(ids.rank)
    return [each.filter(pa.array(in_order)) for each in ids.columns], place


def fault_left(fault: WeightFault | None, columns: dict[str, np.ndarray]) -> WeightFault | None:
    """What is wrong with the weights that stay."""
    if fault is None or fault.lost:
        return fault
    weight = columns["weight"]
    return None if bool(np.all(np.isfinite(weight) & (weight >= 0))) else fault
