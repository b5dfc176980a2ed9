"""The partitions of a result, handed in by the task that has made them all.

Each is the result of a task of its own, which has nothing to do then. To run these on the worker
takes as long as a small run; so the scheduler is told of their results as soon as that has ended.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from typing import Any

from dask.utils import typename
from distributed import Scheduler, SchedulerPlugin, Worker
from distributed.protocol.pickle import dumps
from distributed.utils import sync
from distributed.worker_state_machine import FreeKeysEvent

from dask_graphgpu.cluster.calls import ask_scheduler, this_task, this_worker
from dask_graphgpu.io.lazy_frames import keys_of

_NAME = "dask-graphgpu-handed-in"


def hand_in(parts: Sequence[Any]) -> None:
    """Make the partitions of the result of the task that calls those of its frame, when it has ended.

    They lie on this worker. Those that nobody waits for are dropped. Outside of a cluster's tasks
    nothing is done.
    """
    worker = this_worker()
    if worker is not None:
        run, thread = this_task(worker), threading.get_ident()
        made = dict(zip(keys_of(run, len(parts)), parts, strict=True))
        sync(worker.loop, _hand_in, worker, run, made, thread)


async def _hand_in(worker: Worker, run: str, parts: dict[Any, Any], thread: int) -> None:
    sizes, now = worker.update_data(parts)["nbytes"], time.time()
    told = {
        key: {
            "nbytes": sizes[key],
            "type": dumps(type(part)),
            "typename": typename(type(part)),
            "startstops": [{"action": "compute", "start": now, "stop": now}],
            "thread": thread,
        }
        for key, part in parts.items()
    }
    expected = False
    try:
        expected = await ask_scheduler(worker, expect, run, worker.address, told)
    finally:
        if not expected:
            worker.handle_stimulus(FreeKeysEvent(keys=list(parts), stimulus_id=_NAME))


def expect(
    run: str, address: str, told: dict[Any, dict[str, Any]], *, dask_scheduler: Scheduler
) -> bool:
    """Wait for the end of a task that runs on a worker; False where it does not."""
    task = dask_scheduler.tasks.get(run)
    at = None if task is None or task.state != "processing" else task.processing_on
    if at is None or at.address != address:
        return False
    plugin = _Expected(dask_scheduler, run, address, told)
    dask_scheduler.add_plugin(plugin, name=plugin.name)
    return True


class _Expected(SchedulerPlugin):
    """Values on a worker that become the results of tasks when another task has ended there.

    Parameters
    ----------
    told : dict
        By the key of each task what a worker tells of one that has finished.
    """

    def __init__(
        self, scheduler: Scheduler, run: str, address: str, told: dict[Any, dict[str, Any]]
    ) -> None:
        self.name = f"{_NAME}-{run}"
        self._scheduler, self._run, self._address, self._told = scheduler, run, address, told

    def transition(self, key: Any, *args: Any, **kwargs: Any) -> None:
        if key == self._run:
            self._scheduler.remove_plugin(name=self.name)
            self._scheduler.loop.add_callback(self._settle)  # when those that wait are sent out

    def restart(self, scheduler: Scheduler) -> None:
        scheduler.remove_plugin(name=self.name)

    def _settle(self) -> None:
        """Take the values as the results of those tasks that the worker has been given.

        It answers by itself that it has them, which is then known.
        """
        scheduler, address, dropped = self._scheduler, self._address, []
        for key, told in self._told.items():
            task = scheduler.tasks.get(key)
            at = None if task is None or task.state != "processing" else task.processing_on
            if task is not None and at is not None and at.address == address:
                scheduler.handle_task_finished(
                    key, address, _NAME, run_id=task.run_id, metadata={}, **told
                )
            elif task is None or address not in {holder.address for holder in task.who_has or ()}:
                dropped.append(key)
        if dropped and address in scheduler.workers:
            message = {"op": "free-keys", "keys": dropped, "stimulus_id": _NAME}
            scheduler.worker_send(address, message)
