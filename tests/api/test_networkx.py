"""The backend of NetworkX: the same answers by the same calls."""

import inspect
import pickle
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from unittest import mock

import dask
import networkx as nx
import numpy as np
import pytest
from engines import on_one_cpu

import dask_graphgpu.networkx_backend as backend
from _dask_graphgpu_networkx import get_info
from _dask_graphgpu_networkx.functions import FUNCTIONS
from dask_graphgpu import networkx_graph
from dask_graphgpu.networkx_functions.offer import calls

pytestmark = on_one_cpu


def of_networkx(name):
    return next(getattr(m, name) for m in (nx, nx.community, nx.bipartite) if hasattr(m, name))


def test_every_function_has_the_signature_of_networkx():
    assert set(FUNCTIONS) == set(backend.FUNCTIONS) == set(get_info()["functions"])
    for name in FUNCTIONS:
        ours, theirs = (
            inspect.signature(f) for f in (getattr(backend, name), of_networkx(name).orig_func)
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
# Pairs of all kinds: joined or not, equal, with self-loops.
PAIRS = [("a", 3), ("b", 10), (3, 3), ("a", 11), (12, 10), ("b", (1, 2)), (11, 3)]
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
    "adamic_adar_index": [{"ebunch": PAIRS}],
    "all_pairs_bellman_ford_path_length": [{"weight": "cost"}],
    "all_pairs_dijkstra_path_length": [{"weight": "cost"}, {"cutoff": 2.5}],
    "all_pairs_shortest_path": [{}, {"cutoff": 1}],
    "all_pairs_shortest_path_length": [{}, {"cutoff": 2}],
    "ancestors": [{"source": "b"}],
    "average_clustering": [{}, {"count_zeros": False}, {"nodes": ["a", 3, 12]}],
    "bellman_ford_path_length": [
        {"source": 3, "target": 3},
        *({"source": 3, "target": node, "weight": "cost"} for node in (10, 11, 12)),
    ],
    "bfs_edges": [{"source": "b"}, {"source": 3, "reverse": True}, {"source": 3, "depth_limit": 1}],
    "bfs_layers": [{"sources": "a"}, {"sources": ["a"]}],
    "bfs_predecessors": [{"source": "b"}, {"source": 3, "depth_limit": 2}],
    "bfs_successors": [{"source": "b"}, {"source": 3, "depth_limit": 0}],
    "bfs_tree": [{"source": "b"}, {"source": 3, "reverse": True, "depth_limit": 1}],
    "closeness_centrality": [
        {}, {"u": "a"}, {"wf_improved": False}, {"distance": "cost"}, {"u": "a", "distance": "cost"},
    ],
    "clustering": [{}, {"nodes": "a"}, {"nodes": ["a", 3, 12]}],
    "degree_assortativity_coefficient": [{}, {"x": "in", "y": "out"}, {"x": "in", "y": "in"}],
    "degree_pearson_correlation_coefficient": [{}, {"x": "in", "y": "out"}],
    "descendants_at_distance": [{"source": "b", "distance": d} for d in (0, 1, 2, 99)],
    "dijkstra_path_length": [
        {"source": 3, "target": 3},
        *({"source": 3, "target": node, "weight": "cost"} for node in (10, 11, 12)),
    ],
    "eccentricity": [{}, {"v": "a"}, {"v": ["a", 3]}],
    "eigenvector_centrality": [{"max_iter": 1000}, {"max_iter": 1000, "weight": "cost"}, {"max_iter": 1}],
    "harmonic_centrality": [{}, {"distance": "cost"}],
    "has_eulerian_path": [{}, {"source": "a"}],
    "is_k_regular": [{"k": 2}],
    "jaccard_coefficient": [{"ebunch": PAIRS}],
    "k_core": [{}, {"k": 1}, {"k": 2}],
    "k_corona": [{"k": 2}, {"k": 3}],
    "k_crust": [{}, {"k": 1}],
    "k_shell": [{}, {"k": 1}, {"k": 9}],
    "k_truss": [{"k": k} for k in (1, 3, 4)],
    "katz_centrality": [{"alpha": 0.05}, {"alpha": 0.01, "weight": "cost", "beta": 2}, {"alpha": 5}],
    "maximum_spanning_edges": [{"weight": "cost"}, {"data": False}, {"weight": "cost", "keys": False}],
    "maximum_spanning_tree": [{"weight": "cost"}, {}],
    "minimum_spanning_edges": [{"weight": "cost"}, {"data": False}, {"weight": "cost", "keys": False}],
    "minimum_spanning_tree": [{"weight": "cost"}, {}],
    "preferential_attachment": [{"ebunch": PAIRS}],
    "resource_allocation_index": [{"ebunch": PAIRS}],
    "shortest_path_length": [
        {}, {"source": "a"}, {"target": "a"}, {"source": "a", "weight": "cost"}, {"weight": "cost"},
        {"source": 3, "target": 11, "weight": "cost"},
    ],
    "simple_cycles": [{"length_bound": k} for k in (1, 2, 3, 5)],
    "single_source_bellman_ford_path_length": [{"source": 3}, {"source": "a", "weight": "cost"}],
    "multi_source_dijkstra_path_length": [
        {"sources": {"a", 3}},
        {"sources": [3, 12, "b"], "weight": "cost", "cutoff": 4},
        {"sources": ["a"], "weight": None},
    ],
    "single_source_shortest_path": [{"source": "a"}, {"source": "b", "cutoff": 2}],
    "single_target_shortest_path": [{"target": "a"}, {"target": "b", "cutoff": 2}],
    "single_target_shortest_path_length": [{"target": "a"}, {"target": "b", "cutoff": 2}],
    "triangles": [{}, {"nodes": "a"}, {"nodes": ["a", 3, 12]}],
}  # fmt: skip

# These have an order; all else that is listed has none.
ORDERED = {
    "bfs_edges",
    "bfs_layers",
    "bfs_predecessors",
    "bfs_successors",
    "minimum_spanning_edges",
}
ORDERED |= {"maximum_spanning_edges"}
OTHERS = {
    "hits",
    "louvain_communities",
    "leiden_communities",
    "modularity",
}  # have tests of their own


def whole_and_parts(kind, seed):
    """Graphs with what some functions ask for: few edges, all of them there, no cycles, two sides."""
    yield mixed(kind, seed)
    yield kind([("a", 3), (3, 10), (10, "b"), ("b", 11), (11, "a"), ("b", (1, 2)), ((1, 2), 12)])
    yield kind([("a", 3), ("a", 10), (3, "b"), (3, 11), (3, 12), (3, (1, 2))])
    yield nx.compose(
        nx.cycle_graph(["a", 3, "b"], kind), nx.cycle_graph([10, 11, 12, (1, 2), "b"], kind)
    )
    yield nx.disjoint_union(nx.path_graph(3, kind), nx.path_graph(2, kind))


def plain(found, ordered):
    """A result as something that can be compared."""
    if isinstance(found, nx.Graph):
        edges = sorted((repr(edge) for edge in found.edges(data=True)), key=str)
        return type(found), found.graph, {n: dict(d) for n, d in found.nodes.items()}, edges
    if isinstance(found, dict):
        return {key: plain(value, ordered) for key, value in found.items()}
    if isinstance(found, tuple):
        return tuple(plain(value, ordered) for value in found)
    if (
        inspect.isgenerator(found)
        or isinstance(found, (list, map, zip))
        or hasattr(found, "__next__")
    ):
        parts = [plain(value, ordered) for value in found]
        return parts if ordered else sorted(parts, key=repr)
    if isinstance(found, (set, frozenset)):
        return sorted(found, key=repr)
    return found


def assert_same(found, wanted, where):
    """Equal, with the same types; floats as good as."""
    assert type(found) is type(wanted), where
    if isinstance(wanted, dict):
        assert found.keys() == wanted.keys(), where
        for key, value in wanted.items():
            assert_same(found[key], value, where)
    elif isinstance(wanted, (list, tuple)):
        assert len(found) == len(wanted), where
        for one, other in zip(found, wanted, strict=True):
            assert_same(one, other, where)
    elif isinstance(wanted, float):
        assert found == pytest.approx(wanted, rel=1e-7, abs=1e-9, nan_ok=True), where
    else:
        assert found == wanted, where


def told(function, graph, given, ordered, which):
    """The result, or the error."""
    try:
        return plain(function(graph, **given, backend=which), ordered)
    except (nx.NetworkXException, ZeroDivisionError, KeyError) as error:
        return type(error)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", sorted(FUNCTIONS.keys() - OTHERS))
def test_answers_are_those_of_networkx(kind, name):
    function = of_networkx(name)
    ran = 0
    for seed, given in enumerate(CALLS.get(name, [{}])):
        for i, graph in enumerate(whole_and_parts(kind, seed)):
            if "no loops" in FUNCTIONS[name].kinds:
                graph.remove_edges_from(list(nx.selfloop_edges(graph)))
            if backend.can_run(name, (graph,), given) is not True:
                continue
            before = calls[name]
            try:
                found = told(function, graph, given, name in ORDERED, "graphgpu")
            except NotImplementedError:
                assert name in DECLINING
                continue
            assert calls[name] >= before + 1
            ran += 1
            wanted = told(function, graph, given, name in ORDERED, "networkx")
            if name == "biconnected_component_edges":  # either end of an edge may come first
                found, wanted = (
                    sorted(sorted(repr(sorted(map(repr, e))) for e in part) for part in parts)
                    for parts in (found, wanted)
                )
            assert_same(found, wanted, (name, given, i))
    kinds = FUNCTIONS[name].kinds
    fits = ("directed" if kind in (nx.Graph, nx.MultiGraph) else "undirected") not in kinds
    assert ran or not fits or (kind in KINDS[2:] and "simple" in kinds) or name in DECLINING


# These decline some edges only once they have seen them.
DECLINING = {
    "adamic_adar_index",
    "degree_assortativity_coefficient",
    "degree_pearson_correlation_coefficient",
}


def test_hubs_and_authorities():
    graph = nx.gnp_random_graph(40, 0.2, seed=1, directed=True)
    for u, v in graph.edges:
        graph[u][v]["weight"] = 1 + (u + v) % 3
    for found, wanted in zip(nx.hits(graph, backend="graphgpu"), nx.hits(graph), strict=True):
        assert found == pytest.approx(wanted, abs=1e-6)
    assert backend.can_run("hits", (graph,), {"normalized": False}) != True  # noqa: E712


@pytest.mark.parametrize("kind", KINDS)
def test_modularity(kind):
    graph = mixed(kind, 1)
    parts = [{n for i, n in enumerate(graph) if i % 3 == part} for part in range(3)]
    for given in ({}, {"weight": "cost", "resolution": 0.7}, {"weight": None}):
        wanted = nx.community.modularity(graph, parts, **given)
        found = nx.community.modularity(graph, parts, **given, backend="graphgpu")
        assert type(found) is type(wanted)
        assert found == pytest.approx(wanted)
    for wrong in (parts[:2], [*parts, {"a"}], [{"nobody"}, *parts]):
        with pytest.raises(nx.community.quality.NotAPartition):
            nx.community.modularity(graph, wrong, backend="graphgpu")


def test_communities_are_as_good_as_those_of_networkx():
    graph = nx.planted_partition_graph(6, 20, 0.5, 0.02, seed=3)
    wanted = nx.community.modularity(graph, nx.community.louvain_communities(graph, seed=1))
    for function in (nx.community.louvain_communities, nx.community.leiden_communities):
        found = function(graph, seed=1, backend="graphgpu")
        assert all(isinstance(part, set) for part in found)
        assert nx.community.modularity(graph, found) >= wanted - 0.01
        assert found == function(graph, seed=1, backend="graphgpu")


def test_a_script_of_small_graphs_loads_no_more_than_the_rules():
    code = (
        "import sys, networkx as nx, _dask_graphgpu_networkx.entry as entry; G = nx.path_graph(50)\n"
        "for name in entry.FUNCTIONS:\n"
        "    assert hasattr(entry, name)\n"
        "    if entry.can_run(name, (G,), {}) is True: print(name, entry.should_run(name, (G,), {}))\n"
        "print([m for m in sys.modules if m.startswith(('dask', 'pandas'))])\n"
        "assert nx.pagerank(G) == entry.convert_to_nx(nx.pagerank(G)); print('dask' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    *reasons, none, some = done.stdout.splitlines()
    assert (none, some) == ("[]", "True")
    assert "pagerank NetworkX is likely to be faster on 49 edges" in reasons


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
        ("pagerank", nx.path_graph(3), {"nstart": {0: 1}}, "only without nstart"),
        ("pagerank", nx.path_graph(3), {"personalization": {0: -1}}, "one of them above"),
        ("pagerank", nx.path_graph(3), {"personalization": {7: 1}}, "one of them above"),
        ("pagerank", nx.path_graph(3), {"personalization": [1]}, "one of them above"),
        ("pagerank", weighted(1), {"unknown": 1}, "unknown"),
        ("betweenness_centrality", weighted(1), {"weight": lambda *_: 1}, "an attribute"),
        ("betweenness_centrality", weighted(1), {"k": 3}, "number of sources"),
        ("edge_betweenness_centrality", nx.MultiGraph([(0, 1)]), {}, "simple"),
        ("connected_components", nx.DiGraph([(0, 1)]), {}, "undirected"),
        ("strongly_connected_components", nx.Graph([(0, 1)]), {}, "directed"),
        ("degree_assortativity_coefficient", nx.path_graph(3), {"nodes": [0]}, "all nodes alike"),
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
    converted = backend.convert_from_nx(graph)
    assert words in backend.can_run(name, (converted,), given)


def test_self_loops_are_edges_of_biconnected_components():
    graph = nx.Graph([(1, 1), (1, 0), (0, 0)])
    wanted = list(nx.biconnected_component_edges(graph, backend="networkx"))
    assert sum(map(len, wanted)) == 2
    converted = backend.convert_from_nx(graph)
    assert "self-loops" in backend.can_run("biconnected_component_edges", (converted,), {})


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
    before = calls.total()
    with nx.config(backend_priority=["graphgpu"]):
        found = getattr(nx, name)(graph, **given)
    wanted = getattr(nx, name)(graph, **given, backend="networkx")
    assert found == (pytest.approx(wanted) if isinstance(wanted, dict) else wanted)
    return calls.total() - before


def test_small_graphs_are_left_to_networkx():
    tiny = nx.gnm_random_graph(50, 150, seed=1)
    for name in (
        "closeness_centrality",
        "pagerank",
        "transitivity",
        "number_of_isolates",
    ):
        assert counted(name, tiny) == 0
    graph = nx.gnm_random_graph(200, 900, seed=1)
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
