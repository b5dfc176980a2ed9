"""Jaccard coefficients on many ranks against those on one."""

from unittest import mock

import numpy as np
from cut_graphs import Cut, cut
from hypothesis import given
from hypothesis import strategies as st
from made_graphs import rmat
from small_graphs import on_threads, small_graphs

from dask_graphgpu.engine import cpu, ranks
from dask_graphgpu.report import Report

MODULE = "dask_graphgpu.engine.ranks.jaccard"


def check(parts, first, second):
    """Pairs of numbers dealt to the ranks, and all pairs with a neighbour in common."""
    view, number = parts.view, parts.numbers
    wanted = cpu.jaccard_of_pairs(view, parts.dense(first), parts.dense(second), Report("one"))

    def run(share):
        mine = np.arange(len(first)) % share.ranks.size == share.ranks.rank
        values = ranks.jaccard_of_pairs(share, first[mine], second[mine], Report("many"))
        return mine, values, ranks.jaccard_two_hop(share, Report("many"))

    found, hops = np.full(len(first), np.nan), []
    for mine, values, pairs in parts.run(run):
        found[mine] = values
        assert pairs[0].dtype == pairs[1].dtype == view.out.neighbours.dtype
        hops.append(pairs)
    assert found.tolist() == wanted.tolist()
    every = [np.concatenate(each) for each in zip(*hops, strict=True)]
    order = np.lexsort((every[1], every[0]))
    a, b, values = cpu.jaccard_two_hop(view, Report("one"))
    assert every[0][order].tolist() == number[a].tolist()
    assert every[1][order].tolist() == number[b].tolist()
    assert every[2][order].tolist() == values.tolist()
    for pairs in hops:  # a rank's pairs are in order
        assert np.array_equal(np.lexsort((pairs[1], pairs[0])), np.arange(len(pairs[0])))


@given(
    graph=small_graphs(max_edges=80),
    size=st.integers(1, 5),
    few=st.sampled_from([1, 8, 1 << 16]),
    at_once=st.sampled_from([3, 1 << 18]),
    data=st.data(),
)
def test_any_owners(graph, size, few, at_once, data):
    owner = data.draw(st.lists(st.integers(0, size - 1), min_size=graph.n, max_size=graph.n))
    first, second = np.indices((graph.n, graph.n)).reshape(2, -1)
    with (
        mock.patch(f"{MODULE}.FEW_EDGES", few),
        mock.patch(f"{MODULE}.PAIRS", at_once),
        on_threads(data.draw(st.sampled_from([1, 3]))),
    ):
        check(Cut(graph.view(), owner, size), first, second)


def test_rows_come_by_parts():
    """With many owners most rows are elsewhere; no more of them are here than a rank has itself."""
    view, most = rmat(9, 8).view(), []
    pairs = np.random.default_rng(0).integers(view.num_vertices, size=(2, 3000))

    def run(share):
        parts = Report("jaccard")
        ranks.jaccard_of_pairs(share, *pairs, parts)
        hops = Report("jaccard")
        ranks.jaccard_two_hop(share, hops)
        most.append([sum(row.supersteps for row in report.advances) for report in (parts, hops)])

    with mock.patch(f"{MODULE}.FEW_EDGES", 1):
        cut(view, 8).run(run)
    assert np.min(most) > 3
