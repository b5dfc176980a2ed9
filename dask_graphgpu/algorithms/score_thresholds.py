"""Components at thresholds of a score, and of a limited size: arguments and columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from dask_graphgpu.algorithms.run import Run
from dask_graphgpu.algorithms.several import each_of, endings
from dask_graphgpu.arguments import check_whole
from dask_graphgpu.io.results import ColumnType, Table, Values
from dask_graphgpu.io.schema import EdgeSchema


def check_max_size(value: Any) -> None:
    """Raise InvalidArgument unless it is None or a number of vertices."""
    if value is not None:
        check_whole("max_size", value, 1, any_size=True)


def columns(thresholds: Any, max_size: Any, schema: EdgeSchema) -> dict[str, ColumnType]:
    """Columns of the result for each threshold."""
    found: dict[str, ColumnType] = {}
    for end in endings(thresholds):
        found[f"component{end}"] = ColumnType("vertex")
        if max_size is not None:
            found[f"threshold{end}"] = ColumnType(str(schema.weight_kind), nullable=True)
    return found


def components(run: Run, thresholds: Any, max_size: Any) -> Table:
    """The table of the result."""
    most = None if max_size is None else min(int(max_size), run.num_vertices)
    forest = run.engine.spanning_forest(run.view, report=run.report, largest=True)
    levels = run.engine.components_at(
        run.view, forest, each_of(thresholds), most, report=run.report
    )
    vertices, dense = run.vertices, run.ids.position if run.ranks is None else None
    table = {"vertex": Values(vertices)}
    for end, level in zip(endings(thresholds), levels, strict=True):
        place = np.asarray(level.component, like=vertices)
        table[f"component{end}"] = Values(place if dense is None else dense.take(place))
        if level.weakest is not None:
            held, joined = (
                np.asarray(each, like=vertices) for each in (level.weakest, level.joined)
            )
            table[f"threshold{end}"] = Values(held, joined)
    return table
