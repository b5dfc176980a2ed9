"""Breadth-first search in every direction against a queue in plain Python."""

import dask
import numpy as np
import oracles
import pyarrow as pa
import pytest
from engines import bfs, of_the_cpu_engine
from hypothesis import given
from hypothesis import strategies as st
from small_graphs import on_threads, small_graphs

from dask_graphgpu.engine.cpu.search import INTO_COST
from dask_graphgpu.errors import InvalidArgument
from dask_graphgpu.partition.build import build
from dask_graphgpu.partition.chunk import EdgeChunk
from dask_graphgpu.partition.csr import from_edges
from dask_graphgpu.partition.ids import Names
from dask_graphgpu.partition.layout import Layout
from dask_graphgpu.partition.view import View
from dask_graphgpu.report import Report

directions = st.sampled_from(["auto", "push", "pull", "notify-pull"])


def search(view, source, *, cutoff=None, targets=None, report=None):
    return bfs(view, source, cutoff=cutoff, targets=targets, report=report or Report("bfs"))


def as_levels(n, hops):
    return [hops.get(v, -1) for v in range(n)]


@given(st.data(), small_graphs(), st.sampled_from([1, 2]), directions, st.booleans())
def test_levels(data, graph, number, direction, into):
    source = data.draw(st.integers(0, graph.n - 1))
    expected = as_levels(
        graph.n, oracles.bfs(graph.n, graph.edges, source, directed=graph.directed)
    )
    view = graph.view(into=into)
    with on_threads(number, direction=direction):
        level = search(view, source)
    assert level.dtype == np.int32
    assert level.tolist() == expected


@given(st.data(), small_graphs(), st.integers(0, 4), st.sampled_from([1, 2]), directions)
def test_cutoff(data, graph, cutoff, number, direction):
    source = data.draw(st.integers(0, graph.n - 1))
    hops = oracles.bfs(graph.n, graph.edges, source, directed=graph.directed)
    near = {v: hop for v, hop in hops.items() if hop <= cutoff}
    with on_threads(number, direction=direction):
        level = search(graph.view(), source, cutoff=cutoff)
    assert level.tolist() == as_levels(graph.n, near)


@given(st.data(), small_graphs(), st.sampled_from([1, 2]), directions)
def test_targets_are_right_and_the_rest_is_right_or_unreached(data, graph, number, direction):
    vertex = st.integers(0, graph.n - 1)
    source = data.draw(vertex)
    targets = np.array(data.draw(st.lists(vertex, min_size=1, max_size=3)), graph.ids)
    hops = oracles.bfs(graph.n, graph.edges, source, directed=graph.directed)
    with on_threads(number, direction=direction):
        level = search(graph.view(), source, targets=targets)
    expected = np.array(as_levels(graph.n, hops))
    assert (level[targets] == expected[targets]).all()
    assert ((level == expected) | (level == -1)).all()


def chain(n):
    return View.of(from_edges(n, np.arange(n - 1), np.arange(1, n)))


@pytest.mark.parametrize("direction", ["push", "pull"])
@pytest.mark.parametrize("stop", [{"cutoff": 10}, {"targets": np.array([3, 10], np.uint32)}])
def test_search_stops_early(stop, direction):
    report = Report("bfs")
    with dask.config.set({"graphgpu.direction": direction}):
        level = search(chain(1000), 0, report=report, **stop)
    assert level.max() == 10
    assert sum(advance.supersteps for advance in report.advances) == 10


def test_a_deep_narrow_graph_is_one_advance_and_makes_no_in_edges():
    view = chain(50_000)
    report = Report("bfs")
    level = search(view, 0, report=report)
    assert (level == np.arange(50_000)).all()
    assert [advance.direction for advance in report.advances] == ["push"]
    assert report.advances[0].supersteps == 50_000  # the last one finds nothing
    assert report.advances[0].edges == 49_999
    assert not view.has_into


def skewed(n=20_000, edges=400_000, *, directed):
    """Edges that gather at few vertices, and a level that holds most of them."""
    rng = np.random.default_rng(3)
    source, destination = (n * rng.random((2, edges)) ** 3).astype(np.int64)
    if not directed:
        source, destination = np.r_[source, destination], np.r_[destination, source]
    return View.of(from_edges(n, source, destination), directed=directed), list(
        zip(source.tolist(), destination.tolist(), strict=True)
    )


@pytest.mark.parametrize("number", [1, 2])
def test_a_skewed_graph_is_pushed_then_pulled(number):
    view, edges = skewed(directed=False)
    report = Report("bfs")
    with dask.config.set({"graphgpu.threads": number}):
        level = search(view, 0, report=report)
    used = [advance.direction for advance in report.advances]
    assert used[0] == "push"
    assert "pull" in used
    assert sum(advance.edges for advance in report.advances) < view.num_edges / 2
    hops = oracles.bfs(view.num_vertices, edges, 0)
    assert level.tolist() == as_levels(view.num_vertices, hops)


@of_the_cpu_engine
def test_large_levels_are_pushed_by_all_threads():
    view, edges = skewed(directed=True)
    report = Report("bfs")
    with on_threads(2, little_work=1 << 10):
        level = search(view, 0, report=report)
    assert {advance.direction for advance in report.advances} == {"push"}
    assert any(
        advance.supersteps == 1 and advance.edges > view.num_edges / 4
        for advance in report.advances
    )
    assert not view.has_into
    hops = oracles.bfs(view.num_vertices, edges, 0)
    assert level.tolist() == as_levels(view.num_vertices, hops)


@of_the_cpu_engine
@on_threads(2, little_work=1 << 10)
def test_in_edges_are_made_once_searches_have_pushed_enough():
    view, _ = skewed(directed=True)
    first = search(view, 0)
    searches = 1
    while not view.has_into:
        assert (search(view, 0) == first).all()
        searches += 1
        assert searches < 3 * INTO_COST
    assert searches > 2
    report = Report("bfs")
    assert (search(view, 0, report=report) == first).all()
    assert "pull" in {advance.direction for advance in report.advances}


@of_the_cpu_engine
@on_threads(2, little_work=1 << 10)
def test_searches_of_several_views_of_a_partition_add_up():
    n, rng = 20_000, np.random.default_rng(3)
    ends = (n * rng.random((2, 400_000)) ** 3).astype(np.uint32)
    chunk = EdgeChunk(*ends, Names((pa.int64(),), n, first=0), {})
    partition = build([chunk], [], Layout(directed=True))
    first = search(partition.view("one"), 0)
    for _ in range(3 * INTO_COST):
        assert (search(partition.view("one"), 0) == first).all()
        if partition.view("one").has_into:
            break
    assert partition.view("one").has_into


@pytest.mark.parametrize("direction", ["sideways", None])
def test_an_unknown_direction_is_refused(direction):
    with (
        dask.config.set({"graphgpu.direction": direction}),
        pytest.raises(InvalidArgument, match="allowed are auto, push, pull, notify-pull"),
    ):
        search(chain(3), 0)
