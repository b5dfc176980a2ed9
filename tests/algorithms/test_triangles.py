"""Triangles and clustering coefficients in every place, and against matrices, pairs of neighbours and NetworkX."""

from importlib import import_module
from unittest import mock

import networkx as nx
import numpy as np
import oracles
import pandas as pd
import pytest
from engines import RANKS
from hypothesis import given
from hypothesis import strategies as st
from small_graphs import on_threads, small_graphs
from strategies import KINDS, edge_lists, partitioned

from dask_graphgpu.engine.cpu import neighbour_arcs, triangles
from dask_graphgpu.partition.csr import from_edges
from dask_graphgpu.partition.view import View
from dask_graphgpu.report import Report

cpu_triangles = import_module("dask_graphgpu.engine.cpu.triangles")
hub_triangles = import_module("dask_graphgpu.engine.cpu.hub_triangles")


def with_hubs(hubs, *, sampled=1 << 16):
    """Count about so many hubs by themselves, or none."""
    changed = {"MUCH": 0, "OFTEN": 0, "HUBS": hubs, "SAMPLED": sampled}
    return mock.patch.multiple(hub_triangles, **(changed if hubs else {"MUCH": 2**62}))


METHODS = [lambda graph: graph.triangle_count(), lambda graph: graph.clustering_coefficient()]


@given(
    graph=edge_lists(weights=[None, "int64"], kinds=KINDS),
    ranks=st.sampled_from(RANKS),
)
def test_over_all_kinds_of_ids(graph, ranks):
    built = graph.graph(ranks=ranks).persist()
    expected = dict(enumerate(oracles.triangles(graph.n, graph.edges)))
    assert graph.answers(built.triangle_count(), "triangles") == expected
    expected = oracles.clustering(graph.n, graph.edges, directed=graph.directed)
    found = graph.answers(built.clustering_coefficient(), "clustering_coefficient")
    assert [found[v] for v in range(graph.n)] == pytest.approx(expected, rel=1e-14)


@given(
    small_graphs(max_edges=80), st.sampled_from([1, 2, 3, 8]), st.sampled_from([0, 1000]),
    st.sampled_from([0, 1, 4, 99]),
)  # fmt: skip
def test_on_threads(graph, number, walks, hubs):
    view, degree = graph.view(), graph.view().symmetric.degrees
    with (
        on_threads(number), mock.patch.object(cpu_triangles, "SHORT_WALKS", walks), with_hubs(hubs)
    ):  # fmt: skip
        count = triangles(view, Report("triangles"))
        arcs = neighbour_arcs(view, Report("clustering"))
    assert count.tolist() == oracles.triangles(graph.n, graph.edges)
    expected = oracles.clustering(graph.n, graph.edges, directed=graph.directed)
    assert (arcs / np.maximum(degree * (degree - 1), 1)).tolist() == pytest.approx(expected)
    simple = {(u, v) for u, v in graph.edges if u != v}
    if not graph.directed or all((v, u) in simple for u, v in simple):
        assert (arcs == 2 * count).all()


@pytest.mark.parametrize("directed", [True, False])
def test_every_place(rows_place, directed):
    rows_place.same(*METHODS, directed=directed)


@pytest.mark.parametrize("bits", [None, 64])
def test_small_graphs(rows_place, bits):
    rows_place.same_small(*METHODS, bits=bits)


@pytest.mark.parametrize("hubs", [0, 1, 64, 1_000, 5_000])
@pytest.mark.parametrize("number", [1, 2, 3, 8])
def test_hubs_make_no_difference(number, hubs):
    """Of hubs that are here and there, with one bitmap word or many, few of which have bits or most."""
    rng, n = np.random.default_rng(5), 3_000
    ends = rng.permutation(n)[(n * rng.random((2, 60_000)) ** 3).astype(int)]
    ends = np.c_[ends, ends[::-1, ::3]]  # a third both ways
    view = View.of(from_edges(n, *np.c_[ends, ends[::-1]]), directed=False)
    directed = View.of(from_edges(n, *ends))
    with with_hubs(0):
        expected = triangles(view, Report("triangles"))
        arcs = neighbour_arcs(directed, Report("clustering"))
    report = Report("triangles")
    with on_threads(number, little_work=256), with_hubs(hubs, sampled=700):
        assert triangles(view, report).tolist() == expected.tolist()
        assert neighbour_arcs(directed, Report("clustering")).tolist() == arcs.tolist()
    assert (arcs > expected).sum() > 1_000 < (arcs < 2 * expected).sum()
    assert len(report.advances) == (2 if hubs else 1)
    assert expected.max() > 10_000


def test_networkx_agrees():
    ends = (2_000 * np.random.default_rng(3).random((2, 40_000)) ** 3).astype(int)
    edges = pd.DataFrame(ends.T, columns=["src", "dst"])
    peer = nx.Graph(edges[edges["src"] != edges["dst"]].to_numpy().tolist())
    peer.add_nodes_from(np.unique(ends).tolist())
    with on_threads(3, little_work=256):
        graph = partitioned(edges, 3).graph(directed=False).persist()
        count, value = (method(graph).compute().set_index("vertex") for method in METHODS)
    assert count["triangles"].to_dict() == nx.triangles(peer)
    expected = pytest.approx(nx.clustering(peer), rel=1e-12)
    assert value["clustering_coefficient"].to_dict() == expected


def clique(n):
    return pd.DataFrame([(u, v) for u in range(n) for v in range(u)], columns=["src", "dst"])


def test_cliques():
    """Closed form: every pair of the other n - 1 vertices."""
    for n in (3, 4, 70):
        graph = clique(n).graph(directed=False)
        assert set(graph.triangle_count()["triangles"]) == {(n - 1) * (n - 2) // 2}
        assert set(graph.clustering_coefficient()["clustering_coefficient"]) == {1.0}
        half = clique(n).graph().clustering_coefficient()["clustering_coefficient"]
        assert half.tolist() == pytest.approx([0.5] * n)


def test_reciprocal_edges_count_twice_in_directed_graphs():
    edges = pd.DataFrame({"src": [0, 0, 1, 2, 1, 1], "dst": [1, 2, 2, 1, 2, 1]})
    value = edges.graph().clustering_coefficient()["clustering_coefficient"]
    assert value.tolist() == [1.0, 0.5, 0.5]


@pytest.mark.parametrize("duplicates", ["auto", "keep"])
@pytest.mark.parametrize("directed", [True, False])
def test_repeats_and_loops_mean_nothing(duplicates, directed):
    edges = pd.concat([clique(4), clique(4), pd.DataFrame({"src": [1, 9], "dst": [1, 9]})])
    graph = edges.graph(directed=directed, duplicates=duplicates)
    assert graph.triangle_count()["triangles"].tolist() == [3, 3, 3, 3, 0]
    value = graph.clustering_coefficient()["clustering_coefficient"].tolist()
    assert value == [0.5 if directed else 1.0] * 4 + [0.0]


def test_no_edges():
    edges = pd.DataFrame({"src": np.array([], int), "dst": np.array([], int)})
    assert edges.graph().triangle_count().columns.tolist() == ["vertex", "triangles"]
    assert len(edges.graph().triangle_count()) == 0
    vertices = pd.DataFrame({"vertex": [3, 1]})
    graph = edges.graph(vertices=vertices)
    assert graph.triangle_count().to_numpy().tolist() == [[1, 0], [3, 0]]
    assert graph.clustering_coefficient()["clustering_coefficient"].tolist() == [0, 0]


def test_report():
    import dask_graphgpu as dg

    clique(5).graph(directed=False).triangle_count()
    assert dg.last_report()["direction"].tolist() == ["intersect"]
