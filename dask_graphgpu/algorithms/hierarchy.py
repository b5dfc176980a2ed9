"""Communities of communities as rows: one for each vertex and level."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dask_graphgpu.algorithms.run import Run
from dask_graphgpu.io.results import ColumnType, Table, Values

COLUMNS = {
    "vertex": ColumnType("vertex"),
    "level": ColumnType("int64"),
    "community": ColumnType("vertex"),
    "parent": ColumnType("vertex", nullable=True),
}


def table(run: Run, levels: Sequence[Any]) -> Table:
    """The table of the result.

    ``levels`` : the community of each vertex, by dense id, the coarsest first; each lies in one of the level before.
    """
    own = [level.take(run.rows) for level in levels]
    depth = np.arange(len(own), dtype=np.int64, like=run.vertices)
    level = _row_by_row([depth[k : k + 1].repeat(len(run.rows)) for k in range(len(own))])
    vertex = _row_by_row([run.vertices] * len(own))
    run.order(vertex, level)
    return {
        "vertex": Values(vertex),
        "level": Values(level),
        "community": Values(_row_by_row(own)),
        "parent": Values(_row_by_row([own[0], *own[:-1]]), level > 0),
    }


def _row_by_row(columns: Sequence[Any]) -> Any:
    """The first values of all columns, then the second ones, and so on."""
    first, number = columns[0], len(columns)
    values = np.empty(len(first) * number, first.dtype, like=first)
    for k, column in enumerate(columns):
        values[k::number] = column
    return values
