"""Breadth-first search over edges in host memory: a vertex program, in supersteps one a level."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dask_graphgpu.engine import hops
from dask_graphgpu.engine.tiered import limits
from dask_graphgpu.engine.tiered.programs import run
from dask_graphgpu.program import Field, VertexProgram

if TYPE_CHECKING:
    from dask_graphgpu.partition.view import View
    from dask_graphgpu.report import Report

PROGRAM = VertexProgram(
    state={"level": Field("int32", initial=None, at_source=0)},
    compute=lambda superstep: superstep,
    combine="min",
)


def bfs(view: View, source: int, *, cutoff: int | None, targets: Any, report: Report) -> Any:
    """Hops from a source, as `engine.gpu.bfs`; ``targets`` do not end it earlier.

    Where the view has layers, it sweeps over them. In asynchronous rounds there is no ``cutoff``: InvalidArgument.
    """
    if view.levels is not None:
        places = np.array([source])
        return hops.levels(run(hops.PROGRAM, view, sources=places, cutoff=cutoff, report=report))
    program = hops.PROGRAM if limits.configured_rounds() == "asynchronous" else PROGRAM
    state = run(
        program,
        view,
        sources=source,
        max_supersteps=cutoff,
        exact_supersteps=cutoff is not None,
        report=report,
    )
    return hops.levels(state)
