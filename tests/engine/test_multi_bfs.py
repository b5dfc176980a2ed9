"""Searches from many sources in one sweep against searches one by one."""

from unittest import mock

import numpy as np
import oracles
import pandas as pd
import pytest
from engines import of_the_cpu_engine, on_one_rank
from hypothesis import given
from hypothesis import strategies as st
from made_graphs import SHAPES
from small_graphs import on_threads, small_graphs
from strategies import KINDS, edge_lists

from dask_graphgpu.algorithms import traversal
from dask_graphgpu.engine import cpu
from dask_graphgpu.report import Report

LONG_ROWS = "dask_graphgpu.engine.cpu.multi_bfs.LONG_ROWS"


@of_the_cpu_engine
@given(
    graph=small_graphs(max_vertices=16),
    data=st.data(),
    number=st.sampled_from([1, 3]),
    into=st.booleans(),
    little=st.sampled_from([0, 1, 1 << 14]),
    direction=st.sampled_from([None, "push", "pull"]),
    long_rows=st.sampled_from([0, 100]),
)
def test_every_way(graph, data, number, into, little, direction, long_rows):
    vertex = st.integers(0, graph.n - 1)
    sources = np.array(data.draw(st.lists(vertex, min_size=1, max_size=64)))
    cutoff = data.draw(st.one_of(st.none(), st.integers(0, 5)))
    report = Report("bfs")
    how = {"direction": direction} if direction else {}
    with on_threads(number, little_work=max(little, 1), **how), mock.patch(LONG_ROWS, long_rows):
        level = cpu.multi_bfs(
            graph.view(into=into), sources, cutoff=cutoff, targets=None, report=report
        )
    assert level.dtype == np.int32
    for source, found in zip(sources.tolist(), level.tolist(), strict=True):
        hops = oracles.bfs(graph.n, graph.edges, source, directed=graph.directed)
        last = graph.n if cutoff is None else cutoff
        assert found == [h if (h := hops.get(v, -1)) <= last else -1 for v in range(graph.n)]
    ways = {advance.direction for advance in report.advances}
    assert ways <= ({direction} if direction else {"push", "pull"})
    assert sum(a.supersteps for a in report.advances) >= max(level.max(), 0)


@of_the_cpu_engine
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("number", [1, 3])
def test_shapes(shape, directed, number):
    graph = SHAPES[shape](directed=directed)
    view = graph.view(into=True)
    sources = np.random.default_rng(1).integers(graph.n, size=64)
    with on_threads(number, little_work=200), mock.patch(LONG_ROWS, 0):
        level = cpu.multi_bfs(view, sources, cutoff=None, targets=None, report=Report("bfs"))
        for source, found in zip(sources[:9], level, strict=False):
            one = cpu.bfs(view, int(source), cutoff=None, targets=None, report=Report("bfs"))
            np.testing.assert_array_equal(found, one)


@of_the_cpu_engine
def test_edges_are_read_for_many_searches_at_once():
    graph = SHAPES["skewed"]()
    view = graph.view(into=True)
    sources = np.argsort(-view.out.degrees)[:64]
    one, many = Report("bfs"), Report("bfs")
    for source in sources:
        cpu.bfs(view, int(source), cutoff=None, targets=None, report=one)
    cpu.multi_bfs(view, sources, cutoff=None, targets=None, report=many)
    read = [sum(a.edges for a in report.advances) for report in (one, many)]
    assert read[1] < read[0] / 4


@of_the_cpu_engine
@pytest.mark.parametrize(("long_rows", "steps"), [(0, 50), (4, 50 + 20)])
def test_ends_when_targets_are_reached(long_rows, steps):
    view = SHAPES["path"]().view()
    sources, report = np.array([0, 40]), Report("bfs")
    with mock.patch(LONG_ROWS, long_rows):
        level = cpu.multi_bfs(view, sources, cutoff=None, targets=np.array([50, 20]), report=report)
    assert level[:, [50, 20]].tolist() == [[50, 20], [10, 20]]
    assert sum(a.supersteps for a in report.advances) == steps


@on_one_rank
@given(graph=edge_lists(weights=[None], kinds=KINDS), data=st.data(), sweep=st.sampled_from([1, 3]))
def test_methods_give_what_they_give_one_by_one(graph, data, sweep):
    ids = data.draw(st.lists(st.sampled_from(graph.ids), min_size=1, max_size=5))
    target = data.draw(st.one_of(st.none(), st.lists(st.sampled_from(graph.ids), min_size=1)))
    built = graph.graph().persist()
    for method, more in ((built.bfs, {"predecessor": True}), (built.ssnsp, {})):
        with mock.patch.object(traversal, "SWEEP", sweep):
            found = method(ids, target=target, **more).compute()
        each = [method([id], target=target, **more).compute() for id in ids]
        pd.testing.assert_frame_equal(found, pd.concat(each, ignore_index=True))
