"""Runs that keep checkpoints go on by themselves when a worker dies, also on fewer workers."""

import os
import signal
import time

import cluster_cases as cases
import numpy as np
import pandas as pd
import pytest
from distributed import wait
from strategies import partitioned

import dask_graphgpu as dg
from dask_graphgpu import errors
from dask_graphgpu.cluster.holdings import held

ITERATIONS = 1500


@pytest.fixture
def client():
    with cases.started(3) as client:
        yield client


@pytest.fixture(scope="module")
def edges():
    rng = np.random.default_rng(5)
    return pd.DataFrame({"src": rng.integers(0, 2000, 9000), "dst": rng.integers(0, 2000, 9000)})


@pytest.fixture(scope="module")
def wanted(edges):
    return edges.graph(ranks=1).pagerank(tolerance=0, max_iterations=ITERATIONS)


def begun(client, graph, folder):
    """A long run that has written a checkpoint."""
    kept = dg.Checkpoint(folder, seconds=None, supersteps=50)
    frame = graph.pagerank(tolerance=0, max_iterations=ITERATIONS, checkpoint=kept)
    future = client.compute(frame)
    until = time.monotonic() + 60
    while not list(folder.glob("*.json")):
        assert time.monotonic() < until
        assert not future.done()
        time.sleep(0.05)
    return future


def check(found, wanted):
    assert found["vertex"].tolist() == wanted["vertex"].tolist()
    np.testing.assert_allclose(found["rank"], wanted["rank"], rtol=1e-12)


def leader(client):
    """The worker of the task that leads, and those of ranks only."""
    where = client.processing()
    leads = [w for w, keys in where.items() if any(k.count("-") == 3 for k in keys)]
    assert len(leads) == 1, where
    return leads[0], [w for w in where if w != leads[0]]


@pytest.mark.parametrize("who", ["leader", "other"])
@pytest.mark.parametrize("persisted", [True, False])
def test_a_run_goes_on(client, edges, wanted, tmp_path, who, persisted):
    pids = client.run(os.getpid)
    graph = partitioned(edges, 4).graph(ranks=3)
    if persisted:
        graph = graph.persist()
        wait(graph._input.held)
    future = begun(client, graph, tmp_path / "kept")
    leads, others = leader(client)
    os.kill(pids[leads if who == "leader" else others[0]], signal.SIGKILL)
    check(future.result(120), wanted)
    steps = dg.last_report()["supersteps"].sum()
    assert 0 < steps <= ITERATIONS - 50, "it has begun from the start"
    assert not list((tmp_path / "kept").glob("*")), "the checkpoint is removed with the result"
    del graph, future
    until = time.monotonic() + 10
    while sum(client.run(held).values()) or client.run_on_scheduler(cases.lock_state):
        assert time.monotonic() < until
        time.sleep(0.1)


def test_on_fewer_workers(client, edges, wanted, tmp_path, monkeypatch):
    from dask_graphgpu.cluster import placement

    # As many ranks as there are workers: of a graph that does not fit one of them.
    edges.to_parquet(tmp_path / "edges.parquet")
    import dask.dataframe as dd

    monkeypatch.setattr(placement, "_NEED", 10**9)
    graph = dd.read_parquet(tmp_path / "edges.parquet").graph()
    assert graph.explain().ranks == 3
    future = begun(client, graph, tmp_path / "kept")
    _, others = leader(client)
    client.retire_workers([others[0]], close_workers=True, remove=True)
    check(future.result(120), wanted)
    report = dg.last_report()
    assert report.attrs["ranks"] == 2
    assert report["supersteps"].sum() <= ITERATIONS - 50


def test_what_was_there_before_is_not_gone_on_from(client, edges, wanted, tmp_path):
    """A worker dies before the call has written anything, in a folder with another checkpoint."""
    other = partitioned(edges, 2).graph(ranks=2)
    kept = dg.Checkpoint(tmp_path / "kept", seconds=None, supersteps=1)
    with pytest.raises(errors.NotConverged):
        other.pagerank(max_iterations=3, checkpoint=kept, damping=0.5).compute()
    assert list((tmp_path / "kept").glob("*.json"))
    kept = dg.Checkpoint(tmp_path / "kept", seconds=1000)
    frame = partitioned(edges, 4).graph(ranks=3)
    frame = frame.pagerank(tolerance=0, max_iterations=ITERATIONS, checkpoint=kept)
    future = client.compute(frame)
    until = time.monotonic() + 30
    while not all(any("pagerank-rank" in k for k in ks) for ks in client.processing().values()):
        assert time.monotonic() < until
        time.sleep(0.02)
    _, others = leader(client)
    os.kill(client.run(os.getpid)[others[0]], signal.SIGKILL)
    check(future.result(120), wanted)


def test_a_stopped_worker_ends_it(client, edges, tmp_path):
    import dask

    pids = client.run(os.getpid)
    with dask.config.set({"graphgpu.idle-timeout": 1.5}):
        graph = partitioned(edges, 4).graph(ranks=3)
        future = begun(client, graph, tmp_path / "kept")
    _, others = leader(client)
    os.kill(pids[others[0]], signal.SIGSTOP)
    try:
        with pytest.raises(errors.RankLost, match=others[0]):
            future.result(30)
    finally:
        os.kill(pids[others[0]], signal.SIGCONT)
    assert list((tmp_path / "kept").glob("*.json")), "it can be gone on from"
