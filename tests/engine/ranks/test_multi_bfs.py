"""Searches from many sources in one sweep on many ranks against those on one."""

from unittest import mock

import numpy as np
import oracles
from cut_graphs import Cut, cut
from hypothesis import given
from hypothesis import strategies as st
from made_graphs import rmat
from small_graphs import on_threads, small_graphs

from dask_graphgpu.engine import ranks
from dask_graphgpu.report import Report

LONG_ROWS = "dask_graphgpu.engine.cpu.multi_bfs.LONG_ROWS"


def found(parts, sources, *, cutoff=None, targets=None, report=None):
    """Levels by source and dense id."""

    def run(share):
        rows = Report("bfs") if report is None or share.ranks.rank else report
        numbers = None if targets is None else parts.numbers[targets]
        return ranks.multi_bfs(
            share, parts.numbers[sources], cutoff=cutoff, targets=numbers, report=rows
        ).T

    return parts.whole(parts.run(run)).T


@given(
    graph=small_graphs(max_vertices=16),
    size=st.integers(1, 5),
    data=st.data(),
    direction=st.sampled_from([None, "push", "pull"]),
    pulled=st.sampled_from([0.0, 0.25]),
    long_rows=st.sampled_from([0, 100]),
)
def test_every_way(graph, size, data, direction, pulled, long_rows):
    vertex = st.integers(0, graph.n - 1)
    sources = np.array(data.draw(st.lists(vertex, min_size=1, max_size=64)))
    cutoff = data.draw(st.one_of(st.none(), st.integers(0, 5)))
    targets = data.draw(st.one_of(st.none(), st.lists(vertex, min_size=1, max_size=4)))
    owner = data.draw(st.lists(st.integers(0, size - 1), min_size=graph.n, max_size=graph.n))
    how = {"direction": direction} if direction else {}
    report = Report("bfs")
    with (
        on_threads(2, **how),
        mock.patch(LONG_ROWS, long_rows),
        mock.patch("dask_graphgpu.engine.cpu.sweep.PULLED_PART", pulled),
    ):
        parts = Cut(graph.view(), owner, size)
        level = found(parts, sources, cutoff=cutoff, targets=targets, report=report)
    assert level.dtype == np.int32
    wanted = range(graph.n) if targets is None else targets
    for source, each in zip(sources.tolist(), level.tolist(), strict=True):
        hops = oracles.bfs(graph.n, graph.edges, source, directed=graph.directed)
        last = graph.n if cutoff is None else cutoff
        assert [each[v] for v in wanted] == [
            h if (h := hops.get(v, -1)) <= last else -1 for v in wanted
        ]
    ways = {advance.direction for advance in report.advances}
    assert ways <= ({direction} if direction else {"push", "pull"})


def test_edges_are_read_and_exchanged_for_many_searches_at_once():
    view = rmat(10, 16).view(into=True)
    sources = np.argsort(-view.out.degrees)[:64]
    parts, one, many = cut(view, 3), Report("bfs"), Report("bfs")
    levels = found(parts, sources, report=many)
    with mock.patch(LONG_ROWS, 1000):
        np.testing.assert_array_equal(found(parts, sources, report=one), levels)
    assert {advance.direction for advance in many.advances} == {"push", "pull"}
    edges, steps = (
        [sum(getattr(a, of) for a in report.advances) for report in (one, many)]
        for of in ("edges", "supersteps")
    )
    assert edges[1] < edges[0] / 2
    assert steps[1] < steps[0] / 16
