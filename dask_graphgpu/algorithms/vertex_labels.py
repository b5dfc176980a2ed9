"""Arguments that give every vertex a group: a frame, such as an earlier result, or a vertices column."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from dask_graphgpu.algorithms.run import Run
from dask_graphgpu.algorithms.vertex_values import FrameColumns, joined, numbers_of
from dask_graphgpu.engine.communities import Start
from dask_graphgpu.errors import InvalidArgument
from dask_graphgpu.io.frames import is_frame
from dask_graphgpu.io.label_rows import GROUPS, find_label_columns
from dask_graphgpu.io.schema import EdgeSchema
from dask_graphgpu.partition import ids
from dask_graphgpu.partition.device import numbering as device
from dask_graphgpu.partition.device.masks import any_true, count_true
from dask_graphgpu.partition.ranks.numbering import numbered_rows


def check_groups(name: str, value: Any) -> None:
    """Raise InvalidArgument unless ``value`` can give every vertex a group."""
    if not (isinstance(value, FrameColumns | str) or is_frame(value)):
        raise InvalidArgument(
            f"{name} is a {type(value).__name__}; give a frame with the id column(s) and one more column, the "
            "group of each vertex, as results have it, or the name of a column of the vertices frame"
        )


def group_columns(
    name: str, given: Sequence[str], ids: Sequence[str], beside: Sequence[str], schema: EdgeSchema
) -> tuple[str, ...]:
    """Which of the columns ``given`` of a frame say the group of a vertex; ``beside`` are read for something else.

    Raises
    ------
    InvalidArgument
        They cannot be told, or one of ``beside`` is not there.
    """
    for column in beside:
        if column not in given:
            raise InvalidArgument(
                f"{name} has no column {column!r}; beside its ids it has "
                f"{[each for each in given if each not in ids]}"
            )
    left = [column for column in given if column not in beside]
    return find_label_columns(left, ids, schema, GROUPS, name)


class _Rows(NamedTuple):
    """What was given of vertices: their dense ids, on ranks numbers; number of their group; whether they are fixed."""

    vertices: Any
    groups: Any
    number: int  # of groups, of all ranks
    fixed: Any | None


def read_start(run: Run, name: str, value: Any, fixed: str | None = None) -> Start:
    """The group of each (own) vertex, by its member that is first in the order of the user's ids, and who is fixed.

    Vertices that are not named are alone. Ids that are not vertices are counted in the report. Collective.

    Raises
    ------
    InvalidArgument
        A vertex has two rows, or ``fixed`` is no column of truth values.
    """
    in_frame = isinstance(value, FrameColumns)
    given = _of_frame(run, name, value) if in_frame else _of_column(run, value, fixed)
    first = _first_on_ranks(run, given) if run.ranks is not None else _first(run, given)
    rows, values = given.vertices, [first] if given.fixed is None else [first, given.fixed]
    if run.ranks is not None:
        rows, values = run.ids.to_owners(rows, values)
    n, rows = run.view.num_owned, rows.astype(np.intp, copy=False)
    named = np.zeros(n, bool, like=first)
    named[rows] = True
    if repeated := _total(run, len(rows)) - run.total(named):
        raise InvalidArgument(
            f"{name}: {repeated} of its rows name a vertex again; drop the repeats"
        )
    labels = run.dense(np.arange(n, like=first)).astype(np.int64)
    labels[rows] = values[0]
    if given.fixed is None:
        return Start(labels)
    stays = np.zeros(n, bool, like=first)
    stays[rows] = values[1]
    return Start(labels, stays)


def _of_frame(run: Run, name: str, columns: FrameColumns) -> _Rows:
    chunks = [chunk for chunk in run.frames[name] if len(chunk)]
    tables = [list(chunk.ids()) for chunk in chunks]
    k = len(run.schema.vertex)
    vertices, known = numbers_of(run, [table[:k] for table in tables])
    groups, count = _numbered(run, [table[k:] for table in tables], columns.groups)
    fixed = None
    for column in columns.names:
        if any(column in chunk.nulls for chunk in chunks):
            raise InvalidArgument(f"{name}: its column {column!r} has nulls; fill or drop them")
        none = np.zeros(0, bool, like=vertices)
        fixed = _truth(column, np.concatenate([none, *(c.columns[column] for c in chunks)]))[known]
    run.report.ignored[name] = _total(run, len(known) - count_true(known))
    return _Rows(vertices[known], groups[known], count, fixed)


def _of_column(run: Run, name: str, fixed: str | None) -> _Rows:
    """Of a column of the vertices frame, where it has a value."""
    n, columns = run.view.num_owned, run.view.vertex_columns
    values, known = (each[:n] for each in columns.with_gaps(name))
    values = values + 0.0 if values.dtype.kind == "f" else values  # both zeros are one group
    rows = np.flatnonzero(known)
    distinct, codes = np.unique(values[rows], return_inverse=True)
    count, stays = len(distinct), None
    if run.ranks is not None:
        numbers, count = numbered_rows(run.ranks, [pa.array(distinct).cast(pa.large_string())])
        codes = numbers[codes]
    if fixed is not None:
        truth, there = (each[:n] for each in columns.with_gaps(fixed))
        stays = _truth(fixed, np.where(there, truth, 0)[rows])
    return _Rows(run.dense(rows), codes, count, stays)


def _numbered(run: Run, tables: list[list[Any]], width: int) -> tuple[Any, int]:
    """Numbers of the rows of tables, one after the other, the same for equal rows; how many there are. Collective.

    ``width`` : their columns, also where there is no table.
    """
    distinct: list[Any] = [pa.array([], pa.large_string())] * width
    numbers = run.rows[:0].astype(np.int64)
    if tables:
        columns = list(zip(*tables, strict=True))
        if isinstance(tables[0][0], pa.Array):
            distinct, codes = ids.composite([[joined(column, "groups")] for column in columns])
        else:
            distinct, codes = device.composite(columns)
        numbers = np.concatenate(codes).astype(np.int64)
    if run.ranks is None:
        return numbers, len(distinct[0])
    # As text, which is of one type whatever the chunks of a rank are, and whether it has any.
    everywhere, count = numbered_rows(run.ranks, [c.cast(pa.large_string()) for c in distinct])
    return everywhere[numbers], count


def _truth(name: str, values: Any) -> Any:
    """Values as truth values, which they are in some type."""
    truth = values.astype(bool)
    if any_true(truth != values):
        raise InvalidArgument(
            f"fixed={name!r}; allowed is a column of truth values, and it has others"
        )
    return truth


def _first(run: Run, given: _Rows) -> Any:
    """For each row the dense id of its group's member that is first in the order of the user's ids."""
    order = run.rows
    place = np.empty_like(order)
    place[order.astype(np.intp)] = np.arange(len(order), dtype=order.dtype, like=order)
    least = np.full_like(order, len(order), shape=given.number)
    np.minimum.at(least, given.groups, place[given.vertices])
    return order.take(least[given.groups]).astype(np.int64)


def _first_on_ranks(run: Run, given: _Rows) -> np.ndarray:
    """For each row the least number of its group, which is found where ranges of groups are dealt to. Collective."""
    ranks = run.ranks
    assert ranks is not None
    bounds = np.arange(ranks.size + 1) * given.number // ranks.size
    low, high = bounds[ranks.rank : ranks.rank + 2].tolist()
    groups, row = np.unique(given.groups, return_inverse=True)
    mine = np.full(len(groups), np.iinfo(np.int64).max)
    np.minimum.at(mine, row, given.vertices)
    cuts = np.searchsorted(groups, bounds[1:-1])
    asked = ranks.all_to_all(np.split(groups, cuts))
    least = np.full(high - low, np.iinfo(np.int64).max)
    for at, theirs in zip(asked, ranks.all_to_all(np.split(mine, cuts)), strict=True):
        np.minimum.at(least, at - low, theirs)
    found = np.concatenate(ranks.all_to_all([least[at - low] for at in asked]))
    return found[row]


def _total(run: Run, value: int) -> int:
    return value if run.ranks is None else int(run.ranks.sum(value))
