"""Bridges, articulation points and biconnected components against NetworkX."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import KINDS, edge_lists

import dask_graphgpu as dg


def sorted_edge(edge):
    return min(edge), max(edge)


def rows_of(frame):
    return list(zip(*(frame[name].tolist() for name in frame.columns), strict=True))


def assert_as_networkx(graph, plain):
    """Hold all three methods against the simple undirected graph ``plain``."""
    bridges = graph.bridges()
    assert rows_of(bridges) == sorted(map(sorted_edge, nx.bridges(plain)))
    points = graph.articulation_points()
    assert points.columns.tolist() == ["vertex", "biconnected_components"]
    parts = [set(part) for part in nx.biconnected_components(plain)]
    expected = [
        (v, sum(v in part for part in parts)) for v in sorted(nx.articulation_points(plain))
    ]
    assert rows_of(points) == expected
    found = graph.biconnected_components()
    assert found["component"].dtype == "int64"
    edges = rows_of(found)
    assert [edge[:2] for edge in edges] == sorted(map(sorted_edge, plain.edges))
    assert list(dict.fromkeys(number for *_, number in edges)) == list(range(len(parts)))
    mine = {frozenset(edge[:2] for edge in edges if edge[2] == k) for k in range(len(parts))}
    theirs = nx.biconnected_component_edges(plain)
    assert mine == {frozenset(map(sorted_edge, part)) for part in theirs}


@pytest.mark.parametrize("order", ["input", "degree"])
@pytest.mark.parametrize("directed", [True, False])
def test_random_graphs(order, directed):
    rng = np.random.default_rng(5)
    for n, rows in rng.integers([2, 1], [40, 70], (60, 2)).tolist():
        edges = rng.integers(0, n, (rows, 2))
        frame = pd.DataFrame(edges, columns=["src", "dst"])
        plain = nx.Graph([(u, v) for u, v in edges.tolist() if u != v])
        assert_as_networkx(frame.graph(order=order, directed=directed), plain)


@given(graph=edge_lists(weights=[None, "int64"], kinds=KINDS))
def test_over_all_kinds_of_ids(graph):
    index = {each: v for v, each in enumerate(graph.ids)}
    plain = nx.Graph((u, v) for u, v, *_ in graph.edges if u != v)
    found = graph.graph().bridges().compute()
    ends = zip(*(found[name].tolist() for name in found.columns[:2]), strict=True)
    mine = [sorted_edge((index[u], index[v])) for u, v in ends]
    assert sorted(mine) == sorted(map(sorted_edge, nx.bridges(plain)))
    points = graph.graph().articulation_points().compute()
    assert len(points) == len(list(nx.articulation_points(plain)))


def test_two_houses_and_a_path():
    """Two rings that a path joins: its edges are bridges, its vertices hold the rest together."""
    frame = pd.DataFrame(
        {"src": list("abcdexyza"), "dst": list("bcaexyzxa")}, dtype="string[pyarrow]"
    )
    frame = pd.concat([frame, pd.DataFrame({"src": ["c", "c"], "dst": ["d", "d"]})])
    graph = frame.graph()
    assert rows_of(graph.bridges()) == [("c", "d"), ("d", "e"), ("e", "x")]
    assert rows_of(graph.articulation_points()) == [("c", 2), ("d", 2), ("e", 2), ("x", 2)]
    assert graph.biconnected_components()["component"].tolist() == [0, 0, 0, 1, 2, 3, 4, 4, 4]


def test_of_a_long_path_and_of_nothing():
    n = 1_000_000
    path = pd.DataFrame({"src": np.arange(n - 1), "dst": np.arange(1, n)})
    graph = path.graph(order="input").persist()
    assert len(graph.bridges()) == n - 1
    assert graph.articulation_points()["vertex"].tolist() == list(range(1, n - 1))
    assert graph.biconnected_components()["component"].tolist() == list(range(n - 1))
    assert dg.last_report()["direction"].tolist() == ["hook", "traverse", "look"]
    for few in (path.iloc[:0], pd.DataFrame({"src": [3, 3], "dst": [3, 3]})):
        assert len(few.graph().bridges()) == 0
        assert len(few.graph().articulation_points()) == 0
        assert few.graph().biconnected_components().columns.tolist() == ["src", "dst", "component"]


CALLS = (
    lambda graph: graph.bridges(),
    lambda graph: graph.articulation_points(),
    lambda graph: graph.biconnected_components(),
)


@pytest.mark.parametrize("directed", [True, False])
def test_in_places(rows_place, directed):
    rows_place.same(*CALLS, directed=directed)
    if directed:
        rows_place.same_small(*CALLS)


@given(graph=edge_lists(kinds=["int64 dense", "str"]), ranks=st.sampled_from([2, 3]))
def test_on_ranks(graph, ranks):
    for call in CALLS:
        expected = call(graph.graph()).compute()
        pd.testing.assert_frame_equal(call(graph.graph(ranks=ranks)).compute(), expected)
