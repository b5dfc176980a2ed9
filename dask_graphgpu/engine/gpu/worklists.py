"""How rows are shared out to threads, groups of lanes, warps and blocks, by their length."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import cupy
import numpy as np

from dask_graphgpu.engine.gpu.lower import CHUNK, PART
from dask_graphgpu.partition.csr import Adjacency

# Lengths from which a row of pull is a group's of 8 lanes, a warp's, of several warps in parts.
GROUP_ROWS, WARP_ROWS, LONG_ROWS = 8, 32, PART

# Lengths from which a row of push is a warp's, a block's.
SEPARATORS = (32, 1024)

# Rows of each kind that a warp of program_pull.cuh takes at once, and warps of a block.
_ROWS_OF_WARP = (4, 16, 32)
_WARPS = 8


@dataclass(frozen=True, eq=False)
class PullLists:
    """Rows with edges, longest kind first: those in parts, of warps, of groups, of threads."""

    rows: Any
    part_row: Any
    part_first: Any
    numbers: tuple[int, int, int]

    @classmethod
    def of(cls, edges: Adjacency) -> PullLists:
        """Of an adjacency by destination."""
        lengths, ids = cupy.diff(edges.offsets), edges.neighbours.dtype

        def between(least: int, most: int | None) -> Any:
            there = lengths >= least
            if most is not None:
                there &= lengths < most
            return cupy.flatnonzero(there)

        warps = between(WARP_ROWS, LONG_ROWS)
        groups, threads = between(GROUP_ROWS, WARP_ROWS), between(1, GROUP_ROWS)
        long = between(LONG_ROWS, None)
        parts = -(-cupy.asnumpy(lengths[long]).astype(np.int64) // PART)
        first = np.cumsum(parts) - parts
        return cls(
            cupy.concatenate([warps, groups, threads]).astype(ids),
            cupy.asarray(np.repeat(cupy.asnumpy(long), parts).astype(ids)),
            cupy.asarray(np.repeat(first, parts).astype(np.uint32)),
            (warps.size, groups.size, threads.size),
        )

    @property
    def num_parts(self) -> int:
        return int(self.part_row.size)

    @property
    def num_blocks(self) -> int:
        """That a launch of pull has work for."""
        turns = (-(-rows // of) for rows, of in zip(self.numbers, _ROWS_OF_WARP, strict=True))
        return -(-(self.num_parts + sum(turns)) // _WARPS)


def num_chunks(edges: Adjacency) -> int:
    """Chunks of all long rows of an adjacency by source."""
    lengths = cupy.diff(edges.offsets)
    long = lengths[lengths >= SEPARATORS[1]]
    return int((-(-long.astype(cupy.int64) // CHUNK)).sum())
