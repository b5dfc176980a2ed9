"""Louvain and Leiden on the GPU against the same steps in plain Python, NetworkX's modularity and the CPU engine."""

import importlib

import networkx as nx
import numpy as np
import pytest
from made_graphs import MadeGraph, apart, edgeless, path, random_small, rmat, simple, star
from synchronous_louvain import leiden as leiden_in_python
from synchronous_louvain import louvain as in_python

from dask_graphgpu.engine import cpu
from dask_graphgpu.engine.gpu.device import DeviceView
from dask_graphgpu.report import Report

pytestmark = pytest.mark.gpu

gpu = importlib.import_module("dask_graphgpu.engine.gpu.louvain")


def once(graph, weight=None):
    """Without repeated edges, which the rule "sum" makes one; with whole weights of a type."""
    ends = np.stack([graph.source, graph.destination])
    ends = np.unique(ends if graph.directed else np.sort(ends, axis=0), axis=1)
    weights = None
    if weight is not None:
        weights = np.random.default_rng(graph.n).integers(0, 4, ends.shape[1]).astype(weight)
    return MadeGraph(
        graph.n, *ends, directed=graph.directed, ids=graph.ids, rank=graph.rank, weight=weights
    )


def modularity(graph, labels, resolution=1.0):
    """NetworkX's, directions added up."""
    made = nx.Graph()
    made.add_nodes_from(range(graph.n))
    for u, v, *weight in graph.edges():
        w = made.get_edge_data(u, v, {"weight": 0})["weight"] + (weight[0] if weight else 1)
        made.add_edge(u, v, weight=w)
    parts = {}
    for v, label in enumerate(labels.tolist()):
        parts.setdefault(label, set()).add(v)
    return nx.community.modularity(made, parts.values(), resolution=resolution)


@pytest.mark.parametrize("weight", [None, "uint8", "int64", "float32", "float64"])
@pytest.mark.parametrize("resolution", [0.3, 1.0, 2.5])
def test_small_graphs(weight, resolution):
    for seed in range(24):
        graph = once(random_small(seed), weight)
        labels, found = gpu.louvain(graph.view(), resolution, seed, Report("louvain"))
        assert labels.dtype == graph.ids
        expected, wanted = in_python(
            graph.n, graph.edges(), resolution=resolution, seed=seed, rank=graph.rank
        )
        assert labels.tolist() == expected, seed
        assert found == pytest.approx(wanted, abs=1e-15)
        if wanted:
            assert found == pytest.approx(modularity(graph, labels, resolution), abs=1e-12)


@pytest.mark.parametrize("ids", ["uint32", "uint64"])
@pytest.mark.parametrize("number", [1, 3, 1500, 3000, 9000])
def test_a_hub_of_many_labels(number, ids):
    """A hub whose neighbours are in about so many communities, and a second one at the end."""
    rng = np.random.default_rng(number)
    n = 12_000
    leaf = np.arange(2, n)
    before = np.where(leaf % 7 == 0, n - 1, 2 + rng.integers(min(number, n - 3), size=n - 2))
    ends = np.r_[
        np.c_[np.zeros(n - 2, int), leaf], np.c_[leaf[leaf != before], before[leaf != before]]
    ]
    ends = np.unique(np.sort(ends, axis=1), axis=0)
    graph = MadeGraph(n, *ends.T, ids=ids, rank=rng.permutation(n))
    labels, found = gpu.louvain(graph.view(), 1.0, 0, Report("louvain"))
    expected, wanted = in_python(n, graph.edges(), rank=graph.rank)
    assert labels.tolist() == expected
    assert found == pytest.approx(wanted, abs=1e-15)


def test_tables_that_take_several_passes(monkeypatch):
    monkeypatch.setattr(gpu, "far_slots", lambda level, blocks, far_bytes: 256)
    graph = star(9_000)
    labels, found = gpu.louvain(graph.view(), 1.0, 0, Report("louvain"))
    expected, _ = in_python(graph.n, graph.edges())
    assert labels.tolist() == expected
    assert found == 0


@pytest.mark.parametrize("n", [0, 1, 70])
def test_no_edges(n):
    labels, found = gpu.louvain(edgeless(n).view(), 1.0, 0, Report("louvain"))
    assert labels.tolist() == list(range(n))
    assert found == 0


def parts_are_connected(graph, labels):
    """Whether every community is, by edges with a weight."""
    made = nx.Graph((u, v) for u, v, *w in graph.edges() if not w or w[0] > 0)
    made.add_nodes_from(range(graph.n))
    parts = {}
    for v, label in enumerate(labels.tolist()):
        parts.setdefault(label, set()).add(v)
    return all(nx.is_connected(made.subgraph(part)) for part in parts.values())


@pytest.mark.parametrize("weight", [None, "uint8", "float64"])
@pytest.mark.parametrize("resolution", [0.3, 1.0, 2.5])
def test_leiden_of_small_graphs(weight, resolution):
    for seed in range(24):
        graph = once(random_small(seed), weight)
        labels, found = gpu.leiden(graph.view(), resolution, seed, 2, Report("leiden"))
        assert labels.dtype == graph.ids
        expected, wanted = leiden_in_python(
            graph.n, graph.edges(), resolution=resolution, seed=seed, rank=graph.rank
        )
        assert labels.tolist() == expected, seed
        assert found == pytest.approx(wanted, abs=1e-15)
        assert parts_are_connected(graph, labels)
        if wanted:
            assert found == pytest.approx(modularity(graph, labels, resolution), abs=1e-12)


def test_leiden_of_a_skewed_graph_is_as_good_as_one_by_one():
    made = rmat(11)
    labels, found = gpu.leiden(simple(made.view()), 1.0, 0, 2, Report("leiden"))
    assert parts_are_connected(made, labels)
    assert found > cpu.leiden(simple(made.view()), 1.0, 0, 2, Report("leiden"))[1] - 0.006


def test_communities_that_come_apart():
    graph = apart(3, 20)
    here = DeviceView.of(graph.view())
    moves = gpu.MovesByClass(here, gpu.first_level(here), 1.0, 0, Report("leiden"))
    together = moves.alone(moves.first) * 0
    found, number = moves.apart(moves.first, together)
    made = nx.Graph(zip(graph.source.tolist(), graph.destination.tolist(), strict=True))
    made.add_nodes_from(range(60))
    pieces = sorted(nx.connected_components(made), key=min)
    assert number == len(pieces)
    for label, part in enumerate(pieces):
        assert {int(found[v]) for v in part} == {label}


def test_weights_that_mean_nothing():
    graph = MadeGraph(3, np.array([0, 1]), np.array([1, 2]), weight=np.zeros(2))
    labels, found = gpu.louvain(graph.view(), 1.0, 0, Report("louvain"))
    assert labels.tolist() == [0, 1, 2]
    assert found == 0


@pytest.mark.parametrize("scale", [2.0**-1060, 1e-30, 1e-3, 1e30, 2.0**1000])
def test_only_the_ratio_of_weights_counts(scale):
    graph = once(rmat(7), "float64")
    labels, found = gpu.louvain(graph.view(), 1.0, 0, Report("louvain"))
    scaled = MadeGraph(graph.n, graph.source, graph.destination, weight=graph.weight * scale)
    other, same = gpu.louvain(scaled.view(), 1.0, 0, Report("louvain"))
    assert same == pytest.approx(found, abs=1e-9)
    if np.log2(scale).is_integer():
        assert other.tolist() == labels.tolist()


def test_whole_weights_too_large_for_exact_sums():
    weight = np.array([2**62, 2**62, 1], np.uint64)
    graph = MadeGraph(4, np.array([0, 2, 1]), np.array([1, 3, 2]), weight=weight)
    labels, found = gpu.louvain(graph.view(), 1.0, 0, Report("louvain"))
    assert labels.tolist() == [0, 0, 2, 2]
    assert found == pytest.approx(0.5, abs=1e-12)


def test_seeds_make_a_difference_and_runs_do_not():
    view = simple(rmat(9).view())
    answers = [gpu.louvain(view, 1.0, seed, Report("l"))[0].tolist() for seed in (0, 0, 1, 2, 3)]
    assert answers[0] == answers[1]
    assert len({tuple(answer) for answer in answers}) > 1


@pytest.mark.parametrize("directed", [False, True])
def test_a_large_skewed_graph_is_as_good_as_one_by_one(directed):
    view = simple(rmat(13, directed=directed).view())
    best = max(gpu.louvain(view, 1.0, seed, Report("l"))[1] for seed in range(2))
    assert best > cpu.louvain(view, 1.0, 0, Report("l"))[1] - 0.004


def test_report():
    report = Report("louvain")
    gpu.louvain(path(40).view(), 1.0, 0, report)
    assert {row.direction for row in report.advances} == {"move"}
    assert report.advances[0].frontier == 40
    assert report.advances[0].edges >= 78
    assert report.advances[-1].frontier < 20
