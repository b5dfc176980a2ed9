"""Predecessors on several GPUs: on the ranks' processors, of values that may be on the GPUs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dask_graphgpu.engine import ranks
from dask_graphgpu.partition.chunk import to_host

if TYPE_CHECKING:
    import numpy as np

    from dask_graphgpu.partition.ranks.view import RankView
    from dask_graphgpu.report import Report


def predecessors(
    view: RankView, source: int, distance: Any, reached: Any, *, hops: bool, report: Report
) -> np.ndarray:
    """Predecessor of every vertex on a shortest path; as `engine.ranks.predecessors`. Collective."""
    values = to_host(distance), to_host(reached)
    return ranks.predecessors(view, source, *values, hops=hops, report=report)
