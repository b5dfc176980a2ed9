"""Samples of neighbours: edges of the graph, so many of each vertex, each as likely, and the same in every place."""

from collections import Counter

import dask
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare
from strategies import KINDS, edge_lists

import dask_graphgpu  # noqa: F401  puts .graph on frames
from dask_graphgpu.errors import InvalidArgument, LimitTooSmall, UnknownVertex

STAR = pd.DataFrame({"src": range(1, 31), "dst": 0})


@pytest.mark.parametrize("k", [1, 2, 5, 20, 29])  # by Floyd's method, and by a pass over the row
def test_every_edge_is_as_likely(k):
    found = STAR.graph().neighbor_sample([0] * 600, fanout=[k], batch_size=1, seed=k)
    assert found.groupby("batch").size().tolist() == [k] * 600
    assert not found.duplicated(["batch", "src"]).any()
    assert chisquare(found["src"].value_counts().reindex(range(1, 31), fill_value=0)).pvalue > 1e-3


def test_with_replacement():
    found = STAR.graph().neighbor_sample([0] * 300, fanout=[40], replace=True, batch_size=1)
    assert found.groupby("batch").size().tolist() == [40] * 300
    assert chisquare(found["src"].value_counts().reindex(range(1, 31), fill_value=0)).pvalue > 1e-3


def test_more_draws_than_memory_holds_are_refused():
    graph = STAR.graph()
    many = {"fanout": [2**31 - 1], "replace": True, "batch_size": 1}
    with pytest.raises(LimitTooSmall, match=r"edges that are drawn would take .* the machine has"):
        graph.neighbor_sample([0] * 3000, **many)
    with (
        dask.config.set({"graphgpu.host-memory-limit": "64 MiB"}),
        pytest.raises(LimitTooSmall, match=r"host-memory-limit is 67,108,864"),
    ):
        graph.neighbor_sample([0], **{**many, "fanout": [2_000_000]})


def test_layout():
    edges = pd.DataFrame(
        {"a": [5, 6, 7, 7, 8], "b": [1, 1, 2, 5, 7], "w": [0.5, 1.5, 2.5, 3.5, 4.5]}
    )
    found = edges.graph(source="a", destination="b", weight="w").neighbor_sample(
        [1, 2, 1], fanout=[-1, 3, 2], batch_size=2
    )
    assert found.to_dict("list") == {
        "batch": [0] * 5 + [1] * 4,
        "hop": [1, 1, 1, 2, 2, 1, 1, 2, 3],
        "a": [5, 6, 7, 7, 8, 5, 6, 7, 8],
        "b": [1, 1, 2, 5, 7, 1, 1, 5, 7],
        "w": [0.5, 1.5, 2.5, 3.5, 4.5, 0.5, 1.5, 3.5, 4.5],
    }
    assert found.dtypes.astype(str).tolist() == ["int64", "int32", "int64", "int64", "float64"]


def test_in_every_place(place):
    place.same(
        lambda graph: graph.neighbor_sample(fanout=[3, 2], batch_size=100),
        lambda graph: graph.neighbor_sample(fanout=[2], replace=True, seed=4),
    )


@given(
    graph=edge_lists(weights=[None, "int64"], kinds=KINDS),
    ranks=st.sampled_from([1, 3]),
    fanout=st.lists(st.sampled_from([-1, 1, 2, 40]), min_size=1, max_size=3),
    size=st.integers(1, 5),
)
def test_by_definition(graph, ranks, fanout, size):
    """Each new vertex of a batch has the edges that it is to have, all of them edges of the graph."""
    made = graph.graph(ranks=ranks)
    found = made.neighbor_sample(fanout=fanout, batch_size=size).compute()
    index = {each: v for v, each in enumerate(sorted(graph.ids))}
    number = [index[each] for each in graph.ids]
    width = (found.shape[1] - 2 - ("weight" in found)) // 2
    ends = [found.iloc[:, first : first + width] for first in (2, 2 + width)]
    source, destination = (
        [index[each if width > 1 else each[0]] for each in end.itertuples(index=False, name=None)]
        for end in ends
    )
    rows = [*zip(found["batch"].tolist(), found["hop"].tolist(), destination, source, strict=True)]
    assert rows == sorted(rows)
    edges = Counter((number[edge[0]], number[edge[1]]) for edge in graph.as_given.edges)
    if not graph.directed:
        edges += Counter({(v, u): times for (u, v), times in edges.items() if u != v})
    degree = Counter()
    for (_, v), times in edges.items():
        degree[v] += times
    n = len(graph.ids)
    for batch in range(-(-n // size)):
        new = set(range(batch * size, min((batch + 1) * size, n)))
        seen = set(new)
        for hop, most in enumerate(fanout, 1):
            here = [(u, v) for b, h, v, u in rows if (b, h) == (batch, hop)]
            assert not Counter(here) - edges
            wanted = {v: degree[v] if most < 0 else min(degree[v], most) for v in new}
            assert Counter(v for _, v in here) == Counter(wanted)
            new = {u for u, _ in here} - seen
            seen |= new


@pytest.mark.parametrize(
    "wrong", [{"fanout": [0]}, {"fanout": []}, {"fanout": "ab"}, {"batch_size": 0}, {"seed": -1}]
)
def test_wrong_arguments(wrong):
    with pytest.raises(InvalidArgument, match=next(iter(wrong))):
        STAR.graph().neighbor_sample([0], **{"fanout": [2]} | wrong)
    with pytest.raises(UnknownVertex, match="99"):
        STAR.graph().neighbor_sample([99], fanout=[1])
