"""Whether anybody waits for a task that runs on a worker, and the end of one that nobody waits for.

Dask lets a task that is cancelled, or whose client is gone, run to its end, and its worker starts no other one
meanwhile.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from distributed import Reschedule, Worker

from dask_graphgpu import interrupting
from dask_graphgpu.cluster.calls import running, this_task

_EVERY = 0.25  # seconds between two looks at whether anybody still wants a task
_LOOKS = 2  # that have to agree that nobody does

_STATES = ("executing", "long-running")  # of a task on its worker while somebody wants it


def wanted(worker: Worker, key: str) -> bool:
    """Whether somebody waits for a task that runs on a worker."""
    task = worker.state.tasks.get(key)
    return task is not None and task.state in _STATES


@contextmanager
def watched(worker: Worker, over: Callable[[], object]) -> Iterator[None]:
    """Call a function, on the worker's event loop, when nobody wants the task that calls any more."""
    key = this_task(worker)

    async def watch() -> None:
        missed = 0
        while missed < _LOOKS:
            await asyncio.sleep(_EVERY)
            missed = 0 if wanted(worker, key) else missed + 1
        over()

    watching: list[asyncio.Task[None]] = []
    worker.loop.add_callback(lambda: watching.append(asyncio.ensure_future(watch())))
    try:
        yield
    finally:
        worker.loop.add_callback(lambda: watching.pop().cancel())


@contextmanager
def _while_wanted() -> Iterator[None]:
    """Stop what the task that calls does when nobody wants it any more; outside of a cluster's tasks nothing."""
    found = running()
    if found is None:
        yield
        return
    stopped = threading.Event()
    try:
        with watched(found[0], stopped.set), interrupting.stopped_by(stopped):
            yield
    except KeyboardInterrupt:
        if not stopped.is_set():
            raise
        raise Reschedule from None  # of no effect, unless it was asked for again meanwhile


interrupting.elsewhere(_while_wanted)
