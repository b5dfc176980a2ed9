"""Partitions that a run on one rank hands in, and what of Dask's insides that leans on."""

import asyncio
import inspect
import time

import pandas as pd
import pytest
from cluster_cases import addresses
from distributed import Scheduler, Worker, wait
from distributed.batched import BatchedSend
from strategies import partitioned

from dask_graphgpu.cluster import handing, haste
from dask_graphgpu.io.lazy_frames import keys_of


def frame():
    return pd.DataFrame({"src": [0, 1, 2, 5], "dst": [1, 2, 3, 6]})


def states(key, *, dask_worker):
    """What a worker has done with a task."""
    return [entry[2] for entry in dask_worker.state.story(key) if len(entry) > 3]


def mean_durations(keys, *, dask_scheduler):
    """Of tasks of the same kind."""
    return [dask_scheduler.tasks[key].prefix.duration_average for key in keys]


def kept(dask_worker):
    return [str(key) for key in dask_worker.data]


def wait_until(condition, what):
    until = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < until, what()
        time.sleep(0.05)


@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("partitions", [1, 2, 5])
def test_what_is_handed_in_is_not_run(client, partitions, ranks):
    """Fails where Dask has changed so that partitions take a way through the worker again."""
    graph = partitioned(frame(), partitions).graph(ranks=ranks).persist()
    wait(graph._input.held)
    workers = addresses(client)
    if ranks == 1:
        (home,) = client.who_has(graph._input.held)[graph._input.held.key]
        homes = dict.fromkeys(range(partitions), home)
    else:
        homes = {i: workers[i * ranks // partitions] for i in range(partitions)}
    for _ in range(3):
        result = graph.weakly_connected_components().persist()
        wait(result)
        where = client.who_has(result)
        assert {i: holders for (_, i), holders in where.items()} == {
            i: (home,) for i, home in homes.items()
        }
        for key in where:
            found = [state for each in client.run(states, key).values() for state in each]
            assert "memory" in found
            assert "executing" not in found
        means = client.run_on_scheduler(mean_durations, list(where))
        assert min(means) > 0  # else Dask's stealing fails at them, and says so in the log
        wanted = frame().graph().weakly_connected_components()
        pd.testing.assert_frame_equal(result.compute(), wanted)
        del result


def in_hand(run, parts):
    """A task that hands in partitions of another."""
    return handing.hand_in(parts).parts if run is None else _for_another(run, parts)


def _for_another(run, parts):
    from distributed import get_worker

    handing.hand_in([])
    worker, made = get_worker(), dict(zip(keys_of(run, len(parts)), parts, strict=True))
    worker.loop.add_callback(
        handing._hand_in, worker, run, worker.address, made, {k: {} for k in made}
    )
    return list(parts)


@pytest.mark.parametrize("run", [None, "a run that is over"])
def test_what_nobody_waits_for_is_dropped(client, run):
    future = client.submit(
        in_hand, run, ["first", "second"], key=f"dask-graphgpu-hands-in-{run}", pure=False
    )
    assert future.result(20) == ["first", "second"]
    del future
    wait_until(lambda: not any(client.run(kept).values()), lambda: client.run(kept))
    names = client.run_on_scheduler(lambda dask_scheduler: list(dask_scheduler.plugins))
    assert not [name for name in names if "dask-graphgpu-handed-in" in name]


def test_a_stream_sends_at_once():
    """See docs/decisions/0011-planned-calls.md for what to do when one of these fails."""
    asyncio.run(_send_to_nobody())


async def _send_to_nobody():
    stream = BatchedSend("2 ms")
    assert stream.next_deadline is None
    assert stream.buffer == []
    assert stream.loop is not None
    assert not stream.waker.is_set()
    stream.send({"op": "one"})
    assert stream.waker.is_set()  # without a deadline a message wakes the sender at once
    assert stream.buffer == [{"op": "one"}]
    stream.waker.clear()
    stream.next_deadline = time.time() + 60
    stream.send({"op": "two"})
    assert not stream.waker.is_set()
    haste.hasten(stream)
    stream.send({"op": "three"})
    assert stream.waker.is_set()
    haste.send_with_next(stream, {"op": "four"})
    assert [message["op"] for message in stream.buffer] == ["one", "two", "three", "four"]
    stream.send(*({"op": "compute-task", "key": key} for key in "abc"))
    haste.take_back(stream, {"a": 1, "c": 1})
    assert [message["key"] for message in stream.buffer if "key" in message] == ["b"]
    assert len(stream.buffer) == 5


@pytest.mark.parametrize(
    ("function", "parameters"),
    [
        (Scheduler.handle_task_finished, {"key", "worker", "stimulus_id"}),
        (Scheduler.stimulus_task_finished, {"run_id", "metadata"}),
        (Scheduler.worker_send, {"worker", "msg"}),
        (Scheduler.run_function, {"function", "args"}),
        (Worker.update_data, {"data"}),
    ],
)
def test_what_dask_has_to_have(function, parameters):
    """As above."""
    assert parameters <= set(inspect.signature(function).parameters)


def streams(dask_scheduler):
    task = next(iter(dask_scheduler.tasks.values()))
    there = hasattr(task, "run_id"), hasattr(task, "worker_restrictions")
    return (*there, hasattr(task, "loose_restrictions")), sorted(dask_scheduler.stream_handlers)


def test_what_a_scheduler_and_a_worker_have_to_have(client):
    """As above."""
    future = client.submit(in_hand, None, ["first"], pure=False)
    wait(future)
    there, handlers = client.run_on_scheduler(streams)
    assert all(there)
    assert {"task-finished", "log-event", handing._NAME} <= set(handlers)
    for handlers in client.run(lambda dask_worker: list(dask_worker.stream_handlers)).values():
        assert "free-keys" in handlers


def test_sizes_are_counted_once():
    from dask.sizeof import sizeof

    assert sizeof(handing.Handed([frame()] * 1000)) < 10_000
