"""Core numbers on many ranks against those on one."""

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


def check(view, parts):
    """Core numbers and a k-core, of own vertices and of ghosts."""
    expected = cpu.core_numbers(view, Report("one"))
    dense = np.argsort(parts.numbers)
    some = int(np.median(expected)) if len(expected) else 0

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
    view = graph.view()
    check(view, Cut(view, owner, size))


@pytest.mark.parametrize("size", [2, 3])
@pytest.mark.parametrize("shape", SHAPES)
def test_shapes(shape, size):
    view = SHAPES[shape]().view()
    check(view, cut(view, size))


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
    """Two ranks with half a path each: both come from their end to the border, and tell it."""

    def run(share):
        report = Report("core")
        core = peeling.core_numbers(share, report)
        return core, report.advances

    view = path(100).view()
    parts = cut(view, 2, "blocks")
    for core, (advance,) in parts.run(run):
        assert set(core.tolist()) == {1}
        assert advance.direction == "peel"
        assert (advance.supersteps, advance.frontier) == (2, 50)
        # A row of each own vertex, and the one of the ghost.
        assert advance.edges == 99 + 1


def test_rows_are_read_once():
    """However often ranks wait for each other: a row of each own vertex, and one of each ghost."""

    def run(share):
        report = Report("core")
        peeling.core_numbers(share, report)
        return sum(a.edges for a in report.advances), share.symmetric.num_edges

    for read, edges in cut(rmat(11).view(), 3, "random").run(run):
        assert read == edges


def test_a_k_core_needs_fewer_exchanges():
    def exchanges(share):
        both = Report("core"), Report("k-core")
        peeling.core_numbers(share, both[0])
        peeling.k_core(share, 4, both[1])
        return [sum(a.supersteps for a in report.advances) for report in both]

    parts = cut(rmat(12).view(), 2)
    for all_of_them, one in parts.run(exchanges):
        assert one < all_of_them
