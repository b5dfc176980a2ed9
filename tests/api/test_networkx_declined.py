"""What the backend of NetworkX leaves to NetworkX."""

import subprocess
import sys
from fractions import Fraction

import dask
import networkx as nx
import numpy as np
import pytest
from engines import on_one_cpu
from networkx_samples import weighted

import dask_graphgpu.networkx_backend as backend
from dask_graphgpu.networkx_functions.offer import calls

pytestmark = on_one_cpu


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
