"""Parts of a partition by the values of a column, wherever its edges lie."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol

from dask_graphgpu.partition.bounds import Bound, Cut, Edges, count_rows, extent
from dask_graphgpu.partition.device.build import DevicePartition
from dask_graphgpu.partition.device.filtered import by_windows as by_windows_on_device
from dask_graphgpu.partition.device.filtered import filtered as filtered_on_device
from dask_graphgpu.partition.device.filtered import has_room
from dask_graphgpu.partition.device.filtered import values_of as values_on_device
from dask_graphgpu.partition.filtered import by_windows, check_directions, filtered, values_given
from dask_graphgpu.partition.paged.filtered import filtered as filtered_on_disk
from dask_graphgpu.partition.paged.filtered import values_of as values_on_disk
from dask_graphgpu.partition.paged.rows import PagedPartition
from dask_graphgpu.partition.paged.windows import PagedWindows, RowsOfWindow
from dask_graphgpu.partition.partition import Partition


class FrameRows(Protocol):
    """Some rows of a frame, of which a partition can be made."""

    def __len__(self) -> int:
        """How many there are."""

    def partition(self) -> Partition:
        """The partition that building them anew gives."""


@dataclass(frozen=True, eq=False)
class Between:
    """The ``number`` rows with ``low <= column < high`` of a graph on a GPU; they are looked for when asked for."""

    whole: DevicePartition
    column: str
    low: int | float
    high: int | float
    number: int

    def __len__(self) -> int:
        return self.number

    def partition(self) -> Partition:
        return filtered_on_device(self.whole, self.column, self.low, self.high)


def part(partition: Partition, column: str, low: Bound, high: Bound) -> Partition:
    """The partition of the rows with ``low <= column < high``, where the edges are now.

    Raises
    ------
    InvalidArgument
        Nobody knows in which direction the edges of an undirected graph were given.
    NoVertices
    """
    if isinstance(partition, PagedPartition):
        return filtered_on_disk(partition, column, low, high)
    if isinstance(partition, DevicePartition):
        return filtered_on_device(partition, column, low, high)
    return filtered(partition, column, low, high)


def windows(partition: Partition, column: str, cut: Cut) -> list[tuple[int | float, FrameRows]]:
    """The least value and the rows of each window; ``cut`` gives the edges of those that hold two values."""
    found = extent(_values(partition, column))
    if found is None:
        return []
    edges = cut(*found)
    return list(zip(edges[:-1], _by_windows(partition, column, edges), strict=True))


def _values(partition: Partition, column: str) -> Iterable[Any]:
    """The values of a column in all rows of the frame, in arrays."""
    if isinstance(partition, PagedPartition):
        return values_on_disk(partition, column)
    if isinstance(partition, DevicePartition):
        return values_on_device(partition, column)
    check_directions(partition)
    aside = None if partition.as_given is None else partition.use_as_given()
    return values_given(partition.use_given(), aside, column)


def _by_windows(partition: Partition, column: str, edges: Edges) -> Sequence[FrameRows]:
    if isinstance(partition, DevicePartition) and has_room(partition):
        return by_windows_on_device(partition, column, edges)
    if not isinstance(partition, DevicePartition | PagedPartition):
        return by_windows(partition, column, edges)
    numbers = count_rows(_values(partition, column), edges).tolist()
    if isinstance(partition, PagedPartition):
        read = PagedWindows(partition, column, edges, numbers)
        return [RowsOfWindow(read, i, number) for i, number in enumerate(numbers)]
    return [
        Between(partition, column, *ends, number)
        for ends, number in zip(pairwise(edges), numbers, strict=True)
    ]
