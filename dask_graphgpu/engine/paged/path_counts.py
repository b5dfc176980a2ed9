"""Number of shortest paths from a source over pages: those with rows of a level are read for it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from dask_graphgpu.engine.cpu.edges import Paged, rows_on_disk
from dask_graphgpu.engine.cpu.path_counts import check_signs

if TYPE_CHECKING:
    from dask_graphgpu.partition.view import View
    from dask_graphgpu.report import Report


def path_counts(
    view: View, source: int, level: np.ndarray, *, dtype: str, report: Report
) -> np.ndarray:
    """Number of paths of fewest edges from `source` to every vertex, as `engine.cpu.path_counts`.

    Raises
    ------
    IntegerOverflow, LimitTooSmall, SpillError

    Notes
    -----
    Level after level, vertices add up their in-neighbours of the level before.
    """
    from dask_graphgpu.kernels.cpu import path_counts as kernels

    rows, n = rows_on_disk(view.into), view.num_vertices
    passes = Paged(rows, report)
    ids, kind = rows.neighbours.dtype, np.dtype(dtype)
    needed = passes.nbytes + 2 * rows.offsets.nbytes + rows.counts.nbytes
    needed += n * (level.itemsize + ids.itemsize + kind.itemsize + 1)
    rows.limits.require(needed, f"the path counts of {n:,} vertices")
    starts = np.zeros(int(level.max(initial=-1)) + 2, np.int64)
    order = np.empty(int((level >= 0).sum()), ids)
    kernels.by_level(level, starts, order)
    count = np.zeros(n, kind)
    count[source] = 1
    marked = np.zeros(n, bool)
    try:
        for depth in range(1, len(starts) - 1):
            start, signs = time.perf_counter(), [0]
            some = order[starts[depth] : starts[depth + 1]]
            marked[some] = True
            for lo, hi, run in passes.over(passes.holding(marked)):
                here = some[slice(*np.searchsorted(some, [lo, hi]))]
                signs += passes.along(kernels.pull, here, run, level, count)
            marked[some] = False
            check_signs(signs)
            read = int(rows.degrees[some].sum())
            report.advance(
                "pull", supersteps=1, frontier=len(some), edges=read,
                bytes=read * (ids.itemsize + level.itemsize) + len(some) * (16 + kind.itemsize),
                seconds=time.perf_counter() - start,
            )  # fmt: skip
    finally:
        passes.release()
    return count
