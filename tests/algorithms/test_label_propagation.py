"""Label propagation against counters over sets of edges, and what its definition says of small graphs."""

from importlib import import_module
from unittest import mock

import dask
import numpy as np
import oracles
import pandas as pd
import pytest
from engines import of_the_cpu_engine
from hypothesis import given
from hypothesis import strategies as st
from small_graphs import on_threads, small_graphs
from strategies import KINDS, edge_lists

import dask_graphgpu as dg
from dask_graphgpu import errors
from dask_graphgpu.engine.cpu import label_propagation
from dask_graphgpu.engine.cpu.label_propagation import Labelling, side_by_side
from dask_graphgpu.partition.csr import from_edges
from dask_graphgpu.partition.view import View
from dask_graphgpu.report import Report

module = import_module("dask_graphgpu.engine.cpu.label_propagation")


@given(graph=edge_lists(weights=[None, "int64"], kinds=KINDS), iterations=st.integers(1, 4))
def test_over_all_kinds_of_ids(graph, iterations):
    found = graph.answers(graph.graph().label_propagation(iterations), "label")
    expected = oracles.label_propagation(
        graph.n, graph.edges, iterations, directed=graph.directed, rank=graph.rank
    )
    number = {id: v for v, id in enumerate(graph.ids)}
    assert [number[found[v]] for v in range(graph.n)] == expected


@of_the_cpu_engine
@given(
    small_graphs(max_edges=60), st.sampled_from([1, 3]), st.integers(1, 6), st.sampled_from([0, 1 << 20])
)  # fmt: skip
def test_on_threads(graph, number, iterations, many):
    simple = {(u, v) for u, v, *_ in graph.edges}
    if not graph.directed:
        simple = {(min(u, v), max(u, v)) for u, v in simple}
    graph = type(graph)(graph.n, sorted(simple), graph.directed, None, graph.rank, graph.ids)
    few = mock.patch.multiple(module, MANY_EDGES=many, MANY_VOTES=np.uint64(3))
    with on_threads(number), few:
        label = label_propagation(graph.view(), iterations, Report("labels"))
    assert label.tolist() == oracles.label_propagation(
        graph.n, graph.edges, iterations, directed=graph.directed, rank=graph.rank
    )


@pytest.mark.parametrize("directed", [True, False])
def test_every_place(place, directed):
    place.same(lambda graph: graph.label_propagation(9), directed=directed, supersteps=True)


@pytest.mark.parametrize("bits", [None, 64])
@pytest.mark.parametrize("iterations", [1, 2, 5])
def test_small_graphs(memory_place, iterations, bits):
    labels = lambda graph: graph.label_propagation(iterations)  # noqa: E731
    memory_place.same_small(labels, bits=bits, supersteps=True)


@pytest.mark.parametrize("number", [1, 3, 1500, 3000, 9000])
def test_a_hub_of_many_labels(memory_place, number):
    """A hub, whose neighbours have about so many labels after a superstep, and a second one at the end."""
    rng, n = np.random.default_rng(number), 20_000
    leaf = np.arange(2, n)
    before = np.where(leaf % 7 == 0, n - 1, 2 + rng.integers(min(number, n - 3), size=n - 2))
    ends = np.r_[np.c_[0 * leaf, leaf], np.c_[leaf, before][leaf != before]]
    frame = pd.DataFrame(rng.permutation(n)[ends], columns=["src", "dst"])
    for iterations in (1, 2, 3):
        labels = lambda graph: graph.label_propagation(iterations)  # noqa: B023, E731
        with dask.config.set({"graphgpu.device-memory-limit": "2MB"}):
            memory_place.same(labels, frames=[frame], directed=False)


@of_the_cpu_engine
def test_two_vertices_swing():
    edges = pd.DataFrame({"src": ["a"], "dst": ["b"]})
    assert edges.graph.label_propagation(1)["label"].tolist() == ["b", "a"]
    assert edges.graph.label_propagation(4)["label"].tolist() == ["a", "b"]
    assert len(dg.last_report()) == 4


@of_the_cpu_engine
def test_ends_when_nothing_changes():
    edges = pd.DataFrame({"src": [0, 1, 2], "dst": [1, 2, 0]})
    label = edges.graph(directed=False).label_propagation(100)["label"]
    assert label.tolist() == [0, 0, 0]
    assert len(dg.last_report()) < 5


@of_the_cpu_engine
@pytest.mark.parametrize("number", [1, 2, 3, 8])
@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("labels", [2, 40])
@pytest.mark.parametrize("many", [0, 1 << 20])
def test_long_rows(number, directed, labels, many):
    """Rows in which most have one label, half have, or few have; some with loops."""
    rng, n = np.random.default_rng(labels), 400
    group = rng.integers(labels, size=n)
    ends = rng.integers(n, size=(2, 30_000))
    ends = ends[:, (group[ends[0]] == group[ends[1]]) | (rng.random(30_000) < 0.1)]
    loops = np.tile(np.arange(0, n, 7), (2, 1))
    ends = np.unique(
        np.c_[ends, loops] if directed else np.sort(np.c_[ends, loops], axis=0), axis=1
    )
    arcs = ends if directed else np.c_[ends, ends[::-1, ends[0] != ends[1]]]
    view = View.of(from_edges(n, *arcs), directed=directed)
    with on_threads(number, little_work=256), mock.patch.object(module, "MANY_EDGES", many):
        found = [label_propagation(view, k, Report("labels")).tolist() for k in (1, 2, 3, 6)]
    assert found == [
        oracles.label_propagation(n, ends.T.tolist(), k, directed=directed) for k in (1, 2, 3, 6)
    ]
    assert len(set(found[0])) > len(set(found[3]))


def test_reciprocal_edges_count_twice():
    rows = [(5, 0), (5, 1), (0, 5), (2, 1)]  # 0 has two votes at 5, 1 one
    edges = pd.DataFrame(rows, columns=["src", "dst"])
    label = edges.graph.label_propagation(1).set_index("vertex")["label"]
    assert label.to_dict() == {0: 5, 1: 2, 2: 1, 5: 0}
    less = pd.DataFrame([(5, 3), (5, 1), (3, 2)], columns=["src", "dst"])
    assert less.graph.label_propagation(1).set_index("vertex")["label"][5] == 1
    more = pd.DataFrame([(5, 3), (5, 1), (3, 5)], columns=["src", "dst"])
    assert more.graph.label_propagation(1).set_index("vertex")["label"][5] == 3


def test_repeats_and_loops_mean_nothing():
    rows = [(0, 1), (0, 1), (0, 2), (0, 0), (7, 7)]
    edges = pd.DataFrame(rows, columns=["src", "dst"])
    label = edges.graph(directed=False).label_propagation(1)["label"]
    assert label.tolist() == [1, 0, 0, 7]


@pytest.mark.parametrize("narrow", [True, False])
def test_counters_that_are_full_begin_anew(narrow, monkeypatch):
    src, dst = np.random.default_rng(1).integers(0, 40, (2, 300))
    rows = from_edges(40, src, dst)
    labels, expected, found = np.arange(40, dtype=np.uint32), np.empty(40, "u4"), np.empty(40, "u4")
    given = side_by_side(rows.offsets, rows.neighbours)
    Labelling(40, 300)(0, 40, given, labels, expected)
    if not narrow:
        monkeypatch.setattr(Labelling, "narrow", 300)
    labelling = Labelling(40, 300)
    full = np.iinfo(np.uint32).max
    labelling._free.append((np.full(40, full, np.uint32 if narrow else np.uint64), full))
    labelling(0, 40, given, labels, found)
    assert found.tolist() == expected.tolist()
    assert labelling._free[0][1] == (300 if narrow else full + 300)


@pytest.mark.parametrize("iterations", [0, -1, 1.5, True, "ten"])
def test_bad_iterations(iterations):
    edges = pd.DataFrame({"src": [0], "dst": [1]})
    with pytest.raises(errors.InvalidArgument, match="allowed is a whole number"):
        edges.graph.label_propagation(iterations)


@of_the_cpu_engine
@given(small_graphs(max_vertices=30, max_edges=80), st.integers(1, 12), st.sampled_from([1, 3]))
def test_only_stale_labels_are_looked_for(graph, iterations, number):
    """Those whose neighbours all have the labels of two steps ago are not, and it makes no difference."""
    view = graph.view()
    with on_threads(number), pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "MARKED", 0)
        every = label_propagation(view, iterations, Report("label_propagation"))
        patch.setattr(module, "MARKED", 2)
        stale = label_propagation(view, iterations, Report("label_propagation"))
    assert stale.tolist() == every.tolist()


@of_the_cpu_engine
def test_labels_that_come_and_go_take_no_reads():
    pairs = np.arange(2_000).reshape(-1, 2)
    view = View.of(from_edges(2_000, *np.concatenate([pairs, pairs[:, ::-1]]).T), directed=False)
    report = Report("label_propagation")
    label = label_propagation(view, 9, report)
    assert label.tolist() == pairs[:, ::-1].ravel().tolist()
    assert [each.edges for each in report.advances] == [2_000] * 3 + [0] * 6
