"""Number of shortest paths from a source, over finished levels and edges in host memory."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from dask_graphgpu.partition.view import View
    from dask_graphgpu.report import Report


def path_counts(view: View, source: int, level: Any, *, dtype: str, report: Report) -> Any:
    """Number of paths of fewest edges from `source`; as `engine.gpu.path_counts`.

    Parameters
    ----------
    view : View
        Without repeated edges, which would count as often as they occur.
    source : int
        Dense id.
    level : array of int32, shape (num_vertices,)
        What `bfs` found; -1 where not reached.
    dtype : {"int64", "float64"}
        Of a count. float64 is exact up to 2**53 and infinite beyond 1.8e308.
    report : Report
        Gets one row, and what was moved.

    Returns
    -------
    array of `dtype`, shape (num_vertices,)
        1 at the source, 0 where not reached.

    Raises
    ------
    IntegerOverflow
        A count does not fit int64.
    LimitTooSmall
        What belongs to vertices needs more than ``graphgpu.device-memory-limit``.

    Notes
    -----
    Vertices add their counts to their out-neighbours', a level after the other: each edge of the
    reached vertices but those of the last level goes over the link once.
    """
    import cupy

    from dask_graphgpu.engine.cuda.wrappers import c_type
    from dask_graphgpu.engine.gpu.device import DeviceView
    from dask_graphgpu.engine.tiered.rows import TieredRows
    from dask_graphgpu.errors import IntegerOverflow

    here, kind = DeviceView.of(view), np.dtype(dtype)
    n, depth, began = here.n, int(level.max(initial=0)), time.perf_counter()
    vertex = level.itemsize + kind.itemsize

    def counted(rows: TieredRows) -> tuple[int, int, Any]:
        levels, count = cupy.asarray(level), cupy.zeros(n, kind)
        count[source] = 1
        overflow = cupy.zeros(1, np.uint64)
        for step in range(depth):
            at = np.int32(step)
            rows.over_vertices("find_level", levels, np.uint64(n), at, rows.active)
            go = rows.along("count_part", levels, at, count, overflow, rows.read)
            rows.transfer.superstep(rows.active, go)
        return int(overflow[0]), int(rows.read[0]), here.to_caller(count)

    defines, what = {"COUNT": c_type(kind)}, "the path counts"
    bad, read, found = TieredRows.run(
        view, "tier_path_counts", defines, vertex, what, report, counted
    )
    if bad:
        raise IntegerOverflow(
            "the number of shortest paths to a vertex does not fit int64; give "
            "dtype='float64', which is exact up to 2**53 and rounds beyond"
        )
    report.advance(
        "push", supersteps=depth, frontier=1, edges=read,
        bytes=read * (here.id_dtype.itemsize + level.itemsize) + n * (16 + kind.itemsize),
        seconds=time.perf_counter() - began,
    )  # fmt: skip
    return found
