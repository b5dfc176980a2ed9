"""The partitions of a result, handed in by the task that has made them all, or by the ranks that have.

Each is the result of a task of its own, which has nothing to do then. To run these on the workers
takes as long as a small run; so the scheduler is told of their results, and takes them as done as
soon as the run has ended. Nobody waits for an answer.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any
from weakref import WeakSet

from dask.utils import typename
from distributed import Scheduler, SchedulerPlugin, Worker, get_worker
from distributed.protocol.pickle import dumps, loads
from distributed.scheduler import TaskState
from distributed.utils import sync

from dask_graphgpu.cluster.calls import ask_scheduler, this_task, this_worker
from dask_graphgpu.cluster.haste import hasten, send_at_once, send_with_next, take_back
from dask_graphgpu.io.lazy_frames import keys_of

_NAME = "dask-graphgpu-handed-in"

# Seconds that a partition is said to have taken. Tasks that take none on average, Dask's stealing
# takes for new, and fails at those that it was never asked to run.
_SHORT = 1e-5

_introduced: WeakSet[Worker] = WeakSet()  # workers whose scheduler knows what is handed in


@dataclass(frozen=True, eq=False)
class Handed:
    """The partitions of a result, which Dask takes for small: they count where they are handed in."""

    parts: Sequence[Any]

    def __getitem__(self, i: int) -> Any:
        return self.parts[i]


def hand_in(parts: list[Any]) -> list[Any] | Handed:
    """Make the partitions of the result of the task that calls those of its frame, when it has ended.

    They lie on this worker. Those that nobody waits for are dropped. That the task has ended is told
    at once. Outside of a cluster's tasks nothing is done.

    Returns
    -------
    list or Handed
        The partitions, as the result of the task.
    """
    worker = this_worker()
    if worker is None:
        return parts
    run = this_task(worker)
    _hand_over(worker, run, worker.address, dict(zip(keys_of(run, len(parts)), parts, strict=True)))
    return Handed(parts)


def hand_in_some(run: str, led_from: str, parts: Mapping[int, Any], of: int) -> None:
    """Make some partitions of the result of a run, which a task leads from another worker, or this.

    As `hand_in`; called in the task of a rank, which has made them.
    """
    worker, keys = get_worker(), keys_of(run, of)
    _hand_over(worker, run, led_from, {keys[i]: part for i, part in parts.items()})


def _hand_over(worker: Worker, run: str, led_from: str, made: dict[Any, Any]) -> None:
    if worker not in _introduced:
        sync(worker.loop, ask_scheduler, worker, listen)
        _introduced.add(worker)
    now, thread = time.time(), threading.get_ident()
    kinds = {kind: (dumps(kind), typename(kind)) for kind in set(map(type, made.values()))}
    told = {
        key: {
            "type": kinds[type(part)][0],
            "typename": kinds[type(part)][1],
            "startstops": [{"action": "compute", "start": now, "stop": now + _SHORT}],
            "thread": thread,
        }
        for key, part in made.items()
    }
    worker.loop.add_callback(_hand_in, worker, run, led_from, made, told)


def _hand_in(
    worker: Worker,
    run: str,
    led_from: str,
    parts: dict[Any, Any],
    told: dict[Any, dict[str, Any]],
) -> None:
    """Keep the partitions and tell of them, on the event loop, before it learns that the task has ended.

    With the end of a run that is led from here; of another, which may end sooner than this task, now.
    """
    for key, size in worker.update_data(parts)["nbytes"].items():
        told[key]["nbytes"] = size
    message = {"op": _NAME, "run": run, "led_from": led_from, "told": dumps(told)}
    send_with_next(worker.batched_stream, message)
    if led_from == worker.address:
        hasten(worker.batched_stream)
    else:
        send_at_once(worker.batched_stream)


def listen(*, dask_scheduler: Scheduler) -> None:
    """Have the scheduler understand what workers tell of partitions."""
    dask_scheduler.stream_handlers[_NAME] = partial(_expect, dask_scheduler)


def _expect(scheduler: Scheduler, *, run: str, led_from: str, worker: str, told: bytes) -> None:
    """Wait for the end of a task that runs on a worker; where it does not, drop what was handed in."""
    expected = _Expected(scheduler, run, worker, loads(told))
    if _runs_on(scheduler.tasks.get(run), led_from):
        expected.place()
        scheduler.add_plugin(expected, name=expected.name)
    else:
        expected.settle()


def _runs_on(task: TaskState | None, address: str) -> bool:
    """Whether a task is a worker's to run, as far as the scheduler knows."""
    at = None if task is None or task.state != "processing" else task.processing_on
    return at is not None and at.address == address


class _Expected(SchedulerPlugin):
    """Values on a worker that become the results of tasks when another task has ended.

    Parameters
    ----------
    told : dict
        By the key of each task what a worker tells of one that has finished.
    """

    def __init__(
        self, scheduler: Scheduler, run: str, address: str, told: dict[Any, dict[str, Any]]
    ) -> None:
        self.name = f"{_NAME}-{run}-{address}"
        self._scheduler, self._run, self._address, self._told = scheduler, run, address, told

    def transition(self, key: Any, *args: Any, **kwargs: Any) -> None:
        if key == self._run:
            self._scheduler.remove_plugin(name=self.name)
            self._scheduler.loop.add_callback(self.settle)  # when those that wait are sent out

    def restart(self, scheduler: Scheduler) -> None:
        scheduler.remove_plugin(name=self.name)

    def place(self) -> None:
        """Have the tasks given to the worker, wherever else Dask would balance them to.

        Unless somebody wants them elsewhere, or it is gone by then.
        """
        for key in self._told:
            task = self._scheduler.tasks.get(key)
            if task is not None and not task.worker_restrictions:
                task.worker_restrictions = {self._address}
                task.loose_restrictions = True

    def settle(self) -> None:
        """Take the values as the results of those tasks that the worker has been given.

        A worker that has been asked for a value already answers that it has it, and then that is known.
        """
        scheduler, address, dropped = self._scheduler, self._address, []
        if address in scheduler.stream_comms:
            take_back(scheduler.stream_comms[address], self._told)
        for key, told in self._told.items():
            task = scheduler.tasks.get(key)
            if task is not None and _runs_on(task, address):
                scheduler.handle_task_finished(
                    key, address, _NAME, run_id=task.run_id, metadata={}, **told
                )
            elif task is None or address not in {holder.address for holder in task.who_has or ()}:
                dropped.append(key)
        if dropped and address in scheduler.workers:
            message = {"op": "free-keys", "keys": dropped, "stimulus_id": _NAME}
            scheduler.worker_send(address, message)
