"""Components by linked trees against union-find over sets."""

from functools import cache

import dask
import networkx as nx
import numpy as np
import oracles
import pytest
from engines import components
from hypothesis import given
from hypothesis import strategies as st
from small_graphs import on_threads, small_graphs

from dask_graphgpu.partition.csr import from_edges
from dask_graphgpu.partition.view import View
from dask_graphgpu.report import Report


@given(small_graphs(max_vertices=20, max_edges=30), st.sampled_from([1, 2]), st.booleans())
def test_label_is_the_smallest_member(graph, number, into):
    view = graph.view(into=into)
    had_into = view.has_into
    with on_threads(number):
        labels = components(view, Report("wcc"))
    assert labels.dtype == graph.ids
    assert labels.tolist() == oracles.components(graph.n, graph.edges, graph.rank)
    assert view.has_into == had_into


def test_no_vertices():
    view = View.of(from_edges(0, np.empty(0, np.int64), np.empty(0, np.int64)))
    assert components(view, Report("wcc")).tolist() == []


@cache
def large(per_vertex):
    """Vertices, edges and the smallest member of each vertex's component."""
    n = 40_000
    rng = np.random.default_rng(int(10 * per_vertex))
    source, destination = rng.integers(n, size=(2, int(per_vertex * n)))
    graph = nx.Graph()
    graph.add_nodes_from(range(n))
    graph.add_edges_from(zip(source.tolist(), destination.tolist(), strict=True))
    expected = np.empty(n, np.int64)
    for members in nx.connected_components(graph):
        expected[list(members)] = min(members)
    return n, source, destination, expected


@pytest.mark.parametrize("number", [1, 5])
@pytest.mark.parametrize("into", [False, True])
@pytest.mark.parametrize("per_vertex", [0.4, 1.0, 8.0])
def test_large_random_graphs(number, into, per_vertex):
    n, source, destination, expected = large(per_vertex)
    view = View.of(from_edges(n, source, destination))
    if into:
        assert view.into.num_edges == len(source)
    with dask.config.set({"graphgpu.threads": number}):
        assert (components(view, Report("wcc")) == expected).all()


def test_most_edges_are_not_read_when_they_are_there_in_both_directions():
    rng = np.random.default_rng(0)
    source, destination = rng.integers(10_000, size=(2, 200_000))
    both = from_edges(10_000, np.r_[source, destination], np.r_[destination, source])
    report = Report("wcc")
    components(View.of(both, directed=False), report)
    assert [advance.direction for advance in report.advances] == ["link", "link"]
    assert report.advances[1].edges < 0.05 * both.num_edges


def test_a_long_path_in_any_order():
    n = 30_000
    place = np.random.default_rng(1).permutation(n)
    view = View.of(from_edges(n, place[:-1], place[1:]))
    with dask.config.set({"graphgpu.threads": 2}):
        assert not components(view, Report("wcc")).any()
