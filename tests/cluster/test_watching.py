"""What the client sees of a run: names of tasks, events, the report; and memory that Dask manages."""

import threading
import time
from itertools import pairwise

import cluster_cases as cases
import numpy as np
import pandas as pd
import pytest
from strategies import partitioned

import dask_graphgpu as dg
from dask_graphgpu.cluster.holdings import held


def grid(width):
    """Roads: every step of a search finds few vertices."""
    ids = np.arange(width * width).reshape(width, width)
    right = np.stack([ids[:, :-1].ravel(), ids[:, 1:].ravel()])
    down = np.stack([ids[:-1].ravel(), ids[1:].ravel()])
    ends = np.concatenate([right, down], axis=1)
    return pd.DataFrame({"src": ends[0], "dst": ends[1]})


def check_split(report, ranks):
    """Of each rank the four parts of its time."""
    split = report.attrs["split"]
    assert len(split) == ranks
    for of_rank in split:
        parts = [of_rank[name] for name in ("work", "package", "exchange", "synchronization")]
        assert all(0 <= part < 60 for part in parts)
        assert of_rank["work"] > 0
        assert of_rank["exchange"] > 0
        assert sum(parts) == pytest.approx(of_rank["seconds"])


@pytest.fixture(scope="module")
def graph(client):
    return partitioned(grid(60), 3).graph(ranks=2, directed=False).persist()


def test_the_report_of_the_run_that_ended_last(client, graph):
    graph.pagerank(tolerance=0, max_iterations=7).compute()
    report = dg.last_report()
    assert report.attrs["algorithm"] == "pagerank"
    assert report["supersteps"].sum() == 7
    assert report["superstep"].iloc[0] == 1
    assert report.attrs["ranks"] == 2
    check_split(report, 2)
    graph.degree().compute()
    assert dg.last_report().attrs["algorithm"] == "degree"
    # One that ends in this process comes after.
    grid(3).graph(ranks=1).bfs(0)
    assert dg.last_report().attrs["algorithm"] == "bfs"
    graph.pagerank().compute()
    assert dg.last_report().attrs["algorithm"] == "pagerank"


def test_events_while_a_run_goes_on(client, graph):
    seen = []
    client.subscribe_topic("dask_graphgpu", lambda event: seen.append((time.time(), event[1])))
    start = time.time()
    graph.pagerank(tolerance=0, max_iterations=3000).compute()
    seconds = time.time() - start
    time.sleep(0.3)
    client.unsubscribe_topic("dask_graphgpu")
    mine = [event for _, event in seen if event["algorithm"] == "pagerank"]
    assert 1 <= len(mine) <= 10 * seconds + 1
    assert all(a["superstep"] < b["superstep"] for a, b in pairwise(mine))
    assert {"run", "direction", "frontier", "edges", "seconds"} <= set(mine[0])
    assert mine[-1]["superstep"] <= 3000


def test_tasks_are_named(client, graph):
    result = graph.pagerank(tolerance=0, max_iterations=3000)
    names = set()
    stop = threading.Event()

    def look():
        while not stop.is_set():
            names.update(client.run_on_scheduler(cases.task_names))

    looking = threading.Thread(target=look)
    looking.start()
    try:
        result.compute()
    finally:
        stop.set()
        looking.join()
    ranks = {name.rsplit("-", 1)[0] for name in names if "rank-" in name}
    assert {f"dask-graphgpu-pagerank-rank-{i}" for i in (0, 1)} <= ranks
    assert any(name.startswith("dask-graphgpu-build-") for name in names)


def evict(dask_worker):
    """Have Dask write all that it manages to disk."""
    for key in list(dask_worker.data.fast):
        dask_worker.data.fast.evict(key)


def test_a_worker_that_spills_keeps_its_share(client, graph):
    wanted = grid(60).graph(ranks=1, directed=False).degree()
    client.run(evict)
    time.sleep(3)
    assert sum(client.run(held).values()) >= 2
    assert graph.degree().compute().to_dict("list") == wanted.to_dict("list")
    client.run(evict)
    assert graph.degree().compute().to_dict("list") == wanted.to_dict("list")
