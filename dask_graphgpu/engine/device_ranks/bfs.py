"""Breadth-first search on several GPUs, level by level."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dask_graphgpu.engine.device_ranks.programs import run
from dask_graphgpu.program import Field, VertexProgram

if TYPE_CHECKING:
    from dask_graphgpu.partition.ranks.view import RankView
    from dask_graphgpu.report import Report

PROGRAM = VertexProgram(
    state={"level": Field("int32", initial=-1, at_source=0)},
    compute=lambda superstep: superstep,
    combine="any",
    apply=lambda level, message, received: message if received and level < 0 else level,
    bound=lambda num_vertices: num_vertices,
)


def bfs(
    view: RankView, source: int, *, cutoff: int | None, targets: Any, report: Report
) -> np.ndarray:
    """Hops from `source` along the edges; as `engine.ranks.bfs`. Collective.

    Parameters
    ----------
    targets
        Have no effect: the search goes on to its end.

    Returns
    -------
    array of int32, shape (num_vertices,)
        -1 where not reached; right for own vertices.

    Notes
    -----
    A vertex program: all ranks push while the frontier has few edges, and pull while it has more than
    half of them, in which a vertex stops looking at its first neighbour of the frontier. What travels
    is a byte a border vertex and level.
    """
    state = run(
        PROGRAM,
        view,
        sources=np.array([source]),
        max_supersteps=cutoff,
        exact_supersteps=True,
        report=report,
    )
    level: np.ndarray = state["level"]
    return level
