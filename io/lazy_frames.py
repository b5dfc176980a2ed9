"""Results as Dask frames: one task makes a result, and one more hands out each partition of it."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from dask._collections import new_collection
from dask._task_spec import Task, TaskRef
from dask.base import tokenize
from dask.dataframe import DataFrame
from dask.dataframe.dask_expr.io import IO

from dask_graphgpu.io.partitions import referring
from dask_graphgpu.io.reads import Reads
from dask_graphgpu.io.results import ColumnType
from dask_graphgpu.io.schema import EdgeSchema
from dask_graphgpu.partition.result_rows import bounds_of


@dataclass(frozen=True, eq=False)
class EmptyResult:
    """The columns of a result, of which the frame without rows is made where it is asked for.

    It travels to the scheduler, which does not ask: of cuDF a frame takes milliseconds to make, and
    as long to send. ``rows`` : how many there will be, where that is known before.
    """

    columns: dict[str, ColumnType]
    schema: EdgeSchema
    rows: int | None = None

    def frame(self) -> Any:
        """The frame; the same one for equal schemas, as nobody writes to it."""
        key = self.schema.__dask_tokenize__(), tuple(self.columns.items())
        found = _made.get(key)
        if found is None:
            name = "device_results" if self.schema.on_device else "results"
            results = importlib.import_module(f"dask_graphgpu.io.{name}")
            found = results.empty_frame(self.columns, self.schema)
            if self.schema.on_device:
                _name_frame(found, tokenize(self.columns, self.schema))
            _made[key] = found
            while len(_made) > _MOST:
                _made.pop(next(iter(_made)), None)
        return found


def _name_frame(frame: Any, token: str) -> None:
    """Tell Dask what tells a frame from others: of cuDF it asks the values, which the GPU hashes."""
    object.__setattr__(frame, "__dask_tokenize__", lambda: token)


_made: dict[Any, Any] = {}
_MOST = 64


@dataclass(frozen=True, eq=False)
class Tasks:
    """Tasks by key. Dask takes those of one name for the same, without looking at what they hold.

    ``anew`` : gives the same tasks under other names, where these are not to be asked for again.
    """

    name: str
    graph: dict[Any, Any]
    anew: Callable[[], Tasks | None] = lambda: None

    def __dask_tokenize__(self) -> str:
        return self.name

    def __reduce__(self) -> Any:
        return Tasks, (self.name, self.graph)  # who runs them asks for nothing


class Partitions(IO):
    """A frame whose partitions are the results of tasks that are at hand.

    `dask.dataframe.from_delayed` would add two tasks to each partition, which only hand it on: a
    round trip to a worker each, for longer than a small run.

    Parameters
    ----------
    empty : EmptyResult
        What the partitions are like.
    of : int
        How many.
    tasks : Tasks
        With those of the partitions' keys ``(name, i)``; equal names are equal results.
    *reads : Reads
        The folders that the tasks read.
    """

    _parameters = ["empty", "of", "tasks"]  # noqa: RUF012  so Dask has it

    @property
    def _meta(self) -> Any:
        return self.operands[0].frame()

    @cached_property
    def _name(self) -> str:
        return str(self.operands[2].name)

    def _divisions(self) -> tuple[int | None, ...]:
        rows: int | None = self.operands[0].rows
        of: int = self.operands[1]
        if rows is None or rows < of:  # of partitions without rows Dask knows none
            return (None,) * (of + 1)
        *first, end = bounds_of(rows, of).tolist()
        return (*first, end - 1)

    def _layer(self) -> dict[Any, Any]:
        return dict(self.operands[2].graph)

    def _lower(self) -> Partitions | None:
        """What is computed in its place, which Dask asks whenever it is."""
        empty, of, tasks, *reads = self.operands
        again = tasks.anew()
        if again is None:
            return None
        made: Any = Partitions
        found: Partitions = made(empty, of, again, *reads, _determ_token=again.name)
        return found


def frame_of(
    empty: EmptyResult,
    of: int,
    key: str,
    make: Callable[..., Any],
    arguments: Callable[[str], Iterable[Any]],
    part: Callable[[Any, int], Any],
    reads: Iterable[str],
    other_key: Callable[[str], str | None],
) -> DataFrame:
    """The frame with the partitions ``part(make(*arguments(key)), i)``.

    Parameters
    ----------
    key : str
        Of the task that calls ``make``. Says what comes of it: equal keys, equal results.
    arguments
        Delayed ones and `Parts`, also in lists and dicts, are computed before.
    reads
        Folders that are read for it, as of `folders_read`.
    other_key
        Asked whenever the frame is computed: which key to take instead, if any.
    """

    def graph(key: str) -> dict[Any, Any]:
        made: dict[Any, Any] = {}
        made[key] = Task(key, make, *(referring(each, made) for each in arguments(key)))
        for i, each in enumerate(keys_of(key, of)):
            made[each] = Task(each, part, TaskRef(key), i)
        return made

    def anew() -> Tasks | None:
        other = other_key(key)
        return None if other is None else Tasks(_name(other), graph(other))

    made: Any = Partitions
    tasks, read = Tasks(_name(key), graph(key), anew), map(Reads, reads)
    found: DataFrame = new_collection(made(empty, of, tasks, *read, _determ_token=tasks.name))
    return found


def rows_of(frame: Any) -> int | None:
    """How many rows a result has, where that is known before it is computed."""
    expr = getattr(frame, "expr", None)
    rows: int | None = expr.operands[0].rows if isinstance(expr, Partitions) else None
    return rows


def keys_of(key: str, of: int) -> list[tuple[str, int]]:
    """Keys of the partitions of the frame with a task ``key``."""
    return [(_name(key), i) for i in range(of)]


def _name(key: str) -> str:
    return f"graph-{key}"
