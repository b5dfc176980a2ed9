"""Ego networks against NetworkX."""

import dask
import networkx as nx
import numpy as np
import pandas as pd
import pytest
from engines import of_the_cpu_engine
from hypothesis import given
from hypothesis import strategies as st
from strategies import KINDS, edge_lists, partitioned

import dask_graphgpu as dg
from dask_graphgpu import errors
from dask_graphgpu.kernels.cpu.threads import LITTLE_WORK

pytestmark = of_the_cpu_engine


@given(
    graph=edge_lists(weights=[None, "int64"], kinds=KINDS),
    radius=st.integers(0, 4),
    ranks=st.sampled_from([1, 3]),
    data=st.data(),
)
def test_over_all_kinds_of_ids(graph, radius, ranks, data):
    center = data.draw(st.integers(0, graph.n - 1))
    made = nx.MultiDiGraph() if graph.directed else nx.MultiGraph()
    made.add_nodes_from(range(graph.n))
    made.add_edges_from(
        (u, v, {"row": edge}) for edge in graph.as_given.edges for u, v in [edge[:2]]
    )
    near = nx.ego_graph(made, center, radius)
    expected = []
    for u, v, *weight in (row for *_, row in near.edges(data="row")):
        ends = (u, v) if graph.directed else sorted((u, v), key=graph.rank.__getitem__)
        expected.append((graph.rank[ends[0]], graph.rank[ends[1]], *weight))
    frame = graph.graph(ranks=ranks).ego(graph.ids[center], radius).compute()
    number = {id: graph.rank[v] for v, id in enumerate(graph.ids)}
    columns = [frame["src"].map(number), frame["dst"].map(number)]
    columns += [frame["weight"]] if graph.weight else []
    found = list(zip(*(column.tolist() for column in columns), strict=True))
    assert found == sorted(expected)  # repeated edges by weight


EDGES = pd.DataFrame({"src": [0, 1, 2, 3, 0], "dst": [1, 2, 3, 0, 2], "weight": [1.5, 2, 3, 4, 5]})


def test_radius():
    def ends(graph, *arguments, **named):
        return graph.ego(*arguments, **named)[["src", "dst"]].to_numpy().tolist()

    graph = EDGES.graph
    assert ends(graph, 1) == [[1, 2]]
    assert ends(graph, 1, radius=2) == [[1, 2], [2, 3]]
    assert ends(graph, 1, 0) == []
    assert ends(graph, 0) == [[0, 1], [0, 2], [1, 2]]
    assert ends(graph, 0, 10**30) == ends(graph, 0, 3)
    assert ends(EDGES.graph(directed=False), 1) == [[0, 1], [0, 2], [1, 2]]
    assert EDGES.graph.ego(1).columns.tolist() == ["src", "dst", "weight"]
    assert EDGES.graph.ego(1)["weight"].tolist() == [2.0]


@pytest.mark.parametrize("ranks", [1, 2, 5])
def test_large_graph(ranks):
    ends = (3_000 * np.random.default_rng(0).random((2, 60_000)) ** 2).astype(int)
    edges = pd.DataFrame(ends.T, columns=["src", "dst"]).drop_duplicates()
    peer = nx.DiGraph(edges.to_numpy().tolist())
    center = int(edges["src"].mode()[0])
    with dask.config.set({"graphgpu.threads": 2}):
        found = partitioned(edges, 4).graph(ranks=ranks).ego(center, 2).compute()
    expected = sorted(map(list, nx.ego_graph(peer, center, 2).edges))
    assert found.to_numpy().tolist() == expected
    assert 2 * LITTLE_WORK < len(found) < len(edges), "more than one thread has work"


def test_bad_arguments():
    with pytest.raises(errors.UnknownVertex, match="9"):
        EDGES.graph.ego(9)
    for center in (None, [0, 1]):
        with pytest.raises(errors.InvalidArgument, match="give one vertex id"):
            EDGES.graph.ego(center)
    for radius in (-1, 1.5, True):
        with pytest.raises(errors.InvalidArgument, match="allowed is a whole number of at least 0"):
            EDGES.graph.ego(0, radius)


def test_report():
    EDGES.graph.ego(0, 2)
    assert len(dg.last_report()) > 0
