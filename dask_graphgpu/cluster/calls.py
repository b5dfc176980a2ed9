"""Calls from a worker to other workers and to the scheduler, past Dask's tasks."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from distributed import Worker, get_worker
from distributed.core import clean_exception
from distributed.protocol.pickle import dumps

from dask_graphgpu.cluster.silence import MORE, silences
from dask_graphgpu.io.partitions import NAME

T = TypeVar("T")

# Seconds that an event loop has to answer: a worker may import this package for the first time.
ANSWER = 30.0
_LOOKS = 0.05, 0.5  # seconds between two looks at whether the worker is still there: first, most


class WorkerLeft(ConnectionError):
    """A worker is no longer part of the cluster."""


class WorkerSilent(TimeoutError):
    """A worker has given no sign of life for as long as it may."""


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
    idle_timeout: float | None = None,
) -> T:
    """Call ``function(*arguments, dask_worker=)`` on the event loop of a worker, which may be this.

    ``patience``: seconds to wait for the answer. Default: the usual ones.
    ``idle_timeout``: seconds for which the worker may give no sign of life meanwhile.

    Raises
    ------
    WorkerLeft
        The scheduler says so; to try to connect to a worker that is gone takes Dask half a minute.
    WorkerSilent
        It has been so for longer than ``idle_timeout``.
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
            silent = (await silence_of(worker)).get(address)
            if silent is None:
                raise WorkerLeft(f"{address} has left the cluster")
            if idle_timeout is not None and silent > idle_timeout + MORE:
                raise WorkerSilent(f"{address} has been silent for {silent:.1f} s")
            if time.monotonic() > until:
                raise TimeoutError(f"{address} does not answer")
    finally:
        asked.cancel()
    return _answer(asked.result())  # type: ignore[no-any-return]


async def silence_of(worker: Worker) -> dict[str, float]:
    """For how many seconds each worker of the cluster has given no sign of life to the scheduler."""
    return await ask_scheduler(worker, silences)


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
