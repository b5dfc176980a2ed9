"""Statistics over neighbours as vertex programs, for where there is no pass for all columns at once."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from dask_graphgpu.algorithms.run import Run
from dask_graphgpu.fields import Field
from dask_graphgpu.program import VertexProgram

# Of no values.
_START = {"sum": 0, "min": np.inf, "max": -np.inf}


def statistics(run: Run, values: Any, direction: str, wanted: Sequence[str]) -> dict[str, Any]:
    """What `Engine.neighbour_statistics` gives, where it gives nothing by vertex programs."""
    found = run.engine.neighbour_statistics(run.view, values, direction, wanted, report=run.report)
    if found is not None:
        return found
    return {part: statistic(run, values, direction, part) for part in wanted}


def statistic(run: Run, values: Any, direction: str, part: str) -> Any:
    """As a `part` of what `Engine.neighbour_statistics` gives: a superstep for each column."""
    combine, dtype = part if part in _START else "sum", "int64" if part == "count" else "float64"
    weighted = run.view.is_weighted and part in ("sum", "weight")
    edges = {"in": "out", "out": "in", "both": "both"}[direction]
    program = _program(combine, dtype, edges, weighted=weighted)
    options = run.options(max_supersteps=1, exact_supersteps=True)
    columns = []
    for j in range(values.shape[1]):
        known = ~np.isnan(values[:, j])
        there = values[:, j] if part in ("sum", "min", "max") else 1
        sent = np.where(known, there, _START[combine]).astype(dtype)
        columns.append(
            run.engine.run(program, run.view.with_columns({"sent": sent}), options)["found"]
        )
    return np.stack(columns, axis=1)


@cache
def _program(combine: str, dtype: str, edges: str, *, weighted: bool) -> VertexProgram:
    if weighted:

        def compute(source_sent: Any, weight: Any) -> Any:
            return source_sent * weight
    else:

        def compute(source_sent: Any) -> Any:  # type: ignore[misc]
            return source_sent

    return VertexProgram(
        state={
            "found": Field(dtype, initial=_START[combine]),
            "sent": Field(dtype, vertices="sent"),
        },
        compute=compute,
        combine=combine,
        apply=lambda message, received, found: message if received else found,
        edges=edges,
        wraps=dtype
        == "int64",  # counts fit, and where edges are pushed sums that are checked do not run
    )
