"""Components at thresholds of a score, and of a limited size, against NetworkX on filtered edges."""

from fractions import Fraction

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_graphs import path
from small_graphs import on_threads
from strategies import KINDS, edge_lists

import dask_graphgpu as dg

WEIGHTS = ["int64", "uint8", "Int32", "float64"]


def parts_at(vertices, edges, threshold):
    """Sets of vertices that edges of at least some weight join."""
    graph = nx.Graph((u, v) for u, v, w in edges if threshold is None or w >= threshold)
    graph.add_nodes_from(vertices)
    return list(nx.connected_components(graph))


def small_parts(vertices, edges, threshold, most):
    """The same; of a set that is too large, the parts at its next weight."""
    for part in parts_at(vertices, edges, threshold):
        if len(part) <= most:
            yield part
            continue
        inside = [(u, v, w) for u, v, w in edges if u in part and v in part]
        weights = sorted(w for _, _, w in inside if threshold is None or w >= threshold)
        rest = [each for each in inside if each[2] > weights[0]]
        yield from small_parts(part, rest, None, most)


def weakest(part, edges):
    """The largest weight of which the edges join all of some vertices; None of a single one."""
    inside = [(u, v, w) for u, v, w in edges if u in part and v in part]
    holding = [w for w in {w for *_, w in inside} if len(parts_at(part, inside, w)) == 1]
    return max(holding) if len(part) > 1 else None


def assert_parts(found, graph, parts, column):
    place = {each: v for v, each in enumerate(graph.ids)}
    label = {place[v]: place[c] for v, c in zip(found["vertex"], found[column], strict=True)}
    assert label == {v: min(part, key=graph.rank.__getitem__) for part in parts for v in part}


@given(
    graph=edge_lists(weights=WEIGHTS, kinds=KINDS),
    thresholds=st.lists(
        st.integers(-1, 12) | st.floats(0, 12), min_size=1, max_size=4, unique=True
    ),
    most=st.none() | st.integers(1, 6),
    threads=st.sampled_from([1, 4]),
    order=st.sampled_from(["input", "degree"]),
    ranks=st.sampled_from([1, 1, 2, 3]),
)
def test_lists_are_filters(graph, thresholds, most, threads, order, ranks):
    with on_threads(threads):
        made = graph.graph(order=order, ranks=ranks)
        found = made.weakly_connected_components(thresholds=thresholds, max_size=most).compute()
    names = [f"{name}_{t}" for t in thresholds for name in ("component", "threshold")]
    assert found.columns.tolist()[1:] == [n for n in names if most or n.startswith("component")]
    place = {each: v for v, each in enumerate(graph.ids)}
    vertices = {place[v] for v in found["vertex"]}
    for threshold in thresholds:
        if most is None:
            parts = parts_at(vertices, graph.edges, threshold)
        else:
            parts = list(small_parts(vertices, graph.edges, threshold, most))
            wanted = {v: weakest(part, graph.edges) for part in parts for v in part}
            values = found[f"threshold_{threshold}"].astype(object).tolist()
            told = {
                place[v]: None if pd.isna(w) else w
                for v, w in zip(found["vertex"], values, strict=True)
            }
            assert told == wanted
        assert_parts(found, graph, parts, f"component_{threshold}")


METHODS = (
    lambda graph: graph.weakly_connected_components(thresholds=[3, 6, 2.5, 98]),
    lambda graph: graph.weakly_connected_components(max_size=40),
    lambda graph: graph.weakly_connected_components(thresholds=[2, 7], max_size=3),
)


@pytest.mark.parametrize("directed", [True, False])
def test_every_place(place, directed):
    answers = place.same(*METHODS, directed=directed)
    for found in answers[1 :: len(METHODS)]:
        assert found.groupby("component").size().max() <= 40


@pytest.mark.parametrize("kind", ["uint8", "int64", "uint64", "float32", "float64"])
def test_small_graphs(memory_place, kind):
    memory_place.same_small(*METHODS, kind=kind, bits=64 if kind == "int64" else None)


def test_a_score_of_0_and_scores_of_all_sizes():
    scores = pd.DataFrame({"src": [1, 3, 5], "dst": [2, 4, 6], "weight": [0, 2**62, 2**62 + 1]})
    found = scores.graph().weakly_connected_components(thresholds=[0, 2**62 + 1])
    assert found["component_0"].tolist() == [1, 1, 3, 3, 5, 5]
    assert found[f"component_{2**62 + 1}"].tolist() == [1, 2, 3, 4, 5, 5]
    zeros = scores.assign(weight=[0.0, -0.0, 1e300]).graph()
    assert zeros.weakly_connected_components(thresholds=0)["component"].tolist() == [
        1,
        1,
        3,
        3,
        5,
        5,
    ]
    assert (
        zeros.weakly_connected_components(max_size=2)["threshold"].tolist()
        == [0.0] * 4 + [1e300] * 2
    )


def test_thresholds_of_any_type_and_size():
    edges = pd.DataFrame({"src": [1, 2], "dst": [2, 3], "weight": [0.5, 0.9]})
    for kind, large in (("float32", 1e300), ("float64", 1e300), ("uint8", 10**30)):
        graph = edges.assign(weight=(edges["weight"] * 10).astype(kind)).graph()
        given = np.array([9.0, large, -3]), pd.Series([Fraction(9), large, -3])
        for thresholds in given:
            found = graph.weakly_connected_components(thresholds=thresholds)
            assert found.iloc[:, 1:].T.to_numpy().tolist() == [[1, 2, 2], [1, 2, 3], [1, 1, 1]]


def test_one_weight_joins_all_or_none():
    """Whatever the order of the rows, and of repeated pairs the largest score counts."""
    pairs = [("a", "b", 0.9), ("b", "c", 0.9), ("c", "d", 0.9), ("d", "e", 0.5), ("b", "a", 0.1)]
    for rows in (pairs, pairs[::-1]):
        graph = pd.DataFrame(rows, columns=["src", "dst", "weight"]).graph()
        assert graph.weakly_connected_components(max_size=3)["component"].tolist() == list("abcde")
        found = graph.weakly_connected_components(max_size=4)
        assert found["component"].tolist() == list("aaaae")
        assert found["threshold"].tolist()[:4] == [0.9] * 4
        assert found["threshold"].isna().tolist() == [False] * 4 + [True]


def test_only_the_large_component_is_cut():
    chain = [(i, i + 1, 0.5 + i / 100) for i in range(9)]  # 0 - 9, weaker at the front
    pair = [(20, 21, 0.1)]
    frame = pd.DataFrame(chain + pair, columns=["src", "dst", "weight"])
    found = frame.graph().weakly_connected_components(max_size=4).set_index("vertex")["component"]
    assert found[20] == found[21] == 20
    assert found[[6, 7, 8, 9]].eq(6).all()
    assert found[[0, 1, 2, 3, 4, 5]].tolist() == [0, 1, 2, 3, 4, 5]


def test_a_long_chain():
    n = 200_000
    edges = path(n).frame().assign(weight=np.arange(n - 1))
    graph = edges.graph()
    found = graph.weakly_connected_components(thresholds=[n // 2, 0])
    assert found["component_0"].eq(0).all()
    assert found[f"component_{n // 2}"].nunique() == n // 2 + 1
    assert graph.weakly_connected_components(max_size=n - 1)["component"].nunique() == 2


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"thresholds": []}, "finite number, or a list"),
        ({"thresholds": [0.5, 0.5]}, "0.5 more than once"),
        ({"thresholds": [1, 1.0]}, "more than once"),
        ({"thresholds": float("nan")}, "finite"),
        ({"thresholds": [float("inf")]}, "finite"),
        ({"thresholds": "0.5"}, "finite number, or a list"),
        ({"thresholds": b"1"}, "finite number, or a list"),
        ({"max_size": 0}, "at least 1"),
        ({"max_size": 2.5}, "whole number"),
    ],
)
def test_wrong_arguments(given, told):
    with pytest.raises(dg.errors.InvalidArgument, match=told):
        pd.DataFrame({"src": [1], "dst": [2], "weight": [1.0]}).graph().weakly_connected_components(
            **given
        )


def test_weights_are_needed_and_judged():
    edges = pd.DataFrame({"src": [1, 2], "dst": [2, 3]})
    with pytest.raises(dg.errors.InvalidArgument, match=r"max_size=\.\.\.\) needs weights"):
        edges.graph().weakly_connected_components(max_size=3)
    for bad in (float("nan"), -1.0):
        graph = edges.assign(weight=[0.5, bad]).graph()
        with pytest.raises(dg.errors.InvalidEdges):
            graph.weakly_connected_components(thresholds=0.1)
        assert graph.weakly_connected_components()["component"].tolist() == [1, 1, 1]


def test_several_id_columns_arrow_and_no_edges():
    two = pd.DataFrame(
        {"a": [1, 1], "b": list("xy"), "c": [1, 1], "d": list("yz"), "w": [0.9, 0.4]}
    )
    graph = two.graph(source=["a", "b"], destination=["c", "d"], weight="w")
    found = graph.weakly_connected_components(thresholds=[0.5])
    assert found.columns.tolist() == ["a", "b", "component_0.5_a", "component_0.5_b"]
    assert found["component_0.5_b"].tolist() == ["x", "x", "z"]
    none = two.iloc[:0].graph(source=["a", "b"], destination=["c", "d"], weight="w")
    assert len(none.weakly_connected_components(thresholds=[0.5], max_size=2)) == 0
    renamed = graph.weakly_connected_components(thresholds=0.5, columns={"component_b": "cluster"})
    assert renamed["cluster"].tolist() == ["x", "x", "z"]
