"""Peeling on all threads: against repeated deletion, and against peeling on one thread."""

from contextlib import contextmanager
from unittest import mock

import numpy as np
import oracles
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_graphs import on_threads, small_graphs

from dask_graphgpu.engine.cpu import core_numbers, k_core, peeling_in_step
from dask_graphgpu.partition.csr import from_edges
from dask_graphgpu.partition.view import View
from dask_graphgpu.report import Report

THREADS = [1, 2, 3, 8]


@contextmanager
def always(number, *, few_hubs=1, steps=4096):
    """On so many threads, with up to one of `few_hubs` vertices a hub, and so many steps a call."""
    changed = {"MANY_THREADS": 1, "MANY_EDGES": 1, "FEW_HUBS": few_hubs, "STEPS": steps}
    with on_threads(number, little_work=64), mock.patch.multiple(peeling_in_step, **changed):
        yield


def undirected(n, source, destination):
    ends = np.r_[source, destination], np.r_[destination, source]
    return View.of(from_edges(n, *ends), directed=False)


@given(
    small_graphs(max_edges=80), st.sampled_from(THREADS), st.sampled_from([1, 3, 64]), st.sampled_from([1, 2, 4096])
)  # fmt: skip
def test_core_numbers(graph, number, few_hubs, steps):
    expected = oracles.core_numbers(graph.n, graph.edges)
    report = Report("core")
    with always(number, few_hubs=few_hubs, steps=steps):
        core = core_numbers(graph.view(), report)
    assert core.dtype == np.int64
    assert core.tolist() == expected
    assert sum(each.edges for each in report.advances) == graph.view().symmetric.num_edges
    assert sum(each.supersteps for each in report.advances) == len(set(expected))


@given(
    small_graphs(max_edges=80), st.integers(0, 12) | st.just(2**62), st.sampled_from(THREADS), st.sampled_from([1, 3])
)  # fmt: skip
def test_k_core(graph, k, number, few_hubs):
    expected = np.array(oracles.core_numbers(graph.n, graph.edges), np.int64) >= k
    report = Report("k-core")
    with always(number, few_hubs=few_hubs):
        inside = k_core(graph.view(), k, report)
    assert inside.tolist() == expected.tolist()
    degree = graph.view().symmetric.degrees
    assert sum(each.edges for each in report.advances) == degree[~expected].sum()


def test_no_vertices():
    with always(3):
        assert core_numbers(undirected(0, *np.empty((2, 0), int)), Report("core")).tolist() == []


@pytest.mark.parametrize("number", THREADS)
@pytest.mark.parametrize("few_hubs", [1, 20, 10_000])
@pytest.mark.parametrize("skew", [1, 4])
def test_large_random_graphs(number, few_hubs, skew):
    n = 10_000
    ends = (n * np.random.default_rng(skew).random((2, 200_000)) ** skew).astype(int)
    view = undirected(n, *ends)
    expected = core_numbers(view, Report("core"))
    with always(number, few_hubs=few_hubs):
        core = core_numbers(view, Report("core"))
        inside = k_core(view, 20, Report("core"))
    assert core.tolist() == expected.tolist()
    assert inside.tolist() == (expected >= 20).tolist()


@pytest.mark.parametrize("number", THREADS)
def test_a_clique_with_long_tails(number):
    """A tail falls vertex by vertex; the vertices of a clique fall together."""
    clique, tail = 3_000, 50_000
    ends = np.triu_indices(clique, 1)
    along = np.arange(clique - 1, clique + tail - 1)
    view = undirected(clique + tail, np.r_[ends[0], along], np.r_[ends[1], along + 1])
    with always(number, few_hubs=64):
        core = core_numbers(view, Report("core"))
    assert (core[:clique] == clique - 1).all()
    assert (core[clique:] == 1).all()


@pytest.mark.parametrize("number", THREADS)
def test_many_vertices_fall_at_once(number):
    """More than a thread holds: the leaves of a hub, each of which has a leaf of its own."""
    leaves = np.arange(1, 20_001)
    view = undirected(40_001, np.r_[0 * leaves, leaves], np.r_[leaves, leaves + 20_000])
    with always(number, few_hubs=40_001):
        core = core_numbers(view, Report("core"))
    assert core.tolist() == [1] * 40_001
    with always(number, few_hubs=1):
        assert k_core(view, 2, Report("core")).sum() == 0


def test_ids_of_64_bits():
    view = undirected(9, *np.array([(0, 1), (1, 2), (2, 0), (2, 3)], np.uint64).T)
    assert view.symmetric.neighbours.dtype == np.uint64
    with always(3):
        assert core_numbers(view, Report("core")).tolist() == [2, 2, 2, 1, 0, 0, 0, 0, 0]


@pytest.mark.parametrize(
    ("number", "edges", "all_threads"), [(3, 4, False), (4, 4, True), (4, 5, False)]
)
def test_few_threads_or_edges_are_of_one(number, edges, all_threads):
    view = undirected(3, *np.array([(0, 1), (1, 2)]).T)
    with on_threads(number), mock.patch.object(peeling_in_step, "MANY_EDGES", edges):
        assert peeling_in_step.pays(view.symmetric) == all_threads
