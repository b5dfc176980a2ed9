"""In which form the edges of one call are built, case by case, and that answers do not tell."""

import numpy as np
import pandas as pd
import pytest

from dask_graphgpu import ingest
from dask_graphgpu.partition.layout import Layout, form_of

CASES = [
    # enough, layout, how else, form
    ("rows", {}, {}, "rows"),
    ("unsorted", {}, {}, "unsorted"),
    ("list", {}, {}, "list"),
    *[(enough, {}, {"engine": "auto"}, enough) for enough in ("unsorted", "list")],
    *[
        (enough, layout, how, "rows")
        for enough in ("unsorted", "list")
        for layout, how in [
            ({"layered": True}, {}),
            ({}, {"on_device": True}),
            ({}, {"partitioner": "hash"}),
            ({}, {"partitioner": len}),
            *[({}, {"engine": engine}) for engine in ("gpu", "hybrid", "interpreted")],
        ]
    ],
    ("unsorted", {"order": "input"}, {}, "unsorted"),
    ("unsorted", {"order": "degree"}, {}, "rows"),
    ("list", {"order": "degree"}, {}, "list"),
    ("unsorted", {"directed": False}, {}, "unsorted"),
    ("unsorted", {"duplicates": "sum"}, {}, "unsorted"),  # without weights all are one edge
    *[
        ("unsorted", {"duplicates": chosen}, {"rule": rule, "weight": "int64"}, form)
        for chosen, rule, form in [
            ("auto", "min", "unsorted"),
            ("keep", "min", "unsorted"),
            ("min", "min", "unsorted"),
            ("max", "min", "rows"),
            ("sum", "min", "rows"),
            ("max", "max", "unsorted"),
            ("min", "max", "rows"),
        ]
    ],
    ("unsorted", {"directed": False}, {"rule": "min", "weight": "int64"}, "unsorted"),
    ("unsorted", {}, {"rule": "min", "weight": "float64"}, "unsorted"),
    ("unsorted", {"directed": False}, {"rule": "min", "weight": "float64"}, "rows"),
]


@pytest.mark.parametrize(("enough", "layout", "how", "form"), CASES)
def test_form_of_edges(enough, layout, how, form):
    assert form_of(enough, Layout(**layout), **({"engine": "cpu"} | how)) == form


def edges(order):
    """Repeats, loops and edges back and forth between ids with gaps."""
    rng = np.random.default_rng(8)
    frame = pd.DataFrame(rng.integers(0, 700, (70_000, 2)) * 3 + 5, columns=["src", "dst"])
    frame["weight"] = rng.integers(1, 99, len(frame))
    return frame if order == "none" else frame.sort_values(["src", "dst"], ignore_index=True)


@pytest.fixture
def forms(monkeypatch):
    """The form of each partition that was built."""
    made, build = [], ingest.build
    monkeypatch.setattr(ingest, "build", lambda *given: made.append(given[3]) or build(*given))
    return made


SEARCHES = {
    "bfs": (lambda graph: graph.bfs(5), "unsorted"),
    "cutoff": (lambda graph: graph.bfs(5, cutoff=1), "unsorted"),
    "target": (lambda graph: graph.sssp([5], target=[8, 11]), "unsorted"),
    "sssp": (lambda graph: graph.sssp(5), "unsorted"),
    "sswp": (lambda graph: graph.sswp(5), "unsorted"),
    "predecessor": (lambda graph: graph.sssp(5, predecessor=True), "rows"),
    "sources": (lambda graph: graph.bfs([5, 8]), "rows"),
}


@pytest.mark.parametrize("order", ["none", "both"])
@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("name", SEARCHES)
def test_searches_give_what_they_give_of_a_graph_that_is_kept(name, directed, order, forms):
    search, form = SEARCHES[name]
    lone = pd.DataFrame({"vertex": [4, 5, 9999]})
    graph = edges(order).graph(directed=directed, vertices=lone)
    found = search(graph)
    assert forms == [form]
    pd.testing.assert_frame_equal(found, search(graph.persist()))
    assert forms == [form, "rows"]


@pytest.mark.parametrize("duplicates", ["sum", "max"])
def test_what_repeats_is_merged_as_the_user_says(duplicates, forms):
    graph = edges("none").graph(duplicates=duplicates)
    found = graph.sssp(5)
    assert forms == ["rows"]
    pd.testing.assert_frame_equal(found, graph.persist().sssp(5))


def test_a_heavy_repeat_is_no_overflow():
    """Of repeated edges the lightest counts, and its sum fits."""
    frame = pd.DataFrame({"src": [0, 1, 1], "dst": [1, 2, 2], "weight": [2**62, 1, 2**62 + 2**61]})
    assert frame.graph().sssp(0)["distance"].tolist() == [0, 2**62, 2**62 + 1]


def test_rows_back_and_forth_that_differ_by_rounding_are_one_edge():
    frame = pd.DataFrame({"src": [0, 1], "dst": [1, 0], "weight": [1.0, 1.0 - 1e-13]})
    graph = frame.graph(directed=False)
    assert graph.sssp(0)["distance"].tolist() == graph.persist().sssp(0)["distance"].tolist()
    assert graph.sssp(0)["distance"].tolist() == [0.0, 1.0]
