"""Statistics of neighbours against pandas' group-by of the edges joined with the values."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from places import rows_of, skewed
from strategies import edge_lists

from dask_graphgpu import errors, last_report

ALL = ["mean", "sum", "min", "max", "count"]
VALUES = pd.DataFrame({"vertex": range(-3, 990)})
VALUES["x"] = np.where(VALUES["vertex"] % 3 == 0, np.nan, VALUES["vertex"] * 0.25)
VALUES["y"] = VALUES["vertex"] ** 2


def joined(edges, values, direction, columns, *, directed=True, weighted=False):
    """Statistics by a join of distinct edges with the values of their other ends."""
    weight = {"w": "sum"}
    there = edges.groupby(["src", "dst"], as_index=False).agg(weight)
    other = there.rename(columns={"src": "dst", "dst": "src"})
    if not directed:
        there = pd.concat([there, other[other["src"] != other["dst"]]])
        there = there.groupby(["src", "dst"], as_index=False).agg(
            weight if weighted else {"w": "max"}
        )
    ends = {"in": [there], "out": [other], "both": [there, other]}[direction if directed else "in"]
    pairs = pd.concat(ends).merge(values, left_on="src", right_on="vertex")
    found = {}
    for column in columns:
        known = pairs.dropna(subset=[column])
        w = known["w"] if weighted else 1.0
        terms = known.assign(term=w * known[column], w=w).groupby("dst")
        total, over = terms["term"].sum(), terms["w"].sum()
        found[f"{column}_mean"], found[f"{column}_sum"] = total / over, total
        by = known.groupby("dst")[column]
        found |= {f"{column}_{kind}": by.agg(kind) for kind in ("min", "max", "count")}
    return pd.DataFrame(found)


def same(found, expected):
    found = found.set_index("vertex")
    expected = expected.reindex(found.index)
    for name in found:
        wanted = expected[name].fillna(0) if name.endswith(("sum", "count")) else expected[name]
        np.testing.assert_allclose(
            found[name].astype("float64"), wanted.astype("float64"), rtol=1e-9, err_msg=name
        )


@given(
    graph=edge_lists(weights=["int64"]),
    direction=st.sampled_from(["in", "out", "both"]),
    weighted=st.booleans(),
    data=st.data(),
)
def test_any_graph(graph, direction, weighted, data):
    number = st.none() | st.integers(-50, 50)
    drawn = data.draw(st.lists(number, min_size=graph.n, max_size=graph.n))
    values = pd.DataFrame({"vertex": range(graph.n), "x": pd.array(drawn, "Float64")})
    pairs = [(u, v, w % 7 + 1) for u, v, w in graph.edges]
    edges = pd.DataFrame(pairs, columns=["src", "dst", "w"])
    if not len(edges):
        return
    found = edges.graph(weight="w").neighbor_aggregate(
        values, ALL, direction=direction, weighted=weighted
    )
    same(found, joined(edges, values.astype({"x": float}), direction, ["x"], weighted=weighted))


@pytest.mark.parametrize("direction", ["in", "out", "both"])
def test_several_columns_everywhere(programs_place, direction):
    edges = skewed()
    graph = programs_place.graph(edges)
    found = rows_of(graph.neighbor_aggregate(VALUES, ALL, direction=direction))
    assert last_report().attrs["ignored"]["values"] == 3
    same(found, joined(edges.rename(columns={"weight": "w"}), VALUES, direction, ["x", "y"]))


def test_weights_everywhere(programs_place):
    edges = skewed()
    found = rows_of(programs_place.graph(edges).neighbor_aggregate(VALUES, ALL, weighted=True))
    wanted = joined(edges.rename(columns={"weight": "w"}), VALUES, "in", ["x", "y"], weighted=True)
    same(found, wanted)


def test_statistics_by_column_and_columns_of_the_vertices_frame():
    edges = pd.DataFrame({"src": [1, 2, 3, 1], "dst": [2, 3, 1, 2]})
    values = pd.DataFrame({"vertex": [1, 2, 3], "a": [1.0, None, 4.0], "b": [5, 6, 7]})
    graph = edges.graph(vertices=values)
    by_column = {"b": ["max", "sum"], "a": "mean"}
    found = graph.neighbor_aggregate(by_column)
    assert list(found) == ["vertex", "b_max", "b_sum", "a_mean"]
    assert found["b_sum"].tolist() == [7, 5, 6]
    assert found["a_mean"].isna().tolist() == [False, False, True]
    for other in (
        graph.neighbor_aggregate("b,a", '{"b": ["max", "sum"], "a": "mean"}'),
        graph.neighbor_aggregate(values, by_column),
    ):
        pd.testing.assert_frame_equal(found, other)


def test_repeats_count_once_unless_they_are_kept():
    edges = pd.DataFrame({"src": [1, 1, 3], "dst": [2, 2, 2]})
    values = pd.DataFrame({"vertex": [1, 3], "a": [1, 4]})
    once, kept = edges.graph(), edges.graph(duplicates="keep")
    assert once.neighbor_aggregate(values, "count,sum").iloc[1].tolist() == [2, 2, 5]
    assert kept.neighbor_aggregate(values, "count,sum").iloc[1].tolist() == [2, 3, 6]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("a", "median"), "median"),
        (("a", []), "allowed are mean, sum, min, max, count"),
        (("a", {"b": "sum"}), "there is no column 'b' among values"),
        (({"a": "sum"}, "max"), "give one"),
        (([],), "name at least one column"),
        (("a", "mean", "up"), "direction"),
        (("a", "{b"), "no JSON"),
        (("c",), "infinite"),
    ],
)
def test_refuses(arguments, said):
    edges = pd.DataFrame({"src": [1], "dst": [2]})
    values = pd.DataFrame({"vertex": [1, 2], "a": [1, 2], "c": [np.inf, 1]})
    with pytest.raises(errors.InvalidArgument, match=said):
        edges.graph(vertices=values).neighbor_aggregate(*arguments)
