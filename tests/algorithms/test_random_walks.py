"""Random walks: along edges, with the right frequencies, and the same wherever and in whatever order edges lie."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare
from strategies import KINDS, edge_lists

import dask_graphgpu  # noqa: F401  puts .graph on frames
from dask_graphgpu.errors import InvalidArgument, UnknownVertex

# A hub, mutual neighbours and a triangle; weights far apart.
EDGES = pd.DataFrame(
    [(0, 1, 1), (0, 2, 2), (0, 3, 5), (1, 2, 4), (2, 3, 1), (3, 4, 7), (4, 0, 1), (4, 5, 3), (1, 5, 0)],
    columns=["src", "dst", "weight"],
)  # fmt: skip
SECOND = {"weighted": True, "p": 0.25, "q": 3.0, "restart": 0.05}


def steps_of(walks):
    """Vertices before, now and after, for each step that has all three; -1 for none before."""
    before = walks["vertex"].shift(1, fill_value=-1).where(walks["step"] > 0, -1)
    frame = pd.DataFrame({"before": before, "now": walks["vertex"]})
    frame["after"] = walks["vertex"].shift(-1, fill_value=-1)
    return frame[walks["walk"].shift(-1, fill_value=-1) == walks["walk"]]


def node2vec(graph, before, now, weighted, p, q):
    """Probability of each vertex after, as node2vec defines it."""
    bias = {
        u: (data["weight"] if weighted else 1)
        * (1 if before < 0 else 1 / p if u == before else 1 if graph.has_edge(before, u) else 1 / q)
        for u, data in graph[now].items()
    }
    return {u: value / sum(bias.values()) for u, value in bias.items() if value}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("p", "q"), [(1, 1), (0.25, 3), (4, 0.5), (5, 5)])
def test_frequencies_are_those_of_the_definition(weighted, p, q):
    graph = nx.from_pandas_edgelist(EDGES, "src", "dst", "weight")
    walks = EDGES.graph(directed=False).random_walks(
        length=40, walks_per_vertex=500, weighted=weighted, p=p, q=q, seed=7
    )
    second = (p, q) != (1, 1)
    steps = steps_of(walks).assign(before=lambda f: f["before"] if second else -1)
    for (before, now), some in steps.groupby(["before", "now"]):
        expected = node2vec(graph, before, now, weighted, p, q)
        counts = some["after"].value_counts()
        assert set(counts.index) <= set(expected)
        seen = [counts.get(u, 0) for u in expected]
        wanted = np.array([*expected.values()]) * len(some)
        assert len(seen) == 1 or chisquare(seen, wanted).pvalue > 1e-3 / 40  # of some 40 tests


def test_restarts_are_as_many_as_asked():
    walks = pd.DataFrame({"src": range(500), "dst": range(1, 501)}).graph().random_walks(
        0, length=400, walks_per_vertex=100, restart=0.2
    )  # fmt: skip
    back = (walks["vertex"] == 0)[walks["step"] > 0]
    assert chisquare([back.sum(), (~back).sum()], [8000, 32_000]).pvalue > 1e-3
    steps = steps_of(walks)
    assert ((steps["after"] == steps["now"] + 1) | (steps["after"] == 0)).all()
    assert (EDGES.graph().random_walks(3, length=5, restart=1)["vertex"] == 3).all()


def test_a_dead_end_ends_a_walk():
    walks = pd.DataFrame({"src": [1, 2, 5], "dst": [2, 3, 5], "weight": [1, 1, 0]}).graph()
    found = walks.random_walks(length=3)
    assert found.groupby("walk")["vertex"].apply(list).tolist() == [[1, 2, 3], [2, 3], [3], [5] * 4]
    assert found.dtypes.astype(str).tolist() == ["int64", "int32", "int64"]
    assert walks.random_walks([5, 2], length=3, weighted=True)["vertex"].tolist() == [5, 2, 3]
    assert walks.random_walks(length=0)["vertex"].tolist() == [1, 2, 3, 5]


def test_in_every_place(place):
    place.same(
        lambda graph: graph.random_walks(length=6),
        lambda graph: graph.random_walks(length=6, seed=1, **SECOND),
    )


@pytest.mark.parametrize("directed", [True, False])
def test_of_small_graphs_in_every_place(place, directed):
    place.same(
        lambda graph: graph.random_walks(length=9, p=9.0, walks_per_vertex=2),
        lambda graph: graph.random_walks(length=9, **SECOND),
        frames=[EDGES, EDGES.assign(weight=EDGES["weight"] / 7), pd.concat([EDGES] * 3)],
        directed=directed,
    )


@given(
    graph=edge_lists(weights=["int64", "float64"], kinds=KINDS), ranks=st.sampled_from([1, 2, 3])
)
def test_walks_are_along_edges_of_all_kinds_of_ids(graph, ranks):
    found = graph.graph(ranks=ranks).random_walks(length=5, q=2.0, weighted=True).compute()
    index = {each: v for v, each in enumerate(graph.ids)}
    ids = found.iloc[:, 2:].apply(tuple, axis=1) if found.shape[1] > 3 else found.iloc[:, 2]
    walks = found.assign(vertex=[index[each] for each in ids])
    edges = {edge[:2] for edge in graph.edges if edge[2] > 0}
    edges |= set() if graph.directed else {(v, u) for u, v in edges}
    steps = steps_of(walks)
    assert set(zip(steps["now"], steps["after"], strict=True)) <= edges
    ended = walks.groupby("walk").tail(1)
    stuck = set(ended.loc[ended["step"] < 5, "vertex"])
    assert not stuck & {u for u, _ in edges}


def test_starts(place):
    graph, ids = place.graph(EDGES), pd.DataFrame({"vertex": [4, 0, 4]})
    listed = graph.random_walks([4, 0, 4], length=7, walks_per_vertex=2, seed=3)
    framed = graph.random_walks(ids, length=7, walks_per_vertex=2, seed=3)
    pd.testing.assert_frame_equal(listed, framed)
    first = listed[listed["step"] == 0]
    assert first["vertex"].tolist() == [4, 4, 0, 0, 4, 4]
    assert first["walk"].tolist() == [0, 1, 2, 3, 4, 5]
    with pytest.raises(UnknownVertex, match="99"):
        graph.random_walks([99], length=1)


@pytest.mark.parametrize(
    "wrong",
    [{"p": 0}, {"q": 1e4}, {"restart": 1.5}, {"length": -1}, {"length": 2**31}, {"seed": -1},
     {"walks_per_vertex": 0}, {"weighted": True}],
)  # fmt: skip
def test_wrong_arguments(wrong):
    with pytest.raises(InvalidArgument, match=next(iter(wrong))):
        EDGES[["src", "dst"]].graph().random_walks(**{"length": 3} | wrong)
