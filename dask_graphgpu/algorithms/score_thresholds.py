"""Components at thresholds of a score, and of a limited size: arguments and columns."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from dask_graphgpu.algorithms.run import Run
from dask_graphgpu.arguments import check_real, check_whole, is_real, is_whole, refuse, said
from dask_graphgpu.errors import InvalidArgument
from dask_graphgpu.io.results import ColumnType, Table, Values
from dask_graphgpu.io.schema import EdgeSchema


def as_thresholds(value: Any) -> Any:
    """A finite number, or a list of different ones as a tuple; as plain Python numbers.

    Raises
    ------
    InvalidArgument
    """
    if hasattr(value, "tolist"):
        value = value.tolist()
    if value is None or is_real(value):
        return None if value is None else _plain(value)
    if not isinstance(value, Sequence) or isinstance(value, str | bytes) or not value:
        refuse("thresholds", value, "is a finite number, or a list of them")
    plain = tuple(map(_plain, value))
    if twice := [each for each in plain if plain.count(each) > 1]:
        raise InvalidArgument(
            f"thresholds={said(value)} has {twice[0]} more than once; give each threshold once"
        )
    return plain


def _plain(value: Any) -> int | float:
    check_real("thresholds", value, "a finite number, or a list of them", math.isfinite)
    return int(value) if is_whole(value) else float(value)


def check_max_size(value: Any) -> None:
    """Raise InvalidArgument unless it is None or a number of vertices."""
    if value is not None:
        check_whole("max_size", value, 1, any_size=True)


def columns(thresholds: Any, max_size: Any, schema: EdgeSchema) -> dict[str, ColumnType]:
    """Columns of the result for each threshold."""
    found: dict[str, ColumnType] = {}
    for end in _endings(thresholds):
        found[f"component{end}"] = ColumnType("vertex")
        if max_size is not None:
            found[f"threshold{end}"] = ColumnType(str(schema.weight_kind), nullable=True)
    return found


def components(run: Run, thresholds: Any, max_size: Any) -> Table:
    """The table of the result."""
    given = thresholds if isinstance(thresholds, tuple) else (thresholds,)
    most = None if max_size is None else min(int(max_size), run.num_vertices)
    forest = run.engine.spanning_forest(run.view, report=run.report, largest=True)
    levels = run.engine.components_at(run.view, forest, given, most, report=run.report)
    vertices, dense = run.vertices, run.ids.position if run.ranks is None else None
    table = {"vertex": Values(vertices)}
    for end, level in zip(_endings(thresholds), levels, strict=True):
        place = np.asarray(level.component, like=vertices)
        table[f"component{end}"] = Values(place if dense is None else dense.take(place))
        if level.weakest is not None:
            held, joined = (
                np.asarray(each, like=vertices) for each in (level.weakest, level.joined)
            )
            table[f"threshold{end}"] = Values(held, joined)
    return table


def _endings(thresholds: Any) -> list[str]:
    """What the names of the columns of each threshold end with: nothing of a single one."""
    return [f"_{each}" for each in thresholds] if isinstance(thresholds, tuple) else [""]
