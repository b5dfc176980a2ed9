"""The backend of NetworkX: the same answers by the same calls."""

import inspect
import pickle
import subprocess
import sys
import warnings
from fractions import Fraction
from pathlib import Path
from unittest import mock

import dask
import networkx as nx
import numpy as np
import pytest
from engines import on_one_cpu

import dask_graphgpu.networkx_backend as backend
from _dask_graphgpu_networkx import FUNCTIONS, get_info
from dask_graphgpu import networkx_graph

pytestmark = on_one_cpu


@pytest.fixture(autouse=True)
def no_note_on_kept_graphs():
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Note: conversions to backend graphs", UserWarning)
        yield


def test_every_function_has_the_signature_of_networkx():
    assert set(FUNCTIONS) == set(backend._FUNCTIONS) == set(get_info()["functions"])
    for name in FUNCTIONS:
        ours, theirs = (
            inspect.signature(f) for f in (getattr(backend, name), getattr(nx, name).orig_func)
        )
        assert [(p.name, p.default) for p in ours.parameters.values()] == [
            (p.name, p.default) for p in theirs.parameters.values()
        ], name


def mixed(kind, seed):
    """A graph with self-loops, parts apart, weights on some edges, and nodes of several types."""
    rng = np.random.default_rng(seed)
    names = ["a", 3, (1, 2), None.__class__, 2.5, "b", frozenset("c"), -1, "3", *range(10, 22)]
    graph = kind()
    graph.add_nodes_from(names)
    for _ in range(45):
        u, v = (names[i] for i in rng.integers(len(names) - 2, size=2))
        graph.add_edge(u, v, **({"cost": int(rng.integers(1, 9))} if rng.random() < 0.8 else {}))
    return graph


KINDS = [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph]
CALLS = {
    "pagerank": [
        {},
        {"weight": "cost", "alpha": 0.7},
        {"weight": None},
        {"personalization": {"a": 1, 3: 2.5, "nowhere": 7}},
    ],
    "betweenness_centrality": [{}, {"weight": "cost"}, {"k": 4, "seed": 1}, {"endpoints": True}],
    "edge_betweenness_centrality": [
        {},
        {"weight": "cost", "normalized": False},
        {"k": 4, "seed": 1},
    ],
    "single_source_shortest_path_length": [{"source": "a"}, {"source": (1, 2), "cutoff": 2}],
    "single_source_dijkstra_path_length": [{"source": 3}, {"source": "a", "weight": "cost"}],
    "descendants": [{"source": "b"}],
    "node_connected_component": [{"n": "b"}],
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_answers_are_those_of_networkx(kind, name):
    function = getattr(nx, name)
    for seed, given in enumerate(CALLS.get(name, [{}])):
        graph = mixed(kind, seed)
        if name == "core_number":
            graph.remove_edges_from(list(nx.selfloop_edges(graph)))
        before = backend.calls[name]
        runs = backend.can_run(name, (graph,), given) is True
        try:
            wanted = function(graph, **given, backend="networkx")
            wanted = list(wanted) if inspect.isgenerator(wanted) else wanted
        except nx.NetworkXNotImplemented:
            assert not runs
            continue
        if not runs:
            continue
        found = function(graph, **given, backend="graphgpu")
        assert backend.calls[name] == before + 1
        if isinstance(wanted, dict):
            assert found.keys() == wanted.keys()
            for key, value in wanted.items():
                assert type(found[key]) is type(value)
                assert found[key] == pytest.approx(value, rel=1e-9, abs=1e-12, nan_ok=True)
        elif isinstance(wanted, list):
            assert iter(found) is found
            assert set(map(frozenset, found)) == set(map(frozenset, wanted))
        else:
            assert type(found) is type(wanted)
            assert found == wanted
    assert backend.calls[name] > 0 or kind is not nx.Graph or "directed" in backend._KINDS[name]


def weighted(*values):
    graph = nx.path_graph(len(values) + 1)
    for i, value in enumerate(values):
        graph[i][i + 1]["weight"] = value
    return graph


class OfAnotherKind(nx.Graph):
    """Has its edges from somewhere else, for all that is known."""


@pytest.mark.parametrize(
    ("name", "graph", "given", "words"),
    [
        ("pagerank", OfAnotherKind([(0, 1)]), {}, "a OfAnotherKind may"),
        ("pagerank", nx.Graph(), {}, "no nodes"),
        ("pagerank", nx.path_graph(3), {"nstart": {0: 1}}, "all nodes alike"),
        ("pagerank", nx.path_graph(3), {"personalization": {0: -1}}, "one of them above"),
        ("pagerank", nx.path_graph(3), {"personalization": {7: 1}}, "one of them above"),
        ("pagerank", nx.path_graph(3), {"personalization": [1]}, "one of them above"),
        ("pagerank", weighted(1), {"unknown": 1}, "unknown"),
        ("betweenness_centrality", weighted(1), {"weight": lambda *_: 1}, "an attribute"),
        ("betweenness_centrality", weighted(1), {"k": 3}, "number of sources"),
        ("edge_betweenness_centrality", nx.MultiGraph([(0, 1)]), {}, "simple"),
        ("connected_components", nx.DiGraph([(0, 1)]), {}, "undirected"),
        ("strongly_connected_components", nx.Graph([(0, 1)]), {}, "directed"),
        ("triangles", nx.path_graph(3), {"nodes": [0]}, "all nodes alike"),
        ("descendants", nx.path_graph(3), {"source": 7}, "not in the graph"),
        ("descendants", nx.path_graph(3), {"source": []}, "not in the graph"),
        ("single_source_shortest_path_length", nx.path_graph(3), {"source": 0, "cutoff": -1}, "cutoff"),
        ("single_source_shortest_path_length", nx.path_graph(3), {"source": 0, "cutoff": 1.5}, "whole"),
        ("pagerank", nx.DiGraph([(0, 1)]).to_undirected(as_view=True), {}, "two weights"),
    ],
)  # fmt: skip
def test_what_is_left_to_networkx(name, graph, given, words):
    reason = backend.can_run(name, (graph,), given)
    assert isinstance(reason, str)
    assert words in reason


@pytest.mark.parametrize(
    ("name", "graph", "given", "words"),
    [
        ("pagerank", weighted(1, -1), {}, "numbers from 0"),
        ("pagerank", weighted(1, "x"), {}, "numbers from 0"),
        ("pagerank", weighted(1, True), {}, "numbers from 0"),
        ("pagerank", weighted(1, Fraction(1, 3)), {}, "numbers from 0"),
        ("pagerank", weighted(1.5, 2**53 + 1), {}, "numbers from 0"),
        ("pagerank", weighted(1, 10**400), {}, "numbers from 0"),
        ("pagerank", weighted(1.0, float("nan")), {}, "numbers from 0"),
        ("betweenness_centrality", weighted(1, 0), {"weight": "weight"}, "above 0"),
        ("core_number", nx.Graph([(0, 0)]), {}, "self-loops"),
        ("single_source_dijkstra_path_length", weighted(np.float64(1)), {"source": 0}, "int and float"),
    ],
)  # fmt: skip
def test_edges_that_are_left_to_networkx(name, graph, given, words):
    assert (
        backend.can_run(name, (graph,), given) is True
    )  # edges are looked at once it is converted
    with pytest.raises(NotImplementedError, match=name) as caught:
        getattr(nx, name)(graph, **given, backend="graphgpu")
    assert words in str(caught.value.__cause__)
    converted = backend.convert_from_nx(graph, edge_attrs={"weight": 1})
    assert words in backend.can_run(name, (converted,), given)


def test_an_attribute_that_was_not_taken_along():
    converted = backend.convert_from_nx(weighted(1, 2), edge_attrs={"cost": 1})
    words = "converted without the attribute 'weight'"
    assert words in backend.can_run("pagerank", (converted,), {})
    with pytest.raises(NotImplementedError, match=words):
        backend.pagerank(converted)


@pytest.mark.parametrize("kind", KINDS)
def test_lengths_have_the_types_of_networkx(kind):
    """A float where a path has one; of paths of one length the one that NetworkX finds first."""
    rng = np.random.default_rng(4)
    floats = 0
    for _ in range(40):
        graph = kind()
        graph.add_nodes_from(range(10))
        for u, v in rng.integers(0, 10, (int(rng.integers(1, 25)), 2)).tolist():
            graph.add_edge(u, v, weight=[0, 0.0, 1, 1.0, 2, 2.0, 3, 0.5][rng.integers(8)])
        wanted = nx.single_source_dijkstra_path_length(graph, 0)
        found = nx.single_source_dijkstra_path_length(graph, 0, backend="graphgpu")
        assert found == wanted
        types = {node: type(length) for node, length in wanted.items()}
        assert {node: type(length) for node, length in found.items()} == types
        floats += len(set(types.values())) - 1
    assert floats > 10


def counted(name, graph, **given):
    """Calls that reach the backend, where it comes first for all functions."""
    before = backend.calls.total()
    with nx.config(backend_priority=["graphgpu"]):
        found = getattr(nx, name)(graph, **given)
    wanted = getattr(nx, name)(graph, **given, backend="networkx")
    assert found == (pytest.approx(wanted) if isinstance(wanted, dict) else wanted)
    return backend.calls.total() - before


def test_small_graphs_are_left_to_networkx():
    graph = nx.gnm_random_graph(200, 900, seed=1)
    for name in ("closeness_centrality", "average_shortest_path_length", "pagerank"):
        assert counted(name, graph) == 0
    assert counted("number_connected_components", nx.path_graph(50)) == 0
    assert counted("betweenness_centrality", graph, k=2, seed=1) == 0
    assert counted("betweenness_centrality", graph) == 1
    large = nx.gnm_random_graph(2_000, 12_000, seed=1)
    assert counted("descendants", large, source=0) == 0
    assert counted("pagerank", large) == 1
    assert counted("descendants", large, source=0) == 1  # it is converted by now


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
    converted = backend.convert_from_nx(graph, edge_attrs={"cost": 1})
    assert list(converted) == list(graph)
    assert nx.utils.graphs_equal(backend.convert_to_nx(converted), graph)
    found = (
        nx.is_connected(converted) if not graph.is_directed() else nx.is_weakly_connected(converted)
    )
    assert found is False
    assert backend.convert_to_nx(7) == 7


def test_a_rank_that_does_not_converge_and_a_sum_that_does_not_fit():
    graph = nx.gnp_random_graph(30, 0.2, seed=1)
    with pytest.raises(nx.PowerIterationFailedConvergence):
        nx.pagerank(graph, max_iter=1, tol=1e-12, backend="graphgpu")
    far = weighted(1.0, 1e-300)
    with pytest.raises(NotImplementedError, match="betweenness_centrality"):
        nx.betweenness_centrality(far, weight="weight", backend="graphgpu")
    with nx.config(backend_priority=["graphgpu"], fallback_to_nx=True):
        assert nx.betweenness_centrality(graph) == pytest.approx(
            nx.betweenness_centrality(graph, backend="networkx")
        )


@pytest.mark.parametrize("limit", [300_000, 20_000])
def test_what_a_limit_of_memory_forbids_is_left_to_networkx(limit, tmp_path):
    graph = nx.gnm_random_graph(500, 30_000, seed=1)
    limited = {
        "graphgpu.host-memory-limit": limit,
        "graphgpu.page-bytes": 4096,
        "graphgpu.spill-directories": [str(tmp_path)],
    }
    with dask.config.set(limited):
        if limit > 100_000:
            for function in (nx.core_number, nx.triangles):
                assert function(graph, backend="graphgpu") == function(graph)
            return
        with pytest.raises(NotImplementedError, match="triangles") as caught:
            nx.triangles(graph, backend="graphgpu")
        assert "graphgpu.host-memory-limit" in str(caught.value.__cause__)
        with nx.config(backend_priority=["graphgpu"]):
            assert nx.triangles(graph) == nx.triangles(graph, backend="networkx")


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


def test_importing_networkx_imports_nothing_of_ours():
    code = (
        "import sys, networkx; print([m for m in sys.modules if m.startswith(('dask', 'pandas'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_networkx_own_tests_of_components_and_cores():
    script = Path(__file__).parents[1] / "networkx_own_tests.py"
    done = subprocess.run(
        [sys.executable, str(script), "components", "tests.test_core"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    counts = dict(
        line.split()
        for line in done.stdout.splitlines()
        if line.split()[:1] and line.split()[0] in FUNCTIONS
    )
    for name in ("connected_components", "strongly_connected_components", "core_number"):
        assert int(counts[name]) > 0
