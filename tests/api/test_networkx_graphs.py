"""How the backend of NetworkX converts and keeps graphs."""

import pickle
from fractions import Fraction
from unittest import mock

import networkx as nx
import numpy as np
import pytest
from engines import on_one_cpu
from networkx_samples import KINDS, mixed

import dask_graphgpu.networkx_backend as backend
from dask_graphgpu import networkx_graph

pytestmark = on_one_cpu


def test_a_graph_is_converted_built_and_looked_at_once():
    graph = nx.gnm_random_graph(50, 200, seed=1)
    nx.set_edge_attributes(graph, 2.5, "cost")
    with (
        mock.patch.object(
            networkx_graph, "BackendGraph", wraps=networkx_graph.BackendGraph
        ) as made,
        mock.patch.object(networkx_graph, "Weights", wraps=networkx_graph.Weights) as looked_at,
        mock.patch.object(networkx_graph, "Graph", wraps=networkx_graph.Graph) as built,
    ):
        for source in range(5):
            nx.single_source_dijkstra_path_length(graph, source, weight="cost", backend="graphgpu")
            nx.betweenness_centrality(graph, 3, weight="cost", seed=source, backend="graphgpu")
    assert made.call_count == looked_at.call_count == built.call_count == 1
    graph[0][next(iter(graph[0]))]["cost"] = 0.25  # NetworkX does not see it
    found = nx.single_source_dijkstra_path_length(graph, 0, weight="cost", backend="graphgpu")
    assert found == nx.single_source_dijkstra_path_length(graph, 0, weight="cost")
    for node in (0, 1):
        graph.add_edge(node, "new", cost=1)
        found = nx.single_source_dijkstra_path_length(graph, 0, weight="cost", backend="graphgpu")
        assert found["new"] == nx.single_source_dijkstra_path_length(graph, 0, weight="cost")["new"]


def test_a_converted_graph_goes_elsewhere_and_is_built_there():
    converted = backend.convert_from_nx(nx.path_graph(4))
    wanted = backend.pagerank(converted, weight=None)
    assert backend.pagerank(pickle.loads(pickle.dumps(converted)), weight=None) == wanted


def test_views_are_converted_as_they_look():
    graph = nx.path_graph(6)
    view = nx.subgraph_view(graph, filter_edge=lambda u, v: {u, v} != {2, 3})
    found = nx.connected_components(view, backend="graphgpu")
    assert sorted(map(sorted, found)) == [[0, 1, 2], [3, 4, 5]]
    graph.remove_edge(0, 1)
    found = nx.connected_components(view, backend="graphgpu")
    assert sorted(map(sorted, found)) == [[0], [1, 2], [3, 4, 5]]


@pytest.mark.parametrize("kind", KINDS)
def test_there_and_back(kind):
    graph = mixed(kind, 5)
    nx.set_edge_attributes(graph, 1, "cost")
    converted = backend.convert_from_nx(graph)
    assert list(converted) == list(graph)
    assert nx.utils.graphs_equal(backend.convert_to_nx(converted), graph)
    found = (
        nx.is_connected(converted) if not graph.is_directed() else nx.is_weakly_connected(converted)
    )
    assert found is False
    assert backend.convert_to_nx(7) == 7


def test_nodes_that_are_numbers():
    """From 0 on they need not be looked up, whatever numbers they are."""
    for nodes in (
        range(5),
        [0.0, True, 2, Fraction(3), np.int64(4)],
        [1, 0, 2, 3, 4],
        [3, 7, 1, 0, 2],
    ):
        graph = nx.DiGraph()
        graph.add_nodes_from(nodes)
        graph.add_edges_from((nodes[i], nodes[j]) for i, j in [(0, 1), (1, 2), (4, 3), (2, 2)])
        converted = backend.convert_from_nx(graph)
        assert [type(node) for node in converted] == [type(node) for node in graph]
        assert nx.utils.graphs_equal(backend.convert_to_nx(converted), graph)
