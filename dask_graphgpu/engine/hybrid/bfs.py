"""Breadth-first search that the GPU and the CPU share: a vertex program, in supersteps one a level."""

from __future__ import annotations

from typing import Any

from dask_graphgpu.engine import hops, limits
from dask_graphgpu.engine.hybrid import programs
from dask_graphgpu.engine.tiered.bfs import bfs as of_gpu
from dask_graphgpu.partition.view import View
from dask_graphgpu.report import Report


def bfs(view: View, source: int, *, cutoff: int | None, targets: Any, report: Report) -> Any:
    """Hops from a source, as `engine.cpu.bfs`; ``targets`` do not end it earlier.

    Where the CPU could not shorten a level it is the GPU engine's search, see `engine.tiered.bfs`. In
    asynchronous rounds there is no ``cutoff``: InvalidArgument.
    """
    if limits.configured_rounds() == "asynchronous":
        return hops.in_supersteps(programs.run, hops.PROGRAM, view, source, cutoff, report)
    if not programs.is_gpus(hops.LEVELS, view):
        return hops.in_supersteps(programs.run, hops.LEVELS, view, source, cutoff, report)
    found = of_gpu(view, source, cutoff=cutoff, targets=targets, report=report)
    programs.gpu_alone(report)
    return found
