"""Workers that are killed, stopped or starved in a run, and runs that nobody wants any more."""

import os
import signal
import subprocess
import sys
import textwrap
import time

import cluster_cases as cases
import dask.dataframe as dd
import numpy as np
import pandas as pd
import psutil
import pytest
from cluster_cases import addresses, started
from distributed import wait
from strategies import partitioned

from dask_graphgpu import errors
from dask_graphgpu.cluster.holdings import held

FOR_EVER = 10**6
IDLE = 1.5  # seconds after which a silent rank is lost, in these tests


@pytest.fixture(scope="module")
def client():
    with started(3) as client:
        yield client


@pytest.fixture(autouse=True)
def whole_again(client):
    """Before and after a test the cluster is as it was made, and holds nothing of runs."""
    settle(client)
    before = len(psutil.Process().children(recursive=True))
    yield
    settle(client)
    assert len(psutil.Process().children(recursive=True)) == before


def settle(client):
    client.wait_for_workers(3, timeout=60)
    until = time.monotonic() + 15
    while time.monotonic() < until:
        left = client.run_on_scheduler(cases.lock_state), sum(client.run(held).values())
        busy = [key for keys in client.processing().values() for key in keys]
        if left == ([], 0) and not busy:
            return
        time.sleep(0.1)
    raise AssertionError((left, busy))


def lead(client, worker, *arguments):
    """A run led from a worker, and from another one when that has died."""
    where = {"workers": [worker], "allow_other_workers": True}
    return client.submit(cases.led, *arguments, pure=False, **where)


def started_run(client, workers, lead_on, function=cases.steps, arguments=(FOR_EVER, 0.001)):
    """A run that goes on, led from one of the workers."""
    future = lead(client, workers[lead_on], workers, function, arguments, IDLE)
    until = time.monotonic() + 20
    while time.monotonic() < until:
        busy = client.processing()
        if all(any("toy-rank" in key for key in busy[worker]) for worker in workers):
            time.sleep(0.3)
            return future
        time.sleep(0.05)
    raise AssertionError(busy)


def check_lost(future, client, workers, rank, within):
    start = time.monotonic()
    with pytest.raises(
        errors.RankLost, match=f"rank {rank} of 3 on worker {workers[rank]} is lost"
    ):
        future.result(60)
    assert time.monotonic() - start < within


def check_next_run(client, killed=None):
    until = time.monotonic() + 60
    while killed in addresses(client):  # as the scheduler has not noticed it yet
        assert time.monotonic() < until
        time.sleep(0.05)
    client.wait_for_workers(3, timeout=60)
    workers = addresses(client)
    future = client.submit(cases.led, workers, cases.where, pure=False)
    assert future.result(60) == list(enumerate(workers))


@pytest.mark.parametrize("rank", [0, 1, 2])
@pytest.mark.parametrize("lead_on", [0, 2])
def test_a_worker_is_killed(client, rank, lead_on):
    workers = addresses(client)
    pids = client.run(os.getpid)
    future = started_run(client, workers, lead_on)
    os.kill(pids[workers[rank]], signal.SIGKILL)
    check_lost(future, client, workers, rank, within=2)
    check_next_run(client, workers[rank])


def test_a_worker_is_killed_while_the_other_ranks_work(client):
    """Who leads the run finds out before they do, and says it once."""
    workers = addresses(client)
    pids = client.run(os.getpid)
    future = lead(client, workers[0], workers, cases.steps, (FOR_EVER, 4.0))
    time.sleep(1.5)
    os.kill(pids[workers[1]], signal.SIGKILL)
    with pytest.raises(errors.RankLost, match=f"rank 1 of 3 on worker {workers[1]}") as told:
        future.result(60)
    assert str(told.value).count("compute it again") == 1
    check_next_run(client, workers[1])


@pytest.mark.parametrize("rank", [0, 1])
@pytest.mark.parametrize("lead_on", [0, 2])
def test_a_worker_is_stopped(client, rank, lead_on):
    workers = addresses(client)
    pids = client.run(os.getpid)
    future = started_run(client, workers, lead_on)
    os.kill(pids[workers[rank]], signal.SIGSTOP)
    try:
        check_lost(future, client, workers, rank, within=IDLE + 2)
        # The others are free, also while it is stopped.
        others = tuple(w for w in workers if w != workers[rank])
        again = client.submit(cases.led, others, cases.where, pure=False, workers=others)
        assert again.result(30) == list(enumerate(others))
    finally:
        os.kill(pids[workers[rank]], signal.SIGCONT)
    check_next_run(client)


def test_a_worker_is_killed_while_its_rank_waits_for_a_thread(client):
    workers = addresses(client)
    pids = client.run(os.getpid)
    busy = client.submit(time.sleep, 60, workers=[workers[1]], pure=False)
    while not any(client.processing()[workers[1]]):
        time.sleep(0.05)
    future = lead(client, workers[0], workers, cases.where)
    time.sleep(1)
    assert not future.done()
    os.kill(pids[workers[1]], signal.SIGKILL)
    check_lost(future, client, workers, 1, within=4)
    busy.cancel()
    check_next_run(client, workers[1])


def test_a_worker_is_stopped_before_the_run(client, monkeypatch):
    workers = addresses(client)
    pids = client.run(os.getpid)
    client.run(set_answer, 2.0)
    os.kill(pids[workers[2]], signal.SIGSTOP)
    try:
        future = lead(client, workers[0], workers, cases.where)
        check_lost(future, client, workers, 2, within=6)
    finally:
        os.kill(pids[workers[2]], signal.SIGCONT)
    client.run(set_answer, 30.0)
    check_next_run(client)


def set_answer(seconds):
    from dask_graphgpu.cluster import calls

    calls.ANSWER = seconds


def test_a_rank_runs_out_of_memory():
    with started(2, memory_limit="400MiB") as client:
        workers = addresses(client)
        future = lead(client, workers[0], workers, cases.hoards, (1,))
        with pytest.raises(errors.RankLost, match=f"rank 1 of 2 on worker {workers[1]} is lost"):
            future.result(60)


def test_a_worker_is_paused_for_want_of_memory(client):
    workers = addresses(client)
    client.run(cases.pause, "paused", workers=[workers[1]])
    future = lead(client, workers[0], workers, cases.where)
    try:
        with pytest.raises(errors.RankLost, match=r"rank 1 of 3 .*is paused, as its process takes"):
            future.result(60)
    finally:
        client.run(cases.pause, "running", workers=[workers[1]])
    check_next_run(client)


@pytest.mark.parametrize("repeat", range(3))
def test_a_cancelled_run_ends(client, repeat):
    workers = addresses(client)
    future = started_run(client, workers, repeat)
    future.cancel()
    start = time.monotonic()
    settle(client)
    assert time.monotonic() - start < 6
    check_next_run(client)


def test_a_cancelled_run_on_one_rank_ends(client):
    edges = pd.DataFrame({"src": range(100), "dst": [*range(1, 100), 0]})
    graph = partitioned(edges, 2).graph()
    graph.pagerank().compute()  # what it takes is compiled
    future = client.compute(graph.pagerank(tolerance=0, max_iterations=10**8))
    time.sleep(0.7)
    assert sum(client.run(cases.executing).values()) == 1
    future.cancel()
    until = time.monotonic() + 6
    while sum(client.run(cases.executing).values()):
        assert time.monotonic() < until
        time.sleep(0.1)
    assert len(graph.degree().compute()) == 100


def test_asked_for_again_as_soon_as_it_is_cancelled(client):
    workers = addresses(client)
    key, arguments = "the-same-key", (workers, cases.steps, (300, 0.005))
    for _ in range(3):
        first = client.submit(cases.led, *arguments, key=key, workers=[workers[0]])
        time.sleep(0.7)
        first.release()  # as by Ctrl-C
        del first
        second = client.submit(cases.led, *arguments, key=key, workers=[workers[0]])
        assert len(second.result(30)) == 3
        del second


CHILD = """
import sys, time
sys.path[:0] = {path!r}
from distributed import Client
import cluster_cases as cases

if __name__ == "__main__":
    client = Client(sys.argv[1])
    workers = cases.addresses(client)
    future = client.submit(cases.led, workers, cases.steps, (10**6, 0.001), pure=False)
    print("started", flush=True)
    future.result()
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_the_client_goes(client, number):
    tests = os.path.dirname(cases.__file__)
    child = subprocess.Popen(
        [
            sys.executable,
            "-c",
            textwrap.dedent(CHILD.format(path=[tests])),
            client.scheduler.address,
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        assert child.stdout.readline() == b"started\n"
        until = time.monotonic() + 20
        while not all(any("toy-rank" in k for k in ks) for ks in client.processing().values()):
            assert time.monotonic() < until
            time.sleep(0.05)
        child.send_signal(number)
        child.wait(60)
        start = time.monotonic()
        settle(client)
        assert time.monotonic() - start < 8
    finally:
        child.kill()
        child.wait()
        child.stdout.close()
    check_next_run(client)


# Graphs


@pytest.fixture(scope="module")
def edges():
    rng = np.random.default_rng(5)
    return pd.DataFrame({"src": rng.integers(0, 2000, 9000), "dst": rng.integers(0, 2000, 9000)})


def long_run(graph):
    return graph.pagerank(tolerance=0, max_iterations=100_000)


def check_ranks(frame, edges):
    found = frame.compute()
    wanted = edges.graph(ranks=1).pagerank()
    assert found["vertex"].tolist() == wanted["vertex"].tolist()
    np.testing.assert_allclose(found["rank"], wanted["rank"], rtol=1e-12)


def ranks_at_work(client, name):
    until = time.monotonic() + 30
    while not all(any(name in str(k) for k in ks) for ks in client.processing().values()):
        assert time.monotonic() < until
        time.sleep(0.05)
    time.sleep(0.3)


@pytest.mark.parametrize("rank", [0, 1, 2])
def test_a_graph_loses_a_worker_in_a_run(client, edges, rank):
    workers = addresses(client)
    pids = client.run(os.getpid)
    graph = dd.from_pandas(edges, npartitions=4).graph(ranks=3)
    future = client.compute(long_run(graph))
    ranks_at_work(client, "pagerank-rank")
    os.kill(pids[workers[rank]], signal.SIGKILL)
    with pytest.raises(errors.RankLost, match=f"on worker {workers[rank]} is lost"):
        future.result(60)
    future.cancel()
    # The same lazy graph, as soon as the worker is back: nothing of it stands in what was made.
    check_ranks(graph.pagerank(), edges)


def test_a_persisted_graph_loses_a_worker(client, edges):
    workers = addresses(client)
    pids = client.run(os.getpid)
    frame = dd.from_pandas(edges, npartitions=4).graph(ranks=3)
    graph = frame.persist()
    check_ranks(graph.pagerank(), edges)
    holder = client.who_has()[next(k for k in client.who_has() if "build" in str(k))][0]
    rank = next(i for i, worker in enumerate(workers) if worker != holder)
    os.kill(pids[workers[rank]], signal.SIGKILL)
    client.wait_for_workers(3, timeout=60)
    # It is built again, as Dask does it with what was lost of any persisted collection.
    check_ranks(graph.pagerank(), edges)
    check_ranks(frame.persist().pagerank(), edges)


def test_a_worker_is_lost_between_the_call_and_the_work(client, edges):
    workers = addresses(client)
    pids = client.run(os.getpid)
    result = dd.from_pandas(edges, npartitions=4).graph(ranks=3).pagerank()
    os.kill(pids[workers[1]], signal.SIGKILL)
    check_ranks(result, edges)


def be_impatient(seconds):
    from dask_graphgpu.cluster import gang

    gang._COME_BACK = seconds


def test_a_worker_that_was_lost_is_waited_for(client):
    """As long as it takes to start it again, if that is longer than workers have else."""
    workers, pids = addresses(client), client.run(os.getpid)
    client.run(be_impatient, 0.02)
    try:
        os.kill(pids[workers[0]], signal.SIGKILL)
        until = time.monotonic() + 10
        while workers[0] in addresses(client):
            assert time.monotonic() < until
            time.sleep(0.01)
        assert len(lead(client, workers[1], 3, cases.where).result(60)) == 3
    finally:
        client.run(be_impatient, 10.0)


def test_locks_of_a_leader_that_died_are_freed_by_the_next_run(client):
    """Also where that runs on other workers."""
    workers, pids = addresses(client), client.run(os.getpid)
    future = started_run(client, workers[:2], 0)
    for worker in workers[:2]:  # nobody is left of the run
        os.kill(pids[worker], signal.SIGKILL)
    future.cancel()
    until = time.monotonic() + 10
    while any(worker in addresses(client) for worker in workers[:2]):
        assert time.monotonic() < until
        time.sleep(0.01)
    lead(client, workers[2], workers[2:], cases.where).result(30)
    until = time.monotonic() + 2
    while client.run_on_scheduler(cases.lock_state):
        assert time.monotonic() < until
        time.sleep(0.02)


def test_partitions_are_made_again_with_a_worker_that_held_them(client, edges):
    pids = client.run(os.getpid)
    result = dd.from_pandas(edges, npartitions=6).graph(ranks=3).pagerank().persist()
    wait(result)
    os.kill(next(iter(pids.values())), signal.SIGKILL)
    client.wait_for_workers(3, timeout=60)
    check_ranks(result, edges)
