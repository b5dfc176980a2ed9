"""Core numbers on many ranks against those on one."""

from unittest import mock

import numpy as np
import pytest
from cut_graphs import Cut, cut
from hypothesis import given
from hypothesis import strategies as st
from made_graphs import SHAPES, edgeless, path, random_small, rmat
from small_graphs import small_graphs

from dask_graphgpu.engine import cpu
from dask_graphgpu.engine.ranks import peeling
from dask_graphgpu.report import Report

SIZES = [1, 2, 3, 4, 7]
WAYS = ("random", "blocks", "cyclic", "last")


def check(view, parts, most_reads=peeling.MOST_READS):
    """Core numbers and a k-core, of own vertices and of ghosts."""
    expected = cpu.core_numbers(view, Report("one"))
    dense = np.argsort(parts.numbers)
    some = int(np.median(expected)) if len(expected) else 0
    with mock.patch.object(peeling, "MOST_READS", most_reads):

        def numbers(share):
            core = peeling.core_numbers(share, Report("core"))
            assert core.dtype == np.int64
            inside = peeling.k_core(share, some, Report("k-core"))
            assert inside.dtype == bool
            places = dense[share.numbers]
            assert core.tolist() == expected[places].tolist()
            assert inside.tolist() == (expected >= some)[places].tolist()
            return core

        found = parts.whole(parts.run(numbers))
    assert found.tolist() == expected.tolist()


@pytest.mark.parametrize("size", SIZES)
def test_small_graphs(size):
    for seed in range(24):
        view = random_small(seed).view()
        check(view, cut(view, size, WAYS[seed % 4], seed))


@given(small_graphs(max_edges=80), st.data())
def test_any_owners(graph, data):
    size = data.draw(st.integers(1, 5))
    owner = data.draw(st.lists(st.integers(0, size - 1), min_size=graph.n, max_size=graph.n))
    most_reads = data.draw(st.sampled_from([0, 1, peeling.MOST_READS]))
    view = graph.view()
    check(view, Cut(view, owner, size), most_reads)


@pytest.mark.parametrize("most_reads", [0, 1, peeling.MOST_READS])
@pytest.mark.parametrize("size", [2, 3])
@pytest.mark.parametrize("shape", SHAPES)
def test_shapes(shape, size, most_reads):
    """Also where all are peeled anew after each exchange, or after some have come down."""
    view = SHAPES[shape]().view()
    check(view, cut(view, size), most_reads)


def test_more_ranks_than_vertices_and_no_vertices():
    for n in (0, 1, 3):
        view = edgeless(n).view()
        check(view, cut(view, 5, "cyclic"))
    view = path(3).view()
    check(view, cut(view, 7, "cyclic"))


@pytest.mark.parametrize("k", [-1, 0, 1, 3, 10**12, 10**30])
def test_k_beyond_the_core_numbers(k):
    view = rmat(8).view()
    parts = cut(view, 3)
    expected = cpu.k_core(view, k, Report("one"))
    found = parts.run(lambda share: peeling.k_core(share, k, Report("k-core")))
    assert parts.whole(found).tolist() == expected.tolist()


def test_exchanges_and_reads():
    """Two ranks with half a path each: one exchange tells that the ends came down, one that no more did."""

    def run(share):
        report = Report("core")
        core = peeling.core_numbers(share, report)
        return core, report.advances

    view = path(100).view()
    parts = cut(view, 2, "blocks")
    for core, advances in parts.run(run):
        assert set(core.tolist()) == {1}
        assert {advance.direction for advance in advances} == {"peel"}
        # From its end a rank comes down to the other's ghost, of degree 2 still.
        assert len(advances) == 2
        assert advances[0].edges <= 2 * 51
        assert sum(advance.edges for advance in advances[1:]) <= 2


def test_a_k_core_needs_fewer_exchanges():
    def exchanges(share):
        all_of_them, one = Report("core"), Report("k-core")
        peeling.core_numbers(share, all_of_them)
        peeling.k_core(share, 4, one)
        return len(all_of_them.advances), len(one.advances)

    parts = cut(rmat(12).view(), 2)
    for all_of_them, one in parts.run(exchanges):
        assert one < all_of_them
