"""Searches, components and path counts over edges of which only some fit the limit of device memory."""

import itertools
from importlib import import_module
from types import SimpleNamespace

import cupy
import dask
import numpy as np
import oracles
import pytest
from made_graphs import SHAPES, MadeGraph, edgeless, grid, layers, random_small, rmat, simple, star

from dask_graphgpu.engine import cpu, limits, tiered
from dask_graphgpu.engine.gpu import copies, pinned
from dask_graphgpu.engine.gpu.run_cache import RunCache
from dask_graphgpu.engine.tiered import level_rows, transfer
from dask_graphgpu.engine.tiered.components import looks
from dask_graphgpu.engine.tiered.subgraph import Subgraph
from dask_graphgpu.errors import IntegerOverflow, LimitTooSmall, OutOfDeviceMemory
from dask_graphgpu.report import Report

pytestmark = pytest.mark.gpu

tiered_bfs = import_module(
    "dask_graphgpu.engine.tiered.bfs"
)  # the package has a function of this name
tiered_counts = import_module("dask_graphgpu.engine.tiered.path_counts")
WAYS = ["auto", "stream", "zero-copy", "compact"]
SHARES = [0, 0.4, 1]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
def test_components_of_shapes(shape, directed, way, limited):
    rank = np.random.default_rng(5).permutation(SHAPES[shape]().n)
    for given in ({}, {"rank": rank, "ids": "uint64"}):
        view = SHAPES[shape](directed=directed, **given).view()
        expected = cpu.components(view, Report("test"))
        for share in SHARES:
            found, _ = limited(tiered.components, view, share, way)
            assert found.dtype == expected.dtype
            np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("way", WAYS)
def test_components_of_small_graphs(way, limited, monkeypatch):
    monkeypatch.setattr(limits, "BLOCK", 32)
    for seed in range(24):
        graph = random_small(seed)
        labels, _ = limited(tiered.components, graph.view(), 0, way)
        assert labels.tolist() == oracles.components(graph.n, graph.edges(), graph.rank), seed


def test_components_of_nothing(limited):
    assert limited(tiered.components, edgeless(0).view(), 0, "auto")[0].tolist() == []
    assert limited(tiered.components, edgeless(3).view(), 0, "auto")[0].tolist() == [0, 1, 2]


def test_the_rows_of_the_largest_tree_are_not_sent(limited):
    view = rmat(12).view()
    size = view.num_edges * 4
    for share in (0, 0.4):
        for way in ("zero-copy", "compact"):
            _, report = limited(tiered.components, view, share, way)
            assert sum(moved["bytes"] for moved in report.moved.values()) < 0.3 * size
    directed = rmat(12, directed=True).view()
    _, report = limited(tiered.components, directed, 0, "stream")
    assert report.moved["stream"]["bytes"] == directed.num_edges * 4  # one pass
    assert sum(each.edges for each in report.advances) == directed.num_edges


def test_two_largest_trees(limited):
    n = 20_000
    leaves = np.arange(2, n)
    for way in WAYS:
        labels, _ = limited(tiered.components, MadeGraph(n, leaves % 2, leaves).view(), 0.2, way)
        assert (labels == np.arange(n) % 2).all()


@pytest.mark.parametrize("resident", [0, 512, 1024, 99_840])
def test_looks_take_every_edge_once_and_no_part_of_a_segment(resident):
    cut = limits.Cut(resident, 768, 100_000)
    found = list(looks(cut))
    assert found[0][0] == 0
    assert found[-1][1] == 100_000
    assert all(a[1] == b[0] for a, b in itertools.pairwise(found))
    assert all(lo < hi and (hi <= resident or hi in cut.bounds) for lo, hi in found)
    assert len(found) <= 7
    assert list(looks(limits.Cut(9, 0, 9))) == [(0, 1), (1, 2), (2, 4), (4, 8), (8, 9)]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("cutoff", [None, 0, 1, 3])
def test_searches_of_small_graphs(way, cutoff, limited, monkeypatch):
    monkeypatch.setattr(limits, "BLOCK", 32)
    for seed in range(24):
        monkeypatch.setattr(tiered_bfs, "FEW", (1 << 18, 8, 0)[seed % 3])
        monkeypatch.setattr(tiered_bfs, "MOST_ROWS", (1 << 18, 3)[seed % 2])
        monkeypatch.setattr(tiered_bfs, "IN_PLACE", (1 << 22, 0)[seed // 6 % 2])
        graph = random_small(seed)
        source = seed % graph.n
        found, report = limited(
            tiered.bfs, graph.view(), 0, way, source, cutoff=cutoff, targets=None
        )
        np.testing.assert_array_equal(found, levels(graph.view(), source, cutoff=cutoff))
        deepest = max(int(found.max()), 0)
        supersteps = sum(each.supersteps for each in report.advances)
        assert deepest <= supersteps <= deepest + 1


@pytest.mark.parametrize("direction", ["auto", "push"])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("shape", SHAPES)
def test_searches_of_shapes(shape, way, direction, limited, monkeypatch):
    cutoff = 20 if shape in ("path", "grid") and way in ("stream", "compact") else None
    for directed, ids, share in ((False, "uint32", 0), (False, "uint64", 0.4), (True, "uint32", 1)):
        view = SHAPES[shape](directed=directed, ids=ids).view()
        monkeypatch.setattr(tiered_bfs, "IN_PLACE", (1 << 22) * (share > 0))
        with dask.config.set({"graphgpu.direction": direction}):
            found, report = limited(tiered.bfs, view, share, way, 1, cutoff=cutoff, targets=None)
        np.testing.assert_array_equal(found, levels(view, 1, cutoff=cutoff))
        if directed or direction == "push":
            assert {each.direction for each in report.advances} <= {"push"}


def test_vertices_without_a_level_look_for_one_where_they_are_few(limited, monkeypatch):
    """Of a graph of small diameter: what the last levels would send is not sent."""
    monkeypatch.setattr(tiered_bfs, "FEW", 1 << 16)
    view = rmat(13).view()
    given = {"cutoff": None, "targets": None}
    for way in ("auto", "zero-copy", "compact"):
        _, report = limited(tiered.bfs, view, 0.2, way, 0, **given)
        moved = sum(each["bytes"] for each in report.moved.values())
        with dask.config.set({"graphgpu.direction": "push"}):
            _, pushed = limited(tiered.bfs, view, 0.2, way, 0, **given)
        assert {each.direction for each in report.advances} == {"push", "pull"}
        assert moved < 0.8 * sum(each["bytes"] for each in pushed.moved.values())


def test_levels_of_few_edges_are_left_to_the_device(limited):
    view = SHAPES["grid"]().view()
    given = {"cutoff": None, "targets": None}
    found, report = limited(tiered.bfs, view, 0.4, "auto", 0, **given)
    assert [each.supersteps for each in report.advances] == [found.max() + 1]
    assert list(report.moved) == ["zero-copy"]
    assert report.moved["zero-copy"]["bytes"] <= view.num_edges * 4


@pytest.mark.parametrize("share", [0, 0.4])
def test_long_rows_among_short_ones_of_a_level(share, limited, monkeypatch):
    """Several rows share a warp where they have few edges on average, which these have."""
    monkeypatch.setattr(tiered_counts, "_DEEP", 0)
    lengths = np.ones(401, np.int64)
    lengths[0], lengths[[7, 8, 9, 100, 399]] = 400, [8, 9, 33, 100, 800]
    source = np.repeat(np.arange(401), lengths)
    destination = np.r_[np.arange(1, 401), 401 + np.arange(lengths[1:].sum()) % 900]
    view = MadeGraph(1301, source, destination, directed=True).view()
    level, report = limited(tiered.bfs, view, share, "auto", 0, cutoff=None, targets=None)
    np.testing.assert_array_equal(level, np.repeat([0, 1, 2], [1, 400, 900]))
    assert [each.supersteps for each in report.advances] == [3]
    count, _ = limited(tiered.path_counts, view, share, "auto", 0, level, dtype="int64")
    expected = np.bincount(destination, minlength=1301)
    np.testing.assert_array_equal(count, np.r_[1, expected[1:]])


@pytest.mark.parametrize("direction", ["auto", "push"])
def test_levels_that_cross_fast_are_read_without_a_look_at_segments(
    direction, limited, monkeypatch
):
    """As many bytes are told as with one."""
    monkeypatch.setattr(tiered_bfs, "FEW", 0)
    view, told, superstep = rmat(11).view(), [], transfer.Transfer.superstep
    for most in (1 << 22, 0):
        monkeypatch.setattr(tiered_bfs, "IN_PLACE", most)
        monkeypatch.setattr(level_rows, "IN_PLACE", most)
        monkeypatch.setattr(transfer.Transfer, "superstep", None if most else superstep)
        with dask.config.set({"graphgpu.direction": direction}):
            level, search = limited(
                tiered.bfs, view, 0.2, "zero-copy", 0, cutoff=None, targets=None
            )
        counts = simple(view)
        _, count = limited(tiered.path_counts, counts, 0.2, "zero-copy", 0, level, dtype="float64")
        told.append([report.moved["zero-copy"]["bytes"] for report in (search, count)])
    assert told[0] == told[1]


@pytest.mark.parametrize("size", [0, 1, 15, 16, 17, 32, 33, 100])
def test_arrays_go_by_way_of_pinned_buffers(size, monkeypatch):
    monkeypatch.setattr(copies, "_PIECE", 16 * 4)
    kept, array = RunCache(), np.arange(size, dtype=np.int32)
    on_device = copies.to_device(array, kept)
    np.testing.assert_array_equal(cupy.asnumpy(on_device), array)
    answers = [copies.to_host(on_device * k, kept) for k in range(8)]  # more than are lent
    for k, answer in enumerate(answers):
        np.testing.assert_array_equal(answer, array * k)
        np.testing.assert_array_equal(cupy.asnumpy(copies.to_device(answer, kept)), array * k)


def test_the_memory_of_answers_comes_back():
    kept, on_device = RunCache(), cupy.asarray(np.arange(1000, dtype=np.int32))
    first, other = copies.to_host(on_device, kept), copies.to_host(on_device, kept)
    place, part = first.ctypes.data, first[500:]
    del first
    third = copies.to_host(on_device, kept)
    assert third.ctypes.data != place  # a part of it is in use
    del part
    assert copies.to_host(on_device, kept).ctypes.data == place
    assert all(pinned.is_lent(array) for array in (other, other.view(np.uint8)[::2]))
    held = [copies.to_host(on_device * k, kept) for k in range(9)]
    assert sum(pinned.is_lent(array) for array in [*held, other, third]) == 4
    assert [array[2] for array in held] == [2 * k for k in range(9)]


def test_answers_of_other_types_take_the_same_memory():
    kept, before = RunCache(), set()
    for dtype in ("int32", "float64", "int64", "float32"):
        answers = [
            copies.to_host(cupy.asarray(np.arange(1000, dtype=dtype)), kept) for _ in range(4)
        ]
        assert all(pinned.is_lent(array) for array in answers)
        for array in answers:
            np.testing.assert_array_equal(array, np.arange(1000, dtype=dtype))
        places = {array.ctypes.data for array in answers}
        del array, answers
        if dtype in ("int64", "float32"):
            assert places == before  # of float64's, which were the largest yet
        before = places


@pytest.mark.parametrize("order", [(0, 1), (1, 0)], ids=["small first", "large first"])
def test_a_small_answer_leaves_the_memory_of_large_ones(order):
    """Levels, then numbers of paths, again and again: nothing new is pinned, in whichever order they go."""
    kept, arrays = RunCache(), (cupy.zeros(1000, np.int32), cupy.zeros(1000, np.float64))
    answers = [copies.to_host(array, kept) for array in arrays]
    places = [answer.ctypes.data for answer in answers]
    for _ in range(3):
        for i in order:
            answers[i] = None
        answers = [copies.to_host(array, kept) for array in arrays]
        assert [answer.ctypes.data for answer in answers] == places


def test_an_answer_that_cannot_be_pinned_whole(monkeypatch):
    empty = pinned.empty

    def no_more(size, dtype, *note):
        if size * np.dtype(dtype).itemsize > 16 * 4:
            raise OutOfDeviceMemory("no more than a buffer")
        return empty(size, dtype, *note)

    monkeypatch.setattr(copies, "_PIECE", 16 * 4)
    monkeypatch.setattr(pinned, "empty", no_more)
    kept, array = RunCache(), np.arange(1000, dtype=np.int32)
    for _ in range(6):
        found = copies.to_host(cupy.asarray(array), kept)
        assert not pinned.is_lent(found)
        np.testing.assert_array_equal(found, array)


def levels(view, source, **given):
    return cpu.bfs(
        view, source, report=Report("test"), **{"cutoff": None, "targets": None, **given}
    )


@pytest.mark.parametrize("dtype", ["int64", "float64"])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("shape", SHAPES)
def test_path_counts_of_shapes(shape, way, dtype, limited, monkeypatch):
    cutoff = 90 if shape == "path" else None
    for directed in (False, True):
        view = simple(SHAPES[shape](directed=directed).view())
        level = levels(view, 1, cutoff=cutoff)
        # A grid has more paths than int64 holds.
        kind = "float64" if shape == "grid" else dtype
        expected = cpu.path_counts(view, 1, level, dtype=kind, report=Report("test"))
        for share in SHARES:
            monkeypatch.setattr(level_rows, "IN_PLACE", (1 << 22) * (share > 0))
            found, report = limited(tiered.path_counts, view, share, way, 1, level, dtype=kind)
            assert found.dtype == kind
            np.testing.assert_allclose(found, expected, rtol=1e-12 if kind == "float64" else 0)
            assert report.advances[0].supersteps == level.max()


@pytest.mark.parametrize("way", WAYS)
def test_path_counts_of_small_graphs(way, limited, monkeypatch):
    monkeypatch.setattr(limits, "BLOCK", 32)
    for seed in range(24):
        graph = random_small(seed, rank=None)
        view = simple(graph.view())
        source = seed % graph.n
        level = levels(view, source)
        monkeypatch.setattr(level_rows, "IN_PLACE", (1 << 22, 0)[seed % 2])
        expected = cpu.path_counts(view, source, level, dtype="int64", report=Report("test"))
        found, _ = limited(tiered.path_counts, view, 0, way, source, level, dtype="int64")
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(("few", "rows"), [(1 << 20, 1 << 18), (1 << 20, 3), (40, 1 << 18), (0, 3)])
@pytest.mark.parametrize("way", ["auto", "zero-copy"])
def test_path_counts_by_levels_of_few_and_many_edges(way, few, rows, limited, monkeypatch):
    for name, value in (("_DEEP", 0), ("FEW", few), ("MOST_ROWS", rows)):
        monkeypatch.setattr(tiered_counts, name, value)
    made = [rmat(8), rmat(8, directed=True), star(3000), layers(8, 12)]
    for graph in [*made, *(random_small(seed, rank=None) for seed in range(8))]:
        view = simple(graph.view())
        source = 1 % graph.n
        level = levels(view, source)
        expected = cpu.path_counts(view, source, level, dtype="int64", report=Report("test"))
        for share in SHARES:
            found, report = limited(
                tiered.path_counts, view, share, way, source, level, dtype="int64"
            )
            np.testing.assert_array_equal(found, expected)
            reached = view.out.degrees[(level >= 0) & (level < level.max())].sum()
            assert few == 0 or report.advances[0].edges >= reached * view.directed


def test_path_counts_of_deep_graphs_are_left_to_the_device(limited, monkeypatch):
    asked, view = [], grid(40).view()
    superstep = transfer.Transfer.superstep
    monkeypatch.setattr(
        transfer.Transfer,
        "superstep",
        lambda self, *given, **named: (asked.append(1), superstep(self, *given, **named))[1],
    )
    level = levels(view, 0)
    expected = cpu.path_counts(view, 0, level, dtype="float64", report=Report("test"))
    found, report = limited(tiered.path_counts, view, 0.4, "auto", 0, level, dtype="float64")
    np.testing.assert_array_equal(found, expected)
    assert not asked
    edges = view.out.degrees[level < level.max()].sum()
    assert report.advances[0].edges == edges
    assert 0 < report.moved["zero-copy"]["bytes"] < edges * 4


def test_more_paths_than_fit_in_deep_graphs(limited):
    too_many = layers(8, 21).view()
    source = too_many.num_vertices - 2
    level = levels(too_many, source)
    assert level.max() > tiered_counts._DEEP
    with pytest.raises(IntegerOverflow, match="does not fit int64"):
        limited(tiered.path_counts, too_many, 0.4, "auto", source, level, dtype="int64")


@pytest.mark.parametrize("longer", [0, 1])
def test_lists_of_rows_may_be_longer_than_asked_for(longer, limited, monkeypatch):
    """What was given back may be twice as long as asked for: one array here, never the other."""
    take, gather, turns, seen = RunCache.take, Subgraph.gather, itertools.count(), []

    def taken(self, size, dtype):
        return take(self, 2 * size if next(turns) % 2 == longer else size, dtype)

    def gathered(self, *given):
        vertex, start = self._listed
        seen.append((len(vertex), len(start)))
        return gather(self, *given)

    view = simple(rmat(9).view())
    level = levels(view, 3)
    expected = cpu.path_counts(view, 3, level, dtype="int64", report=Report("test"))
    monkeypatch.setattr(RunCache, "take", taken)
    monkeypatch.setattr(Subgraph, "gather", gathered)
    found, _ = limited(tiered.path_counts, view, 0, "compact", 3, level, dtype="int64")
    assert seen
    assert all(rows + 1 == starts for rows, starts in seen)
    np.testing.assert_array_equal(found, expected)
    # More rows than at first, of which one list had room for more.
    subgraph = Subgraph.__new__(Subgraph)
    subgraph._tier = SimpleNamespace(num_vertices=1000, kept=RunCache())
    subgraph._vertex, subgraph._start = cupy.zeros(1000, np.uint32), cupy.zeros(1001, np.uint32)
    subgraph._host_vertex = subgraph._host_start = np.empty(0, np.uint32)
    subgraph._ready = cupy.cuda.Event()
    for rows in (100, 350, 390, 600):
        subgraph.bring_rows(rows)
        assert [len(each) for each in subgraph._listed] == [rows, rows + 1]


def test_more_paths_than_fit(limited):
    fits, too_many = layers(8, 20).view(), layers(8, 21).view()  # 2**60, 2**63 paths
    for view in (fits, too_many):
        source = view.num_vertices - 2
        level = levels(view, source)
        found, _ = limited(tiered.path_counts, view, 0, "auto", source, level, dtype="float64")
        expected = cpu.path_counts(view, source, level, dtype="float64", report=Report("test"))
        np.testing.assert_array_equal(found, expected)
    with pytest.raises(IntegerOverflow, match="does not fit int64"):
        limited(tiered.path_counts, too_many, 0, "auto", source, level, dtype="int64")


def test_a_limit_too_small_for_the_vertices():
    view = rmat(8).view()
    level = levels(view, 0)
    with dask.config.set({"graphgpu.device-memory-limit": 1000}):
        with pytest.raises(LimitTooSmall, match=r"components of 256 vertices needs .* is 1,000"):
            tiered.components(view, Report("test"))
        with pytest.raises(LimitTooSmall, match=r"path counts of 256 vertices needs .* is 1,000"):
            tiered.path_counts(view, 0, level, dtype="int64", report=Report("test"))
