"""What iterations over all edges have in common whose threads are woken once; see `kernels.cpu.in_step`."""

from __future__ import annotations

import numpy as np

from dask_graphgpu.kernels.cpu.threads import num_threads, step_blocks
from dask_graphgpu.partition.csr import Adjacency

# Edges and rows of a block. Threads take blocks by themselves, so these may be small.
BLOCK = 1 << 13

# Edges and rows that are gone over by a call: some tenths of a second, after which an interrupt gets through.
AT_ONCE = 1 << 28


def blocked_rows(rows: Adjacency) -> tuple[np.ndarray, ...]:
    """Bounds of blocks that do not depend on the threads; offsets, neighbours, and weights or none."""
    weight = np.empty(0) if rows.weight is None else rows.weight
    bounds = step_blocks(rows.offsets, BLOCK)
    return bounds, rows.offsets.view(np.uint64), rows.neighbours, weight


def threads_for(blocks: int) -> np.ndarray:
    """Bounds of as many calls as there are threads for so many blocks."""
    return np.arange(max(min(num_threads(), blocks), 1) + 1)


def passes_at_once(steps: int) -> int:
    """How many passes, each over so many edges and rows, a call may make; at least one."""
    return max(AT_ONCE // max(steps, 1), 1)
