"""Searches from several sources on many ranks: each has the hops to its own vertices."""

from __future__ import annotations

import numpy as np

from dask_graphgpu.engine.cpu.multi_bfs import multi_bfs as of_own
from dask_graphgpu.partition.ranks.view import RankView
from dask_graphgpu.report import Report


def multi_bfs(
    view: RankView,
    sources: np.ndarray,
    *,
    cutoff: int | None,
    targets: np.ndarray | None,
    report: Report,
) -> np.ndarray | None:
    """Hops from each of several sources; as `engine.cpu.multi_bfs`. None as rows of the result. Collective."""
    if view.answers is not None:
        return None
    return of_own(view, sources, cutoff=cutoff, targets=targets, report=report)
