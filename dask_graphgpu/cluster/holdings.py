"""What a worker holds for graphs beside Dask's task results: chunks, shares of graphs, results.

Dask would spill, copy and move a task result as it sees fit; a rank's share has to stay where it is.
Its lifetime is that of a task all the same: whoever puts something here names the task for whose
sake it is held, and it goes when the scheduler has forgotten that task, be it done with, cancelled
or lost with its client. So nothing has to be released by hand, and nothing stays behind.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary, ref

from distributed import Status, Worker
from tornado.ioloop import PeriodicCallback

logger = logging.getLogger(__name__)

# States of a task, as the scheduler names them.
TO_RUN = frozenset({"waiting", "queued", "no-worker", "processing"})
RUN = frozenset({"processing", "memory"})

Name = tuple[str, ...]  # of what is held; its kind comes first

_EVERY = 1.0  # seconds between two looks at the tasks
_LOOKS = 2  # that have to agree that a task is over: one may fall into the moment of a change

_EXTENSION = "dask-graphgpu holdings"  # of a worker


@dataclass
class _Item:
    value: Any
    owner: str
    states: frozenset[str]
    over: Callable[[], object] | None
    missed: int = 0


class Holdings:
    """What one worker holds.

    Parameters
    ----------
    worker : distributed.Worker
    """

    def __init__(self, worker: Worker) -> None:
        self._worker = ref(worker)
        self._items: dict[Name, _Item] = {}
        self._lock = threading.Lock()
        self._looking = PeriodicCallback(self._look, _EVERY * 1000)

    def put(
        self,
        name: Name,
        value: Any,
        owner: str,
        states: frozenset[str],
        over: Callable[[], object] | None = None,
    ) -> None:
        """Hold a value for as long as the task ``owner`` is in one of some states.

        ``over`` is called when it is let go of because of the task.
        """
        with self._lock:
            self._items[name] = _Item(value, owner, states, over)
        worker = self._worker()
        if worker is not None:
            worker.loop.add_callback(self._start)

    def drop(self, kind: str, owner: str) -> None:
        """Let go of what was held for a task, under names that begin with ``kind``.

        Dask may run a task again, after which what it made before is of no use.
        """
        with self._lock:
            old = [n for n, item in self._items.items() if item.owner == owner and n[0] == kind]
            gone = [self._items.pop(name) for name in old]
        del gone  # not under the lock

    def get(self, name: Name) -> Any:
        """A value; KeyError where it is not, or no longer, held."""
        with self._lock:
            return self._items[name].value

    def has(self, name: Name) -> bool:
        return name in self._items

    def pop(self, name: Name) -> Any:
        """A value, no longer held here; KeyError where it is not held."""
        with self._lock:
            return self._items.pop(name).value

    def __len__(self) -> int:
        return len(self._items)

    def close(self) -> None:
        """Let go of all: a worker that is closed asks its extensions to, and its loop may stand still after that."""
        self._looking.stop()
        with self._lock:
            gone, self._items = list(self._items.values()), {}
        _told(gone)

    def _start(self) -> None:
        """On the worker's loop, which goes through its extensions now and then."""
        worker = self._worker()
        if worker is not None and worker.status in (Status.running, Status.paused):
            worker.extensions[_EXTENSION] = self
        if not self._looking.is_running() and self._items:
            self._looking.start()

    async def _look(self) -> None:
        """Let go of what is held for tasks that are over, and of all when the worker is closed."""
        worker = self._worker()
        if worker is None or worker.status in (Status.closed, Status.failed):
            self.close()
            return
        with self._lock:
            owners = {item.owner for item in self._items.values()}
        if not owners:
            self._looking.stop()
            return
        try:
            status = await worker.scheduler.get_task_status(keys=list(owners))
        except (OSError, RuntimeError, ValueError) as error:  # of a scheduler or worker that closes
            logger.debug("cannot ask the scheduler about tasks: %s", error)
            return
        gone = []
        with self._lock:
            for name, item in list(self._items.items()):
                if item.owner not in status:  # put while the scheduler was asked
                    continue
                item.missed = 0 if status[item.owner] in item.states else item.missed + 1
                if item.missed >= _LOOKS:
                    gone.append(self._items.pop(name))
        _told(gone)


def _told(gone: list[_Item]) -> None:
    """Tell what has been let go of; not under the lock, as it may do anything."""
    for item in gone:
        if item.over is not None:
            item.over()


_of_workers: WeakKeyDictionary[Worker, Holdings] = WeakKeyDictionary()
_lock = threading.Lock()


def holdings(worker: Worker) -> Holdings:
    """What a worker of this process holds."""
    with _lock:
        if worker not in _of_workers:
            _of_workers[worker] = Holdings(worker)
        return _of_workers[worker]


def held(dask_worker: Worker) -> int:
    """How many things a worker holds; for ``Client.run``."""
    return len(holdings(dask_worker))
