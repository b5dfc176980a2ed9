"""Predecessors on the GPU against the rule written out and the CPU engine."""

import importlib

import numpy as np
import oracles
import pytest
from made_graphs import SHAPES, WEIGHTS, MadeGraph, random_small, rmat, weighted_small

from dask_graphgpu.engine import cpu
from dask_graphgpu.report import Report

pytestmark = pytest.mark.gpu

gpu = importlib.import_module(
    "dask_graphgpu.engine.gpu.predecessors"
)  # not the function of that name


def as_arrays(n, by_vertex, dtype):
    reached = np.array([v in by_vertex for v in range(n)])
    return np.array([by_vertex.get(v, 0) for v in range(n)], dtype), reached


def find(view, source, distance, reached, *, hops, engine=gpu):
    report = Report("search")
    found = engine.predecessors(view, source, distance, reached, hops=hops, report=report)
    return found, report.advances


@pytest.mark.parametrize("into", [False, True])
def test_hops_of_small_graphs(into):
    for seed in range(24):
        graph = random_small(seed)
        source = seed % graph.n
        hops = oracles.bfs(graph.n, graph.edges(), source, directed=graph.directed)
        level, reached = as_arrays(graph.n, hops, np.int32)
        view = graph.view(into=into)
        had_into = view.has_into
        found, _ = find(view, source, level, reached, hops=True)
        assert found.dtype == graph.ids
        assert found.tolist() == oracles.predecessors(
            graph.n, graph.edges(), source, hops,
            directed=graph.directed, hops=True, rank=graph.rank,
        ), seed  # fmt: skip
        assert view.has_into == had_into


@pytest.mark.parametrize("into", [False, True])
@pytest.mark.parametrize("weights", WEIGHTS)
def test_weights_of_small_graphs(weights, into):
    """Among them zeros, and small ones that sums absorb."""
    for seed in range(12):
        graph = weighted_small(seed, weights)
        source = seed % graph.n
        nearest = oracles.dijkstra(graph.n, graph.edges(), source, directed=graph.directed)
        dtype = np.float64 if weights.startswith("f") else np.int64
        distance, reached = as_arrays(graph.n, nearest, dtype)
        view = graph.view(into=into)
        expected = find(view, source, distance, reached, hops=False, engine=cpu)
        found, advances = find(view, source, distance, reached, hops=False)
        assert found.tolist() == oracles.predecessors(
            graph.n, graph.edges(), source, nearest, directed=graph.directed, rank=graph.rank
        ), seed
        assert (found == expected[0]).all()
        assert len(advances) == len(expected[1])


def test_hops_ignore_weights():
    graph = MadeGraph(3, *np.array([[0, 1], [1, 2]]), directed=True, weight=np.array([5, 7]))
    level = np.array([0, 1, 2], np.int32)
    found, _ = find(graph.view(), 0, level, np.ones(3, bool), hops=True)
    assert found.tolist() == [0, 0, 1]


def test_a_sum_that_would_wrap_is_not_mistaken_for_a_distance():
    big = 2**63 - 1
    weight = np.array([big, big, 1])
    graph = MadeGraph(3, *np.array([[0, 1, 0], [1, 2, 2]]), directed=True, weight=weight)
    distance = np.array([0, big, 1])
    for into in (False, True):
        found, _ = find(graph.view(into=into), 0, distance, np.ones(3, bool), hops=False)
        assert found.tolist() == [0, 0, 0]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("into", [False, True])
def test_shapes(shape, directed, into):
    for ids in ("uint32", "uint64"):
        view = SHAPES[shape](ids=ids, directed=directed).view(into=into)
        for source in (0, view.num_vertices // 3):
            level = cpu.bfs(view, source, cutoff=None, targets=None, report=Report("bfs"))
            given = (view, source, level, level >= 0)
            expected, _ = find(*given, hops=True, engine=cpu)
            found, _ = find(*given, hops=True)
            assert (found == expected).all()


@pytest.mark.parametrize("by_degree", [False, True])
def test_rows_too_long_for_a_warp(by_degree):
    """The source is in the rows of hubs, far from their start or anywhere."""
    graph = rmat(14, 32, by_degree=by_degree)
    near = np.unique(np.r_[np.arange(200), graph.n - 1 - np.arange(4000)])
    last = graph.n - 1
    source = np.r_[graph.source, np.full(len(near), last)]
    graph = MadeGraph(graph.n, source, np.r_[graph.destination, near])
    view = graph.view()
    for source in (last, 50):
        level = cpu.bfs(view, source, cutoff=None, targets=None, report=Report("bfs"))
        expected, _ = find(view, source, level, level >= 0, hops=True, engine=cpu)
        found, _ = find(view, source, level, level >= 0, hops=True)
        assert (found == expected).all()


def test_rows_in_the_order_of_preference_are_left_early():
    view = rmat(14).view()
    level = cpu.bfs(view, 0, cutoff=None, targets=None, report=Report("bfs"))
    _, (advance,) = find(view, 0, level, level >= 0, hops=True)
    degree = view.out.degrees
    assert (np.diff(degree) <= 0).all()
    assert advance.edges < view.num_edges / 4
