"""Weakly connected components on several GPUs: the smallest number spreads."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dask_graphgpu.engine.device_ranks.programs import run
from dask_graphgpu.program import Field, VertexProgram

if TYPE_CHECKING:
    from dask_graphgpu.partition.ranks.view import RankView
    from dask_graphgpu.report import Report

PROGRAM = VertexProgram(
    state={"label": Field("id", initial=lambda id: id)},  # noqa: A006
    compute=lambda source_label: source_label,
    combine="min",
    edges="both",
    monotone=True,
)


def components(view: RankView, report: Report) -> np.ndarray:
    """Component of every vertex, the direction of edges ignored. Collective.

    Returns
    -------
    array of the dtype of numbers, shape (num_vertices,)
        The smallest number in the component; right for own vertices.

    Notes
    -----
    A vertex program that runs on each GPU until nothing changes there before the ranks exchange.
    """
    labels: np.ndarray = run(PROGRAM, view, report=report)["label"]
    return labels
