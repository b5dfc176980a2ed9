"""Hubs and authorities against singular vectors, NetworkX and igraph."""

import igraph
import networkx as nx
import numpy as np
import pandas as pd
import pytest
from engines import of_the_cpu_engine
from hypothesis import given
from hypothesis import strategies as st
from places import rows_of, skewed
from small_graphs import on_threads, small_graphs
from strategies import KINDS, edge_lists, partitioned

from dask_graphgpu import errors
from dask_graphgpu.engine.cpu import hits
from dask_graphgpu.report import Report


def iterated(graph, iterations):
    """Scores after some iterations by matrix products; those of a vertex without any edges are 0."""
    matrix = np.zeros((graph.n, graph.n))
    for u, v, *weight in graph.edges:
        matrix[u, v] += weight[0] if weight else 1
        if not graph.directed and u != v:
            matrix[v, u] += weight[0] if weight else 1
    hub = np.full(graph.n, 1 / graph.n)
    for _ in range(iterations):
        authority = matrix.T @ hub
        authority /= authority.sum() or 1
        hub = matrix @ authority
        hub /= hub.sum() or 1
    return hub, authority


def small_weights(graph):
    """The same with weights of a size that sums do not lose."""
    edges = [(u, v, w % 7) for u, v, w in graph.edges]
    return type(graph)(
        graph.n, edges, graph.directed, graph.weight, graph.kind, graph.ids, graph.cuts
    )


@given(graph=edge_lists(weights=[None, "int64", "float32"], kinds=KINDS))
def test_iterations_over_all_kinds_of_ids(graph):
    graph = small_weights(graph) if graph.weight else graph
    found = graph.graph().hits(tolerance=0, max_iterations=3).compute()
    for name, expected in zip(("hub", "authority"), iterated(graph.as_given, 3), strict=True):
        values = graph.answers(found, name)
        assert [values[v] for v in range(graph.n)] == pytest.approx(expected, rel=1e-6, abs=1e-12)


@of_the_cpu_engine
@given(graph=small_graphs(weights=(None, "uint8", "float32")), number=st.sampled_from([1, 3]))
def test_views_with_wide_ids_and_on_threads(graph, number):
    with on_threads(number):
        found = hits(graph.view(), 0.0, 2, Report("hits"))
    for values, expected in zip(found, iterated(graph, 2), strict=True):
        np.testing.assert_allclose(values, expected, rtol=1e-6, atol=1e-9)


def scores(frame, name):
    return frame.set_index("vertex")[name].to_dict()


def random_edges(seed=4, n=200, m=2_000):
    ends = (n * np.random.default_rng(seed).random((2, m)) ** 2).astype(int)
    return pd.DataFrame(ends.T, columns=["src", "dst"]).drop_duplicates()


@pytest.mark.parametrize("number", [1, 3])
def test_converged_beside_networkx_and_igraph(number):
    edges = random_edges()
    with on_threads(number, little_work=64):
        found = partitioned(edges, 3).graph().hits(tolerance=1e-13, max_iterations=1000).compute()
    peer = nx.DiGraph(edges.to_numpy().tolist())
    for name, expected in zip(("hub", "authority"), nx.hits(peer, tol=1e-14), strict=True):
        assert scores(found, name) == pytest.approx(expected, abs=1e-9)
        assert found[name].sum() == pytest.approx(1)
    other = igraph.Graph(edges.max(axis=None) + 1, edges.to_numpy().tolist(), directed=True)
    hub = np.array(other.hub_score())
    np.testing.assert_allclose(found["hub"], (hub / hub.sum())[found["vertex"]], atol=1e-9)


@pytest.mark.parametrize("directed", [True, False])
def test_every_place(place, directed):
    rtol = 0 if place.name == "threads" else 1e-9
    place.same(lambda graph: graph.hits(max_iterations=400), directed=directed, rtol=rtol)
    place.same(lambda graph: graph.hits(tolerance=0, max_iterations=3, weighted=False), rtol=rtol)


@pytest.mark.parametrize(
    ("kind", "bits"),
    [(None, None), ("uint8", 64), ("int64", None), ("float32", 64), ("float64", 64)],
)
def test_small_graphs(memory_place, kind, bits):
    memory_place.same_small(three_steps, kind=kind, bits=bits, rtol=1e-9, supersteps=True)


def three_steps(graph):
    return graph.hits(tolerance=0, max_iterations=3)


def test_no_edges(memory_place):
    none = pd.DataFrame({"src": [0], "dst": [0]})[:0]
    for n in (1, 70):
        memory_place.same(three_steps, frames=[none], vertices=pd.DataFrame({"vertex": range(n)}))


def test_not_converged(place):
    with pytest.raises(errors.NotConverged, match="after 2 iterations the hub scores still"):
        rows_of(place.graph(skewed()).hits(tolerance=1e-12, max_iterations=2))


def test_weights_repeats_and_undirected():
    once = pd.DataFrame({"src": [0, 0, 1], "dst": [1, 2, 2], "weight": [2.0, 1.0, 1.0]})
    twice = pd.DataFrame({"src": [0, 0, 0, 1], "dst": [1, 1, 2, 2]})
    pd.testing.assert_frame_equal(once.graph.hits(), twice.graph.hits())
    plain = once[["src", "dst"]].graph.hits()
    pd.testing.assert_frame_equal(once.graph.hits(weighted=False), plain)
    both = once.graph(directed=False).hits(max_iterations=1000)
    np.testing.assert_allclose(both["hub"], both["authority"], atol=1e-7)


def test_no_edges_that_lead_anywhere():
    edges = pd.DataFrame({"src": [0], "dst": [1], "weight": [0]})
    assert edges.graph.hits()[["hub", "authority"]].to_numpy().tolist() == [[0, 0], [0, 0]]


def test_not_converged_and_bad_arguments():
    edges = random_edges()
    with pytest.raises(errors.NotConverged, match=r"after 2 iterations .* max_iterations="):
        edges.graph.hits(max_iterations=2)
    assert len(edges.graph.hits(tolerance=0, max_iterations=2)) > 0
    with pytest.raises(errors.InvalidArgument, match="tolerance=-1"):
        edges.graph.hits(tolerance=-1)
    with pytest.raises(errors.InvalidArgument, match="needs weights"):
        edges.graph.hits(weighted=True)
