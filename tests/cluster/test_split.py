"""Where the time of ranks goes: work, package, exchange and synchronization make up all of it."""

import time

import numpy as np
import pandas as pd
import pytest

import dask_graphgpu as dg
from dask_graphgpu.cluster.relay import Relay
from dask_graphgpu.exchange.local import run_local

PARTS = ("work", "package", "exchange", "synchronization")

METHODS = {
    "bfs": lambda graph: graph.bfs(0),
    "sssp": lambda graph: graph.sssp(0, predecessor=True),
    "sswp": lambda graph: graph.sswp(0),
    "ssnsp": lambda graph: graph.ssnsp(0),
    "pagerank": lambda graph: graph.pagerank(),
    "pagerank by residuals": lambda graph: graph.pagerank(method="delta"),
    "weakly_connected_components": lambda graph: graph.weakly_connected_components(),
    "core_number": lambda graph: graph.core_number(),
    "k_core": lambda graph: graph.k_core(2),
    "degree": lambda graph: graph.degree(),
}


@pytest.fixture(scope="module")
def frame():
    made = np.random.default_rng(4)
    ends = made.integers(0, 2000, (2, 9000))
    frame = pd.DataFrame({"src": ends[0], "dst": ends[1]}).assign(weight=made.integers(1, 9, 9000))
    return pd.concat([frame, pd.DataFrame({"src": [0], "dst": [1], "weight": [1]})])


@pytest.mark.parametrize("ranks", [2, 3])
@pytest.mark.parametrize("method", METHODS)
def test_complete_for_every_method(frame, method, ranks):
    graph = frame.graph(ranks=ranks).persist()
    began = time.perf_counter()
    METHODS[method](graph)
    seconds = time.perf_counter() - began
    split = dg.last_report().attrs["split"]
    assert len(split) == ranks
    for of_rank in split:
        assert list(of_rank) == [*PARTS, "seconds"]
        assert sum(of_rank[name] for name in PARTS) == pytest.approx(of_rank["seconds"])
        assert 0 < of_rank["seconds"] <= seconds
        assert of_rank["work"] > 0
        assert of_rank["exchange"] > 0
        assert of_rank["synchronization"] > 0
        assert of_rank["package"] > 0


@pytest.mark.parametrize("ranks", [2])
def test_most_of_the_time_of_a_call_is_in_it(frame, ranks):
    graph = frame.graph(ranks=ranks).persist()
    graph.pagerank(tolerance=0, max_iterations=10)  # compiles
    began = time.perf_counter()
    graph.pagerank(tolerance=0, max_iterations=800)
    seconds = time.perf_counter() - began
    for of_rank in dg.last_report().attrs["split"]:
        assert of_rank["seconds"] > 0.7 * seconds


def test_one_rank_has_no_split(frame):
    frame.graph(ranks=1).bfs(0)
    assert dg.last_report().attrs["split"] == []


def test_who_comes_first_waits():
    def meet(ranks):
        relay = Relay(ranks.rank, ranks.size)
        with relay.to(ranks):
            for _ in range(2):
                if ranks.rank == 1:
                    time.sleep(0.2)
                relay.barrier()
        return relay.seconds, relay.waited

    (early, waited), (late, none) = run_local(2, meet)
    assert 0.35 < waited <= early
    assert none <= late < 0.2
