"""Vertex programs on several GPUs, each a thread's of this process, against one rank of the CPU engine."""

import gc
import threading
import time
import weakref
from collections import Counter
from dataclasses import replace

import cupy
import dask
import numpy as np
import pandas as pd
import pytest
from cut_graphs import cut
from device_rank_runs import SEVERAL, SIZES, marks, on_gpus, on_ranks
from made_graphs import edgeless, grid, path, random_small, rmat, star
from rank_programs import CASES, HOPS, SUPERSTEPS, TOP
from rank_runs import made_view, on_one, put_together, same

import dask_graphgpu as dg
from dask_graphgpu import errors
from dask_graphgpu.algorithms.pagerank import power_program
from dask_graphgpu.algorithms.sssp import PROGRAM as SSSP
from dask_graphgpu.engine import cpu, device_ranks, driver
from dask_graphgpu.engine.device_ranks import border as rank_border
from dask_graphgpu.engine.device_ranks import joined as rank_joined
from dask_graphgpu.engine.device_ranks import near_far as rank_near_far
from dask_graphgpu.engine.device_ranks import news, synchronous
from dask_graphgpu.engine.device_ranks.border import DeviceBorder
from dask_graphgpu.engine.device_ranks.in_place import RankInPlace
from dask_graphgpu.engine.device_ranks.joined import Joined
from dask_graphgpu.engine.device_ranks.near_far import RankNearFar
from dask_graphgpu.engine.device_ranks.view import border_of
from dask_graphgpu.engine.gpu import asked, near_far
from dask_graphgpu.exchange import nccl
from dask_graphgpu.exchange.idle import Idle
from dask_graphgpu.exchange.nccl import DeviceLink
from dask_graphgpu.partition.csr import from_edges
from dask_graphgpu.partition.view import View
from dask_graphgpu.report import Report

pytestmark = marks


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", CASES)
def test_every_program_gives_the_same_on_any_number_of_gpus(name, size):
    case = CASES[name]
    for seed, way in ((1, "random"), (2, "last")):
        view = made_view(seed, case)
        expected = on_one(case.program, view, **case.arguments(view.num_vertices))
        found = on_ranks(
            case.program, cut(view, size, way, seed), **case.arguments(view.num_vertices)
        )
        same(found, expected, rtol=max(case.rtol, 1e-12 if name in SUPERSTEPS else 0))
        if name in SUPERSTEPS:
            assert found.supersteps == expected.supersteps


@pytest.mark.parametrize("name", CASES)
def test_a_run_again_on_the_same_share(name):
    """It has another one's arrays and recorded launches, and leaves that one's answer as it is."""
    case = CASES[name]
    view = made_view(4, case)
    parts = cut(view, SEVERAL[-1], "random", 4)
    given = case.arguments(view.num_vertices)
    others = given | ({"sources": [view.num_vertices // 2]} if "sources" in given else {})
    asked = [given, others, given]

    def work(share):
        report = Report("test")
        return [device_ranks.run(case.program, share, report=report, **each) for each in asked]

    found = on_gpus(parts, work)
    for each, *states in zip(asked, *found, strict=True):
        expected = on_one(case.program, view, **each)
        same(put_together(parts, states), expected, rtol=max(case.rtol, 1e-12))


def test_what_runs_leave_goes_with_the_share():
    def work(share):
        given = {"max_supersteps": 2, "exact_supersteps": True, "report": Report("test")}
        device_ranks.run(power_program("float64", weighted=False, personal=False), share, **given)
        device_ranks.bfs(share, 0, cutoff=None, targets=None, report=Report("test"))
        device_ranks.components(share, Report("test"))
        device_ranks.run(HOPS, share, sources=[0], report=Report("test"))
        return weakref.ref(border_of(share))

    left = on_gpus(cut(rmat(7).view(), 2, "random"), work)
    gc.collect()
    assert [each() for each in left] == [None, None]


@pytest.mark.parametrize("direction", ["push", "pull", "notify-pull"])
@pytest.mark.parametrize("name", CASES)
def test_forced_directions_give_the_same(name, direction):
    case = CASES[name]
    view = made_view(3, case)
    expected = on_one(case.program, view, **case.arguments(view.num_vertices))
    with dask.config.set({"graphgpu.direction": direction}):
        parts = cut(view, SEVERAL[-1], "random")
        found = on_ranks(case.program, parts, **case.arguments(view.num_vertices))
    same(found, expected, rtol=max(case.rtol, 1e-12))


def test_local_convergence_saves_exchanges():
    view = path(400, directed=True).view()
    found = on_ranks(HOPS, cut(view, 2, "blocks"), sources=[0])
    assert found["hops"].tolist() == list(range(400))
    assert found.supersteps == 3
    with dask.config.set({"graphgpu.local-convergence": False}):
        found = on_ranks(HOPS, cut(view, 2, "blocks"), sources=[0])
    assert found["hops"].tolist() == list(range(400))
    assert found.supersteps == 400


@pytest.mark.parametrize("far", [1 / 8, 1 / 64])
@pytest.mark.parametrize("way", ["blocks", "random", "cyclic"])
def test_shortest_paths_in_short_stretches(way, far, monkeypatch):
    monkeypatch.setattr(near_far, "FAR_SHARE", far)
    monkeypatch.setattr(near_far, "FAR_LEAST", 8)
    monkeypatch.setattr(rank_near_far, "FEW_EDGES", 64)
    for made in (grid(30), rmat(9)):
        for kind in ("int64", "float32"):
            weight = np.random.default_rng(1).integers(0, 65, len(made.source)).astype(kind)
            view = replace(made, weight=weight).view()
            expected = on_one(SSSP, view, sources=[3])
            found = on_ranks(SSSP, cut(view, SEVERAL[-1], way, 2), sources=[3])
            same(found, expected, rtol=1e-5 if kind == "float32" else 0)


@pytest.mark.parametrize("values_a_place", [1, 32])
@pytest.mark.parametrize("way", ["blocks", "random"])
def test_values_that_are_told_by_lists(way, values_a_place, monkeypatch):
    """However few there is room for: what is left is told the next time."""
    used = []

    def listed(engine, *_):
        used.append(True)  # not the engine: its GPUs would stay connected
        return engine._listed

    monkeypatch.setattr(news, "VALUES_A_PLACE", values_a_place)
    monkeypatch.setattr(RankInPlace, "_next_exchange", listed)
    for made in (grid(30), rmat(9), rmat(9, directed=True)):
        for kind in ("int64", "float32"):
            weight = np.random.default_rng(1).integers(0, 65, len(made.source)).astype(kind)
            view = replace(made, weight=weight).view()
            parts = cut(view, SEVERAL[-1], way, 2)
            expected = on_one(SSSP, view, sources=[3])
            found = on_ranks(SSSP, parts, sources=[3])
            same(found, expected, rtol=1e-5 if kind == "float32" else 0)
        labels = CASES["labels"].program
        same(on_ranks(labels, parts), on_one(labels, view), rtol=0)
    assert used


def test_few_values_are_told_by_lists(monkeypatch):
    """Once there are no more than before, of a border that is large beside them."""
    by_list, choose = [], RankInPlace._next_exchange

    def chosen(engine, *given):
        found = choose(engine, *given)
        by_list.append(found is engine._listed)
        return found

    monkeypatch.setattr(RankInPlace, "_next_exchange", chosen)
    view = rmat(12).view()
    parts = cut(view, 2, "random")
    expected = on_one(HOPS, view, sources=[0])
    same(on_ranks(HOPS, parts, sources=[0]), expected, rtol=0)
    assert not any(by_list)
    weight = np.random.default_rng(1).integers(1, 65, len(rmat(12).source))
    view = replace(rmat(12), weight=weight).view()
    monkeypatch.setattr(rank_near_far, "FEW_EDGES", 64)
    monkeypatch.setattr(rank_near_far, "FEW_EDGES_A_GHOST", 0)
    monkeypatch.setattr(news, "VALUES_A_PLACE", 4)
    found = on_ranks(SSSP, cut(view, 2, "random"), sources=[0])
    same(found, on_one(SSSP, view, sources=[0]), rtol=0)
    assert any(by_list)


@pytest.mark.parametrize("size", SEVERAL)
@pytest.mark.parametrize("name", ["labels", "sssp float32", "sssp int64"])
def test_what_travels_is_aligned(name, size, monkeypatch):
    """NCCL copies what is not byte by byte."""
    offsets, swap = [], DeviceLink.swap

    def noted(link, pairs):
        pairs = list(pairs)
        parts = [part for pair in pairs for side in pair for part in side if part.nbytes > 8]
        offsets.extend(part.data.ptr % rank_border.ALIGNED for part in parts)
        swap(link, pairs)

    monkeypatch.setattr(rank_border, "FEW_BYTES", 0)
    monkeypatch.setattr(DeviceLink, "swap", noted)
    monkeypatch.setattr(RankInPlace, "_next_exchange", lambda engine, *_: engine._whole)
    case = CASES[name]
    view = made_view(6, case)
    for way in ("random", "last"):
        found = on_ranks(case.program, cut(view, size, way), **case.arguments(view.num_vertices))
        same(found, on_one(case.program, view, **case.arguments(view.num_vertices)), rtol=1e-12)
    assert offsets
    assert not any(offsets)


@pytest.mark.parametrize(("kind", "number"), [("int64", 1), ("float32", 2)])
def test_narrow_values_say_themselves_who_is_reached(kind, number, monkeypatch):
    travelled, refresh = [], DeviceBorder.refresh

    def noted(border, arrays):
        travelled.append(len(arrays))
        refresh(border, arrays)

    monkeypatch.setattr(DeviceBorder, "refresh", noted)
    made = grid(12)
    weight = np.random.default_rng(1).integers(1, 65, len(made.source)).astype(kind)
    view = replace(made, weight=weight).view()
    found = on_ranks(SSSP, cut(view, 2, "random"), sources=[3])
    same(found, on_one(SSSP, view, sources=[3]), rtol=1e-5 if kind == "float32" else 0)
    assert set(travelled) == {number}


@pytest.mark.parametrize("overlap", [False, True])
@pytest.mark.parametrize("block", [16, 64, 4096])
@pytest.mark.parametrize("size", SEVERAL)
def test_sums_by_blocks_of_sources(size, block, overlap, monkeypatch):
    joins = []
    join = DeviceLink.join
    monkeypatch.setattr(DeviceLink, "join", lambda link: (joins.append(link), join(link)))
    monkeypatch.setattr(asked, "_MANY_EDGES", 0)
    monkeypatch.setattr(synchronous, "sizes", lambda item: (block, 16 * block))
    program = power_program("float32", weighted=False, personal=False)
    given = {"max_supersteps": 12, "exact_supersteps": True, "constants": {"tolerance": 0.0}}
    for made in (rmat(9, directed=True), grid(12)):
        view = made.view(into=True)
        expected = on_one(program, view, **given)

        def work(share):
            share.by_degree = True
            return [
                device_ranks.run(program, share, report=Report("test"), **given) for _ in range(2)
            ]

        parts = cut(view, size, "random")
        with monkeypatch.context() as rows, dask.config.set({"graphgpu.overlap": overlap}):
            rows.setattr(synchronous.RankSynchronous, "_pull_lists", None)  # not by rows
            found = on_gpus(parts, work)
        for states in zip(*found, strict=True):
            same(put_together(parts, states), expected, rtol=1e-5)
    assert bool(joins) == overlap


def test_overlap_is_true_or_false():
    parts = cut(rmat(5).view(), 2, "random")
    with (
        dask.config.set({"graphgpu.overlap": "yes"}),
        pytest.raises(errors.InvalidArgument, match="overlap is 'yes': give True or False"),
    ):
        on_ranks(HOPS, parts, sources=[0], max_supersteps=2)


def test_the_largest_integer_is_a_distance_like_any_other():
    view = path(6, directed=True, weight=np.array([2**62, 2**62 - 1, 0, 0, 0])).view()
    program = replace(CASES["sssp int64"].program, bound=None)
    for direction in ("auto", "push", "pull"):
        with dask.config.set({"graphgpu.direction": direction}):
            found = on_ranks(program, cut(view, 2, "cyclic"), sources=[0])
        assert found["distance"].tolist() == [0, 2**62, TOP, TOP, TOP, TOP]
        assert found.reached.all()


@pytest.mark.parametrize("direction", ["auto", "pull"])
def test_overflow_on_one_gpu_is_an_error_on_all(direction):
    view = path(3, directed=True, weight=np.array([TOP, TOP])).view()
    program = replace(CASES["sssp int64"].program, bound=None)
    with (
        dask.config.set({"graphgpu.direction": direction}),
        pytest.raises(errors.IntegerOverflow, match=r"compute .*float weights"),
    ):
        on_ranks(program, cut(view, 2, "cyclic"), sources=[0])


def test_what_overflows_before_the_others_are_heard_is_no_error(monkeypatch):
    """The short way to vertex 3 leads over the other rank, which tells of it in the first exchange."""
    ends = np.array([[0, 0, 1, 2, 3], [3, 1, 2, 3, 4]])
    weight = np.array([2**62, 0, 0, 0, 2**62])
    view = View.of(from_edges(5, *ends, {"weight": weight}))
    program = replace(CASES["sssp int64"].program, bound=None)
    monkeypatch.setattr(RankNearFar, "measured", lambda self, places: 2.0**62)
    found = on_ranks(program, cut(view, 2, "blocks"), sources=[0])
    assert found["distance"].tolist() == [0, 0, 0, 0, 2**62]
    view = View.of(from_edges(5, *ends, {"weight": np.full(5, 2**62)}))
    with pytest.raises(errors.IntegerOverflow, match="compute"):
        on_ranks(program, cut(view, 2, "blocks"), sources=[0])


def test_values_that_are_wide_on_one_gpu_are_wide_on_all():
    """Whether they fit 32 bits is seen in the values that a rank has."""
    weight = np.ones(5, np.int64)
    weight[4] = 2**40
    view = path(6, directed=True, weight=weight).view()
    found = on_ranks(CASES["sssp int64"].program, cut(view, 2, "blocks"), sources=[0])
    assert found["distance"].tolist() == [0, 1, 2, 3, 4, 2**40 + 4]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("way", ["blocks", "random"])
def test_searches_and_components(size, way):
    for view in (grid(30).view(), random_small(5, rank=None).view(), edgeless(9).view()):
        report = Report("test")
        expected = cpu.bfs(view, 3, cutoff=None, targets=None, report=report)
        parts = cut(view, size, way)
        levels = on_gpus(
            parts,
            lambda share, report=report: device_ranks.bfs(
                share, 3, cutoff=None, targets=None, report=report
            ),
        )
        np.testing.assert_array_equal(parts.whole(levels), expected)
        wanted = cpu.components(view, report)
        labels = on_gpus(parts, lambda share, report=report: device_ranks.components(share, report))
        np.testing.assert_array_equal(parts.whole(labels), wanted)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("least", [0, 1])  # of weights: with 0 there are plateaus
@pytest.mark.parametrize("kind", ["int64", "float32"])
def test_predecessors(size, least, kind):
    rng = np.random.default_rng(size)
    for made in (rmat(8), rmat(8, directed=True), grid(12), star(40), edgeless(9)):
        weight = rng.integers(least, 4, len(made.source)).astype(kind)
        rank = rng.permutation(made.n).astype(np.uint32)
        view = replace(made, weight=weight, rank=rank).view(into=True)
        report, source = Report("test"), made.n // 2
        state = on_one(SSSP, view, sources=[source])
        level = cpu.bfs(view, source, cutoff=None, targets=None, report=report)
        parts = cut(view, size, "random", 3)
        for hops, distance, reached in (
            (False, state["distance"], state.reached),
            (True, level, level >= 0),
        ):
            expected = cpu.predecessors(view, source, distance, reached, hops=hops, report=report)

            def work(share, hops=hops, values=(distance, reached), parts=parts, source=source):
                own, ghosts = parts.owned[share.ranks.rank], share.border.num_ghosts
                given = [np.r_[each[own], np.ones(ghosts, each.dtype)] for each in values]
                given = share, int(parts.numbers[source]), *given
                return device_ranks.predecessors(*given, hops=hops, report=Report("test"))

            found = parts.dense(parts.whole(on_gpus(parts, work)))
            np.testing.assert_array_equal(found, expected)


def test_answers_that_stay_on_the_gpu():
    """They are as those on the host, and no later run writes to them."""
    made = rmat(8)
    weight = np.random.default_rng(2).integers(1, 9, len(made.source))
    view = replace(made, weight=weight).view()

    def asked(view):
        report = Report("test")
        power = power_program("float64", weighted=False, personal=False)
        steps = {"max_supersteps": 3, "exact_supersteps": True, "report": report}
        found = []
        for source in (0, 5):
            state = device_ranks.run(SSSP, view, sources=[source], report=report)
            found += [state["distance"], state.reached]
            found.append(device_ranks.bfs(view, source, cutoff=None, targets=None, report=report))
            found.append(device_ranks.components(view, report))
            found.append(device_ranks.run(power, view, **steps)["rank"])
        return found

    def work(share):
        stayed, host = asked(share.staying()), asked(share)
        assert all(isinstance(each, cupy.ndarray) for each in stayed)
        given = {"hops": True, "report": Report("test")}
        before = [
            device_ranks.predecessors(share, 0, x, x >= 0, **given) for x in (stayed[2], host[2])
        ]
        return [cupy.asnumpy(each) for each in stayed], host, before

    for stayed, host, before in on_gpus(cut(view, SEVERAL[-1], "random"), work):
        for one, other in zip(stayed, host, strict=True):
            assert one.dtype == other.dtype
            np.testing.assert_array_equal(one, other)
        np.testing.assert_array_equal(*before)


@pytest.mark.parametrize("size", SEVERAL)
@pytest.mark.parametrize("direction", ["auto", "push", "pull", "notify-pull"])
def test_searches_on_the_same_share(size, direction):
    """What a search leaves, the next one takes."""
    shapes = [rmat(8), rmat(7, directed=True), star(70), path(90, directed=True)]
    shapes += [random_small(seed, rank=None) for seed in range(4)]
    for made in shapes:
        view = made.view(into=True)
        n = view.num_vertices
        parts = cut(view, size, "random", 1)
        asked = [(0, None), (n // 2, None), (n - 1, 2), (n // 3, 0), (0, None)]

        def work(share, asked=asked):
            given = {"targets": None, "report": Report("test")}
            return [device_ranks.bfs(share, s, cutoff=cutoff, **given) for s, cutoff in asked]

        with dask.config.set({"graphgpu.direction": direction}):
            found = on_gpus(parts, work)
        for (source, cutoff), *levels in zip(asked, *found, strict=True):
            wanted = cpu.bfs(view, source, cutoff=cutoff, targets=None, report=Report("test"))
            np.testing.assert_array_equal(parts.whole(levels), wanted)


def test_levels_of_a_deep_search_are_queued_together(monkeypatch):
    launches, launch = Counter(), nccl.Recorded.__call__

    def counted(step):
        launches[threading.current_thread().name] += 1
        launch(step)

    monkeypatch.setattr(nccl.Recorded, "__call__", counted)
    view = path(500).view()
    given = {"cutoff": None, "targets": None, "report": Report("test")}
    parts = cut(view, 2, "blocks")
    levels = on_gpus(parts, lambda share: device_ranks.bfs(share, 0, **given))
    assert parts.whole(levels).tolist() == list(range(500))
    assert max(launches.values()) < 60


def test_searches_pull_where_all_frontiers_have_many_edges():
    parts, reports = cut(rmat(11).view(), 2, "random"), [Report("test"), Report("test")]

    def work(share):
        report = reports[share.ranks.rank]
        return device_ranks.bfs(share, 0, cutoff=None, targets=None, report=report)

    levels = parts.whole(on_gpus(parts, work))
    for report in reports:
        assert "pull" in {row.direction for row in report.advances}
        assert sum(row.supersteps for row in report.advances) == levels.max() + 1
        assert report.advances[0].frontier == 1


def components_of(view, size, way, seed=0):
    """On ranks, as dense ids' numbers, and what rank 0 reported."""
    parts, reports = cut(view, size, way, seed), [Report("test") for _ in range(size)]
    labels = on_gpus(parts, lambda share: device_ranks.components(share, reports[share.ranks.rank]))
    return parts.whole(labels), reports[0]


@pytest.mark.parametrize("size", SEVERAL)
@pytest.mark.parametrize("way", ["blocks", "cyclic", "random", "last"])
def test_components_are_those_of_one_rank(size, way):
    shapes = [grid(20), path(150, directed=True), rmat(8), rmat(8, directed=True)]
    shapes += [random_small(seed, rank=None, directed=bool(seed % 2)) for seed in range(6)]
    for made in shapes:
        view = made.view()
        found, _ = components_of(view, size, way, 1)
        np.testing.assert_array_equal(found, cpu.components(view, Report("test")))


@pytest.mark.parametrize(("values_a_place", "few_pairs"), [(1, 4096), (4, 2), (1 << 30, 1)])
def test_components_whose_labels_are_told_by_lists(values_a_place, few_pairs, monkeypatch):
    """Of border vertices outside the largest trees; where there is no room for them, of all.

    Pairs of labels travel as few, and where there are more, as many.
    """
    monkeypatch.setattr(rank_joined, "VALUES_A_PLACE", values_a_place)
    monkeypatch.setattr(rank_joined, "FEW_PAIRS", few_pairs)
    many, join = [], Joined.join_many

    def counted(joined):
        many.append(joined)
        join(joined)

    monkeypatch.setattr(Joined, "join_many", counted)
    for made in (rmat(8), random_small(3, rank=None), path(150), grid(20)):
        view, parts = made.view(), cut(made.view(), SEVERAL[-1], "random", 2)

        def work(share):
            return [device_ranks.components(share, Report("test")) for _ in range(3)]

        found = on_gpus(parts, work)
        wanted = cpu.components(view, Report("test"))
        for labels in zip(*found, strict=True):
            np.testing.assert_array_equal(parts.whole(labels), wanted)
    assert bool(many) == (few_pairs < 4096)


def test_ghosts_in_largest_trees_are_not_joined_one_by_one(monkeypatch):
    """Only labels of trees that are in none travel as pairs."""
    counts, run = [], Joined.run

    def counted(joined):
        run(joined)
        counts.append(sum(joined._counts))

    monkeypatch.setattr(Joined, "run", counted)
    view = rmat(12).view()
    parts = cut(view, 2, "random")
    ghosts = sum(on_gpus(parts, lambda share: share.border.num_ghosts))
    labels = on_gpus(parts, lambda share: device_ranks.components(share, Report("test")))
    np.testing.assert_array_equal(parts.whole(labels), cpu.components(view, Report("test")))
    assert 0 < max(counts) < ghosts / 100


def test_few_labels_are_told_of_one_large_component(monkeypatch):
    refreshed, refresh = [], DeviceBorder.refresh

    def counted(border, arrays):
        refreshed.append(len(arrays))
        refresh(border, arrays)

    monkeypatch.setattr(DeviceBorder, "refresh", counted)
    monkeypatch.setattr(rank_joined, "VALUES_A_PLACE", 8)
    shapes = [rmat(12), path(300)]  # of the second one each rank has many trees
    for made, whole in zip(shapes, (False, True), strict=True):
        refreshed.clear()
        found, _ = components_of(made.view(), 2, "random", 1)
        np.testing.assert_array_equal(found, cpu.components(made.view(), Report("test")))
        assert bool(refreshed) == whole


@pytest.mark.parametrize("asked", [0, 1 << 16])
def test_components_whose_largest_trees_meet_once(asked, monkeypatch):
    """Two cliques, the largest tree of their rank each, and an edge that stands last in its rows."""
    monkeypatch.setattr(rank_joined, "_ASKED", asked)
    clique = np.array([(a, b) for a in range(20) for b in range(20) if a != b])
    for ends in ([], [(19, 39), (39, 19)]):
        pairs = np.concatenate([clique, clique + 20, np.array(ends, np.int64).reshape(-1, 2)])
        view = View.of(from_edges(40, *pairs.T), directed=False)
        found, report = components_of(view, 2, "blocks")
        assert found.tolist() == ([0] * 40 if ends else [0] * 20 + [20] * 20)
        looked = bool(ends) and not asked  # at all ghosts, where the first vertices do not tell
        assert report.advances[0].edges == 40 + looked


def test_a_rank_that_raises_ends_the_others():
    """They wait for its GPU, and would do so for ever."""

    def work(share):
        border = border_of(share)
        if share.ranks.rank == 1:
            raise ZeroDivisionError("here")
        border.refresh([cupy.zeros(share.num_vertices)])
        border.link.settle()

    start = time.monotonic()
    with pytest.raises(ZeroDivisionError, match="here"):
        on_gpus(cut(grid(40).view(), 2, "blocks"), work)
    assert time.monotonic() - start < 60


def test_gpus_are_connected_anew_after_a_loss():
    view = grid(40).view()
    expected = on_one(HOPS, view, sources=[0])["hops"]

    def work(share):
        first = border_of(share)
        if share.ranks.rank == 1:
            first.link.abort()
        state = device_ranks.run(HOPS, share, sources=[0], report=Report("test"))
        assert border_of(share) is not first
        return state["hops"]

    parts = cut(view, 2, "blocks")
    np.testing.assert_array_equal(parts.whole(on_gpus(parts, work)), expected)


def test_a_connection_is_used_again(monkeypatch):
    """By later runs, also of other graphs; but not one that was ended."""
    made, connect = [], nccl._connected

    def counted(ranks, name):
        made.append(ranks.rank)
        return connect(ranks, name)

    monkeypatch.setattr(nccl, "IDLE", Idle(most=2))
    monkeypatch.setattr(nccl, "_connected", counted)
    shapes = [grid(20), rmat(7), path(50, directed=True)]
    for shape in (*shapes, *shapes):
        view = shape.view()
        expected = on_one(HOPS, view, sources=[0])
        same(on_ranks(HOPS, cut(view, 2, "random"), sources=[0]), expected, rtol=0)
        gc.collect()
    assert sorted(made) == [0, 1]

    def work(share):
        border_of(share).link.abort()

    on_gpus(cut(grid(5).view(), 2, "random"), work)
    assert sorted(made) == [0, 1]
    on_ranks(HOPS, cut(grid(5).view(), 2, "random"), sources=[0])
    assert sorted(made) == [0, 0, 1, 1]


# -- graphs of frames -----------------------------------------------------------------------------


def frame():
    rng = np.random.default_rng(4)
    ends = rng.integers(0, 500, (2, 3000))
    weight = rng.integers(1, 20, 3000)
    return pd.DataFrame({"src": ends[0], "dst": ends[1], "weight": weight})


@pytest.mark.parametrize("size", SEVERAL)
def test_methods_of_frames(size):
    one = frame().graph(engine="cpu")
    several = frame().graph(engine="gpu", ranks=size)
    for name, arguments in (
        ("bfs", {"source": 3, "predecessor": True}),
        ("sssp", {"source": 3, "predecessor": True}),
        ("weakly_connected_components", {}),
        ("core_number", {}),
        ("degree", {}),
    ):
        found = getattr(several, name)(**arguments)
        assert dg.last_report().attrs["ranks"] == size
        pd.testing.assert_frame_equal(found, getattr(one, name)(**arguments))
    ranks = several.pagerank()
    assert dg.last_report().attrs["ranks"] == size
    pd.testing.assert_frame_equal(ranks, one.pagerank(), rtol=1e-6)


def test_more_ranks_than_gpus_are_refused():
    with pytest.raises(errors.EngineUnavailable, match="have the same GPU"):
        frame().graph(engine="gpu", ranks=driver.num_gpus() + 1).pagerank()
