"""How rows are shared out to threads, groups of lanes, warps and blocks, by their length."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import cupy
import numpy as np

from dask_graphgpu.engine.cuda.lower import CHUNK, PART
from dask_graphgpu.kernels.sizes import SIZES
from dask_graphgpu.partition.csr import Adjacency
from dask_graphgpu.partition.device import elements

# Lengths from which a row of pull is a group's of 8 lanes, a warp's, of several warps in parts.
GROUP_ROWS, WARP_ROWS, LONG_ROWS = 8, 32, 256

# Lengths from which a row of push is a warp's, a block's.
SEPARATORS = (32, 1024)

# Threads of a block that pulls, and rows of each kind that a warp takes at once.
PULL_THREADS = SIZES["program_pull.cuh"]["PULL_THREADS"]
_ROWS_OF_WARP = (4, 16, 32)


@dataclass(frozen=True, eq=False)
class PullLists:
    """Rows with edges, longest kind first: those in parts, of warps, of groups, of threads.

    Attributes
    ----------
    rows : ids of the rows of warps, of groups and of threads, as many as ``numbers`` says
    part_row, part_begin, part_slot : of each part of a long row, by its first neighbour
    long_rows, long_slots : rows in parts; their first slots, and the end
    """

    rows: Any
    numbers: tuple[int, int, int]
    part_row: Any
    part_begin: Any
    part_slot: Any
    long_rows: Any
    long_slots: Any

    @classmethod
    def of(cls, edges: Adjacency) -> PullLists:
        """Of an adjacency by destination."""
        ids = edges.neighbours.dtype

        def between(least: int, most: int | None) -> Any:
            return elements.places_of(elements.lengths_between(edges.offsets, least, most))

        warps = between(WARP_ROWS, LONG_ROWS)
        groups, threads = between(GROUP_ROWS, WARP_ROWS), between(1, GROUP_ROWS)
        rows = elements.joined([warps, groups, threads], ids)
        numbers = (warps.size, groups.size, threads.size)
        long = between(LONG_ROWS, None)
        if not long.size:
            none, slots = cupy.empty(0, np.uint32), cupy.zeros(1, np.uint32)
            no_rows, no_begin = cupy.empty(0, ids), cupy.empty(0, edges.offsets.dtype)
            return cls(rows, numbers, no_rows, no_begin, none, no_rows, slots)
        lengths = edges.offsets[long + 1] - edges.offsets[long]
        parts = -(-lengths.astype(np.int64) // PART)
        slots = cupy.concatenate([cupy.zeros(1, np.int64), cupy.cumsum(parts)])
        which, nth = parts_of(parts)
        begin = edges.offsets[long[which]].astype(np.int64) + nth * PART
        order = cupy.argsort(edges.neighbours[begin])
        return cls(
            rows,
            numbers,
            long[which[order]].astype(ids),
            begin[order].astype(edges.offsets.dtype),
            order.astype(np.uint32),
            long.astype(ids),
            slots.astype(np.uint32),
        )

    @property
    def num_parts(self) -> int:
        return int(self.part_row.size)

    @property
    def num_warps(self) -> int:
        """That a launch of pull has work for."""
        turns = (-(-rows // of) for rows, of in zip(self.numbers, _ROWS_OF_WARP, strict=True))
        return self.num_parts + sum(turns)


def num_chunks(edges: Adjacency, least: int) -> int:
    """Chunks of all rows of at least so many edges."""
    lengths = cupy.diff(edges.offsets)
    long = lengths[lengths >= least]
    return int((-(-long.astype(cupy.int64) // CHUNK)).sum())


def parts_of(numbers: Any) -> tuple[Any, Any]:
    """Of things in so many parts each: which one each part is of, and its place among the thing's."""
    ends = cupy.cumsum(numbers)
    part = cupy.arange(int(ends[-1]) if ends.size else 0, dtype=np.int64)
    which = cupy.searchsorted(ends, part, side="right")
    return which, part - (ends[which] - numbers[which])
