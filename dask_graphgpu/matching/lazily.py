"""Ids of a Dask frame's groups, matched when it is computed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import pyarrow as pa
from dask._collections import new_collection
from dask._task_spec import List, Task, TaskRef
from dask.base import tokenize
from dask.dataframe import DataFrame

from dask_graphgpu.arguments import is_whole
from dask_graphgpu.ingest import chunks_of
from dask_graphgpu.io.frames import meta_of, with_columns
from dask_graphgpu.io.lazy_frames import Partitions, Tasks
from dask_graphgpu.io.partitions import NAME, referring
from dask_graphgpu.io.reads import Reads, folders_read
from dask_graphgpu.matching.columns import GroupColumns, members_of
from dask_graphgpu.matching.frames import report_frame, with_ids
from dask_graphgpu.matching.renaming import Renamed, renamed
from dask_graphgpu.partition.result_rows import bounds_of


def lazily(old: Any, new: DataFrame, columns: GroupColumns) -> list[DataFrame]:
    """A Dask frame with other ids of its groups, and the report: one task matches all, each partition gets its ids."""
    former = chunks_of(with_columns(old, columns.read), True, members_of, columns, "old")
    none = meta_of(new).iloc[:0]
    nobody = members_of(none, columns, "new", "")
    report = renamed([nobody], [nobody]).report
    reads = [*map(Reads, folders_read([old, new]))]
    rows = _rows_of(new)
    return [
        _frame(Empty(empty, number), of, partial(tasks, former, new, columns), reads)
        for empty, number, of, tasks in (
            (with_ids(none, nobody.groups, columns), rows, new.npartitions, _tasks_of_frame),
            (report_frame(report, columns, none), None, 1, _tasks_of_report),
        )
    ]


@dataclass(frozen=True, eq=False)
class Empty:
    """A frame without rows that is ``like`` a result, and how many ``rows`` that will have, where it is known."""

    like: Any
    rows: int | None

    def frame(self) -> Any:
        return self.like


def _rows_of(frame: DataFrame) -> int | None:
    """The rows of a Dask frame whose divisions are those of a result; None of others."""
    if not frame.known_divisions:
        return None
    *first, last = frame.divisions
    if not is_whole(last) or [*first, last + 1] != bounds_of(last + 1, frame.npartitions).tolist():
        return None
    return int(last) + 1


def _frame(empty: Empty, of: int, make: Callable[[], Tasks], reads: Sequence[Reads]) -> DataFrame:
    """A frame whose tasks are made anew when the names of the tasks of its inputs change."""
    first = make()

    def anew() -> Tasks | None:
        again = make()
        return None if again.name == first.name else again

    leaf: Any = Partitions
    tasks = replace(first, anew=anew)
    expr = leaf(empty, of, tasks, *reads, _determ_token=tasks.name)
    made: DataFrame = new_collection(expr)
    return made


def _matching(
    former: Any, new: DataFrame, columns: GroupColumns
) -> tuple[str, list[Any], dict[Any, Any]]:
    """The task that matches: its key, those of the partitions of the new frame, and all tasks up to it."""
    made = new.optimize()
    parts = [TaskRef(key) for key in made.__dask_keys__()]
    key = f"{NAME}-match-{tokenize(former, made._name, columns)}"
    graph = dict(made.__dask_graph__())
    members = []
    for i, part in enumerate(parts):
        one = f"{key}-members-{i}"
        graph[one] = Task(one, members_of, part, columns, "new", f"partition {i}")
        members.append(TaskRef(one))
    graph[key] = Task(key, renamed, referring(former, graph), List(*members))
    return key, parts, graph


def _tasks_of_frame(former: Any, new: DataFrame, columns: GroupColumns) -> Tasks:
    key, parts, graph = _matching(former, new, columns)
    name = f"graph-{key}"
    for i, part in enumerate(parts):
        ids = f"{key}-ids-{i}"  # beside the match, so that no other ids travel
        graph[ids] = Task(ids, _ids_of, TaskRef(key), i)
        graph[name, i] = Task((name, i), with_ids, part, TaskRef(ids), columns)
    return Tasks(name, graph)


def _tasks_of_report(former: Any, new: DataFrame, columns: GroupColumns) -> Tasks:
    key, _, graph = _matching(former, new, columns)
    name = f"graph-{key}-report"
    graph[name, 0] = Task((name, 0), _report_of, TaskRef(key), columns, meta_of(new).iloc[:0])
    return Tasks(name, graph)


def _ids_of(found: Renamed, part: int) -> list[pa.Array]:
    return found.ids[part]


def _report_of(found: Renamed, columns: GroupColumns, like: Any) -> Any:
    return report_frame(found.report, columns, like)
