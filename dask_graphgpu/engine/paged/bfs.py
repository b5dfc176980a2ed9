"""Breadth-first search over pages: a vertex program in supersteps, one a level."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dask_graphgpu.engine.paged.programs import run
from dask_graphgpu.program import Field, VertexProgram

if TYPE_CHECKING:
    from dask_graphgpu.partition.view import View
    from dask_graphgpu.report import Report

PROGRAM = VertexProgram(
    state={"distance": Field(dtype="int32", initial=None, at_source=0)},
    compute=lambda source_distance: source_distance + 1,
    combine="min",
    bound=lambda num_vertices: num_vertices,
)


def bfs(
    view: View, source: int, *, cutoff: int | None, targets: np.ndarray | None, report: Report
) -> np.ndarray:
    """Hops from a source, as `engine.cpu.bfs`; ``targets`` do not end it earlier.

    Notes
    -----
    A pass over the pages that have edges into vertices of the next level, of every level.
    """
    steps = None if cutoff is None else int(cutoff)
    state = run(
        PROGRAM, view, sources=source, max_supersteps=steps, exact_supersteps=True, report=report
    )
    assert state.reached is not None
    level: np.ndarray = np.where(state.reached, state["distance"], -1).astype(np.int32)
    return level
