"""Number of shortest paths from a source, over finished levels and edges in host memory."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from dask_graphgpu.engine.tiered.rows import TieredRows
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
    Vertices add their counts to their out-neighbours', a level after the other; of an undirected view those of
    the next level look for them instead where their edges are fewer over the link, so that about every other level's
    are brought.
    """
    import cupy

    from dask_graphgpu.engine.cuda.wrappers import c_type
    from dask_graphgpu.engine.gpu.device import DeviceView
    from dask_graphgpu.engine.tiered.copies import to_device
    from dask_graphgpu.engine.tiered.rows import TieredRows
    from dask_graphgpu.errors import IntegerOverflow

    here, kind = DeviceView.of(view), np.dtype(dtype)
    n, depth, began = here.n, int(level.max(initial=0)), time.perf_counter()
    vertex = level.itemsize + kind.itemsize

    def counted(rows: TieredRows) -> tuple[int, int, Any]:
        levels, count = to_device(level, rows.tier.kept), cupy.zeros(n, kind)
        count[source] = 1
        overflow = cupy.zeros(1, np.uint64)
        pulls = _pulled(rows, levels, depth) if not view.directed else [False] * depth
        for step, pulled in enumerate(pulls):
            at = np.int32(step)
            rows.over_vertices(
                "find_level", levels, np.uint64(n), np.int32(step + pulled), rows.active
            )
            given = levels, at, np.uint32(pulled), count, overflow, rows.read
            rows.transfer.superstep(rows.active, rows.along("count_part", *given))
        return int(overflow[0]), int(rows.read[0]), rows.to_caller(count)

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


def _pulled(rows: TieredRows, levels: Any, depth: int) -> list[bool]:
    """Of each level, whether the next one's rows are fewer bytes over the link than its own."""
    import cupy

    from dask_graphgpu.engine.tiered import link

    found = cupy.zeros((2, depth + 1), np.uint64)
    n, resident = np.uint64(rows.n), np.uint64(rows.tier.cut.resident)
    given = rows.tier.offsets, n, resident, levels, np.uint64(depth + 1), found[0], found[1]
    rows.over_vertices("measure_levels", *given, shared=True)
    edges, number = cupy.asnumpy(found).astype(np.int64)
    size = edges * rows.tier.bytes_of_edge + number * link.LINE
    own, following = size[:-1], size[1:]
    fewer: list[bool] = (following < own).tolist()
    return fewer
