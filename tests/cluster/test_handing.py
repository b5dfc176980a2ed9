"""Partitions that a run on one rank hands in, and what of Dask's insides that leans on."""

import inspect
import time

import pandas as pd
import pytest
from distributed import Scheduler, Worker, wait
from distributed.batched import BatchedSend
from distributed.worker_state_machine import UpdateDataEvent
from strategies import partitioned

from dask_graphgpu.cluster import handing
from dask_graphgpu.io.lazy_frames import keys_of


def frame():
    return pd.DataFrame({"src": [0, 1, 2, 5], "dst": [1, 2, 3, 6]})


def states(key, *, dask_worker):
    """What a worker has done with a task."""
    return [entry[2] for entry in dask_worker.state.story(key) if len(entry) > 3]


def kept(dask_worker):
    return [str(key) for key in dask_worker.data]


def wait_until(condition, what):
    until = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < until, what()
        time.sleep(0.05)


@pytest.mark.parametrize("partitions", [1, 2, 5])
def test_what_is_handed_in_is_not_run(client, partitions):
    """Fails where Dask has changed so that partitions take a way through the worker again."""
    graph = partitioned(frame(), partitions).graph().persist()
    wait(graph._input.held)
    (home,) = client.who_has(graph._input.held)[graph._input.held.key]
    for _ in range(3):
        result = graph.weakly_connected_components().persist()
        wait(result)
        where = client.who_has(result)
        assert len(where) == partitions
        assert set(where.values()) == {(home,)}
        for key in where:
            found = [state for each in client.run(states, key).values() for state in each]
            assert "memory" in found
            assert "executing" not in found
        wanted = frame().graph().weakly_connected_components()
        pd.testing.assert_frame_equal(result.compute().reset_index(drop=True), wanted)
        del result


def in_hand(run, parts):
    """A task that hands in partitions of another."""
    return handing.hand_in(parts).parts if run is None else _for_another(run, parts)


def _for_another(run, parts):
    from distributed import get_worker
    from distributed.protocol.pickle import dumps

    handing.hand_in([])
    worker, made = get_worker(), dict(zip(keys_of(run, len(parts)), parts, strict=True))
    worker.loop.add_callback(handing._hand_in, worker, run, made, dumps({key: {} for key in made}))
    return list(parts)


@pytest.mark.parametrize("run", [None, "a run that is over"])
def test_what_nobody_waits_for_is_dropped(client, run):
    future = client.submit(in_hand, run, ["first", "second"], key=f"hands-in-{run}", pure=False)
    assert future.result(20) == ["first", "second"]
    del future
    wait_until(lambda: not any(client.run(kept).values()), lambda: client.run(kept))
    names = client.run_on_scheduler(lambda dask_scheduler: list(dask_scheduler.plugins))
    assert not [name for name in names if "dask-graphgpu" in name]


def test_what_it_needs_of_dask():
    """See docs/decisions/0011-planned-calls.md for what to do when one of these fails."""
    stream = BatchedSend("2 ms")
    assert stream.next_deadline is None
    assert stream.buffer == []
    assert not stream.waker.is_set()
    stream.send({"op": "one"})
    assert stream.waker.is_set()  # without a deadline a message wakes the sender at once
    assert stream.buffer == [{"op": "one"}]
    parameters = inspect.signature(Scheduler.handle_task_finished).parameters
    assert list(parameters)[1:4] == ["key", "worker", "stimulus_id"]
    finished = inspect.signature(Scheduler.stimulus_task_finished).parameters
    assert {"run_id", "metadata"} <= set(finished)
    assert {"data", "stimulus_id"} <= set(inspect.signature(UpdateDataEvent).parameters)
    assert callable(Worker.handle_stimulus)
    assert callable(Scheduler.worker_send)


def test_sizes_are_counted_once():
    from dask.sizeof import sizeof

    assert sizeof(handing.Handed([frame()] * 1000)) < 10_000
