"""Topological order and longest paths against NetworkX and dynamic programming."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from places import rows_of, skewed

from dask_graphgpu import errors


def acyclic(edges):
    return edges[edges["src"] < edges["dst"]]


@st.composite
def dags(draw):
    """Edges between ids in any order, some of them repeated, and how ids stand in an order without cycles."""
    n = draw(st.integers(2, 12))
    order = draw(st.permutations(range(n)))
    pair = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)).filter(lambda p: p[0] != p[1])
    pairs = draw(st.lists(pair, min_size=1, max_size=30))
    arcs = [(order[min(p)], order[max(p)], draw(st.integers(0, 5))) for p in pairs]
    return pd.DataFrame(arcs, columns=["src", "dst", "weight"])


def generations(edges):
    graph = nx.DiGraph(edges[["src", "dst"]].to_numpy().tolist())
    return {v: i for i, some in enumerate(nx.topological_generations(graph)) for v in some}


def lengths(edges):
    """Longest distance to each vertex, and who comes before it."""
    heaviest = edges.groupby(["src", "dst"])["weight"].max()
    graph = nx.DiGraph(list(heaviest.index))
    distance, before = {}, {}
    for v in nx.topological_sort(graph):
        ways = [(distance[u] + heaviest[u, v], u) for u in graph.predecessors(v)]
        distance[v] = max([0, *(length for length, _ in ways)])
        if distance[v] > 0:
            before[v] = min(u for length, u in ways if length == distance[v])
    return distance, before


def check(edges, graph):
    order = rows_of(graph.topological_order())
    level = order.set_index("vertex")["level"]
    assert level.to_dict() == generations(edges)
    by_level = order.sort_values(["level", "vertex"])["position"]
    assert by_level.tolist() == list(range(len(order)))
    distance, before = lengths(edges)
    found = rows_of(graph.longest_path()).set_index("vertex")
    assert found["distance"].to_dict() == distance
    assert found["predecessor"].dropna().to_dict() == before
    path = rows_of(graph.longest_path(path=True))
    most = max(distance.values())
    way = [min(v for v in distance if distance[v] == most)]
    while way[-1] in before:
        way.append(before[way[-1]])
    assert path["vertex"].tolist() == way[::-1]
    assert path["distance"].tolist() == [distance[v] for v in way[::-1]]


@given(edges=dags(), ranks=st.sampled_from([1, 1, 3]))
def test_any_graph(edges, ranks):
    check(edges, edges.graph(ranks=ranks))


def test_everywhere(programs_place):
    edges = acyclic(skewed())
    check(edges, programs_place.graph(edges))


def test_hops_and_floats():
    edges = pd.DataFrame({"src": [1, 1, 2], "dst": [2, 3, 3], "weight": [0.5, 2.5, 1.0]})
    assert edges.graph().longest_path()["distance"].tolist() == [0, 0.5, 2.5]
    hops = edges.graph().longest_path(weighted=False)
    assert hops["distance"].tolist() == [0, 1, 2]
    assert hops["predecessor"].fillna(0).tolist() == [0, 1, 2]


@pytest.mark.parametrize("ranks", [1, 2])
def test_the_error_names_a_cycle(ranks):
    names = pd.DataFrame({"src": ["in", "b", "c", "a", "c"], "dst": ["a", "c", "a", "b", "out"]})
    for call in ("topological_order", "longest_path"):
        with pytest.raises(errors.InvalidEdges, match=r"a cycle: a -> b -> c -> a \(3 vertices\)"):
            getattr(names.graph(ranks=ranks), call)()
    loop = pd.DataFrame({"src": [1, 2], "dst": [2, 2]})
    with pytest.raises(errors.InvalidEdges, match=r"2 -> 2 \(1 vertices\)"):
        loop.graph(ranks=ranks).topological_order()
    round_trip = pd.DataFrame({"src": range(20), "dst": np.roll(range(20), -1)})
    with pytest.raises(errors.InvalidEdges, match=r"6 -> 7 -> \.\.\. -> 0 \(20 vertices\)"):
        round_trip.graph(ranks=ranks).topological_order()


@pytest.mark.parametrize("call", ["topological_order", "longest_path"])
def test_undirected_graphs_have_no_order(call):
    edges = pd.DataFrame({"src": [1], "dst": [2]})
    with pytest.raises(errors.InvalidArgument, match="needs a directed graph"):
        getattr(edges.graph(directed=False), call)()
