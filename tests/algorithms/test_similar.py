"""Similar vertices in every place, and against sets and NetworkX."""

import math

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from places import small
from strategies import KINDS, edge_lists, partitioned

from dask_graphgpu import errors, last_report

METRICS = ["jaccard", "overlap", "cosine", "sorensen", "adamic_adar", "resource_allocation"]


def partners(graph, metric, top_k, cutoff):
    """By vertex: sets of neighbours, compared, and sorted."""
    near = [set() for _ in range(graph.n)]
    for u, v, *_ in graph.edges:
        if u != v:
            near[u].add(v)
            near[v].add(u)
    found = []
    for u in sorted(range(graph.n), key=graph.rank.__getitem__):
        scored = []
        for v in range(graph.n):
            both = [w for w in near[u] & near[v] if cutoff is None or len(near[w]) <= cutoff]
            if u == v or not both:
                continue
            c, a, b = len(both), len(near[u]), len(near[v])
            score = {
                "jaccard": c / (a + b - c),
                "overlap": c / min(a, b),
                "cosine": c / math.sqrt(a * b),
                "sorensen": 2 * c / (a + b),
                "adamic_adar": sum(1 / math.log(len(near[w])) for w in both),
                "resource_allocation": sum(1 / len(near[w]) for w in both),
            }[metric]
            scored.append((-round(score, 9), graph.rank[v], v))
        found += [(u, v, -score) for score, _, v in sorted(scored)[:top_k]]
    return found


@given(
    graph=edge_lists(weights=[None, "int64"], kinds=KINDS),
    metric=st.sampled_from(METRICS),
    top_k=st.integers(1, 5),
    cutoff=st.none() | st.integers(1, 5),
    data=st.data(),
)
def test_over_all_kinds_of_ids(graph, metric, top_k, cutoff, data):
    expected = partners(graph, metric, top_k, cutoff)
    number = {id: v for v, id in enumerate(graph.ids)}
    built = graph.graph().persist()

    def rows(frame):
        frame = frame.compute()
        ends = (frame[end].map(number).tolist() for end in ("src", "dst"))
        return list(zip(*ends, frame["score"].round(9).tolist(), strict=True))

    assert rows(built.similar(metric, top_k=top_k, degree_cutoff=cutoff)) == expected
    some = data.draw(st.lists(st.integers(0, graph.n - 1), max_size=4))
    frame = partitioned(pd.DataFrame({"vertex": graph.column(some)}), 2)
    found = built.similar(metric, top_k=top_k, degree_cutoff=cutoff, between=frame)
    assert rows(found) == [row for row in expected if row[0] in some]


def test_every_place(rows_place):
    methods = [
        lambda graph: graph.similar(top_k=3),
        lambda graph: graph.similar("adamic_adar", top_k=5, min_score=0.2, degree_cutoff=100),
    ]
    rows_place.same(*methods)
    rows_place.same(*methods, frames=[f for f in small() if len(f) < 2000][::3], directed=False)


def test_networkx_agrees():
    ends = (400 * np.random.default_rng(2).random((2, 4000)) ** 2).astype(int)
    edges = pd.DataFrame(ends.T, columns=["src", "dst"])
    peer = nx.Graph(ends.T[ends[0] != ends[1]].tolist())
    peers = {
        "jaccard": nx.jaccard_coefficient,
        "adamic_adar": nx.adamic_adar_index,
        "resource_allocation": nx.resource_allocation_index,
    }
    for metric, score in peers.items():
        found = edges.graph.similar(metric, top_k=8)
        pairs = list(zip(found["src"], found["dst"], strict=True))
        np.testing.assert_allclose(found["score"], [x for *_, x in score(peer, pairs)])
        best = {}
        for u, _, x in score(peer, [(u, v) for u in peer for v in peer if u != v]):
            best.setdefault(u, []).append(x)
        for u, some in found.groupby("src")["score"]:
            np.testing.assert_allclose(some, sorted(best[u], reverse=True)[:8])


EDGES = pd.DataFrame({"src": ["a", "a", "b", "b", "e"], "dst": ["c", "d", "c", "c", "e"]})


def test_what_is_left_out_is_told():
    star = pd.DataFrame({"src": [0] * 5 + [6], "dst": [1, 2, 3, 4, 5, 1]})
    assert len(star.graph.similar("overlap")) == 20 + 2
    assert last_report().attrs["left_out"] == {}
    found = star.graph.similar("overlap", degree_cutoff=4)
    assert found[["src", "dst"]].to_numpy().tolist() == [[0, 6], [6, 0]]
    assert last_report().attrs["left_out"] == {"vertices": 1, "pairs": 20}
    ranked = star.graph(ranks=2)
    assert ranked.similar("overlap", degree_cutoff=4).equals(found)
    assert last_report().attrs["left_out"] == {"vertices": 1, "pairs": 20}


def test_rows_are_of_the_vertices_asked_for():
    found = EDGES.graph.similar(between=["b", "d"])
    assert found.to_numpy().tolist() == [["b", "a", 0.5], ["d", "c", 0.5]]
    assert len(EDGES.graph.similar(between=pd.DataFrame({"vertex": ["e"]}))) == 0
    assert len(EDGES.graph.similar(min_score=0.6)) == 0
    assert len(EDGES[:0].graph.similar()) == 0


def test_bad_arguments():
    for wrong, told in (
        ({"metric": "dice"}, "metric='dice'; allowed are 'jaccard'"),
        ({"top_k": 0}, "top_k=0; allowed is a whole number of at least 1"),
        ({"min_score": -1}, "min_score=-1; allowed is a number of at least 0"),
        ({"degree_cutoff": 1.5}, r"degree_cutoff=1\.5"),
        ({"between": "a"}, "between='a'; allowed are a list of vertex ids and a frame"),
        ({"between": EDGES}, "between"),
    ):
        with pytest.raises(errors.InvalidArgument, match=told):
            EDGES.graph.similar(**wrong)
    with pytest.raises(errors.UnknownVertex, match="'z'"):
        EDGES.graph.similar(between=["z"])
    with pytest.raises(errors.UnknownVertex, match="z"):
        EDGES.graph.similar(between=pd.DataFrame({"vertex": ["z"]}))
