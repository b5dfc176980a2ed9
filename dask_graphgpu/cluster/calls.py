"""Calls from a worker to other workers and to the scheduler, past Dask's tasks."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection
from typing import Any, TypeVar

from distributed import Worker, get_worker
from distributed.core import clean_exception
from distributed.protocol.pickle import dumps

T = TypeVar("T")

NAME = "dask-graphgpu"  # in the keys of all tasks of this package

# Seconds that an event loop has to answer: a worker may import this package for the first time.
ANSWER = 30.0
_LOOKS = 0.05, 0.5  # seconds between two looks at whether the worker is still there: first, most


class WorkerLeft(ConnectionError):
    """A worker is no longer part of the cluster."""


def this_worker() -> Worker | None:
    """The worker whose task calls, if that is a task of this package; else None.

    A task of somebody else may compute a graph by itself, of a pandas frame or with Dask's threads:
    nobody on the cluster knows of that.
    """
    found = running()
    return found[0] if found is not None and NAME in found[1] else None


def running() -> tuple[Worker, str] | None:
    """The worker and the key of the task that this thread runs; None outside of a cluster's tasks."""
    try:
        worker = get_worker()
        return worker, this_task(worker)
    except (ValueError, KeyError):  # no worker, or a thread beside those of its tasks
        return None


def this_task(worker: Worker) -> str:
    """Key of the task that calls."""
    return str(worker.get_current_task())


async def ask(
    worker: Worker,
    address: str,
    function: Callable[..., T],
    *arguments: Any,
    patience: float | None = None,
) -> T:
    """Call ``function(*arguments, dask_worker=)`` on the event loop of a worker, which may be this.

    ``patience``: seconds for the answer, where those that are usual are too few or too many.

    Raises
    ------
    WorkerLeft
        The scheduler says so; to try to connect to a worker that is gone takes Dask half a minute.
    OSError, TimeoutError
        It cannot be reached, or does not answer.
    Exception
        What the function raises.
    """
    if address == worker.address and asyncio.get_running_loop() is worker.loop.asyncio_loop:  # type: ignore[attr-defined]
        return function(*arguments, dask_worker=worker)
    call = worker.rpc(address).run(function=dumps(function), args=dumps(arguments))
    asked = asyncio.ensure_future(call)
    until = time.monotonic() + (patience or ANSWER)
    look, most = _LOOKS
    try:
        while not (await asyncio.wait({asked}, timeout=look))[0]:
            look = min(2 * look, most)
            if address not in await workers_of(worker):
                raise WorkerLeft(f"{address} has left the cluster")
            if time.monotonic() > until:
                raise TimeoutError(f"{address} does not answer")
    finally:
        asked.cancel()
    return _answer(asked.result())  # type: ignore[no-any-return]


async def workers_of(worker: Worker) -> Collection[str]:
    """Addresses of the workers of the cluster, as the scheduler knows them."""
    found: dict[str, int] = await asyncio.wait_for(worker.scheduler.ncores(workers=None), ANSWER)
    return found


async def ask_scheduler(
    worker: Worker, function: Callable[..., T | Awaitable[T]], *arguments: Any
) -> T:
    """Call ``function(*arguments, dask_scheduler=)`` on the event loop of the scheduler."""
    call = worker.scheduler.run_function(function=dumps(function), args=dumps(arguments))
    return _answer(await asyncio.wait_for(call, ANSWER))  # type: ignore[no-any-return]


def _answer(reply: dict[str, Any]) -> Any:
    if reply["status"] == "OK":
        return reply["result"]
    _, error, traceback = clean_exception(**reply)
    assert error is not None
    raise error.with_traceback(traceback)
