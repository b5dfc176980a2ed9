"""Workers that are suspended when a call is made, or lost by a build: nobody waits for ever, no error is kept."""

import os
import signal
import time
from contextlib import contextmanager, suppress

import cluster_cases as cases
import dask
import numpy as np
import pandas as pd
import pytest
from cluster_cases import addresses, started
from distributed import wait
from strategies import partitioned

import dask_graphgpu
from dask_graphgpu import errors
from dask_graphgpu.cluster.silence import silences

IDLE = 5.0
STILL = 10.0  # seconds for which a scheduler stands still: beyond IDLE and what is added to it
SOON = 30.0  # seconds within which an error comes, however busy the machine is: Dask itself waits for minutes


@pytest.fixture(scope="module")
def client():
    with started(3) as client, dask.config.set({"graphgpu.idle-timeout": IDLE}):
        yield client


@pytest.fixture(scope="module")
def edges():
    rng = np.random.default_rng(5)
    return pd.DataFrame({"src": rng.integers(0, 2000, 9000), "dst": rng.integers(0, 2000, 9000)})


@contextmanager
def suspended(client, worker):
    pid = client.run(os.getpid)[worker]
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)
        until_true(lambda: client.run_on_scheduler(silences).get(worker, 0) < IDLE / 2)


def until_true(call):
    until = time.monotonic() + 60
    while not call():
        assert time.monotonic() < until
        time.sleep(0.05)


def holder(client, made):
    """The worker on which a result lies."""
    wait(made)
    until_true(lambda: client.who_has(made)[made.key])
    (worker,) = client.who_has(made)[made.key]
    return worker


def check(found, edges):
    wanted = edges.graph(ranks=1).degree()
    pd.testing.assert_frame_equal(found.reset_index(drop=True), wanted, check_dtype=False)


def lost(call, worker):
    began = time.monotonic()
    with pytest.raises(errors.RankLost, match=worker):
        call()
    assert time.monotonic() - began < SOON


@pytest.mark.parametrize("ranks", [1, 3])
def test_who_holds_the_graph_is_suspended(client, edges, ranks):
    graph = partitioned(edges, 3).graph(ranks=ranks).persist()
    worker = holder(client, graph._input.held)
    with suspended(client, worker):
        for _ in range(2):  # it is not left to Dask, which waits for minutes
            lost(lambda: graph.degree().compute(), worker)
    check(graph.degree().compute(), edges)


def test_who_holds_rows_of_the_result_is_suspended(client, edges):
    """They are made again by others, or the error says what is lost."""
    result = partitioned(edges, 3).graph(ranks=2).degree().persist()
    wait(result)
    worker = next(
        w for w in addresses(client) if any("graph-" in str(k) for k in client.has_what()[w])
    )
    with suspended(client, worker):
        began = time.monotonic()
        with suppress(errors.RankLost):
            check(result.compute(), edges)
        assert time.monotonic() - began < SOON
    del result
    check(partitioned(edges, 3).graph(ranks=2).degree().compute(), edges)


def test_a_scheduler_that_stands_still_takes_nobody_for_silent(client, edges):
    graph = partitioned(edges, 3).graph(ranks=3).persist()
    check(graph.degree().compute(), edges)
    result = client.compute(graph.pagerank(tolerance=0, max_iterations=3000))
    client.run_on_scheduler(time.sleep, STILL)
    assert len(result.result(60)) == len(edges.graph(ranks=1).degree())


def test_a_build_that_has_lost_a_worker_is_made_again(client, edges, tmp_path):
    pids = client.run(os.getpid)
    workers = addresses(client)
    lazy = partitioned(edges, 3).graph(ranks=3, partitioner=cases.Slow(str(tmp_path / "slow")))
    (tmp_path / "slow").touch()
    graph = lazy.persist()
    until_true(
        lambda: all(any("build-rank" in str(k) for k in ks) for ks in client.processing().values())
    )
    leads = next(w for w, ks in client.processing().items() if any(k.count("-") == 3 for k in ks))
    os.kill(pids[next(w for w in workers if w != leads)], signal.SIGKILL)
    with pytest.raises(errors.RankLost):
        graph.degree().compute()
    (tmp_path / "slow").unlink()
    client.wait_for_workers(3, timeout=60)
    check(graph.degree().compute(), edges)
    check(lazy.persist().degree().compute(), edges)
    check(lazy.degree().compute(), edges)


def test_paused_workers_are_not_missing_ones(client):
    workers = addresses(client)
    client.run(cases.pause, "paused", workers=workers[1:])
    try:
        until_true(lambda: cases.statuses(client).count("paused") == 2)
        future = client.submit(cases.led, 3, cases.where, pure=False, workers=[workers[0]])
        with pytest.raises(errors.RankLost, match=r"ranks=3, and of 3 workers 2 are paused"):
            future.result(60)
    finally:
        client.run(cases.pause, "running", workers=workers[1:])
    future = client.submit(cases.led, 3, cases.where, pure=False)
    assert len(future.result(60)) == 3


def test_who_asks_again_is_not_given_a_kept_error(client, edges):
    """The same lazy frame, while the future that has failed is held, and its error with a traceback."""
    graph = partitioned(edges, 3).graph(ranks=2).persist()
    worker = holder(client, graph._input.held)
    result = graph.degree()
    with suspended(client, worker):
        failed = client.compute(result)
        with pytest.raises(errors.RankLost, match=worker) as kept:
            failed.result(60)
    check(client.compute(result).result(60), edges)
    check(result.compute(), edges)
    assert dask_graphgpu.last_report().attrs["algorithm"] == "degree"
    assert str(failed.exception()) == str(kept.value)


@pytest.mark.parametrize("ranks", [1, 2])
def test_a_build_that_kills_its_workers_is_made_again(client, edges, tmp_path, ranks):
    """Dask gives a task up that workers die of; the error says what to do, and is not kept."""
    deadly = tmp_path / "deadly"
    deadly.touch()
    frame = partitioned(edges, 3).map_partitions(dies, str(deadly), meta=edges)
    # Nobody is taken for silent who is only slow.
    with dask.config.set({"graphgpu.idle-timeout": 60}):
        graph = frame.graph(ranks=ranks).persist()
    for _ in range(2):
        with pytest.raises(errors.RankLost, match="the 4 workers that have run it have died"):
            graph.degree().compute()
    deadly.unlink()
    client.wait_for_workers(3, timeout=60)
    check(graph.degree().compute(), edges)


def dies(frame, while_there):
    if os.path.exists(while_there):
        os.kill(os.getpid(), signal.SIGKILL)
    return frame


def test_a_worker_that_was_taken_for_lost_goes_on_when_it_is_resumed(client, edges, tmp_path):
    """It forgets what was ended in its place, and is asked to do again."""
    workers, busy = addresses(client), tmp_path / "busy"
    result = partitioned(edges, 3).graph(ranks=3).degree()
    result.compute()
    for worker in workers:
        busy.touch()
        waits = client.submit(cases.while_there, str(busy), workers=[worker], pure=False)
        until_true(lambda worker=worker: client.processing()[worker])
        future = client.compute(result, workers=[worker])
        until_true(lambda worker=worker: len(client.processing()[worker]) > 1)
        with suspended(client, worker):
            busy.unlink()
            with pytest.raises(errors.RankLost, match=worker):
                future.result(60)
        del future
        check(client.compute(result, workers=[worker]).result(60), edges)
        wait(waits)
    assert addresses(client) == workers
