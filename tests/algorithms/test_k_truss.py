"""Trussness of edges against NetworkX, in every place that the method runs in."""

import dask
import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import KINDS, edge_lists

import dask_graphgpu as dg
from dask_graphgpu.errors import EngineUnavailable, LimitTooSmall


def by_networkx(edges):
    """Edge, the smaller end first -> the largest k of the k-trusses that NetworkX finds it in."""
    left = nx.Graph((u, v) for u, v in edges if u != v)
    found, k = {}, 2
    while left.number_of_edges():
        left = nx.k_truss(left, k)
        found |= {(min(edge), max(edge)): k for edge in left.edges}
        k += 1
    return found


def skewed(n, edges, seed=0):
    ends = (n * np.random.default_rng(seed).random((2, edges)) ** 2).astype(int)
    return pd.DataFrame(ends.T, columns=["src", "dst"])


@pytest.fixture(scope="module")
def large():
    """Edges with repeats and self-loops, and what NetworkX says of them."""
    edges = skewed(6000, 66_000)
    return edges, by_networkx(edges.to_numpy().tolist())


@pytest.mark.parametrize("directed", [True, False])
def test_of_a_skewed_graph(rows_place, directed, large):
    edges, expected = large
    if rows_place.name == "tiers":
        with pytest.raises(
            EngineUnavailable, match=r"trussness, does not run on edges in host memory"
        ):
            rows_place.graph(edges, directed=directed).k_truss()
        return
    (found,) = rows_place.same(lambda graph: graph.k_truss(), frames=[edges], directed=directed)
    report = dg.last_report()
    assert found.columns.tolist() == ["src", "dst", "trussness"]
    assert found["trussness"].dtype == "int64"
    rows = {(u, v): k for u, v, k in found.itertuples(index=False)}
    assert list(rows) == sorted(rows)
    assert rows == expected
    ways = {"pages": ["lower"], "ranks": ["lower"], "devices": ["gather", "peel"]}
    assert report["direction"].tolist() == ways.get(rows_place.name, ["peel"])
    assert (report.attrs["disk_bytes"] > 0) == (rows_place.name == "pages")


def test_shapes(rows_place):
    """Closed forms: a clique of n has n, what is in no triangle 2; two cliques that share an edge keep theirs."""
    clique = [(u, v) for u in range(7) for v in range(u)]
    other = [(u, v) for u in (0, 1, *range(10, 14)) for v in (0, 1, *range(10, 14)) if v < u]
    tail = [(20, 21), (21, 22), (22, 23), (23, 20), (0, 20), (5, 5)]
    edges = pd.DataFrame(clique + other + tail, columns=["src", "dst"])
    found = rows_place.graph(edges).k_truss().set_index(["src", "dst"])["trussness"]
    assert found[0, 1] == 7
    assert {k for (u, v), k in found.items() if v < 7} == {7}
    assert {k for (u, v), k in found.items() if 10 <= v < 14} == {6}
    assert {k for (u, v), k in found.items() if v >= 20} == {2}
    assert len(found) == 21 + 14 + 5
    empty = rows_place.graph(edges.iloc[:0]).k_truss()
    assert empty.columns.tolist() == ["src", "dst", "trussness"]
    assert len(empty) == 0
    loops = pd.DataFrame({"src": [3, 3], "dst": [3, 3]})
    assert len(rows_place.graph(loops).k_truss()) == 0


@given(graph=edge_lists(weights=[None, "int64"], kinds=KINDS), ranks=st.sampled_from([1, 2, 3]))
def test_over_all_kinds_of_ids(graph, ranks):
    found = graph.graph(ranks=ranks).k_truss().compute()
    expected = by_networkx(edge[:2] for edge in graph.edges)
    index = {each: v for v, each in enumerate(graph.ids)}
    ends = [found[name].tolist() for name in found.columns[:2]]
    rows = zip(*ends, found["trussness"].tolist(), strict=True)
    assert {tuple(sorted((index[u], index[v]))): k for u, v, k in rows} == expected
    assert len(found) == len(expected)


def test_memory_that_is_too_little_is_an_error(tmp_path):
    settings = {
        "graphgpu.host-memory-limit": 400_000,
        "graphgpu.page-bytes": 4096,
        "graphgpu.spill-directories": [str(tmp_path)],
    }
    graph = skewed(2000, 120_000).graph()
    with dask.config.set(settings), pytest.raises(LimitTooSmall, match=r"bounds of .* edges"):
        graph.k_truss()
