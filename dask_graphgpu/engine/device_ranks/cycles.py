"""Simple cycles on several GPUs: each searches from a part of the edges, and has all."""

from __future__ import annotations

from typing import Any

from dask_graphgpu.engine import ranks
from dask_graphgpu.engine.cycle_search import CycleRule, Found
from dask_graphgpu.engine.gpu.cycles import BUILDING
from dask_graphgpu.engine.gpu.cycles import cycles as on_gpu
from dask_graphgpu.errors import OutOfDeviceMemory
from dask_graphgpu.partition.device.memory import require
from dask_graphgpu.partition.ranks.view import RankView
from dask_graphgpu.report import Report


def cycles(view: RankView, edges: tuple[Any, Any, Any], rule: CycleRule, report: Report) -> Found:
    """Simple cycles of some edges; as `engine.gpu.cycles`. Collective.

    On the processors where the edges do not fit some GPU.
    """
    number = int(view.ranks.sum(len(edges[0])))
    fits = True
    try:
        require(BUILDING * number, f"cycles along {number:,} edges")
    except OutOfDeviceMemory:
        fits = False
    if view.ranks.min(int(fits)):
        return on_gpu(view, edges, rule, report)
    return ranks.cycles(view, edges, rule, report)
