"""Weakly connected components that the GPU and the CPU share: the least label spreads."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from dask_graphgpu.engine.cpu.components import smallest_members
from dask_graphgpu.engine.hybrid import programs
from dask_graphgpu.engine.known import SMALLEST
from dask_graphgpu.engine.options import RunOptions
from dask_graphgpu.engine.tiered.components import components as of_gpu
from dask_graphgpu.kernels.cpu.threads import even_blocks
from dask_graphgpu.partition.view import View
from dask_graphgpu.report import Report

PROGRAM = replace(SMALLEST, edges="both")


def components(view: View, report: Report) -> Any:
    """Component of every vertex, the direction of edges ignored, as `engine.cpu.components`.

    Notes
    -----
    A vertex program: of a directed graph every edge is held both ways for it. The other engines
    link trees, in fewer passes; so does this one where the CPU could not shorten a superstep.
    """
    # Who does it is decided without rows of edges both ways.
    if programs.is_gpus(SMALLEST, view):
        linked = of_gpu(view, report)
        programs.gpu_alone(report)
        return linked

    found = programs.run(PROGRAM, view, RunOptions(report=report))["smallest"]
    label: np.ndarray = found.astype(view.out.neighbours.dtype, copy=False)
    if view.user_rank is None:
        return label
    return smallest_members(label, view.user_rank, even_blocks(len(label)))
