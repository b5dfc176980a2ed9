"""Tasks of this package that have failed, in the scheduler: what their errors say, and for how long they are kept."""

from __future__ import annotations

import time
from typing import Any

from distributed import KilledWorker, Scheduler
from distributed.core import error_message
from distributed.protocol.pickle import loads
from distributed.scheduler import TaskState

from dask_graphgpu.errors import RankLost
from dask_graphgpu.io.partitions import NAME


def tell_of_deaths(scheduler: Scheduler, key: Any) -> bool:
    """Where Dask has given up a task of which workers died one after another, give it the error of a lost worker.

    The task is of this package, or one that it waits for and nobody else has asked for. What depends on
    it has not failed yet, and will for this reason.

    Returns
    -------
    bool
        Whether it is so.
    """
    task = scheduler.tasks[key]
    # The scheduler itself has pickled that error; those of workers are not opened here.
    told: Any = task.exception
    if task.exception_blame is not task or not isinstance(told, bytes):
        return False
    error = loads(told)
    if not isinstance(error, KilledWorker):
        return False
    if not _is_ours(task) and (task.who_wants or not any(map(_is_ours, _depending(task)))):
        return False
    address = error.last_worker.address
    lost = RankLost(
        f"{key} is given up: the {error.allowed_failures + 1} workers that have run it have died, as for want of "
        f"memory, the last of them {address}; see their logs, use more ranks or workers with more memory, and "
        "compute it again",
        address=address,
    )
    set_error(task, lost)
    return True


def set_error(task: TaskState, error: BaseException) -> None:
    """Make an error that of a task, which others blame for theirs."""
    told = error_message(error)
    task.exception, task.exception_text = told["exception"], told["exception_text"]
    task.traceback, task.traceback_text = told["traceback"], told["traceback_text"]
    task.exception_blame = task


def forget(scheduler: Scheduler, key: Any) -> None:
    """Have a build, or what is made for it, that has failed made again when it is next asked for.

    Dask keeps the error of a task for as long as anybody holds the task, as a persisted graph does. Tasks that
    depend on the build keep the error, so who waits for them is told. Who waits for the build itself may not be: its
    error and its release can reach the client together.
    """
    task = scheduler.tasks.get(key)
    if task is None or task.state != "erred" or task.exception_blame is not task:
        return
    again = [task]
    for other in [each for each in _depending(task) if each.exception_blame is task]:
        if other.state != "erred":  # and nobody waited for it any more
            other.exception_blame = None
            continue
        other.exception, other.exception_text = task.exception, task.exception_text
        other.traceback, other.traceback_text = task.traceback, task.traceback_text
        other.exception_blame = other
        if not _is_ours(other) and not other.who_wants:
            again.append(other)
    # Each by itself: Dask would go on to run again what depends on it.
    for each in again:
        for tried in (each, *_reached(each, "dependencies")):
            tried.suspicious = 0  # or the next death would be one too many
        scheduler.transition(
            each.key, "released", stimulus_id=f"dask-graphgpu-forget-{time.time()}"
        )


def _depending(task: TaskState) -> list[TaskState]:
    """Tasks that depend on one, also by way of others."""
    return _reached(task, "dependents")


def _reached(task: TaskState, neighbours: str) -> list[TaskState]:
    found = [task]
    seen = set(found)
    for each in found:
        new = [other for other in getattr(each, neighbours) if other not in seen]
        seen.update(new)
        found += new
    return found[1:]


def _is_ours(task: TaskState) -> bool:
    return NAME in str(task.key)


def is_rank(key: Any) -> bool:
    """Whether a task is a rank of a run, whose error is for who leads it."""
    return "-rank-" in str(key)
