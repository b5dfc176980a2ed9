"""Betweenness in every place, and against the definition by path counts and NetworkX."""

import math

import networkx as nx
import numpy as np
import oracles
import pandas as pd
import pytest
from engines import RANKS
from hypothesis import given
from hypothesis import strategies as st
from places import FRAMES
from small_graphs import on_threads
from strategies import KINDS, edge_lists, partitioned

from dask_graphgpu import errors, last_report


def positive(graph):
    """The same graph with weights from 1 on."""
    edges = [(u, v, max(weight, 1)) for u, v, weight in graph.edges]
    return type(graph)(
        graph.n, edges, graph.directed, graph.weight, graph.kind, graph.ids, graph.cuts
    )


def simple(graph):
    """NetworkX's graph of the least weights; vertices are 0 .. n - 1."""
    peer = (nx.DiGraph if graph.directed else nx.Graph)()
    peer.add_nodes_from(range(graph.n))
    for u, v, *weight in graph.edges:
        weight = weight[0] if weight else 1
        if not peer.has_edge(u, v) or weight < peer[u][v]["weight"]:
            peer.add_edge(u, v, weight=weight)
    return peer


def near(found, wanted):
    assert found.keys() == wanted.keys()
    for v, value in wanted.items():
        assert found[v] == pytest.approx(value, rel=1e-9, abs=1e-12, nan_ok=True)


@given(
    graph=edge_lists(weights=[None, "uint8", "float32"], kinds=KINDS),
    data=st.data(),
    normalized=st.booleans(),
    endpoints=st.booleans(),
    number=st.sampled_from([1, 3]),
    ranks=st.sampled_from(RANKS),
)
def test_definition_and_networkx(graph, data, normalized, endpoints, number, ranks):
    weighted = graph.weight is not None
    graph = positive(graph) if weighted else graph
    peer, weight = simple(graph), "weight" if weighted else None
    drawn = data.draw(st.one_of(st.none(), st.sets(st.integers(0, graph.n - 1), min_size=1)))
    sources = None if drawn is None else [graph.ids[v] for v in sorted(drawn)]
    how = {"sources": sources, "weighted": weighted, "normalized": normalized}
    built = graph.graph(weight="weight" if weighted else None, ranks=ranks).persist()
    with on_threads(number):
        result = built.betweenness_centrality(**how, endpoints=endpoints)
        found = graph.answers(result, "betweenness")
        along = built.edge_betweenness_centrality(**how).compute()
    found = {v: math.nan if value is None else value for v, value in found.items()}
    if sources is None:
        near(found, nx.betweenness_centrality(peer, None, normalized, weight, endpoints))
        wanted = nx.edge_betweenness_centrality(peer, None, normalized, weight)
        place = {id: v for v, id in enumerate(graph.ids)}
        ends = [[place[id] for id in along[name].tolist()] for name in ("src", "dst")]
        pairs = list(zip(*ends, strict=True))
        if not graph.directed:
            assert all(graph.ids[u] <= graph.ids[v] for u, v in pairs)
            wanted = {tuple(sorted(pair)): value for pair, value in wanted.items()}
            pairs = [tuple(sorted(pair)) for pair in pairs]
        near(dict(zip(pairs, along["betweenness"].tolist(), strict=True)), wanted)
    elif not endpoints:
        sums = oracles.dependencies(graph.n, peer, drawn, weight)
        near(found, rescaled(sums, graph, drawn, normalized))


def rescaled(sums, graph, sources, normalized):
    """The estimate: a mean over the pairs that a vertex was counted for, times all its pairs."""
    others = graph.n - 1
    if others < 2:
        return dict.fromkeys(range(graph.n), 0.0)
    wanted = {}
    for v, value in enumerate(sums):
        counted = len(sources) - (v in sources)
        pairs = others * (others - 1)
        mean = value / (counted * (others - 1)) if counted else math.nan
        ways = 1 if graph.directed else 2
        # NetworkX lets a vertex be the start of a path in all but one of n - 1 cases.
        wanted[v] = mean if normalized else mean * pairs * others / (others * ways)
    return wanted


@pytest.mark.parametrize("directed", [True, False])
def test_every_place(place, directed):
    for frame in FRAMES:
        ids = frame()["src"].unique()[:2].tolist()
        place.same(
            lambda graph: graph.betweenness_centrality(ids, endpoints=True),  # noqa: B023
            lambda graph: graph.betweenness_centrality(150, seed=2, normalized=False),
            frames=[frame],
            directed=directed,
            rtol=1e-9,
        )
    if place.name == "pages":  # the last has few edges, and batches of sources
        ways = last_report()["direction"].tolist()
        assert ways.count("accumulate") == ways.count("count") > 1


@pytest.mark.parametrize("directed", [True, False])
def test_weights_and_edges_in_every_place(rows_place, directed):
    for frame in FRAMES:
        ids = frame()["src"].unique()[:3].tolist()
        rows_place.same(
            lambda graph: graph.betweenness_centrality(ids, weighted=True),  # noqa: B023
            lambda graph: graph.edge_betweenness_centrality(ids, weighted=True),  # noqa: B023
            lambda graph: graph.edge_betweenness_centrality(40, seed=2, normalized=False),
            frames=[frame],
            directed=directed,
            rtol=1e-9,
        )


@pytest.mark.parametrize(("endpoints", "bits"), [(False, None), (True, 64)])
def test_small_graphs(memory_place, endpoints, bits):
    sums = lambda graph: graph.betweenness_centrality([0, 3, 50], endpoints=endpoints)  # noqa: E731
    memory_place.same_small(sums, bits=bits, rtol=1e-9)


@pytest.mark.parametrize(
    ("kind", "bits"), [("uint8", 64), ("int64", None), ("float32", None), ("float64", 64)]
)
def test_weights_and_edges_of_small_graphs(memory_place, kind, bits):
    memory_place.same_small(
        lambda graph: graph.betweenness_centrality([0, 3], weighted=True, endpoints=True),
        lambda graph: graph.edge_betweenness_centrality([0, 50], weighted=True),
        lambda graph: graph.edge_betweenness_centrality([3]),
        kind=kind,
        least=1,
        bits=bits,
        rtol=1e-9,
    )


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("k", [1, 7, 40])
def test_drawn_sources(directed, k):
    peer = nx.gnp_random_graph(40, 0.1, seed=3, directed=directed)
    edges = nx.to_pandas_edgelist(peer)
    graph = edges.graph(
        source="source", destination="target", directed=directed,
        vertices=pd.DataFrame({"vertex": range(40)}),
    )  # fmt: skip
    first = graph.betweenness_centrality(k, seed=5)
    again = graph.betweenness_centrality(sources=k, seed=5, normalized=True)
    pd.testing.assert_frame_equal(first, again)
    if k < 40:
        others = graph.betweenness_centrality(k, seed=6)
        assert not np.allclose(first["betweenness"], others["betweenness"])
    drawn = np.random.default_rng(5).choice(40, k, replace=False).tolist()
    listed = graph.betweenness_centrality(sources=drawn)
    pd.testing.assert_frame_equal(first, listed)
    if k == 40:
        exact = nx.betweenness_centrality(peer, k=40)
        np.testing.assert_allclose(listed["betweenness"], [exact[v] for v in range(40)], rtol=1e-9)


def test_repeats_loops_and_strings():
    edges = pd.DataFrame(
        {"src": list("aabbcx"), "dst": list("bbbccx"), "weight": [3, 1, 1, 1, 1, 1]}
    )
    graph = partitioned(edges, 2).graph(directed=False)
    found = graph.betweenness_centrality(weighted=True, normalized=False).compute()
    assert found.to_numpy().tolist() == [["a", 0.0], ["b", 1.0], ["c", 0.0], ["x", 0.0]]
    along = graph.edge_betweenness_centrality(normalized=False).compute()
    assert along.to_numpy().tolist() == [
        ["a", "b", 2.0], ["b", "b", 0.0], ["b", "c", 2.0], ["c", "c", 0.0], ["x", "x", 0.0],
    ]  # fmt: skip


def layers(*widths):
    bounds = np.cumsum([0, *widths])
    return pd.DataFrame(
        [
            (u, v)
            for i in range(len(widths) - 1)
            for u in range(bounds[i], bounds[i + 1])
            for v in range(bounds[i + 1], bounds[i + 2])
        ],
        columns=["src", "dst"],
    )


@pytest.mark.parametrize("ranks", RANKS)
def test_what_cannot_be_counted(ranks):
    many = layers(1, *[10] * 320, 1)
    for weight in (None, 1.0, 1):
        edges = many if weight is None else many.assign(weight=weight)
        with pytest.raises(errors.IntegerOverflow, match=r"beyond 1\.8e308"):
            edges.graph(ranks=ranks).betweenness_centrality([0], weighted=weight is not None)
    edges = pd.DataFrame({"src": [0, 1, 1], "dst": [1, 2, 1]})
    for weights, error, words in (
        ([1, 0, 0], errors.InvalidEdges, "a weight is 0"),
        ([1.0, 1e-30, 0.0], errors.InvalidEdges, "a weight is 0"),
        ([1.0, 1e-30, 1.0], errors.InvalidEdges, "too far apart"),
        ([1e308, 1.7e308, 1.0], errors.InvalidEdges, "too far apart"),
        ([2**62, 2**62, 1], errors.IntegerOverflow, "does not fit int64"),
    ):
        graph = edges.assign(weight=weights).graph(ranks=ranks)
        assert graph.betweenness_centrality()["betweenness"].tolist() == [0.0, 0.5, 0.0]
        with pytest.raises(error, match=words):
            graph.betweenness_centrality(weighted=True)
    loop = edges.assign(weight=[1, 1, 0]).graph(ranks=ranks).betweenness_centrality(weighted=True)
    assert loop["betweenness"].tolist() == [0.0, 0.5, 0.0]


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        (
            {"sources": 0},
            errors.InvalidArgument,
            "sources=0; allowed is a whole number of at least 1",
        ),
        ({"sources": 4}, errors.InvalidArgument, "sources=4; the graph has 3 vertices"),
        ({"sources": "0"}, errors.InvalidArgument, "sources='0'; allowed are None"),
        ({"sources": True}, errors.InvalidArgument, "sources=True; allowed are None"),
        ({"sources": []}, errors.InvalidArgument, "give at least one"),
        (
            {"sources": 2, "seed": None},
            errors.InvalidArgument,
            "seed=None; allowed is a whole number",
        ),
        ({"sources": 2, "seed": -1}, errors.InvalidArgument, "seed=-1; allowed is a whole number"),
        ({"sources": [0, 1, 0]}, errors.InvalidArgument, "more than once"),
        ({"sources": [0, 9]}, errors.UnknownVertex, "9"),
        ({"weighted": True}, errors.InvalidArgument, "with weighted=True needs weights"),
    ],
)
def test_bad_arguments(arguments, error, words):
    graph = layers(1, 1, 1).graph()
    for method in (graph.betweenness_centrality, graph.edge_betweenness_centrality):
        with pytest.raises(error, match=words):
            method(**arguments)


def test_edges_of_two_weights_given_both_ways(memory_place):
    """The heavier one of two between the same vertices is on no shortest path, whichever way it was given."""
    rows = [(0, 1, 3), (1, 0, 2), (1, 2, 1)]
    edges = pd.DataFrame(rows, columns=["src", "dst", "weight"])
    graph = memory_place.graph(edges, directed=False, duplicates="keep")
    found = graph.edge_betweenness_centrality(weighted=True)
    assert sorted(found["betweenness"].round(9)) == [0, 0.666666667, 0.666666667]
