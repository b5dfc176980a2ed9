"""Searches on ranks find the levels that one rank finds, pushed or pulled."""

import contextlib
from dataclasses import replace
from unittest import mock

import dask
import numpy as np
import pytest
from cut_graphs import cut
from hypothesis import given
from hypothesis import strategies as st

from dask_graphgpu.engine import cpu
from dask_graphgpu.engine.cpu.bfs import bfs
from dask_graphgpu.engine.ranks import search
from dask_graphgpu.partition.csr import from_edges
from dask_graphgpu.partition.view import View
from dask_graphgpu.report import Report


def view_of(n, ends, directed, rank=None):
    source, destination = np.asarray(ends, np.int64).reshape(-1, 2).T
    if not directed:
        source, destination = (
            np.concatenate([source, destination]),
            np.concatenate([destination, source]),
        )
    return View.of(from_edges(n, source, destination), directed=directed, user_rank=rank)


def searched(view, source, size, way="random", *, cutoff=None, targets=None, direction="auto"):
    """Levels of all ranks, and the directions of rank 0."""
    made = cut(view, size, way)
    reports = {}

    def run(share):
        report = reports[share.ranks.rank] = Report("ranks")
        return bfs(
            share,
            int(made.numbers[source]),
            cutoff=cutoff,
            targets=None if targets is None else made.numbers[targets],
            report=report,
        )

    with dask.config.set({"graphgpu.direction": direction}):
        levels = made.whole(made.run(run))
    directions = [[a.direction for a in report.advances] for report in reports.values()]
    assert all(each == directions[0] for each in directions)
    return levels, directions[0]


@contextlib.contextmanager
def in_stretches(few, after=0):
    """Have small graphs be searched in stretches of levels; edges of a stretch are few below `few`."""
    with (
        mock.patch.object(search, "STRETCHES", replace(search.STRETCHES, few_edges=few)),
        mock.patch.object(search, "SMALL_LEVELS", after),
    ):
        yield


def one(view, source, cutoff=None):
    return cpu.bfs(view, source, cutoff=cutoff, targets=None, report=Report("one"))


@given(st.data())
def test_any_graph(data):
    n = data.draw(st.integers(1, 150))
    ends = data.draw(
        st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=250)
    )
    rank = None
    if data.draw(st.booleans()):
        rank = np.random.default_rng(n).permutation(n).astype(np.uint32)
    view = view_of(n, ends, data.draw(st.booleans()), rank)
    source, size = data.draw(st.integers(0, n - 1)), data.draw(st.sampled_from([1, 2, 3, 4, 7]))
    way = data.draw(st.sampled_from(["blocks", "random", "cyclic", "last"]))
    direction = data.draw(st.sampled_from(["auto", "push", "pull"]))
    cutoff = data.draw(st.sampled_from([None, 0, 1, 3]))
    with contextlib.ExitStack() as stack:
        if data.draw(st.booleans()):
            stack.enter_context(in_stretches(data.draw(st.sampled_from([1, 10, 1 << 15]))))
        found, _ = searched(view, source, size, way, cutoff=cutoff, direction=direction)
        np.testing.assert_array_equal(found, one(view, source, cutoff))
        expected = one(view, source)
        targets = np.flatnonzero(expected >= 0)[-2:]
        found, _ = searched(view, source, size, way, targets=targets, direction=direction)
        # What is further than the last target may have been reached or not, but not wrongly.
        near = expected <= expected[targets].max()
        np.testing.assert_array_equal(found[near], expected[near])
        assert (found[~near] == -1).all()


@pytest.mark.parametrize("size", [1, 2, 4])
@pytest.mark.parametrize("directed", [True, False])
def test_directions_change_on_a_skewed_graph(size, directed):
    made = np.random.default_rng(size)
    n = 1 << 14
    ends = (n * made.random((12 * n, 2)) ** 3).astype(np.int64)
    view = view_of(n, ends, directed)
    view_levels = one(view, 0)
    for direction in ("auto", "push", "pull"):
        found, directions = searched(view, 0, size, direction=direction)
        np.testing.assert_array_equal(found, view_levels)
        if direction != "auto":
            assert set(directions) == {direction}


def test_pushes_and_pulls_alternate():
    n = 1 << 12
    made = np.random.default_rng(0)
    path = np.stack([np.arange(399), np.arange(1, 400)], axis=1)  # to where the crowd is
    crowd = 400 + made.integers(0, n - 400, (40 * n, 2))
    ends = np.concatenate([path, [[399, 400]], crowd])
    for few, after in ((1 << 15, 1000), (1 << 8, 32)):  # without and with stretches in between
        with in_stretches(few, after):
            found, directions = searched(view_of(n, ends, False), 0, 3)
        np.testing.assert_array_equal(found, one(view_of(n, ends, False), 0))
        assert set(directions) == {"push", "pull"}


def test_a_long_path_takes_few_exchanges():
    n = 2_000
    view = view_of(n, np.stack([np.arange(n - 1), np.arange(1, n)], axis=1), False)
    found, directions = searched(view, 0, 4, "blocks")
    assert found.tolist() == list(range(n))
    assert len(directions) < 80
    with dask.config.set({"graphgpu.local-convergence": False}):
        found, directions = searched(view, 0, 4, "blocks")
    assert found.tolist() == list(range(n))
    assert len(directions) == n


def test_ends_with_the_targets():
    n = 1000
    view = view_of(n, np.stack([np.arange(n - 1), np.arange(1, n)], axis=1), True)
    for targets, furthest in (([3], 3), ([3, 700], 700), ([0], 0)):
        found, directions = searched(view, 0, 3, targets=np.array(targets))
        assert found[targets].tolist() == targets
        assert len(directions) <= furthest
        assert (found[furthest + 1 :] == -1).all()
    found, _ = searched(view, 500, 3, targets=np.array([3]))  # out of reach: a whole search
    np.testing.assert_array_equal(found, one(view, 500))
