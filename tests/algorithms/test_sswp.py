"""Widest paths against edges added from heavy to light."""

import math

import numpy as np
import oracles
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_graphs import on_threads
from strategies import KINDS, edge_lists, partitioned

from dask_graphgpu import errors

WEIGHTS = ["int64", "uint8", "Int32", "float64", "float32"]


def expected(graph, source=0):
    """Width by vertex as a result shows it: no bound is infinite over floats and null over integers."""
    width = oracles.widest_path(graph.n, graph.edges, source, directed=graph.directed)
    width[source] = math.inf if graph.weight.startswith("float") else None
    return {v: width.get(v) for v in range(graph.n)}


@given(graph=edge_lists(weights=WEIGHTS, kinds=KINDS), number=st.sampled_from([1, 2]))
def test_widths(graph, number):
    with on_threads(number):
        found = graph.graph().sswp(graph.ids[0]).compute()
    kind = "Float64" if graph.weight.startswith("float") else "Int64"
    assert str(found["width"].dtype).lower().removesuffix("[pyarrow]") in (kind.lower(), "double")
    assert graph.answers(found, "width") == expected(graph)


@given(graph=edge_lists(weights=["int64", "float64"]), data=st.data())
def test_targets_and_cutoff(graph, data):
    built = graph.graph().persist()
    wanted = expected(graph)
    target = data.draw(st.lists(st.sampled_from(range(graph.n)), min_size=1, unique=True))
    some = built.sswp(graph.ids[0], target=[graph.ids[v] for v in target])
    assert graph.answers(some, "width") == {v: wanted[v] for v in target}
    widths = [w for w in wanted.values() if w is not None]
    cutoff = data.draw(st.sampled_from([0, 0.5, math.inf, 2**70, *widths]))
    wide = graph.answers(built.sswp(graph.ids[0], cutoff=cutoff), "width")
    for v, w in wanted.items():
        assert wide[v] == (w if w is not None and w >= cutoff else None)


def test_several_sources_and_the_largest_integer():
    top = 2**63 - 1
    edges = pd.DataFrame({"src": [0, 1, 2], "dst": [1, 2, 0], "weight": [top, top - 1, 0]})
    found = partitioned(edges, 2).graph().sswp([0, 2]).compute()
    assert found["source"].tolist() == [0, 0, 0, 2, 2, 2]
    assert [None if pd.isna(w) else w for w in found["width"]] == [
        None, top, top - 1,
        0, 0, None,
    ]  # fmt: skip
    alone = edges.graph().sswp(0, cutoff=2**63)
    assert alone["width"].isna().all()


def test_of_repeated_edges_the_heaviest_counts():
    edges = pd.DataFrame({"src": [0, 0, 0], "dst": [1, 1, 1], "weight": [2.0, 5.0, 3.0]})
    assert edges.graph().sswp(0)["width"].tolist() == [np.inf, 5.0]


def test_weights_are_needed():
    edges = pd.DataFrame({"src": [0], "dst": [1]})
    with pytest.raises(errors.InvalidArgument, match="sswp needs weights"):
        edges.graph().sswp(0)


@pytest.mark.parametrize("method", ["sssp", "sswp"])
def test_a_cutoff_that_no_float_holds_is_infinite(method):
    frame = pd.DataFrame({"src": [0, 1], "dst": [1, 2], "weight": [0.5, 2.0]})
    search = getattr(frame.graph(), method)
    pd.testing.assert_frame_equal(search(0, cutoff=10**400), search(0, cutoff=float("inf")))
