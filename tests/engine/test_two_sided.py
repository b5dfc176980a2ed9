"""Paths searched for from both ends are, edge for edge, those of a whole search from the source."""

import dask
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_graphs import WEIGHTS, small_graphs

from dask_graphgpu import errors, last_report
from dask_graphgpu.engine.cpu import bfs, path, predecessors, run
from dask_graphgpu.engine.cpu.two_sided import two_sided_path
from dask_graphgpu.engine.known import DISTANCES
from dask_graphgpu.engine.options import RunOptions
from dask_graphgpu.partition.csr import from_edges
from dask_graphgpu.partition.view import View
from dask_graphgpu.report import Report

REPORT = Report("shortest_path")


def whole_search(view, source, hops):
    """Distances, who is reached, and predecessors, by searches without a target."""
    if hops:
        distance = bfs(view, source, cutoff=None, targets=None, report=REPORT)
        reached = distance >= 0
    else:
        state = run(DISTANCES, view, RunOptions(sources=np.array([source]), report=REPORT))
        distance, reached = state["distance"], state.reached
    before = predecessors(view, source, distance, reached, hops=hops, report=REPORT)
    return distance, reached, before


def assert_same(view, source, hops, targets):
    """The paths to some targets are those of a whole search. Returns how many edges were read for each."""
    assert view.into is not None
    distance, reached, before = whole_search(view, source, hops)
    weight_of = {}
    if not hops:
        ends = zip(*(end.tolist() for end in view.ends()), strict=True)
        for pair, weight in zip(ends, view.out.weight.tolist(), strict=True):
            weight_of.setdefault(pair, set()).add(weight)
    reads = []
    for target in targets:
        report = Report("shortest_path")
        came, went, length, weight = two_sided_path(view, source, target, hops=hops, report=report)
        reads.append(report.advances[-1].edges)
        if not reached[target]:
            assert len(went) == 0
            continue
        wanted = path(view, source, target, before)[0]
        assert went.tolist() == wanted.tolist()
        assert came.tolist() == before[wanted].tolist()
        assert length.tolist() == distance[wanted].tolist()
        assert came.dtype == went.dtype == view.out.neighbours.dtype
        if not hops:
            assert length.dtype == distance.dtype
            pairs = zip(came.tolist(), went.tolist(), strict=True)
            for pair, found in zip(pairs, weight.tolist(), strict=True):
                assert found in weight_of[pair]
    return reads


@given(st.data(), small_graphs(weights=tuple(WEIGHTS)), st.booleans())
def test_small_graphs(data, graph, hops):
    source = data.draw(st.integers(0, graph.n - 1))
    assert_same(graph.view(), source, hops, range(graph.n))


LENGTHS = {
    "ties": lambda random, m: random.integers(1, 3, m),
    "zeros": lambda random, m: random.integers(0, 2, m).astype(np.uint8),
    "all zero": lambda random, m: np.zeros(m, np.uint8),
    "roads": lambda random, m: random.uniform(1, 2, m),
    "float32": lambda random, m: random.uniform(0, 1, m).astype(np.float32),
    "absorbed": lambda random, m: random.choice([0.0, 1e-300, 1e-17, 0.1, 0.2, 0.3, 1e16], m),
    "far apart": lambda random, m: 10.0 ** random.uniform(-20, 20, m),
}


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("lengths", [None, *LENGTHS])
@pytest.mark.parametrize("shape", ["random", "grid", "hubs"])
def test_larger_graphs(shape, lengths, directed):
    random = np.random.default_rng(len(shape) + 10 * directed)
    n = 900
    if shape == "grid":
        each = np.arange(n).reshape(30, 30)
        ends = [(each[:, :-1], each[:, 1:]), (each[:-1], each[1:])]
        source, target = (np.concatenate([pair[i].ravel() for pair in ends]) for i in (0, 1))
    else:
        source, target = random.integers(0, n, (2, 3 * n))
        if shape == "hubs":
            source = (n * random.uniform(size=3 * n) ** 6).astype(np.int64)
    if not directed or shape == "grid":
        source, target = np.concatenate([source, target]), np.concatenate([target, source])
    pairs = np.unique(np.stack([source, target], axis=1), axis=0)
    columns = {}
    if lengths is not None:
        low, high = pairs.min(axis=1), pairs.max(axis=1)
        weight = LENGTHS[lengths](random, n * 50)
        key = low * 50021 + high if not directed else np.arange(len(pairs))
        columns["weight"] = weight[key % len(weight)]
    rank = random.permutation(n).astype(np.uint32)
    edges = from_edges(n, pairs[:, 0], pairs[:, 1], columns)
    view = View.of(edges, directed=directed, user_rank=rank)
    for source in random.integers(0, n, 2):
        assert_same(view, int(source), lengths is None, random.integers(0, n, 15).tolist())


@pytest.mark.parametrize("directed", [True, False])
def test_near_ends_read_little(directed):
    n = 100_000
    ring = np.arange(n)
    ends = [(ring, np.roll(ring, step)) for step in (1, -1, 317, -317)]
    source, target = (np.concatenate([pair[i] for pair in ends]) for i in (0, 1))
    edges = from_edges(n, source, target, {"weight": np.ones(4 * n, np.int64)})
    view = View.of(edges, directed=directed)
    assert max(assert_same(view, 5, False, [5, 8, 99_990, 330])) < 1000


def test_first_path_on_a_directed_graph_makes_no_in_edges():
    edges = pd.DataFrame({"src": [0, 1, 0], "dst": [1, 2, 2], "weight": [1.0, 2.0, 5.0]})
    graph = edges.graph().persist()
    ways = []
    for _ in range(3):
        assert graph.shortest_path(0, 2)["dst"].tolist() == [1, 2]
        ways.append("both ends" in last_report()["direction"].tolist())
    assert ways == [False, True, True]
    with dask.config.set({"graphgpu.direction": "push"}):
        graph.shortest_path(0, 2)
    assert "both ends" not in last_report()["direction"].tolist()


@pytest.mark.parametrize("directed", [True, False])
def test_lengths_that_do_not_fit(directed):
    big = 2**62
    edges = pd.DataFrame({"src": [0, 1, 2, 0], "dst": [1, 2, 3, 4], "weight": [big, big, 1, 7]})
    graph = edges.graph(directed=directed).persist()
    for _ in range(2):
        with pytest.raises(errors.IntegerOverflow):
            graph.shortest_path(0, 3)
    floats = edges.assign(weight=[1e308, 1e308, 1.0, 7.0]).graph(directed=directed).persist()
    for _ in range(3):
        assert floats.shortest_path(0, 3)["distance"].tolist() == [1e308, np.inf, np.inf]
