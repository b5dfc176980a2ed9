"""How rows are shared out to threads, groups of lanes, warps and blocks, by their length."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import cupy
import numpy as np

from dask_graphgpu.engine.gpu.lower import CHUNK, PART
from dask_graphgpu.partition.csr import Adjacency

# Lengths from which a row of pull is a group's of 8 lanes, a warp's, a block's in parts.
GROUP_ROWS, WARP_ROWS, BLOCK_ROWS = 8, 32, 1024

# Lengths from which a row of push is a warp's, a block's.
SEPARATORS = (32, 1024)

# Rows of each kind that a block of program_pull.cuh takes.
_ROWS_OF_BLOCK = (8 * 4, 8 * 4 * 4, 256)


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

        warps = between(WARP_ROWS, BLOCK_ROWS)
        groups, threads = between(GROUP_ROWS, WARP_ROWS), between(1, GROUP_ROWS)
        long = between(BLOCK_ROWS, None)
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
        """Of a launch of pull."""
        blocks = (-(-rows // of) for rows, of in zip(self.numbers, _ROWS_OF_BLOCK, strict=True))
        return self.num_parts + sum(blocks)


def num_chunks(edges: Adjacency) -> int:
    """Chunks of all long rows of an adjacency by source."""
    lengths = cupy.diff(edges.offsets)
    long = lengths[lengths >= SEPARATORS[1]]
    return int((-(-long.astype(cupy.int64) // CHUNK)).sum())
