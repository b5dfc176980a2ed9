"""What a run asks of the scheduler beyond its public calls: small functions that run in it.

They are sent by ``run_function``, as ``Client.run_on_scheduler`` does it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

from dask.typing import Key
from distributed import Scheduler

from dask_graphgpu.cluster.failed import set_error
from dask_graphgpu.cluster.holdings import TO_RUN
from dask_graphgpu.errors import RankLost
from dask_graphgpu.io.partitions import NAME

_LOCK = NAME
_LOST_RUNS = "dask-graphgpu-lost-runs"
_NOTICE = 3.0  # seconds in which the scheduler notices that a worker has died


def lock_id(key: str, address: str, run: str) -> str:
    """Name of who asks for workers: the task that leads a run, where it runs, and the run."""
    return "\n".join((_LOCK, key, address, run))


def free_locks(*, dask_scheduler: Scheduler) -> None:
    """Give back the locks of runs whose leading task has ended without doing so.

    Dask's MultiLock does not know whether its holder is still there.
    """
    for name in list(dask_scheduler.extensions["multi_locks"].requests):
        prefix, *rest = str(name).split("\n")
        if prefix == _LOCK and not _runs(dask_scheduler, *rest[:2]):
            _free(dask_scheduler, name)


def free_lock(name: str, *, dask_scheduler: Scheduler) -> None:
    """Give back what a run has taken or still waits for, and what `free_locks` does."""
    _free(dask_scheduler, name)
    free_locks(dask_scheduler=dask_scheduler)


def _free(scheduler: Scheduler, name: str) -> None:
    locks = scheduler.extensions["multi_locks"]
    if name not in locks.requests:
        return  # somebody else has released it
    locks.release(id=name)
    if name in locks.events:  # the request still waits, and believes that it has got the locks
        locks.requests_left[name] = 0
        locks.events[name].set()
        scheduler.loop.call_later(1, locks.requests_left.pop, name, None)


def lose(key: Key, *, dask_scheduler: Scheduler) -> None:
    """Have a result that stands in memory made again, and all that waits for it wait again.

    As Dask does it with the results of a worker that has died.
    """
    task = dask_scheduler.tasks.get(key)
    if task is not None and task.state == "memory":
        dask_scheduler.transitions({key: "released"}, f"dask-graphgpu-lose-{key}")


def leave_again(key: str, function: Callable[..., Any], *, dask_scheduler: Scheduler) -> None:
    """Have those dependencies of a task made again that call ``function``, or are given it to call."""
    task = dask_scheduler.tasks.get(key)
    for other in list(task.dependencies) if task is not None else ():
        spec: Any = other.run_spec
        called = (getattr(spec, "func", None), *getattr(spec, "args", ()))
        if any(each is function for each in called):
            lose(other.key, dask_scheduler=dask_scheduler)


def fail(
    key: Key, address: str, error: BaseException, sure: bool, *, dask_scheduler: Scheduler
) -> bool:
    """End the leading task of a run with an error, in place of the worker that runs it.

    That may hang, or have died; and the scheduler, which may know of a death before or after the
    other ranks do, may have the task wait to be run again by now. Unless the caller is ``sure``
    that nobody has asked for it anew, the task is left alone when it neither runs at ``address``
    nor was taken from there by a death. False where it was.
    """
    task = dask_scheduler.tasks.get(key)
    if task is None or task.state not in TO_RUN:
        return False
    died = task.suspicious > 0 and address not in dask_scheduler.workers
    if not (sure or died or _runs(dask_scheduler, key, address)):
        return False
    # A worker that was only suspended would go on with the task when it is resumed: it is told to forget it.
    worker = task.processing_on
    if worker is not None and worker.address in dask_scheduler.stream_comms:
        message = {"op": "free-keys", "keys": [key], "stimulus_id": f"dask-graphgpu-lost-{key}"}
        dask_scheduler.worker_send(worker.address, message)
    set_error(task, error)
    dask_scheduler.transitions({key: "erred"}, f"dask-graphgpu-lost-{key}")
    free_locks(dask_scheduler=dask_scheduler)
    return True


def lost_lately(seconds: float, *, dask_scheduler: Scheduler) -> bool:
    """Whether a worker was lost in the last seconds without being asked to leave."""
    since = time.time() - seconds
    return any(
        at > since and event.get("action") == "remove-worker" and not event["expected"]
        for at, event in dask_scheduler.get_events("all")
        if isinstance(event, dict)
    )


async def start_again(
    key: str,
    address: str,
    error: RankLost,
    sure: bool,
    needs: str,
    run: str,
    *,
    dask_scheduler: Scheduler,
) -> bool:
    """Have a run that keeps checkpoints run again after it has lost a worker, or end it with the error.

    It is ended, as by `fail`, where the worker hangs, which it may do again, and after as many
    losses as Dask allows a task. ``needs`` is the task that has to be run again before.

    Returns
    -------
    bool
        Whether it will run again.
    """
    until = time.monotonic() + _NOTICE
    while error.address in dask_scheduler.workers and time.monotonic() < until:
        await asyncio.sleep(0.1)
    task = dask_scheduler.tasks.get(key)
    if task is None or task.state not in TO_RUN:
        return False
    lost = set((task.metadata or {}).get(_LOST_RUNS, ())) | {run}
    hangs = error.address in dask_scheduler.workers
    if hangs or len(lost) > dask_scheduler.allowed_failures:
        fail(key, address, error, sure, dask_scheduler=dask_scheduler)
        return False
    task.metadata = {**(task.metadata or {}), _LOST_RUNS: sorted(lost)}
    lose(needs, dask_scheduler=dask_scheduler)
    return True


def losses(key: str, *, dask_scheduler: Scheduler) -> int:
    """How many runs that the task has led have lost a worker and were started again."""
    task = dask_scheduler.tasks.get(key)
    return 0 if task is None else len((task.metadata or {}).get(_LOST_RUNS, ()))


def _runs(scheduler: Scheduler, key: Key, address: str) -> bool:
    """Whether a task runs on a worker as far as the scheduler knows."""
    task = scheduler.tasks.get(key)
    return (
        task is not None
        and task.state == "processing"
        and task.processing_on is not None
        and task.processing_on.address == address
    )
