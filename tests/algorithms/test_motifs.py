"""Motifs against NetworkX's isomorphism, for all subsets of vertices."""

from itertools import combinations

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from places import small
from strategies import edge_lists

from dask_graphgpu import errors


def drawn(row):
    """The graph that a row of the result says."""
    return nx.DiGraph([edge.split(">") for edge in row.edges.split()])


def key(graph):
    """What isomorphic graphs have in common."""
    return tuple(sorted((graph.in_degree(v), graph.out_degree(v)) for v in graph))


def by_networkx(graph, rows, size):
    """How often each motif occurs, and for each vertex."""
    motifs = {}
    for row in rows.itertuples():
        motifs.setdefault(key(made := drawn(row)), []).append((row.motif, made))
    counts = dict.fromkeys(rows["motif"].tolist(), 0)
    of_vertex = {v: dict(counts) for v in graph}
    for some in combinations(graph, size):
        part = nx.DiGraph(graph.subgraph(some))
        part.remove_edges_from(list(nx.selfloop_edges(part)))
        if not nx.is_weakly_connected(part):
            continue
        (found,) = [n for n, each in motifs[key(part)] if nx.is_isomorphic(each, part)]
        counts[found] += 1
        for v in some:
            of_vertex[v][found] += 1
    return counts, of_vertex


def as_peer(graph):
    """A drawn graph; edges lead both ways where they have no direction."""
    peer = nx.DiGraph()
    peer.add_nodes_from(range(graph.n))
    peer.add_edges_from((u, v) for u, v in graph.edges)
    if not graph.directed:
        peer.add_edges_from((v, u) for u, v in graph.edges)
    return peer


@pytest.mark.parametrize(("size", "number"), [(3, 13), (4, 199)])
def test_each_motif_is_another(size, number):
    rows = pd.DataFrame({"src": [1], "dst": [2]}).graph().motifs(size)
    assert (rows["count"] == 0).all()
    assert len(rows) == number
    assert rows["motif"].is_monotonic_increasing
    by_key = {}
    for row in rows.itertuples():
        graph = drawn(row)
        assert len(graph) == size
        assert nx.is_weakly_connected(graph)
        assert row.motif == sum(2 ** (size * int(i) + int(j)) for i, j in graph.edges)
        by_key.setdefault(key(graph), []).append(graph)
    for alike in by_key.values():
        assert not any(nx.is_isomorphic(a, b) for a, b in combinations(alike, 2))


def test_ids_that_are_known():
    loop = pd.DataFrame([(1, 2), (1, 3), (2, 3)], columns=["src", "dst"])
    assert loop.graph().motifs(3).query("count > 0").to_numpy().tolist() == [[38, "0>1 0>2 1>2", 1]]
    fan = pd.DataFrame([(1, 3), (1, 4), (2, 3), (2, 4)], columns=["src", "dst"])
    assert fan.graph().motifs().query("count > 0")["motif"].tolist() == [204]


@given(
    graph=edge_lists(weights=[None], max_vertices=9),
    size=st.sampled_from([3, 4, 4]),
    ranks=st.sampled_from([1, 1, 3]),
)
def test_networkx_agrees(graph, size, ranks):
    peer = as_peer(graph)
    found = graph.graph(ranks=ranks).motifs(size).compute()
    expected, _ = by_networkx(peer, found, size)
    assert dict(zip(found["motif"], found["count"], strict=True)) == expected


def test_random_graphs():
    """Of few and of nearly all edges that there may be."""
    rng = np.random.default_rng(1)
    for n in (4, 5, 7, 10):
        ends = [(u, v) for u in range(n) for v in range(n) if u != v]
        for _ in range(40):
            edges = [ends[i] for i in rng.permutation(len(ends))[: rng.integers(1, len(ends))]]
            found = pd.DataFrame(edges, columns=["src", "dst"]).graph().motifs()
            expected, _ = by_networkx(nx.DiGraph(edges), found, 4)
            assert dict(zip(found["motif"], found["count"], strict=True)) == expected


@given(
    graph=edge_lists(weights=[None], max_vertices=9),
    size=st.sampled_from([3, 4, 4]),
    ranks=st.sampled_from([1, 1, 3]),
)
def test_networkx_agrees_on_each_vertex(graph, size, ranks):
    peer = as_peer(graph)
    made = graph.graph(ranks=ranks)
    found = made.vertex_motifs(size).compute().drop(columns="vertex")
    _, expected = by_networkx(peer, made.motifs(size).compute(), size)
    assert found.columns.tolist() == [f"motif_{motif}" for motif in expected[0]]
    order = sorted(range(graph.n), key=graph.ids.__getitem__)
    assert found.to_numpy().tolist() == [[*expected[v].values()] for v in order]


def test_random_graphs_vertex_by_vertex():
    rng = np.random.default_rng(2)
    for n in (5, 7, 9):
        ends = [(u, v) for u in range(n) for v in range(n) if u != v]
        for _ in range(15):
            edges = [ends[i] for i in rng.permutation(len(ends))[: rng.integers(1, len(ends))]]
            graph = pd.DataFrame(edges, columns=["src", "dst"]).graph()
            _, expected = by_networkx(nx.DiGraph(edges), graph.motifs(), 4)
            for row in graph.vertex_motifs(4).to_numpy().tolist():
                assert row[1:] == [*expected[row[0]].values()]


def test_sums_of_larger_graphs():
    """Vertices in several blocks of work, on threads and ranks."""
    rng = np.random.default_rng(3)
    ends = (2000 * rng.random((2, 30_000)) ** 2).astype(int)
    frame = pd.DataFrame(ends.T, columns=["src", "dst"])
    for size in (3, 4):
        counts = frame.graph().motifs(size)
        assert (counts["count"] > 0).all()
        for options in ({}, {"ranks": 2}):
            graph = frame.graph(**options)
            pd.testing.assert_frame_equal(graph.motifs(size), counts)
            of_vertex = graph.vertex_motifs(size).drop(columns="vertex")
            assert (of_vertex.sum().to_numpy() == size * counts["count"].to_numpy()).all()


def test_every_place(place):
    methods = [
        lambda graph: graph.motifs(),
        lambda graph: graph.motifs(3),
        lambda graph: graph.vertex_motifs(),
        lambda graph: graph.vertex_motifs(4),
    ]
    most = 150 if place.name in ("pages", "disk") else 500  # 5 KB a vertex, of 900 KB
    place.same(*methods, frames=[frame for frame in small() if len(frame) < most][::2])
    place.same(
        *methods[::3], frames=[frame for frame in small() if len(frame) < 200], directed=False
    )


@pytest.mark.parametrize("size", [2, 5, "4", 3.0, True, None])
def test_wrong_sizes(size):
    graph = pd.DataFrame({"src": [1], "dst": [2]}).graph()
    for method in (graph.motifs, graph.vertex_motifs):
        with pytest.raises(errors.InvalidArgument, match="allowed are 3 and 4"):
            method(size)


def test_counts_beyond_int64():
    hub = pd.DataFrame({"src": 0, "dst": np.arange(1, 1_700_000)})
    with pytest.raises(errors.IntegerOverflow, match="1,699,999 neighbours"):
        hub.graph().motifs()
    assert hub.graph().motifs(3).query("count > 0")["count"].tolist() == [1_699_999 * 849_999]


def test_as_features():
    graph = pd.DataFrame([(1, 2), (1, 3), (2, 3)], columns=["src", "dst"]).graph()
    found = graph.features({"degree": {}, "vertex_motifs": {"size": 3}})
    assert found["motif_38"].tolist() == [1, 1, 1]
