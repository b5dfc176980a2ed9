"""Messages between Dask's parties that go out at once.

Dask sends a stream's messages together: from a client at least 10 ms apart, to a worker 5, from one
2. A small run takes less.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from distributed import Client, Scheduler, Worker
from distributed.batched import BatchedSend

from dask_graphgpu.cluster.calls import ask_scheduler, this_worker
from dask_graphgpu.cluster.silence import attend_from_client

_WHILE = 0.05  # seconds


@contextmanager
def hurried() -> Iterator[None]:
    """Have the end of the task that calls told at once."""
    worker = this_worker()
    yield
    if worker is not None:
        worker.loop.add_callback(hasten, worker.batched_stream)


def hurry_client() -> None:
    """Have the client of this process, if there is one, send its next message at once, and be looked after."""
    attend_from_client()
    with suppress(ValueError):
        client = Client.current()
        stream = client.scheduler_comm
        # Nothing was sent a moment ago where there is no deadline: it goes at once as it is.
        if stream is not None and stream.next_deadline is not None:
            client.loop.add_callback(hasten, stream)


async def hurry_scheduler(worker: Worker, addresses: Collection[str]) -> None:
    """Have the scheduler send at once what it next has for some workers."""
    with suppress(Exception):  # nothing is lost but time
        await ask_scheduler(worker, hurry, addresses)


def hurry(addresses: Collection[str], *, dask_scheduler: Scheduler) -> None:
    """As `hurry_scheduler`, in the scheduler."""
    for address in addresses:
        if address in dask_scheduler.stream_comms:
            send_at_once(dask_scheduler.stream_comms[address])


def hasten(stream: BatchedSend) -> None:
    """Have a stream send its next message without delay, and with it what waits; on its event loop."""
    stream.next_deadline = None


def send_with_next(stream: BatchedSend, message: dict[str, Any]) -> None:
    """Send a message together with the next one, before it; on the stream's event loop.

    If there is no other in a while, by itself.
    """
    stream.buffer.append(message)
    stream.loop.call_later(_WHILE, stream.waker.set)


def take_back(stream: BatchedSend, keys: Collection[Any]) -> None:
    """Do not ask a worker to run some tasks, if it has not been asked yet; on the stream's event loop."""
    stream.buffer = [
        message
        for message in stream.buffer
        if message.get("op") != "compute-task" or message["key"] not in keys
    ]


def send_at_once(stream: BatchedSend) -> None:
    """Have a stream send what waits without delay, or else its next message; on its event loop."""
    stream.next_deadline = None
    stream.waker.set()
