"""Rows of a graph on disk by windows of a column: as many windows a pass over the pages as memory holds."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from dask_graphgpu.partition.bounds import Edges
from dask_graphgpu.partition.filtered import SomeRows, to_windows
from dask_graphgpu.partition.paged.filtered import carried_bytes, filtered, rows_in_memory
from dask_graphgpu.partition.paged.limits import in_memory_bytes
from dask_graphgpu.partition.paged.rows import PagedPartition
from dask_graphgpu.partition.paged.sort import PagedAdjacency
from dask_graphgpu.partition.partition import Partition


@dataclass(frozen=True, eq=False)
class RowsOfWindow:
    """The rows of one of the windows, of which there are ``number``; they are looked for when asked for."""

    windows: PagedWindows
    i: int
    number: int

    def __len__(self) -> int:
        return self.number

    def partition(self) -> Partition:
        return self.windows.partition_of(self.i)


class PagedWindows:
    """Windows of a graph on disk; rows of those of one pass are in memory, and go with the last of them.

    Parameters
    ----------
    whole : PagedPartition
    column : str
    edges : numbers
        Where windows begin and end.
    numbers : int
        How many rows each has.
    """

    def __init__(
        self, whole: PagedPartition, column: str, edges: Edges, numbers: Sequence[int]
    ) -> None:
        self._whole, self._column, self._edges, self._numbers = whole, column, edges, numbers
        self._passes = passes(whole, numbers)
        self._read: tuple[range, dict[int, SomeRows]] = range(0), {}
        self._lock = threading.Lock()

    def partition_of(self, i: int) -> Partition:
        """The partition of a window: in memory where it fits, else in new pages."""
        rows = self._rows_of(i)
        if rows is not None:
            return rows.partition()
        low, high = self._edges[i : i + 2]
        return filtered(self._whole, self._column, low, high, self._numbers[i])

    def _rows_of(self, i: int) -> SomeRows | None:
        """Rows of a window, read with others of its pass; None: it is too large."""
        together = self._passes[i]
        if not together:
            return None
        with self._lock:
            if self._read[0] != together or i not in self._read[1]:
                self._read = range(0), {}  # before others take its memory
                self._read = together, self._rows_of_pass(together)
            return self._read[1].pop(i)

    def _rows_of_pass(self, together: range) -> dict[int, SomeRows]:
        edges = self._edges[together.start : together.stop + 1]
        rows = rows_in_memory(self._whole, self._column, edges[0], edges[-1])
        return dict(zip(together, to_windows(rows, self._column, edges), strict=True))


def passes(whole: PagedPartition, numbers: Sequence[int]) -> list[range]:
    """Of each window, with so many rows, the windows that are read with it; none where it does not fit memory."""
    carried, directed, given = carried_bytes(whole), whole.layout.directed, whole.given
    assert isinstance(given, PagedAdjacency)
    room = given.limits.memory - whole.nbytes
    of_row = 2 * (2 * given.neighbours.dtype.itemsize + carried)  # as read, and by windows
    made = [in_memory_bytes(number, carried, directed=directed) for number in numbers]
    cuts, held, largest = [0], 0, 0
    for i, number in enumerate(numbers):
        held, largest = held + of_row * number, max(largest, made[i])
        if held + largest > room and cuts[-1] < i:
            cuts.append(i)
            held, largest = of_row * number, made[i]
    found: list[range] = []
    for first, last in pairwise([*cuts, len(numbers)]):
        fits = last - first > 1 or of_row * numbers[first] + made[first] <= room
        found += [range(first, last) if fits else range(0)] * (last - first)
    return found
