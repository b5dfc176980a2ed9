"""Parts of a partition by the values of a column, wherever its edges lie."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol, TypeVar

from dask_graphgpu.partition.bounds import Bound, Cut, count_rows, extent
from dask_graphgpu.partition.device.build import DevicePartition
from dask_graphgpu.partition.device.filtered import filtered as filtered_on_device
from dask_graphgpu.partition.device.filtered import values_of as values_on_device
from dask_graphgpu.partition.filtered import by_windows, check_directions, filtered, values_given
from dask_graphgpu.partition.paged.filtered import filtered as filtered_on_disk
from dask_graphgpu.partition.paged.filtered import values_of as values_on_disk
from dask_graphgpu.partition.paged.rows import PagedPartition
from dask_graphgpu.partition.partition import Partition

P = TypeVar("P", bound=Partition)


class FrameRows(Protocol):
    """Some rows of a frame, of which a partition can be made."""

    def __len__(self) -> int:
        """How many there are."""

    def partition(self) -> Partition:
        """The partition that building them anew gives."""


@dataclass(frozen=True, eq=False)
class Between:
    """The rows with ``low <= column < high``, of which there are ``number``; they are looked for when asked for."""

    whole: Partition
    column: str
    low: int | float
    high: int | float
    number: int

    def __len__(self) -> int:
        return self.number

    def partition(self) -> Partition:
        return part(self.whole, self.column, self.low, self.high, self.number)


def part(
    partition: Partition, column: str, low: Bound, high: Bound, number: int | None = None
) -> Partition:
    """The partition that building the rows with ``low <= column < high`` gives, where the edges are now.

    ``number`` : how many rows these are, where it is known.

    Raises
    ------
    InvalidArgument
        Nobody knows in which direction the edges of an undirected graph were given.
    NoVertices
    """
    if isinstance(partition, PagedPartition):
        return filtered_on_disk(partition, column, low, high, number)
    if isinstance(partition, DevicePartition):
        return filtered_on_device(partition, column, low, high)
    return filtered(partition, column, low, high)


def windows(partition: Partition, column: str, cut: Cut) -> list[tuple[int | float, FrameRows]]:
    """The least value and the rows of each window; ``cut`` gives the edges of those that hold two values."""
    if isinstance(partition, PagedPartition):
        return _between(partition, column, cut, values_on_disk)
    if isinstance(partition, DevicePartition):
        return _between(partition, column, cut, values_on_device)
    check_directions(partition)
    aside = None if partition.as_given is None else partition.use_as_given()
    found = extent(values_given(partition.use_given(), aside, column))
    if found is None:
        return []
    edges = cut(*found)
    return list(zip(edges[:-1], by_windows(partition, column, edges), strict=True))


def _between(
    partition: P, column: str, cut: Cut, values_of: Callable[[P, str], Iterable[Any]]
) -> list[tuple[int | float, FrameRows]]:
    found = extent(values_of(partition, column))
    if found is None:
        return []
    edges = cut(*found)
    numbers = count_rows(values_of(partition, column), edges).tolist()
    return [
        (low, Between(partition, column, low, high, number))
        for (low, high), number in zip(pairwise(edges), numbers, strict=True)
    ]
