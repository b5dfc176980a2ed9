"""The predecessor rule against the rule written out, and what it promises: a tree."""

import dask
import numpy as np
import oracles
import pytest
from engines import predecessors
from hypothesis import given
from hypothesis import strategies as st
from small_graphs import WEIGHTS, on_threads, small_graphs

from dask_graphgpu.partition.csr import from_edges
from dask_graphgpu.partition.view import View
from dask_graphgpu.report import Report


def as_arrays(n, by_vertex, dtype):
    reached = np.array([v in by_vertex for v in range(n)])
    return np.array([by_vertex.get(v, 0) for v in range(n)], dtype), reached


def assert_tree(found, source, reached):
    """Every reached vertex leads to the source."""
    for v in range(len(found)):
        if not reached[v] or v == source:
            assert found[v] == v
            continue
        steps = 0
        while v != source:
            v = int(found[v])
            steps += 1
            assert steps < len(found)


@given(st.data(), small_graphs(), st.sampled_from([1, 2]), st.booleans())
def test_hops(data, graph, number, into):
    source = data.draw(st.integers(0, graph.n - 1))
    hops = oracles.bfs(graph.n, graph.edges, source, directed=graph.directed)
    level, reached = as_arrays(graph.n, hops, np.int32)
    view = graph.view(into=into)
    had_into = view.has_into
    with on_threads(number):
        found = predecessors(view, source, level, reached, hops=True, report=Report("bfs"))
    assert found.dtype == graph.ids
    assert found.tolist() == oracles.predecessors(
        graph.n, graph.edges, source, hops, directed=graph.directed, hops=True, rank=graph.rank
    )
    assert_tree(found, source, reached)
    assert view.has_into == had_into


@given(st.data(), small_graphs(weights=tuple(WEIGHTS)), st.sampled_from([1, 2]), st.booleans())
def test_weights(data, graph, number, into):
    source = data.draw(st.integers(0, graph.n - 1))
    nearest = oracles.dijkstra(graph.n, graph.edges, source, directed=graph.directed)
    dtype = np.float64 if graph.weight.startswith("f") else np.int64
    distance, reached = as_arrays(graph.n, nearest, dtype)
    with on_threads(number):
        found = predecessors(
            graph.view(into=into), source, distance, reached, hops=False, report=Report("sssp")
        )
    assert found.tolist() == oracles.predecessors(
        graph.n, graph.edges, source, nearest, directed=graph.directed, rank=graph.rank
    )
    assert_tree(found, source, reached)


@given(small_graphs(max_vertices=9, max_edges=30), st.sampled_from([1, 2]))
def test_all_weights_zero(graph, number):
    """The whole graph is one plateau."""
    edges = [(u, v, 0) for u, v in graph.edges]
    view = graph.view()
    view.out.columns["weight"] = np.zeros(view.num_edges, np.int64)
    reached_by = oracles.bfs(graph.n, edges, 0, directed=graph.directed)
    distance, reached = as_arrays(graph.n, dict.fromkeys(reached_by, 0), np.int64)
    report = Report("sssp")
    with on_threads(number):
        found = predecessors(view, 0, distance, reached, hops=False, report=report)
    assert found.tolist() == oracles.predecessors(
        graph.n, edges, 0, dict.fromkeys(reached_by, 0), directed=graph.directed, rank=graph.rank
    )
    assert_tree(found, 0, reached)
    assert len(report.advances) == (1 if len(reached_by) == 1 else 2)


def test_hops_ignore_weights():
    rows = from_edges(3, np.array([0, 1]), np.array([1, 2]), {"weight": np.array([5, 7])})
    level, reached = np.array([0, 1, 2], np.int32), np.ones(3, bool)
    found = predecessors(View.of(rows), 0, level, reached, hops=True, report=Report("bfs"))
    assert found.tolist() == [0, 0, 1]


def test_a_sum_that_would_wrap_is_not_mistaken_for_a_distance():
    big = 2**63 - 1
    rows = from_edges(
        3, np.array([0, 1, 0]), np.array([1, 2, 2]), {"weight": np.array([big, big, 1])}
    )
    distance, reached = np.array([0, big, 1]), np.ones(3, bool)
    found = predecessors(View.of(rows), 0, distance, reached, hops=False, report=Report("sssp"))
    assert found.tolist() == [0, 0, 0]


@pytest.mark.parametrize("into", [False, True])
@pytest.mark.parametrize("by_degree", [False, True])
def test_same_answer_for_any_number_of_threads_and_direction(into, by_degree):
    n = 20_000
    rng = np.random.default_rng(5)
    source, destination = (n * rng.random((2, 300_000)) ** 2).astype(np.int64)
    if by_degree:  # dense ids in the order of preference: rows may be left at their first hit
        degree = np.bincount(np.r_[source, destination], minlength=n)
        place = np.empty(n, np.int64)
        place[np.argsort(-degree, kind="stable")] = np.arange(n)
        source, destination = place[source], place[destination]
    level = np.where(np.arange(n) < 50, 0, np.where(np.arange(n) < 5000, 1, 2)).astype(np.int32)
    reached = np.ones(n, bool)
    reached[::7] = False
    view = View.of(from_edges(n, source, destination))
    degree = view.out.degrees + np.bincount(destination, minlength=n)
    edges = list(zip(source.tolist(), destination.tolist(), strict=True))
    expected = np.arange(n)
    for u, v in edges:  # one edge at a time
        if reached[u] and reached[v] and level[u] + 1 == level[v]:
            w = expected[v]
            if w == v or (-degree[u], u) < (-degree[w], w):
                expected[v] = u
    # Vertices without a nearer neighbour would need a path that these levels do not have.
    reached &= (expected != np.arange(n)) | (level == 0)
    reached[(level == 0) & (np.arange(n) != 1)] = False
    reached[1] = True
    expected = np.arange(n)
    for u, v in edges:
        if reached[u] and reached[v] and level[u] + 1 == level[v]:
            w = expected[v]
            if w == v or (-degree[u], u) < (-degree[w], w):
                expected[v] = u
    if into:
        assert view.into.num_edges == len(edges)
    for number in (1, 2, 5):
        report = Report("bfs")
        with dask.config.set({"graphgpu.threads": number}):
            found = predecessors(view, 1, level, reached, hops=True, report=report)
        assert (found == expected).all()
