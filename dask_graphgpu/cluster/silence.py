"""Workers that give no sign of life, and what waits for them: a plugin of the scheduler.

Ranks watch each other. Who leads a run, makes a chunk or holds a result is on a worker too, and may be
on one that is suspended or cut off before any rank has begun. Dask believes in it for minutes.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any
from weakref import WeakSet

from distributed import Client, Scheduler, SchedulerPlugin
from distributed.protocol.pickle import dumps
from distributed.scheduler import TaskState, WorkerState, heartbeat_interval
from tornado.ioloop import PeriodicCallback

from dask_graphgpu import config
from dask_graphgpu.cluster.failed import forget, is_rank, tell_of_deaths
from dask_graphgpu.cluster.on_scheduler import fail, lose
from dask_graphgpu.errors import RankLost
from dask_graphgpu.io.partitions import BUILD, CHUNK, NAME

_PLUGIN = "dask-graphgpu-silence"
_EVERY = 0.5  # seconds between two looks
_LOOKS = 3  # that have to agree: who has just been resumed gives its next sign of life in a moment
_LATE = 2.0  # seconds between two looks that show that the scheduler itself has stood still
# Seconds beyond ``graphgpu.idle-timeout``: ranks say of each other who is silent, by threads that only do that.
MORE = 3.0
_COLLECTING = ("repartitiontofewer-", "finalize")  # of Dask: make one frame of all


def attend(*, dask_scheduler: Scheduler) -> None:
    """Have the scheduler look after the tasks of this package from now on."""
    if _PLUGIN not in dask_scheduler.plugins:
        dask_scheduler.add_plugin(_Silence(dask_scheduler), name=_PLUGIN)


def silences(*, dask_scheduler: Scheduler) -> dict[str, float]:
    """By the address of each worker of the cluster for how many seconds it has given no sign of life."""
    attend(dask_scheduler=dask_scheduler)
    found: _Silence = dask_scheduler.plugins[_PLUGIN]  # type: ignore[assignment]
    return {address: found.of(each) for address, each in dask_scheduler.workers.items()}


def attend_from_client() -> None:
    """Have the scheduler of this process's client, if there is one, do so; nobody waits for it."""
    with suppress(ValueError):
        client = Client.current()
        if client not in _attended and client.scheduler is not None:
            _attended.add(client)
            client.loop.add_callback(_ask, client)


async def _ask(client: Client) -> None:
    with suppress(Exception):  # a run asks for it too
        await client.scheduler.run_function(function=dumps(attend), args=dumps(()))  # type: ignore[union-attr]


_attended: WeakSet[Client] = WeakSet()  # those that have asked


class _Silence(SchedulerPlugin):
    """Ends what waits for a worker that has been silent for ``graphgpu.idle-timeout`` with `RankLost`."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._since = self._looked = time.time()  # since when the scheduler has not stood still
        self._stuck: dict[Any, int] = {}  # by task, how many looks have found so
        self._looking = PeriodicCallback(self._look, _EVERY * 1000)
        self._looking.start()

    async def close(self) -> None:
        self._looking.stop()

    def of(self, worker: WorkerState) -> float:
        """Seconds for which a worker has given no sign of life."""
        return max(0.0, time.time() - max(worker.last_seen, self._since))

    def transition(self, key: Any, start: str, finish: str, *args: Any, **kwargs: Any) -> None:
        if finish == "erred":
            died = tell_of_deaths(self._scheduler, key)
            ours = NAME in str(key)
            if (str(key).startswith((BUILD, CHUNK)) and not is_rank(key)) or (died and not ours):
                self._scheduler.loop.add_callback(forget, self._scheduler, key)

    def _look(self) -> None:
        now = time.time()
        if now - self._looked > _LATE:
            self._since = now
        self._looked = now
        least = 2 * heartbeat_interval(len(self._scheduler.workers)) + MORE
        silent = {w for w in self._scheduler.workers.values() if self.of(w) > least}
        before, self._stuck = self._stuck, {}
        for worker in silent:
            for task in _waiting_for(worker, silent):
                if (silence := self.of(worker)) > _idle_timeout(task) + MORE:
                    looks = self._stuck[task.key] = before.get(task.key, 0) + 1
                    if looks >= _LOOKS:
                        self._give_up(task, worker, silence)
            if worker.address in self._scheduler.rpc.occupied:  # somebody collects what it holds
                self._lose_results(worker, silent)

    def _give_up(self, task: TaskState, worker: WorkerState, silence: float) -> None:
        """End a task that waits for a worker with an error."""
        error = RankLost(
            f"worker {worker.address}, which {task.key} waits for, has been silent for {silence:.1f} s: it is "
            "suspended, cut off, or holds the interpreter (GIL) for longer than graphgpu.idle-timeout; "
            "compute it again once the worker is back, or on those that are left once it has ended",
            address=worker.address,
        )
        fail(task.key, worker.address, error, True, dask_scheduler=self._scheduler)

    def _lose_results(self, worker: WorkerState, silent: set[WorkerState]) -> None:
        """Have results that a client is asking a silent worker for made again, on others."""
        asked = [
            task
            for task in worker.has_what
            if task.who_wants and _is_ours(task) and set(task.who_has or ()) <= silent
        ]
        lost = [task for task in asked if self.of(worker) > _idle_timeout(task) + MORE]
        for task in lost:
            lose(task.key, dask_scheduler=self._scheduler)
        if lost:
            self._scheduler.rpc.remove(worker.address)


def _waiting_for(worker: WorkerState, silent: set[WorkerState]) -> set[TaskState]:
    """Our tasks that run on a silent worker, and those that wait for what runs or lies there alone."""
    stuck = list(worker.processing)
    for held in worker.has_what:
        if set(held.who_has or ()) <= silent:
            stuck += held.waiters or ()
    found: set[TaskState] = set()
    seen = set(stuck)
    while stuck:
        task = stuck.pop()
        if _is_ours(task):
            if not is_rank(task.key):
                found.add(task)
            continue
        more = set(task.waiters or ()) - seen
        seen |= more
        stuck += more
    return found


def _is_ours(task: TaskState) -> bool:
    """Whether a task is of this package, or Dask's own that makes one frame of a result."""
    if NAME in str(task.key):
        return True
    name = task.key[0] if isinstance(task.key, tuple) else task.key
    return str(name).startswith(_COLLECTING) and any(NAME in str(d.key) for d in task.dependencies)


def _idle_timeout(task: TaskState) -> float:
    """The one of the run that a task is of, if that is on ranks; else the setting of this process."""
    for near in (task, *task.dependencies, *task.dependents):
        for given in _arguments(near):
            if hasattr(given, "idle_timeout"):
                return float(given.idle_timeout)
    return float(config.get("idle-timeout"))


def _arguments(task: TaskState) -> Iterator[Any]:
    spec: Any = task.run_spec
    yield from getattr(spec, "args", ())
