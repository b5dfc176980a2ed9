"""A Dask frame computed for what is done with each partition, such as writing it."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from typing import Any

from dask import threaded
from dask._task_spec import GraphNode, Task, TaskRef
from dask.base import get_scheduler
from dask.local import get_sync
from dask.utils import funcname

from dask_graphgpu.interrupting import interruptible


def for_partitions(function: Callable[[Any, int], None], frame: Any) -> None:
    """Compute a Dask frame, and call ``function(partition, i)`` for each partition, where Dask has it.

    The scheduler is the one that ``frame.compute()`` would take. Only where that is Dask's threads and the
    tasks are a chain, of which no two can run side by side, one thread runs them all.

    Raises
    ------
    Exception
        The first that a task raises.
    """
    made = frame.optimize()
    graph = dict(made.__dask_graph__())
    name = f"{funcname(function)}-{secrets.token_hex(16)}"
    keys = [(name, i) for i in range(made.npartitions)]
    for key, partition in zip(keys, made.__dask_keys__(), strict=True):
        graph[key] = Task(key, function, TaskRef(partition), key[1])
    schedule = get_scheduler(collections=[frame])
    if schedule is threaded.get and len(keys) == 1 and _is_chain(graph):
        interruptible(get_sync, graph, keys)
    else:
        schedule(graph, keys)


def _is_chain(graph: Mapping[Any, Any]) -> bool:
    """Whether each task depends on one other at most; one of them needs all."""
    return all(
        isinstance(task, GraphNode) and len(task.dependencies) <= 1 for task in graph.values()
    )
