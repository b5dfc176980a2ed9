"""Sums over rows of what edges have, some edges at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cupy
import numpy as np

from dask_graphgpu.partition.csr import Adjacency
from dask_graphgpu.partition.device.elements import gathered, lengths, offsets_of
from dask_graphgpu.partition.device.memory import free_bytes

_EDGE = 64  # bytes that an edge takes on the way
_MOST = 1 << 26


def edges_at_once() -> int:
    """Edges whose values are worked on together."""
    return max(min(free_bytes() // 2 // _EDGE, _MOST), 1)


def sums_before(offsets: Any, num_edges: int, values: Callable[[int, int], Any]) -> Any:
    """The sum of all values before each row, and that of all: uint64, of the length of ``offsets``.

    ``values`` : gives those of edges from the first number on and before the second.
    """
    step = edges_at_once()
    if num_edges <= step:
        return gathered(offsets_of(values(0, num_edges), np.uint64), offsets)
    found, before = cupy.zeros(len(offsets), np.uint64), 0
    for low in range(0, num_edges, step):
        high = min(low + step, num_edges)
        sums = cupy.cumsum(values(low, high), dtype=np.uint64)
        ends = cupy.asarray(np.array([low, high], offsets.dtype))
        first, last = (int(each) for each in cupy.searchsorted(offsets, ends, side="right"))
        places = offsets[first:last].astype(np.int64) - (low + 1)
        found[first:last] = sums[places] + np.uint64(before)
        before += int(sums[-1])
    return found


def sums_of_neighbours(rows: Adjacency, value: Any) -> Any:
    """The sum of a value, uint64, of the neighbours of each vertex."""
    before = sums_before(
        rows.offsets, rows.num_edges, lambda low, high: gathered(value, rows.neighbours[low:high])
    )
    return lengths(before)
