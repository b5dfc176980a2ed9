"""As `partition.filtered`, with edges in the memory of the GPU."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from dask_graphgpu.partition.bounds import Bound, window_numbers, within
from dask_graphgpu.partition.build import dense_dtype
from dask_graphgpu.partition.chunk import to_host
from dask_graphgpu.partition.csr import Adjacency
from dask_graphgpu.partition.device import elements
from dask_graphgpu.partition.device.arrays import choose, count, module_of, offset_type, unpacked
from dask_graphgpu.partition.device.build import DevicePartition
from dask_graphgpu.partition.device.csr import Pairs, row_ids
from dask_graphgpu.partition.device.ids import DeviceIds
from dask_graphgpu.partition.device.masks import count_true
from dask_graphgpu.partition.device.memory import free_bytes, told
from dask_graphgpu.partition.device.numbering import taken_rows
from dask_graphgpu.partition.device.undirected import undirected
from dask_graphgpu.partition.empty import NoVertices
from dask_graphgpu.partition.filtered import columns_left
from dask_graphgpu.partition.ids import VertexIds

_SORTED = 48  # bytes an edge that a sort by windows takes beside what it gives


@dataclass(frozen=True, eq=False)
class SomeDeviceRows:
    """Rows of the frame of a partition, as it holds them: a directed graph's in their order.

    Attributes
    ----------
    whole : DevicePartition
    rows, neighbours : dense ids
    columns : dict of arrays
    """

    whole: DevicePartition
    rows: Any
    neighbours: Any
    columns: dict[str, Any]

    def __len__(self) -> int:
        return len(self.rows)

    def each(self, made: Callable[[Any], Any]) -> SomeDeviceRows:
        """The same of what is made of every array."""
        columns = {name: made(values) for name, values in self.columns.items()}
        return SomeDeviceRows(self.whole, made(self.rows), made(self.neighbours), columns)

    def between(self, lo: int, hi: int) -> SomeDeviceRows:
        """Some of them, in a row."""
        return self.each(lambda values: values[lo:hi])

    @told("taking a part of a graph on the GPU")
    def partition(self) -> DevicePartition:
        """As of `partition.filtered.SomeRows`.

        Raises
        ------
        NoVertices
        OutOfDeviceMemory
        """
        whole, layout = self.whole, self.whole.layout
        about = whole.vertex_columns
        xp = module_of(self.rows)
        there = xp.zeros(len(whole.ids), bool) if about.listed is None else about.listed.copy()
        for ends in (self.rows, self.neighbours):
            elements.mark(ends, there.view(np.uint8))
        dense = elements.places_of(there)
        size, kind = len(dense), dense_dtype(len(dense))
        if not size:
            raise NoVertices
        place = elements.offsets_of(there.view(np.uint8), kind)
        ids = _ids_left(whole.ids, dense, there, place)
        columns, aside = {name: values.copy() for name, values in self.columns.items()}, None
        if layout.directed:
            offset = offset_type(len(self))
            offsets = xp.empty(size + 1, offset)
            offsets[-1] = len(self)
            offsets[:-1] = elements.first_not_below(self.rows, dense, offset)
            rows = Adjacency(offsets, elements.gathered(place, self.neighbours), columns)
        else:
            pairs = [Pairs(self.rows, self.neighbours, place, columns)]
            rows, aside = undirected(size, pairs, kind, ids.rank)
        vertices = columns_left(about, dense, count_true)
        return DevicePartition(ids, rows, layout, vertices, len(self), as_given=aside)


def _ids_left(ids: VertexIds, dense: Any, there: Any, place: Any) -> DeviceIds:
    """The ids of the vertices that are left, in the order that they had: ``dense`` , which are ``there``."""
    if ids.position is None:
        return DeviceIds([taken_rows(column, dense) for column in ids.columns], None)
    in_order = elements.places_of(elements.gathered(there, ids.position))
    position = elements.gathered(place, elements.gathered(ids.position, in_order))
    rank = elements.places_in(position, position.dtype)
    return DeviceIds([taken_rows(column, in_order) for column in ids.columns], position, rank)


@told("taking a part of a graph on the GPU")
def filtered(partition: DevicePartition, column: str, low: Bound, high: Bound) -> DevicePartition:
    """The partition of the rows with ``low <= column < high``, with vertices in the order of the whole.

    Cost: a pass over the edges, and one over the vertices; of an undirected graph a sort of the edges that stay. Ids
    are not compared.

    Raises
    ------
    NoVertices
        There is no row, and no vertex that a vertices frame has named.
    OutOfDeviceMemory
    """
    return _rows_of(partition, column, low, high).partition()


def has_room(partition: DevicePartition) -> bool:
    """Whether the GPU has the memory for another copy of the edges, sorted by their windows."""
    given = partition.given
    if module_of(given.neighbours) is np:
        return True
    carried = sum(each.dtype.itemsize for each in given.columns.values())
    copied = carried + 2 * given.neighbours.dtype.itemsize
    return given.num_edges * (2 * copied + _SORTED) < free_bytes()


@told("sorting the edges of a graph on the GPU by their windows")
def by_windows(
    partition: DevicePartition, column: str, edges: Sequence[int | float]
) -> list[SomeDeviceRows]:
    """The rows of each window, as of `partition.filtered.by_windows`.

    Cost: a pass over the column, and a sort of the rows by their window.

    Raises
    ------
    OutOfDeviceMemory
    """
    rows = _rows_of(partition, column, None, None)
    number = window_numbers(rows.columns[column], edges).astype(np.uint16)
    ends = np.append(0, np.cumsum(to_host(count(number, len(edges) - 1))))
    order = module_of(number).argsort(number, kind="stable")
    rows = rows.each(lambda values: elements.gathered(values, order))
    return [rows.between(lo, hi) for lo, hi in pairwise(ends.tolist())]


def values_of(partition: DevicePartition, column: str) -> Iterator[Any]:
    """The values of a column in all rows of the frame, in arrays."""
    values, aside = partition.given.columns[column], partition.as_given
    if aside is None or aside.turned is None:
        yield values
        return
    yield choose(values, ~unpacked(aside.turned, len(values)))
    if len(aside.places):
        yield aside.columns[column]


def _rows_of(partition: DevicePartition, column: str, low: Bound, high: Bound) -> SomeDeviceRows:
    """The rows of the frame with values within bounds."""
    given, aside = partition.given, partition.as_given
    rows, neighbours, columns = row_ids(given), given.neighbours, given.columns
    keep = None if low is None and high is None else within(columns[column], low, high)
    if aside is not None and aside.turned is not None:
        forward = ~unpacked(aside.turned, given.num_edges)
        keep = forward if keep is None else keep & forward
    found = SomeDeviceRows(partition, rows, neighbours, columns)
    if keep is not None:
        found = found.each(lambda values: choose(values, keep))
    if aside is None or not len(aside.places):
        return found
    left = within(aside.columns[column], low, high)
    xp = module_of(left)
    joined = {
        name: xp.concatenate([values, choose(aside.columns[name], left)])
        for name, values in found.columns.items()
    }
    more = choose(aside.rows, left), choose(aside.neighbours, left)
    ends = zip((found.rows, found.neighbours), more, strict=True)
    rows, neighbours = (xp.concatenate(both) for both in ends)
    return SomeDeviceRows(partition, rows, neighbours, joined)
