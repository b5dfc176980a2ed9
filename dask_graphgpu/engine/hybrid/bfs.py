"""Breadth-first search that the GPU and the CPU share: a vertex program, in supersteps one a level."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dask_graphgpu.engine import hops
from dask_graphgpu.engine.hybrid.programs import run

if TYPE_CHECKING:
    from dask_graphgpu.partition.view import View
    from dask_graphgpu.report import Report


def bfs(view: View, source: int, *, cutoff: int | None, targets: Any, report: Report) -> Any:
    """Hops from a source, as `engine.cpu.bfs`; ``targets`` do not end it earlier."""
    return hops.in_supersteps(run, hops.LEVELS, view, source, cutoff, report)
