"""The backend of NetworkX: the same answers by the same calls."""

import inspect
import subprocess
import sys

import networkx as nx
import numpy as np
import pytest
from engines import on_one_cpu
from networkx_samples import KINDS, mixed

import dask_graphgpu.networkx_backend as backend
from _dask_graphgpu_networkx import get_info
from _dask_graphgpu_networkx.functions import FUNCTIONS
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


def test_importing_networkx_imports_nothing_of_ours():
    code = (
        "import sys, networkx; print([m for m in sys.modules if m.startswith(('dask', 'pandas'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
