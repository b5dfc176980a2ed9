"""Vertices that are named by a list of ids or the rows of a frame, as where walks or samples begin."""

from __future__ import annotations

from typing import Any

import numpy as np

from dask_graphgpu.algorithms.algorithm import Algorithm, as_plain_ids
from dask_graphgpu.algorithms.run import Run
from dask_graphgpu.algorithms.vertex_values import (
    FrameColumns,
    column_of,
    dense_ids,
    numbers_by_row,
)
from dask_graphgpu.io.frames import is_frame
from dask_graphgpu.partition.chunk import to_host


def as_start_vertices(algorithm: Algorithm, name: str, *, optional: bool = True) -> None:
    """Make a list of plain ids of an argument that names vertices, unless it is a frame, or None where ``optional``."""
    value = getattr(algorithm, name)
    if (value is None and optional) or isinstance(value, FrameColumns) or is_frame(value):
        return
    as_plain_ids(algorithm, name)
    ids = getattr(algorithm, name)
    object.__setattr__(algorithm, name, ids if isinstance(ids, list) else [ids])


def start_values(
    run: Run, name: str, value: FrameColumns
) -> tuple[np.ndarray, np.ndarray, int, np.ndarray]:
    """`start_vertices` of a frame, and the value of each row in its one column of values. Collective."""
    (column,) = value.names
    if run.ranks is not None:
        rows, total, (numbers, values) = numbers_by_row(run, [name], [column])
        return numbers, rows, total, values
    return *start_vertices(run, name, value), column_of(run, name, column)


def start_vertices(run: Run, name: str, value: Any) -> tuple[np.ndarray, np.ndarray, int]:
    """The vertices as places in the order of the user's ids, their places in what was given, and how many there are.

    On ranks each gets some of them; on one rank they are where the graph's ids are. Collective.

    Raises
    ------
    UnknownVertex
        One of them is not a vertex.
    """
    if isinstance(value, FrameColumns):
        if run.ranks is not None:
            rows, total, (numbers,) = numbers_by_row(run, [name])
            return numbers, rows, total
        numbers = _numbers(run, dense_ids(run, name))
    elif value is not None:
        numbers = _numbers(run, np.asarray(run.ids.find(value), like=run.rows))
    elif run.ranks is not None:
        numbers = run.vertices.astype(np.int64)
        return numbers, numbers, run.num_vertices
    else:
        numbers = np.arange(run.num_vertices, like=run.rows)
    rows = np.arange(len(numbers), like=run.rows)
    if run.ranks is not None:
        mine = slice(*(len(rows) * (run.ranks.rank + i) // run.ranks.size for i in (0, 1)))
        return numbers[mine], rows[mine], len(numbers)
    return numbers, rows, len(numbers)


def named_vertices(run: Run, name: str, value: Any) -> np.ndarray:
    """Dense ids of vertices that a list or a frame names, in its order: in host memory, all on every rank. Collective.

    Raises
    ------
    UnknownVertex
        One of them is not a vertex.
    """
    if not isinstance(value, FrameColumns):
        return to_host(run.ids.find(value)).astype(np.int64)
    if run.ranks is None:
        return to_host(dense_ids(run, name)).astype(np.int64)
    _, _, (numbers,) = numbers_by_row(run, [name])
    return np.concatenate(run.ranks.all_gather(numbers.astype(np.int64)))


def _numbers(run: Run, dense: Any) -> Any:
    """Places of dense ids in the order of the user's ids."""
    rank = run.ids.rank if run.ranks is None else None
    return (dense if rank is None else rank.take(dense)).astype(np.int64)
