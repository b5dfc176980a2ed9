"""Tasks that nobody waits for any more: cancelled, or of a client that is gone. Their workers are free soon after."""

import os
import signal
import subprocess
import sys
import time

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from cluster_cases import addresses, executing
from commands import call, with_package
from distributed import Client

METHODS = {
    "betweenness": lambda g: g.betweenness_centrality(),
    "weighted betweenness": lambda g: g.betweenness_centrality(weighted=True),
    "edge betweenness": lambda g: g.edge_betweenness_centrality(),
    "louvain": lambda g: g.louvain(),
    "pagerank": lambda g: g.pagerank(tolerance=0, max_iterations=10**8),
}
ON_RANKS = ("betweenness", "louvain", "pagerank")
SOON = 4.0  # seconds; half of it where the machine has nothing else to do


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """Edges: minutes of work for the methods on betweenness, tens of seconds for Louvain's."""
    rng = np.random.default_rng(0)
    ends = rng.integers(0, 100_000, (2, 3_000_000))
    edges = pd.DataFrame({"src": ends[0], "dst": ends[1], "weight": rng.random(3_000_000) + 0.1})
    made = tmp_path_factory.mktemp("edges") / "edges.parquet"
    edges.to_parquet(made, row_group_size=1_000_000)
    return str(made)


@pytest.fixture(scope="module")
def graphs(client, path):
    made = {ranks: dd.read_parquet(path).graph(ranks=ranks).persist() for ranks in (1, 2)}
    for graph in made.values():
        graph.degree().compute()  # it is built
    return made


def started(client):
    """Wait until somebody computes, in a kernel by then."""
    until = time.monotonic() + 60
    while not sum(client.run(executing).values()):
        assert time.monotonic() < until
        time.sleep(0.05)
    time.sleep(0.7)


def check_free(client, since):
    """Each worker takes another task soon."""
    for address in addresses(client):
        client.submit(os.getpid, workers=[address], pure=False).result(30)
    assert time.monotonic() - since < SOON


@pytest.mark.parametrize(
    ("ranks", "method"), [(1, each) for each in METHODS] + [(2, each) for each in ON_RANKS]
)
def test_cancelled(client, graphs, ranks, method):
    future = client.compute(METHODS[method](graphs[ranks]))
    started(client)
    assert not future.done()
    since = time.monotonic()
    future.cancel()
    check_free(client, since)
    assert len(graphs[ranks].degree().compute()) == 100_000  # the graph is none the worse


@pytest.mark.parametrize("ranks", [1, 2])
def test_the_client_is_closed(client, path, ranks):
    with Client(client.scheduler.address, set_as_default=False) as other:
        asked = dd.read_parquet(path).graph(ranks=ranks).betweenness_centrality()
        future = other.compute(asked)
        time.sleep(3)
        started(client)
        assert not future.done()
        since = time.monotonic()
    check_free(client, since)


def test_a_graph_that_is_built(client, path):
    future = client.compute(dd.read_parquet([path] * 4).graph(duplicates="sum").degree())
    time.sleep(0.5)
    assert not future.done()
    since = time.monotonic()
    future.cancel()
    check_free(client, since)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_job_ends(client, path, number, tmp_path):
    """The next job on the same scheduler starts soon."""
    words = [path, "--scheduler", client.scheduler.address, "--output", tmp_path / "out"]
    code = "from dask_graphgpu.jobs.cli import graph; graph()"
    command = [sys.executable, "-c", code, "betweenness-centrality", *map(str, words)]
    with subprocess.Popen(command, env=with_package(), stderr=subprocess.PIPE) as job:
        try:
            time.sleep(3)
            started(client)
            assert job.poll() is None
            job.send_signal(number)
            job.wait(20)
            since = time.monotonic()
        finally:
            job.kill()
    check_free(client, since)
    assert "degree: " in call("degree", *words).stderr
