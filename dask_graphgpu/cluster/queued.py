"""Whether what a client has asked a cluster for stands behind the work of others."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import distributed
from distributed import Client, Scheduler

from dask_graphgpu.cluster.holdings import TO_RUN

_EVERY = 2.0  # seconds between two looks
_LOOKS = 2  # in succession, after which it is told
_AGAIN = 60.0  # seconds after which it is told again, twice as many each time


def work_before(client: str, *, dask_scheduler: Scheduler) -> tuple[int, int] | None:
    """Tasks of others that run and workers that there are, where tasks of a client wait and none runs; else None.

    It runs in the scheduler. What runs is what workers have told of last, which they do about every half a second.
    """
    state = dask_scheduler.clients.get(client)
    if state is None:
        return None
    own, todo, waits = set(), list(state.wants_what), False
    while todo:
        task = todo.pop()
        if task not in own:
            own.add(task)
            if task.state in TO_RUN:
                waits = True
                todo += task.dependencies
    workers = dask_scheduler.workers.values()
    running = {task for worker in workers for task in worker.executing}
    if not waits or not running or running & own:
        return None
    return len(running), len(workers)


@contextmanager
def told_of_waiting(say: Callable[[str], None]) -> Iterator[None]:
    """Have it said, from a thread, when the active client's work stands behind that of others; nothing without one."""
    try:
        client = distributed.get_client()
    except ValueError:
        yield
        return
    over = threading.Event()
    thread = threading.Thread(target=_watch, args=(client, say, over), daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()


def _watch(client: Client, say: Callable[[str], None], over: threading.Event) -> None:
    looks, quiet, pause = 0, 0.0, _AGAIN
    while not over.wait(_EVERY):
        quiet -= _EVERY
        try:
            found = client.run_on_scheduler(work_before, client.id)
        except Exception:  # the cluster is gone, which the job itself will say
            return
        looks = looks + 1 if found is not None else 0
        if found is None or looks < _LOOKS or quiet > 0 or over.is_set():
            continue
        tasks, workers = found
        say(
            f"waiting: the cluster works for others, {tasks} {'task' if tasks == 1 else 'tasks'} on "
            f"{workers} {'worker' if workers == 1 else 'workers'}"
        )
        quiet, pause = pause, 2 * pause
