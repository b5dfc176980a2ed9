"""Ranks of an earlier result that an iteration starts from, and what they still have to hand out."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from dask_graphgpu.algorithms.known_values import known_values
from dask_graphgpu.algorithms.run import Run
from dask_graphgpu.algorithms.vertex_values import FrameColumns, read_values
from dask_graphgpu.engine.options import RunOptions
from dask_graphgpu.errors import InvalidArgument
from dask_graphgpu.fields import Field
from dask_graphgpu.program import VertexProgram

START = "start"  # the column that a run puts in place of those of the vertices frame


def start_ranks(run: Run, value: Any, missing: np.ndarray | float) -> np.ndarray:
    """Ranks to start from in dense order, float64, of sum 1; ``missing`` for vertices that have none.

    Ids that are no vertices are left out; the report says how many.

    Raises
    ------
    InvalidArgument
        A value is null, negative or not finite, a vertex has two, or all are 0.
    """
    if isinstance(value, FrameColumns):
        values, known = known_values(run, START, value)
    else:
        values, known = read_values(run, START, value)
    ranks = np.where(known, values[:, 0], missing)
    total, least = run.total(ranks), run.least(ranks)
    if not (np.isfinite(total) and total > 0 and least >= 0):
        raise InvalidArgument(
            f"start: values from {least} with sum {total}; allowed are finite values of at least 0, not all 0: "
            "the ranks of an earlier result"
        )
    scaled: np.ndarray = ranks / total
    return scaled


@cache
def _inflow_program(dtype: str, *, weighted: bool) -> VertexProgram:
    """One pass over the edges: what ranks hand on, before it is damped."""
    if weighted:

        def compute(source_share: Any, weight: Any) -> Any:
            return source_share * weight
    else:

        def compute(source_share: Any) -> Any:  # type: ignore[misc]
            return source_share

    return VertexProgram(
        state={
            "inflow": Field(dtype, initial=0.0),
            START: Field(dtype, vertices=START),
            "share": Field(
                dtype,
                initial=lambda start, weighted_degree: (
                    start / weighted_degree if weighted_degree > 0 else 0.0
                ),
            ),
        },
        compute=compute,
        combine="sum",
        apply=lambda message: message,
    )


def left_to_hand_out(
    run: Run, ranks: np.ndarray, jumps: np.ndarray, damping: float, dtype: str
) -> tuple[np.ndarray, np.ndarray]:
    """Ranks in the scale of x = (1 - d) p + d P'x, whose sum is not 1, and how far each is from solving it.

    Residuals may be negative. Cost: a pass over all edges.
    """
    degree = run.view.weighted_degrees("out")
    dangling = run.total(np.where(degree > 0, 0.0, ranks))
    x = ranks * ((1 - damping) / (1 - damping * (1 - dangling)))
    view = run.view.with_columns({START: x})
    program = _inflow_program(dtype, weighted=view.is_weighted)
    options = RunOptions(report=run.report, keeper=None, max_supersteps=1, exact_supersteps=True)
    inflow = run.engine.run(program, view, options)["inflow"]
    return x, (1 - damping) * jumps + damping * inflow - x
