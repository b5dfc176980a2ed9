"""Core numbers against repeated deletion, and against NetworkX on larger graphs."""

import networkx as nx
import numpy as np
import oracles
import pytest
from engines import core_numbers, k_core
from hypothesis import given
from hypothesis import strategies as st
from small_graphs import on_threads, small_graphs

from dask_graphgpu.partition.csr import from_edges
from dask_graphgpu.partition.view import View
from dask_graphgpu.report import Report


@given(small_graphs(max_edges=80), st.sampled_from([1, 2]))
def test_core_numbers(graph, number):
    with on_threads(number):
        core = core_numbers(graph.view(), Report("core"))
    assert core.dtype == np.int64
    assert core.tolist() == oracles.core_numbers(graph.n, graph.edges)


@given(small_graphs(max_edges=80), st.integers(0, 12) | st.just(2**62))
def test_k_core(graph, k):
    expected = np.array(oracles.core_numbers(graph.n, graph.edges), np.int64) >= k
    report = Report("k-core")
    inside = k_core(graph.view(), k, report)
    assert inside.dtype == bool
    assert inside.tolist() == expected.tolist()
    degree = graph.view().symmetric.degrees
    assert sum(advance.edges for advance in report.advances) == degree[~expected].sum()


def test_no_vertices():
    view = View.of(from_edges(0, np.empty(0, np.int64), np.empty(0, np.int64)))
    assert core_numbers(view, Report("core")).tolist() == []


@pytest.mark.parametrize("number", [1, 2, 5])
@pytest.mark.parametrize("skew", [1, 4])
def test_large_random_graphs(number, skew):
    n = 5_000
    source, destination = (n * np.random.default_rng(skew).random((2, 100_000)) ** skew).astype(int)
    graph = nx.Graph()
    graph.add_nodes_from(range(n))
    graph.add_edges_from(zip(source.tolist(), destination.tolist(), strict=True))
    graph.remove_edges_from(list(nx.selfloop_edges(graph)))
    expected = nx.core_number(graph)
    report = Report("core")
    with on_threads(number, little_work=256):
        core = core_numbers(View.of(from_edges(n, source, destination)), report)
    assert core.tolist() == [expected[v] for v in range(n)]
    assert {advance.direction for advance in report.advances} == {"peel"}
    assert sum(advance.edges for advance in report.advances) == 2 * graph.number_of_edges()


def test_a_clique_with_a_tail():
    clique = [(u, v) for u in range(6) for v in range(u)]
    source, destination = np.array([*clique, (5, 6), (6, 7)]).T
    core = core_numbers(View.of(from_edges(9, source, destination)), Report("core"))
    assert core.tolist() == [5] * 6 + [1, 1, 0]
