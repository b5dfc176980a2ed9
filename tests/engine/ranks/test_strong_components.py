"""Strongly connected components on many ranks against SciPy's, in every way in which they are found."""

from unittest import mock

import numpy as np
import oracles
import pytest
import scipy.sparse as sp
from cut_graphs import Cut, cut, owners
from hypothesis import given
from hypothesis import strategies as st
from made_graphs import SHAPES, MadeGraph, path, rmat
from scipy.sparse import csgraph
from small_graphs import small_graphs

from dask_graphgpu.engine import ranks
from dask_graphgpu.partition.rowwise import merge_repeats
from dask_graphgpu.partition.view import View
from dask_graphgpu.report import Report

MODULE = "dask_graphgpu.engine.ranks.strong_components"


def found(parts, coloured=False):
    """Labels as numbers, by dense id, and the ways in which they were found."""

    def run(share):
        report = Report("scc")
        labels = ranks.strong_components(share, report)
        assert labels.dtype == share.numbers.dtype
        ways.append([advance.direction for advance in report.advances])
        return labels

    ways = []
    if coloured:  # no rest is small enough for one rank
        with mock.patch(f"{MODULE}.MEAN_SHARES", 0), mock.patch(f"{MODULE}.FEW_EDGES", 0):
            labels = parts.whole(parts.run(run))
    else:
        labels = parts.whole(parts.run(run))
    return labels, ways[0]


def scipy_labels(view, numbers):
    n, rows = view.num_vertices, view.out
    matrix = sp.csr_array((np.ones(rows.num_edges), rows.neighbours, rows.offsets), shape=(n, n))
    label = csgraph.connected_components(matrix, connection="strong")[1]
    smallest = np.full(n, n)
    np.minimum.at(smallest, label, numbers)
    return smallest[label]


@given(
    small_graphs(max_vertices=16),
    st.integers(1, 5),
    st.booleans(),
    st.sampled_from([1, 1024]),
    st.data(),
)
def test_any_owners(graph, size, coloured, exchanges, data):
    simple = sorted({(u, v) for u, v, *_ in graph.edges})
    graph = type(graph)(graph.n, simple, graph.directed, None, graph.rank, graph.ids)
    owner = data.draw(st.lists(st.integers(0, size - 1), min_size=graph.n, max_size=graph.n))
    parts = Cut(graph.view(), owner, size)
    with mock.patch(f"{MODULE}.MOST_EXCHANGES", exchanges):
        labels, _ = found(parts, coloured)
    wanted = oracles.strong_components(graph.n, simple, graph.rank, directed=graph.directed)
    assert parts.dense(labels).tolist() == wanted


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("size", [2, 3])
@pytest.mark.parametrize("coloured", [True, False])
def test_shapes(shape, size, coloured):
    made = SHAPES[shape](directed=True)
    ends = np.unique(np.stack([made.source, made.destination]), axis=1)
    view = MadeGraph(made.n, *ends, directed=True).view()
    for way in ("blocks", "random"):
        parts = cut(view, size, way)
        labels, _ = found(parts, coloured)
        np.testing.assert_array_equal(labels, scipy_labels(view, parts.numbers))


@pytest.mark.parametrize("size", [2, 4])
def test_every_way_on_many_components_of_many_sizes(size):
    """Cycles of random lengths with edges forward between them: trimming and one pivot settle little."""
    rng = np.random.default_rng(size)
    n = 5_000
    bounds = np.unique(np.r_[0, rng.integers(n, size=n // 12), n])
    last = np.zeros(n, bool)
    last[bounds[1:] - 1] = True
    after = np.arange(1, n + 1)
    after[last] = bounds[:-1]
    forward = np.sort(rng.integers(n, size=(2, n)), axis=0)
    name = rng.permutation(n)
    ends = np.unique(name[np.c_[[np.arange(n), after], forward]], axis=1)
    view = MadeGraph(n, *ends, directed=True).view()
    for coloured, way in ((True, "colour"), (False, "depth-first")):
        parts = cut(view, size, "random")
        labels, ways = found(parts, coloured)
        np.testing.assert_array_equal(labels, scipy_labels(view, parts.numbers))
        assert {"trim", "forward-backward", way} <= set(ways)


@pytest.mark.parametrize("size", [2, 3])
def test_skewed_graph(size):
    made = rmat(10, 4).view()
    view = View.of(merge_repeats(made.out, "one"), directed=True)
    parts = cut(view, size)
    labels, _ = found(parts)
    np.testing.assert_array_equal(labels, scipy_labels(view, parts.numbers))


def test_a_path_is_trimmed_in_few_exchanges():
    view = path(2_000, directed=True).view()
    report = Report("scc")
    parts = Cut(view, owners(2_000, 4, "blocks"), 4)

    def run(share):
        rows = report if share.ranks.rank == 0 else Report("other")
        return ranks.strong_components(share, rows)

    np.testing.assert_array_equal(parts.whole(parts.run(run)), np.arange(2_000))
    there, back, *_ = report.advances
    assert (there.direction, there.supersteps) == ("trim", 5)
    assert (back.direction, back.supersteps) == ("trim", 1)
