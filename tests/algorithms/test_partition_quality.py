"""Modularity, coverage and conductance of given communities, beside NetworkX."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_graphs import rmat
from places import rows_of
from strategies import KINDS, edge_lists

import dask_graphgpu as dg
from dask_graphgpu import errors


def undirected(edges):
    """NetworkX's graph of (u, v, weight), directions and repeats added up."""
    made = nx.Graph()
    for u, v, w in edges:
        made.add_edge(u, v, weight=w + made.get_edge_data(u, v, {"weight": 0})["weight"])
    return made


def by_networkx(graph, parts, resolution=1.0):
    """Rows as of the method, by the smallest member of each part; without cuts of nothing."""
    total = 2 * graph.size("weight")
    within = sum(graph.subgraph(part).size("weight") for part in parts)
    coverage = 2 * within / total if total else 0.0
    quality = nx.community.modularity(graph, parts, resolution=resolution) if total else 0.0
    rows = {}
    for part in parts:
        volume = sum(graph.degree(v, "weight") for v in part)
        known = 0 < volume < total
        rows[min(part)] = {
            "vertices": len(part),
            "internal": graph.subgraph(part).size("weight"),
            "cut": nx.cut_size(graph, part, weight="weight"),
            "conductance": nx.conductance(graph, part, weight="weight") if known else None,
            "coverage": coverage,
            "modularity": quality,
        }
    return pd.DataFrame.from_dict(rows, orient="index").sort_index()


@given(
    graph=edge_lists(weights=[None, "uint8", "float32"], kinds=KINDS),
    parts=st.integers(1, 4),
    resolution=st.sampled_from([0.5, 1, 3]),
)
def test_small_graphs(graph, parts, resolution):
    """Any ids, weights and partitionings; some vertices are not named, and so alone."""
    built = graph.graph().persist()
    clusters = built.degree().compute()[["vertex"]]
    number = {id: v for v, id in enumerate(graph.ids)}
    there = [number[id] for id in clusters["vertex"]]
    drawn = {v: v * 7 % 5 % parts for v in there}
    clusters["community"] = list(drawn.values())
    clusters = clusters[[v % 4 < 3 for v in there]]
    found = built.partition_quality(clusters, resolution=resolution).compute()
    place, groups = graph.rank, {}
    for v in there:
        groups.setdefault(drawn[v] if v % 4 < 3 else (v,), set()).add(v)
    made = undirected((u, v, *(w or [1])) for u, v, *w in graph.as_given.edges)
    made.add_nodes_from(v for group in groups.values() for v in group)
    other = nx.relabel_nodes(made, place.__getitem__) if graph.n else made
    wanted = by_networkx(other, [{place[v] for v in g} for g in groups.values()], resolution)
    assert [place[number[id]] for id in found["community"]] == wanted.index.tolist()
    for column in wanted:
        values = found[column].to_numpy(np.float64, na_value=np.nan)
        np.testing.assert_allclose(
            values, wanted[column].to_numpy(np.float64), rtol=1e-6, atol=1e-9
        )


@pytest.mark.parametrize("directed", [False, True])
def test_every_place(place, directed):
    """Weights are whole, so sums are exact. Each pair is there once: (v, u) could be (u, v) in the other direction."""
    made = rmat(9)
    ends = np.sort(np.stack([made.source, made.destination]), axis=0)
    frame = pd.DataFrame(np.unique(ends, axis=1).T, columns=["src", "dst"])
    frame["weight"] = np.random.default_rng(0).integers(0, 9, len(frame))
    clusters = pd.DataFrame({"vertex": np.arange(512), "label": np.arange(512) % 7})
    (found,) = place.same(
        lambda graph: graph.partition_quality(clusters),
        rtol=1e-12,
        frames=[frame],
        directed=directed,
    )
    other = undirected(frame.itertuples(index=False))
    parts = [set(clusters.vertex[clusters.label == k]) & set(other) for k in range(7)]
    wanted = by_networkx(other, parts)
    assert found["community"].tolist() == wanted.index.tolist()
    for column in wanted:
        np.testing.assert_allclose(found[column].astype(float), wanted[column].astype(float))


def test_communities_of_a_result_a_column_and_words():
    edges = pd.DataFrame({"src": list("abcde"), "dst": list("bcaed")})
    vertices = pd.DataFrame({"vertex": list("abcde"), "side": [1, 1, 1, 2, 2]})
    graph = edges.graph(directed=False, vertices=vertices)
    wanted = graph.partition_quality("side")
    assert wanted["community"].tolist() == ["a", "d"]
    assert wanted["conductance"].tolist() == [0.0, 0.0]
    assert wanted["coverage"].tolist() == [1.0, 1.0]
    words = pd.DataFrame({"vertex": list("abcdez"), "community": ["x", "x", "x", "y", "y", "y"]})
    pd.testing.assert_frame_equal(graph.partition_quality(words), wanted)
    assert dg.last_report().attrs["ignored"] == {"communities": 1}
    pd.testing.assert_frame_equal(
        graph.partition_quality(graph.weakly_connected_components()), wanted
    )


def test_no_edges_and_one_community_of_all():
    edges = pd.DataFrame({"src": [0, 1], "dst": [1, 2]})
    one = pd.DataFrame({"vertex": [0, 1, 2], "community": 0})
    (row,) = rows_of(edges.graph().partition_quality(one)).itertuples()
    assert (row.vertices, row.internal, row.cut) == (3, 2.0, 0.0)
    assert pd.isna(row.conductance)
    assert (row.coverage, row.modularity) == (1.0, 0.0)
    none = edges.assign(weight=0).graph().partition_quality(one)
    assert none[["coverage", "modularity", "internal"]].to_numpy().tolist() == [[0.0, 0.0, 0.0]]
    assert edges.iloc[:0].graph().partition_quality(one).empty


def test_bad_arguments():
    graph = pd.DataFrame({"src": [0], "dst": [1]}).graph()
    with pytest.raises(errors.InvalidArgument, match="communities is a int"):
        graph.partition_quality(3)
    twice = pd.DataFrame({"vertex": [0, 0], "community": [1, 2]})
    with pytest.raises(errors.InvalidArgument, match="name a vertex again"):
        graph.partition_quality(twice)
    with pytest.raises(errors.InvalidArgument, match="resolution"):
        graph.partition_quality(twice, resolution=0)
    with pytest.raises(errors.InvalidArgument, match="weight"):
        graph.partition_quality(twice.drop_duplicates("vertex"), weighted=True)
