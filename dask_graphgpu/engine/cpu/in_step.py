"""What iterations over all edges have in common whose threads are woken once; see `kernels.cpu.in_step`."""

from __future__ import annotations

import numpy as np

from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.kernels.cpu.threads import even_blocks, for_blocks, num_threads, step_blocks
from dask_graphgpu.partition.csr import Adjacency

# Edges and rows of a block. Threads take blocks by themselves, so these may be small.
BLOCK = 1 << 13

# Edges and rows that are gone over by a call: some tenths of a second, after which an interrupt gets through.
AT_ONCE = 1 << 28

AS_THEY_LIE = np.empty(0, np.uint32)  # an order of rows that is none


def blocked_rows(rows: Adjacency) -> tuple[np.ndarray, ...]:
    """Rows for many passes over all of them.

    Returns
    -------
    tuple of arrays
        Bounds of blocks that do not depend on the threads; the order in which to go over rows, or none; offsets;
        neighbours; weights or none.

    Notes
    -----
    Where more than a quarter of the rows are not as long as the row before, those of a length come one after the
    other in each block: passes over web graphs take a tenth to a third less, over social ones about as long or less.
    """
    weight = np.empty(0) if rows.weight is None else rows.weight
    offsets = rows.offsets.view(np.uint64)
    bounds = step_blocks(rows.offsets, BLOCK)
    n, order = len(offsets) - 1, AS_THEY_LIE
    if 4 * sum(for_blocks(kernels.row_order.length_changes, even_blocks(n), offsets)) > n:
        order = np.empty(n, rows.neighbours.dtype)
        blocks = even_blocks(len(bounds) - 1, work=BLOCK)
        for_blocks(kernels.row_order.by_length, blocks, bounds, offsets, order)
    return bounds, order, offsets, rows.neighbours, weight


def threads_for(blocks: int) -> np.ndarray:
    """Bounds of calls for so many blocks: one a thread, but no more than blocks."""
    return np.arange(max(min(num_threads(), blocks), 1) + 1)


def passes_at_once(steps: int) -> int:
    """How many passes, each over so many edges and rows, a call may make; at least one."""
    return max(AT_ONCE // max(steps, 1), 1)
