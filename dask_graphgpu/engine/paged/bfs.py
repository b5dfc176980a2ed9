"""Breadth-first search over pages: a vertex program in supersteps, one a level."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dask_graphgpu.engine import hops
from dask_graphgpu.engine.cpu.programs import run

if TYPE_CHECKING:
    import numpy as np

    from dask_graphgpu.partition.view import View
    from dask_graphgpu.report import Report


def bfs(
    view: View, source: int, *, cutoff: int | None, targets: np.ndarray | None, report: Report
) -> np.ndarray:
    """Hops from a source, as `engine.cpu.bfs`; ``targets`` do not end it earlier.

    Notes
    -----
    A pass over the pages that have edges into vertices of the next level, of every level.
    """
    steps = None if cutoff is None else int(cutoff)
    return hops.in_supersteps(run, hops.PROGRAM, view, source, steps, report)
