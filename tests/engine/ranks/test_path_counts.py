"""Numbers of shortest paths on many ranks against those on one."""

import math

import numpy as np
import pytest
from cut_graphs import cut
from made_graphs import MadeGraph, edgeless, grid, path, random_small
from small_graphs import on_threads

from dask_graphgpu.engine import cpu, ranks
from dask_graphgpu.errors import IntegerOverflow
from dask_graphgpu.partition.rowwise import merge_repeats
from dask_graphgpu.partition.view import View
from dask_graphgpu.report import Report

SIZES = [1, 2, 3, 4, 7]
WAYS = ("random", "blocks", "cyclic", "last")


def simple(view):
    """A view without repeated edges, which would count as often as they occur."""
    out = merge_repeats(view.out, "one")
    return View.of(out, directed=view.directed, user_rank=view.user_rank)


def levels(view, source, cutoff=None):
    return cpu.bfs(view, source, cutoff=cutoff, targets=None, report=Report("bfs"))


def on_ranks(parts, source, level, dtype, report=None):
    """What each rank gives; levels of ghosts are not to be read."""

    def count(share):
        me = share.ranks.rank
        own = np.full(share.num_vertices, 1, np.int32)
        own[: share.num_owned] = level[parts.owned[me]]
        given = own.copy()
        made = Report("paths") if report is None or me else report
        number = int(parts.numbers[source])
        counts = ranks.path_counts(share, number, given, dtype=dtype, report=made)
        assert np.array_equal(given, own)
        return counts

    return parts.run(count)


def check(parts, source, dtype="int64", cutoff=None, rtol=0):
    level = levels(parts.view, source, cutoff)
    report = Report("paths")
    expected = cpu.path_counts(parts.view, source, level, dtype=dtype, report=Report("one"))
    found = parts.whole(on_ranks(parts, source, level, dtype, report))
    assert found.dtype == dtype
    np.testing.assert_allclose(found, expected, rtol=rtol, atol=0)
    assert {advance.direction for advance in report.advances} <= {"pull"}
    assert sum(advance.supersteps for advance in report.advances) == level.max()


@pytest.mark.parametrize("size", SIZES)
def test_small_graphs(size):
    for seed in range(24):
        graph = random_small(seed)
        parts = cut(simple(graph.view()), size, WAYS[seed % 4], seed)
        check(parts, seed % graph.n, ("int64", "float64")[seed % 5 == 0])


def test_a_large_level_is_a_run_of_its_own():
    """All threads work on it, so the one before has to be done."""
    widths = [1, 2, 40, 40, 2, 1]
    bounds = np.cumsum([0, *widths])
    ends = [
        np.indices((a, b)).reshape(2, -1) + np.array([[lo], [mid]])
        for a, b, lo, mid in zip(widths, widths[1:], bounds, bounds[1:], strict=False)
    ]
    view = MadeGraph(int(bounds[-1]), *np.concatenate(ends, axis=1), directed=True).view()
    report = Report("paths")
    with on_threads(2, little_work=8):
        found = on_ranks(cut(view, 1), 0, levels(view, 0), "int64", report)
    assert found[0][-1] == 2 * 40 * 40 * 2
    assert [advance.supersteps for advance in report.advances] == [2, 1, 2]


def test_more_ranks_than_vertices():
    check(cut(path(3).view(), 7, "cyclic"), 1)
    check(cut(edgeless(1).view(), 4, "last"), 0)


def test_nothing_reached():
    """As of a search that has no source."""
    parts = cut(path(5).view(), 2)
    for counts, owned in zip(on_ranks(parts, 2, np.full(5, -1), "int64"), parts.owned, strict=True):
        assert counts[: len(owned)].tolist() == (owned == 2).tolist()


def diamonds(number):
    """2 ** number paths from the first vertex to the last."""
    first = 3 * np.arange(number)
    ends = [(first + a, first + b) for a, b in ((0, 1), (0, 2), (1, 3), (2, 3))]
    source, destination = np.concatenate(ends, axis=1)
    return MadeGraph(3 * number + 1, source, destination, directed=True)


@pytest.mark.parametrize("way", ["blocks", "random", "last"])
def test_the_largest_number_and_one_beyond(way):
    for number in (62, 63, 64, 90):
        graph = diamonds(number)
        parts = cut(graph.view(), 3, way)
        level = levels(parts.view, 0)
        found = parts.whole(on_ranks(parts, 0, level, "float64"))
        assert found[-1] == 2.0**number
        if number < 63:
            found = parts.whole(on_ranks(parts, 0, level, "int64"))
            assert found[-1] == 2**number
            continue
        with pytest.raises(IntegerOverflow, match="give dtype='float64'"):
            on_ranks(parts, 0, level, "int64")


@pytest.mark.parametrize("number", [63, 83])
def test_all_ranks_raise_where_one_overflows(number):
    """In the last level, after which no counts are exchanged, and long before it."""
    parts = cut(diamonds(number).view(), 2, "cyclic")
    level = levels(parts.view, 0)

    def count(share):
        me = share.ranks.rank
        own = np.zeros(share.num_vertices, np.int32)
        own[: share.num_owned] = level[parts.owned[me]]
        with pytest.raises(IntegerOverflow):
            ranks.path_counts(share, 0, own, dtype="int64", report=Report("paths"))
        return share.ranks.sum(1)

    assert parts.run(count) == [2, 2]


def test_exchanges_only_where_levels_cross():
    """In a grid cut into an upper and a lower half, one for each vertex of a border row at most."""
    side = 20
    parts = cut(grid(side).view(), 2, "blocks")
    report = Report("paths")
    level = levels(parts.view, 0)
    found = parts.whole(on_ranks(parts, 0, level, "int64", report))
    assert found[-1] == math.comb(2 * side - 2, side - 1)
    # The border's rows are 9 and 10, so its vertices are in levels 9 to 29.
    ends = np.cumsum([advance.supersteps for advance in report.advances])
    assert ends.tolist() == [*range(9, 30), 38]


def test_steps():
    """One for levels, one to know which cross, one a level but the first and last, one to end."""
    view = path(8).view()
    parts = cut(view, 2, "cyclic")
    level = levels(view, 0)

    def steps(share):
        own = np.zeros(share.num_vertices, np.int32)
        own[: share.num_owned] = level[parts.owned[share.ranks.rank]]
        before = share.ranks.steps
        ranks.path_counts(share, 0, own, dtype="int64", report=Report("paths"))
        return share.ranks.steps - before

    assert parts.run(steps) == [2 + 6 + 1] * 2
