"""Betweenness on many ranks against that of one, however vertices are owned and sources dealt out."""

from unittest import mock

import numpy as np
from cut_graphs import Cut, cut
from hypothesis import given
from hypothesis import strategies as st
from made_graphs import rmat
from small_graphs import small_graphs

from dask_graphgpu.engine import cpu, ranks
from dask_graphgpu.partition.rowwise import merge_repeats
from dask_graphgpu.partition.view import View
from dask_graphgpu.report import Report


def merged(view, weighted):
    rows = merge_repeats(view.out, "min" if weighted else "one")
    return View.of(rows, directed=view.directed, user_rank=view.user_rank)


def check(parts, sources, **how):
    view = parts.view
    wanted = cpu.betweenness(view, sources, edges=False, report=Report("one"), **how)

    def run(share):
        numbers = parts.numbers[sources]
        return ranks.betweenness(share, numbers, edges=False, report=Report("many"), **how)

    np.testing.assert_allclose(parts.whole(parts.run(run)), wanted, rtol=1e-9, atol=1e-12)
    check_edges(parts, sources, how["weighted"])


def check_edges(parts, sources, weighted):
    view, n = parts.view, parts.view.num_vertices
    how = {"weighted": weighted, "endpoints": False, "edges": True}
    sums = cpu.betweenness(view, sources, report=Report("one"), **how)

    def run(share):
        given = parts.numbers[sources]
        along = ranks.betweenness(share, given, report=Report("many"), **how)
        first, second = share.ends()
        return share.numbers[first], share.numbers[second], along

    source, destination, along = (
        np.concatenate(each) for each in zip(*parts.run(run), strict=True)
    )
    place = parts.dense(source) * n + parts.dense(destination)
    first, second = view.ends()
    wanted = first * np.int64(n) + second
    assert sorted(place.tolist()) == wanted.tolist()
    np.testing.assert_allclose(along[place.argsort()], sums, rtol=1e-9, atol=1e-12)


@given(
    graph=small_graphs(weights=(None, "int64", "float32"), max_vertices=14),
    size=st.integers(1, 5),
    endpoints=st.booleans(),
    at_once=st.sampled_from([1, 3, 64]),
    data=st.data(),
)
def test_any_owners(graph, size, endpoints, at_once, data):
    weighted = graph.weight is not None
    edges = [(u, v, max(w[0], 1)) if w else (u, v) for u, v, *w in graph.edges]
    graph = type(graph)(graph.n, edges, graph.directed, graph.weight, graph.rank, graph.ids)
    owner = data.draw(st.lists(st.integers(0, size - 1), min_size=graph.n, max_size=graph.n))
    sources = data.draw(st.sets(st.integers(0, graph.n - 1), min_size=1))
    parts = Cut(merged(graph.view(), weighted), owner, size)
    with mock.patch("dask_graphgpu.engine.ranks.betweenness.AT_ONCE", at_once):
        check(parts, np.array(sorted(sources)), weighted=weighted, endpoints=endpoints)


def test_sources_share_exchanges():
    view = merged(rmat(9, 8).view(), False)
    reports = []

    def run(share):
        report = Report("bc")
        given = np.arange(64)
        how = {"weighted": False, "endpoints": False, "edges": False}
        ranks.betweenness(share, given, report=report, **how)
        reports.append(report)

    exchanges = []
    for at_once in (1, 64):
        with mock.patch("dask_graphgpu.engine.ranks.betweenness.AT_ONCE", at_once):
            cut(view, 2).run(run)
        rows = [a for a in reports[-1].advances if a.direction == "accumulate"]
        exchanges.append(sum(a.supersteps for a in rows))
    assert exchanges[1] < exchanges[0] / 32
