"""Results as Dask frames: one task makes a result, and one more hands out each partition of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any

from dask._collections import new_collection
from dask._task_spec import Dict, GraphNode, List, Task, TaskRef
from dask.dataframe import DataFrame
from dask.dataframe.dask_expr.io import IO
from dask.delayed import Delayed


class Partitions(IO):
    """A frame whose partitions are the results of tasks that are at hand.

    `dask.dataframe.from_delayed` would add two tasks to each partition, which only hand it on: a
    round trip to a worker each, for longer than a small run.

    Parameters
    ----------
    meta : frame
        Without rows.
    name : str
        Of the partitions' keys ``(name, i)``; equal names are equal results.
    of : int
        How many.
    graph : dict
        Tasks by key, the partitions' among them.
    """

    _parameters = ["meta", "name", "of", "graph"]  # noqa: RUF012  so Dask has it

    @property
    def _meta(self) -> Any:
        return self.operands[0]

    @cached_property
    def _name(self) -> str:
        return str(self.operands[1])

    def _divisions(self) -> tuple[None, ...]:
        return tuple([None] * (self.operands[2] + 1))

    def _layer(self) -> dict[Any, Any]:
        return dict(self.operands[3])


def frame_of(
    meta: Any,
    of: int,
    key: str,
    make: Callable[..., Any],
    arguments: Iterable[Any],
    part: Callable[[Any, int], Any],
) -> DataFrame:
    """The frame with the partitions ``part(make(*arguments), i)``.

    Parameters
    ----------
    key : str
        Of the task that calls ``make``. Says what comes of it: equal keys, equal results.
    arguments
        Delayed ones, also in lists and dicts, are computed before.
    """
    graph: dict[Any, Any] = {}
    graph[key] = Task(key, make, *(_referring(each, graph) for each in arguments))
    name = f"graph-{key}"
    for i in range(of):
        graph[name, i] = Task((name, i), part, TaskRef(key), i)
    made: Any = Partitions
    found: DataFrame = new_collection(made(meta, name, of, graph, _determ_token=name))
    return found


def _referring(value: Any, graph: dict[Any, Any]) -> Any:
    """An argument with references to the Delayed ones in it, whose tasks go to the graph."""
    if isinstance(value, Delayed):
        graph.update(value.__dask_graph__())
        return TaskRef(value.key)
    if type(value) is list:
        made: GraphNode = List(*(_referring(each, graph) for each in value))
        return made
    if type(value) is dict:
        return Dict({name: _referring(each, graph) for name, each in value.items()})
    return value
