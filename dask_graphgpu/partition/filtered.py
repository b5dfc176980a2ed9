"""Partitions of some rows of a frame, by their values in a column, made of the partition of all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import pyarrow as pa

from dask_graphgpu.errors import InvalidArgument
from dask_graphgpu.kernels.cpu.threads import even_blocks, for_blocks
from dask_graphgpu.partition.as_given import AsGiven
from dask_graphgpu.partition.build import build
from dask_graphgpu.partition.chunk import EdgeChunk, VertexChunk
from dask_graphgpu.partition.csr import Adjacency, at_ends, offsets_of
from dask_graphgpu.partition.ids import Names, VertexIds
from dask_graphgpu.partition.layout import Layout
from dask_graphgpu.partition.partition import Partition, VertexColumns
from dask_graphgpu.partition.rowwise import row_ids
from dask_graphgpu.partition.weight_fault import WeightFault

Bound = int | float | None
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
        rank, about = self.ids.rank, self.vertices
        listed = np.empty(0, np.intp) if about.listed is None else np.flatnonzero(about.listed)
        source, destination, named = (
            end if rank is None else at_ends(rank, end)
            for end in (self.source, self.destination, listed)
        )
        there = np.zeros(len(self.ids), bool)
        for places in (source, destination, named):
            there[places.astype(np.intp)] = True
        table = tuple(each.filter(pa.array(there)) for each in self.ids.columns)
        types = tuple(each.type for each in table)
        names = Names(types, len(table[0]), table=table, ascending=True)
        place = offsets_of(there)[:-1].astype(self.source.dtype)
        fault = _fault_left(self.fault, self.columns)
        edges = at_ends(place, source), at_ends(place, destination)
        vertices = []
        if about.listed is not None:
            values = {name: each[listed] for name, each in about.columns.items()}
            gaps = {name: ~about.known[name][listed] for name in about if about.missing[name]}
            vertices = [VertexChunk(place.take(named), names, values, gaps)]
        return build([EdgeChunk(*edges, names, self.columns, fault)], vertices, self.layout)


def filtered(partition: Partition, column: str, low: Bound, high: Bound) -> Partition:
    """The partition that building the rows with ``low <= column < high`` gives; as `SomeRows.partition`.

    Cost: a pass over the column more.
    """
    return _rows_of(partition, column, low, high).partition()


def least_and_most(partition: Partition, column: str) -> tuple[int | float, int | float] | None:
    """The least and the largest value of a column; None: there is no row."""
    _check(partition)
    given, aside = partition.use_given(), partition.as_given
    arrays = [given.columns[column]]
    if aside is not None and len(aside.places):
        arrays.append(partition.use_as_given().columns[column])
    ends = [(each.min().item(), each.max().item()) for each in arrays if len(each)]
    return (min(least for least, _ in ends), max(most for _, most in ends)) if ends else None


def by_windows(partition: Partition, column: str, edges: Sequence[int | float]) -> list[SomeRows]:
    """The rows of each window: those with ``edges[i] <= column < edges[i + 1]``.

    Cost: a pass over the column, and a sort of the rows by their window.
    """
    rows = _rows_of(partition, column, edges[0], edges[-1])
    values = rows.columns[column]
    if values.dtype.kind in "iu" and all(isinstance(edge, int) for edge in edges):
        least = np.iinfo(values.dtype).min  # only the first edge may be below
        starts = np.array([max(edge, least) for edge in edges[:-1]], values.dtype)
    else:
        starts = np.asarray(edges[:-1])
    number = np.empty(len(rows), np.uint16)

    def find(lo: int, hi: int) -> None:
        number[lo:hi] = np.searchsorted(starts, values[lo:hi], "right") - 1

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
        The edges lie on disk or in GPU memory, or nobody knows in which direction they were given.
    """
    _check(partition)
    partition.use_vertices()
    given, aside, layout = partition.use_given(), partition.as_given, partition.layout
    chosen = _chosen(given, column, low, high, aside)
    if _FEW * len(chosen) < given.num_edges:
        rows = np.searchsorted(given.offsets, chosen, "right") - 1
        rows = rows.astype(given.neighbours.dtype)
    else:
        rows = at_ends(row_ids(given), chosen)
    ends = rows, at_ends(given.neighbours, chosen)
    columns = {name: at_ends(values, chosen) for name, values in given.columns.items()}
    if layout.directed and layout.by == "destination":
        ends = ends[::-1]
    if aside is not None and len(aside.places):
        aside = partition.use_as_given()
        left = _within(aside.columns[column], low, high)
        source, destination = ends
        ends = (
            np.concatenate([source, aside.rows[left]]),
            np.concatenate([destination, aside.neighbours[left]]),
        )
        columns = {
            name: np.concatenate([values, aside.columns[name][left]])
            for name, values in columns.items()
        }
    about = partition.ids, partition.vertex_columns, layout, partition.fault
    return SomeRows(*about, *ends, columns)


def _chosen(
    given: Adjacency, column: str, low: Bound, high: Bound, aside: AsGiven | None
) -> np.ndarray:
    """The places of entries within bounds, of an undirected graph of those that were given as they stand."""
    values = given.columns[column]
    turned = None if aside is None else aside.turned

    def some(lo: int, hi: int) -> np.ndarray:
        keep = _within(values[lo:hi], low, high)
        if turned is not None:
            first = lo // 8
            bits = np.unpackbits(turned[first : -(-hi // 8)])
            keep &= ~bits[lo - 8 * first : hi - 8 * first].view(bool)
        return np.flatnonzero(keep) + lo

    return np.concatenate([np.empty(0, np.int64), *for_blocks(some, even_blocks(len(values)))])


def _within(values: np.ndarray, low: Bound, high: Bound) -> np.ndarray:
    """Which values are not below ``low``, and below ``high``; None: there is no such bound."""
    keep = np.ones(len(values), bool) if low is None else values >= low
    if high is not None:
        keep &= values < high
    return keep


def _check(partition: Partition) -> None:
    why = ""
    if partition.paged or not isinstance(partition.given.neighbours, np.ndarray):
        lies = "on disk" if partition.paged else "in GPU memory"
        why = f"are of graphs in host memory, and the edges of this one lie {lies}"
    elif not partition.layout.directed and partition.as_given is None:
        why = (
            "need the directions in which edges were given, which undirected graphs that were saved from cuDF frames "
            "or from pages on disk do not hold"
        )
    if why:
        raise InvalidArgument(f"where() and windows() {why}: filter the frame instead")


def _fault_left(fault: WeightFault | None, columns: dict[str, np.ndarray]) -> WeightFault | None:
    """What is wrong with the weights that stay."""
    if fault is None or fault.lost:
        return fault
    weight = columns["weight"]
    return None if bool(np.all(np.isfinite(weight) & (weight >= 0))) else fault
