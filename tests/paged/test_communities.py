"""Louvain and Leiden of rows on disk: the answers of rows in memory, bit for bit, however little there is of it."""

import re
from contextlib import contextmanager
from itertools import product
from unittest import mock

import dask
import numpy as np
import pandas as pd
import pytest
from engines import on_one_cpu
from places import skewed, sparse
from spilled import assert_swept, no_collector

from dask_graphgpu import last_report
from dask_graphgpu.errors import LimitTooSmall

pytestmark = on_one_cpu

CPU = "dask_graphgpu.engine.cpu"
ONE_BY_ONE, ON_SIDES, IN_BATCHES = WAYS = "one by one", "on two sides", "in batches"


@contextmanager
def moving(way):
    """Vertices move in one of the ways, though the graph is small."""
    many = 0 if way == IN_BATCHES else 1 << 30
    with (
        mock.patch.multiple(f"{CPU}.louvain", MANY_OF_LOUVAIN=many, MANY_OF_LEIDEN=many),
        mock.patch(f"{CPU}.in_batches.FEW", 3000),
        mock.patch(f"{CPU}.one_by_one.MANY", 0 if way == ON_SIDES else 1 << 30),
        mock.patch.multiple(f"{CPU}.side_by_side", FEW=3000, STEP=500),
    ):
        yield


def settings(folder, limit):
    return {
        "graphgpu.host-memory-limit": limit,
        "graphgpu.page-bytes": 4096,
        "graphgpu.spill-directories": [str(folder / "a"), str(folder / "b")],
    }


def same(frame, call, tmp_path, limit, **options):
    """Hold that a call gives on disk what it gives in memory."""
    frame = pd.concat([frame] * 3, ignore_index=True)  # so that it does not fit
    with dask.config.set({"graphgpu.host-memory-limit": None}):
        wanted = call(frame.graph(order="input", **options))
    with dask.config.set(settings(tmp_path, limit)), no_collector():
        found = call(frame.graph(**options))
        assert last_report().attrs["disk_bytes"] > 0
        assert_swept(tmp_path)
    pd.testing.assert_frame_equal(found, wanted, check_exact=True)


@pytest.mark.parametrize("beside", [3, 10**6], ids=["next in memory", "next on disk"])
@pytest.mark.parametrize(("way", "directed"), [*product(WAYS, (False, True))])
def test_answers_are_those_of_memory(tmp_path, way, directed, beside):
    """``beside`` : so much that the levels after the first one go to disk, too."""
    with moving(way), mock.patch(f"{CPU}.paged_level._BESIDE", beside):
        leiden = lambda graph: graph.leiden(seed=4, max_size=200)  # noqa: E731
        same(sparse(), leiden, tmp_path, "2500kB", directed=directed)
        same(
            skewed(),
            lambda graph: graph.louvain(resolution=2),
            tmp_path,
            "2500kB",
            directed=directed,
        )


@pytest.mark.parametrize("way", WAYS)
def test_sums_of_weights_that_round_are_added_in_the_same_order(tmp_path, way):
    """A directed edge and its opposite are two entries of a row then, whose weights are not the same."""
    rng = np.random.default_rng(7)
    frame = skewed().assign(weight=rng.random(60_000))
    with moving(way):
        call = lambda graph: graph.leiden(max_iterations=1)  # noqa: E731
        same(frame, call, tmp_path, "2500kB", directed=True)


def test_a_start_and_levels(tmp_path):
    frame = sparse()
    groups = pd.DataFrame({"vertex": frame["src"].unique()})
    groups["group"] = np.arange(len(groups)) % 50
    groups["stays"] = np.arange(len(groups)) % 7 == 0
    kept = lambda graph: graph.leiden(initial=groups, fixed="stays", levels=True)  # noqa: E731
    for way in WAYS:
        with moving(way):
            same(frame, kept, tmp_path, "2500kB", directed=False)


def read_within(frame, limit, tmp_path, method, **options):
    """Bytes that a method reads of the disk within a limit."""
    with dask.config.set(settings(tmp_path, limit)):
        getattr(frame.graph(**options), method)()
        return last_report().attrs["disk_bytes"]


@pytest.mark.parametrize(("way", "directed"), [*product(WAYS, (False, True))])
@pytest.mark.parametrize("method", ["louvain", "leiden"])
def test_the_limit_that_an_error_names_is_enough_and_not_slow(tmp_path, way, directed, method):
    """The rows of hubs are long: where there is memory for one alone, few others come with a pass."""
    rng = np.random.default_rng(5)
    hubs = (2000 * rng.random(20_000) ** 2).astype(np.int64)
    frame = pd.DataFrame({"src": hubs, "dst": rng.integers(0, 2000, 20_000)})
    frame, rest = pd.concat([frame] * 9), (tmp_path, method)  # so often that it goes to disk
    with moving(way):
        read = read_within(frame, "2800kB", *rest, directed=directed)
        with pytest.raises(LimitTooSmall) as raised:
            read_within(frame, "900kB", *rest, directed=directed)
        named = int(re.search(r"needs ([\d,]+) bytes", str(raised.value))[1].replace(",", ""))
        with pytest.raises(LimitTooSmall, match="communities of 2,000 vertices"):
            read_within(frame, named * 9 // 10, *rest, directed=directed)
        assert 0 < read < read_within(frame, named, *rest, directed=directed) < 2 * read


def test_smaller_communities_name_what_all_their_steps_take(tmp_path):
    """However often they are divided: one error for the communities, one for the smaller ones."""
    path = pd.DataFrame({"src": np.arange(400), "dst": np.arange(1, 401)})
    frame, limit, named = pd.concat([path] * 100), 150_000, []
    call = lambda: frame.graph(directed=False).leiden(max_size=5)  # noqa: E731
    wanted = call()
    while len(named) < 5:
        with dask.config.set(settings(tmp_path, limit)):
            try:
                found = call()
                break
            except LimitTooSmall as error:
                limit = int(re.search(r"needs ([\d,]+) bytes", str(error))[1].replace(",", ""))
                named.append(str(error))
    assert len(named) <= 2, named
    assert "smaller communities of 401 vertices" in named[-1]
    pd.testing.assert_frame_equal(found, wanted)


def test_too_little_for_the_vertices_is_an_error(tmp_path):
    frame = pd.DataFrame({"src": np.arange(40_000), "dst": np.arange(40_000) // 2})
    with (
        dask.config.set(settings(tmp_path, "4MB")),
        pytest.raises(LimitTooSmall, match=r"communities of 40,000 vertices needs .* bytes"),
    ):
        pd.concat([frame] * 4).graph(duplicates="keep", directed=False).louvain()
