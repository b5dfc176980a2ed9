"""Which columns of a frame are its edges: defaults, names, the index."""

import numpy as np
import pandas as pd
import pytest
from accessor_calls import EDGES, NULL, rows
from strategies import partitioned

from dask_graphgpu import errors


@pytest.mark.parametrize("names", [("src", "dst"), ("source", "destination")])
@pytest.mark.parametrize("parts", [None, 2])
def test_default_columns(names, parts):
    frame = EDGES.rename(columns=dict(zip(["src", "dst"], names, strict=True)))
    given = frame if parts is None else partitioned(frame, parts)
    assert rows(given.graph.bfs(0))["distance"].tolist() == [0, 1, 1, 2, NULL, NULL]
    assert rows(given.graph.sssp(0))["distance"].tolist() == [0, 1, 2, 3, NULL, NULL]
    assert rows(given.graph().k_core(2)).columns.tolist() == [*names, "weight"]


def test_src_and_dst_come_before_source_and_destination():
    frame = EDGES.assign(source=7, destination=8)
    assert frame.graph.bfs(0)["vertex"].tolist() == [0, 1, 2, 3, 4, 5]
    other = frame.graph(source="source", destination="destination")
    assert other.bfs(7)["vertex"].tolist() == [7, 8]
    assert (
        repr(other)
        == "<Graph: source -> destination, weights in weight, directed, 5 rows, not built>"
    )


def test_named_columns():
    frame = EDGES.rename(columns={"src": "from", "dst": "to", "weight": "km"})
    graph = frame.graph(source="from", destination="to", weight="km", directed=False)
    assert graph.sssp(3)["distance"].tolist() == [3, 2, 1, 0, NULL, NULL]
    assert graph.k_core(1).columns.tolist() == ["from", "to", "km"]
    turned = frame.graph(source="to", destination="from", weight="toll")
    assert turned.sssp(3)["distance"].tolist() == [1.0, 1.0, 0.5, 0.0, NULL, NULL]


def test_without_weights():
    assert EDGES.graph(weight=None).k_core(1).columns.tolist() == ["src", "dst"]
    plain = EDGES.graph(weight=None).pagerank()["rank"]
    np.testing.assert_allclose(plain, EDGES.graph.pagerank(weighted=False)["rank"])
    assert not np.allclose(plain, EDGES.graph.pagerank()["rank"])


# The columns of user frames do not get in the way of those of results.
@pytest.mark.parametrize(
    "names",
    [
        ("vertex", "distance"),
        ("distance", "predecessor"),
        ("predecessor", "source"),
        ("weight", "rank"),
        ("index", "level_0"),
        ("", " "),
        ("a b", "ü"),
        ("edge_weight", "id"),
    ],
)
@pytest.mark.parametrize("parts", [None, 2])
def test_columns_with_the_names_of_results(names, parts):
    frame = EDGES[["src", "dst"]].set_axis(names, axis=1).assign(w=EDGES["weight"])
    given = frame if parts is None else partitioned(frame, parts)
    graph = given.graph(source=names[0], destination=names[1], weight="w")
    found = rows(graph.sssp(0, predecessor=True))
    assert found.columns.tolist() == ["vertex", "distance", "predecessor"]
    assert found["distance"].tolist() == [0, 1, 2, 3, NULL, NULL]
    assert rows(graph.k_core(2)).columns.tolist() == [*names, "w"]


@pytest.mark.parametrize("parts", [None, 2])
def test_the_index_means_nothing(parts):
    for index in (
        EDGES["dst"].rename("src"),
        pd.Index([3, 3, 3, 3, 3]),
        pd.MultiIndex.from_arrays([[1] * 5, list("abcde")], names=["src", "x"]),
    ):
        frame = EDGES.set_axis(index, axis=0)
        if parts and isinstance(index, pd.MultiIndex):
            continue  # Dask has none
        given = frame if parts is None else partitioned(frame, parts)
        assert rows(given.graph.sssp(0))["distance"].tolist() == [0, 1, 2, 3, NULL, NULL]


def test_columns_whose_names_are_not_strings():
    frame = EDGES[["src", "dst", "weight"]].set_axis([0, 1, "weight"], axis=1)
    with pytest.raises(
        errors.InvalidEdges, match=r"has \[0, 1, 'weight'\].*\.rename\(columns=str\)"
    ):
        frame.graph.bfs(0)
    extra = EDGES.assign(**{"1": 5}).rename(columns={"1": 1})
    assert extra.graph.bfs(0)["distance"].tolist() == [0, 1, 1, 2, NULL, NULL]
    assert rows(partitioned(extra, 2).graph.bfs(0))["vertex"].tolist() == [0, 1, 2, 3, 4, 5]
