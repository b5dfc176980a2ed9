"""Tasks on the partitions of a Dask frame, made without a call of ``delayed`` for each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from dask._task_spec import Dict, GraphNode, List, Task, TaskRef
from dask.base import tokenize
from dask.delayed import Delayed
from dask.highlevelgraph import HighLevelGraph
from dask.utils import funcname

from dask_graphgpu.errors import briefly
from dask_graphgpu.interrupting import stoppable
from dask_graphgpu.io import parquet
from dask_graphgpu.io.tables import file_frames
from dask_graphgpu.stages import Stage

NAME = "dask-graphgpu"  # in the keys of all tasks of this package
BUILD = f"{NAME}-build-"  # with it begin those of tasks that build graphs
CHUNK = f"{NAME}-chunk-"  # and of those that make chunks for them


@dataclass(frozen=True, eq=False)
class Parts:
    """A list of which a task makes each item: as an argument of `called` it is a list.

    ``name`` : equal names are equal lists.
    """

    name: str
    number: int
    graph: dict[Any, Any]

    def __dask_tokenize__(self) -> str:
        return self.name

    @property
    def keys(self) -> list[str]:
        """Keys of the tasks that make the items."""
        return [f"{self.name}-{i}" for i in range(self.number)]


def of_partitions(
    frame: Any,
    make: Callable[..., Any],
    *arguments: Any,
    first: Any = (),
) -> Parts:
    """``make(*first, partition, *arguments, "partition 0")`` and so on for a Dask frame: chunks.

    Bare Parquet is read here, file by file: then errors name the file.
    """
    found = parquet.pieces(frame)
    made = frame if found else frame.optimize()
    name = CHUNK + tokenize(made._name, make, first, arguments)
    if found:
        given: list[Any] = [
            Task(None, file_frames.read_part, piece, list(made.columns), made._meta)
            for piece in found
        ]
        parts, places = Parts(name, len(found), {}), [piece.path for piece in found]
    else:
        given = [TaskRef(key) for key in made.__dask_keys__()]
        parts = Parts(name, len(given), dict(made.__dask_graph__()))
        parts_of_files = file_frames.parts_of(frame)
        places = [part.path for part in parts_of_files or ()]
        places = places or [f"partition {i}" for i in range(len(given))]
    for key, part, where in zip(parts.keys, given, places, strict=True):
        parts.graph[key] = Task(
            key, _chunk, name, parts.number, make, *first, part, *arguments, where
        )
    return parts


@briefly
@stoppable
def _chunk(name: str, of: int, make: Callable[..., Any], *arguments: Any) -> Any:
    """One of ``of`` chunks, whose reading is told under one ``name``."""
    made = make(*arguments)
    Stage("reading", of, key=name).step()
    return made


def called(function: Callable[..., Any], *arguments: Any, key: str | None = None) -> Delayed:
    """A call of a function; Delayed arguments and `Parts`, also in lists and dicts, come before it.

    Parameters
    ----------
    key
        Of the task: equal keys, equal results. None: made of the arguments.
    """
    name = f"{funcname(function)}-{tokenize(function, arguments)}" if key is None else key
    graph: dict[Any, Any] = {}
    graph[name] = Task(name, function, *(referring(each, graph) for each in arguments))
    return Delayed(name, HighLevelGraph.from_collections(name, graph, dependencies=()))


def referring(value: Any, graph: dict[Any, Any]) -> Any:
    """An argument with references to what comes before it, whose tasks go to the graph."""
    if isinstance(value, Delayed):
        graph.update(value.__dask_graph__())
        return TaskRef(value.key)
    if isinstance(value, Parts):
        graph.update(value.graph)
        return List(*map(TaskRef, value.keys))
    if type(value) is list:
        made: GraphNode = List(*(referring(each, graph) for each in value))
        return made
    if type(value) is dict:
        return Dict({name: referring(each, graph) for name, each in value.items()})
    return value
