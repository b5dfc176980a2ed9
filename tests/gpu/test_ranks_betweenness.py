"""Betweenness on several GPUs, against the CPU engine."""

import numpy as np
import pytest
from cut_graphs import cut
from device_rank_runs import SEVERAL, marks, on_gpus
from made_graphs import (
    SHAPES,
    MadeGraph,
    apart,
    edgeless,
    layers,
    path,
    rmat,
    simple,
)

from dask_graphgpu.engine import cpu, device_ranks
from dask_graphgpu.engine.device_ranks.by_level import ByLevel
from dask_graphgpu.errors import IntegerOverflow
from dask_graphgpu.partition.rowwise import row_ids
from dask_graphgpu.report import Report

pytestmark = marks

PLAIN = {"weighted": False, "endpoints": False, "edges": False}


def sums(view, size, way, sources, seed=0, **given):
    """Of the whole graph, cut; and what rank 0 reports."""
    parts = cut(view, size, way, seed)
    numbers = parts.numbers[np.asarray(sources)]
    reports = [Report("test") for _ in range(size)]

    def work(share):
        how = {**PLAIN, **given, "report": reports[share.ranks.rank]}
        return device_ranks.betweenness(share, numbers, **how)

    return parts.whole(on_gpus(parts, work)), reports[0]


def same(view, size, way, sources, **given):
    how = {**PLAIN, **given, "report": Report("test")}
    expected = cpu.betweenness(view, np.asarray(sources), **how)
    found, _ = sums(view, size, way, sources, **given)
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


def test_who_is_on_no_path_has_nothing():
    """Not what is left of a sum; and the report says what was read."""
    made = layers(5, 7)
    source = made.n - 2
    found, report = sums(made.view(), 2, "random", [source])
    expected = cpu.betweenness(made.view(), np.array([source]), **PLAIN, report=Report("test"))
    np.testing.assert_array_equal(found == 0, expected == 0)
    row = report.advances[-1]
    assert (row.direction, row.supersteps) == ("accumulate", 2 * 8)


@pytest.mark.parametrize("cost", [0.0, np.inf])
@pytest.mark.parametrize("directed", [False, True])
def test_edges_found_from_either_end(cost, directed, monkeypatch):
    """All pushed, and all pulled; with a border of many pieces."""
    monkeypatch.setattr("dask_graphgpu.engine.gpu.level_plan.PUSH_COST", cost)
    monkeypatch.setattr("dask_graphgpu.engine.device_ranks.by_level.CHUNK", 37)
    for shape in ("grid", "skewed"):
        view = simple(SHAPES[shape](directed=directed).view())
        for size in SEVERAL:
            same(view, size, "random", [1, 7, view.num_vertices - 1], endpoints=True)


@pytest.mark.parametrize("directed", [False, True])
def test_the_end_of_fewer_edges_is_taken(directed):
    """Of each pair of levels, on the rank itself; a push counts twice."""
    view = simple(rmat(8, directed=directed).view())
    source = int(np.argmax(np.diff(view.out.offsets)))
    _, report = sums(view, 2, "cyclic", [source])
    level = cpu.bfs(view, source, cutoff=None, targets=None, report=Report("test"))
    tail, head = row_ids(view.out).astype(int), view.out.neighbours.astype(int)
    sizes = np.bincount(level + 1)[1:]
    cost = 0
    for takes, gives, step in [(head, tail, -1), (tail, head, 1)]:
        for depth in range(1, len(sizes) - (step > 0)):
            # What ghosts would give travels, or what was summed up for ghosts: of the smaller level.
            own = (gives if sizes[depth] < sizes[depth + step] else takes) % 2 == 0  # of rank 0
            pulls = np.count_nonzero(level[takes[own]] == depth)
            pushes = np.count_nonzero(level[gives[own]] == depth + step)
            if pulls and pushes:
                cost += pulls if pulls <= 2 * pushes else pushes
    row = report.advances[-1]
    assert row.edges == cost < view.num_edges


@pytest.mark.parametrize("most", [1, 3])
@pytest.mark.parametrize("directed", [False, True])
def test_batches(most, directed, monkeypatch):
    """Of sources that have different numbers of levels."""
    monkeypatch.setattr("dask_graphgpu.engine.gpu.level_sweeps.MOST_SOURCES", most)
    for made in (path(12, directed=directed), apart(5, 20, directed=directed)):
        sources = np.linspace(0, made.n - 1, 7).astype(int)
        same(simple(made.view()), SEVERAL[-1], "random", sources, endpoints=True)


@pytest.mark.parametrize("cost", [0.0, 2.0, np.inf])
def test_levels_that_grow_and_shrink(cost, monkeypatch):
    """Of a narrow one ghosts' values are gathered first, and sent then."""
    monkeypatch.setattr("dask_graphgpu.engine.gpu.level_plan.PUSH_COST", cost)
    widths = [1, 6, 2, 7, 3, 3, 1, 5, 4]
    ends = np.cumsum(widths)
    pairs = [
        np.stack(np.meshgrid(np.arange(end - width, end), np.arange(end, end + after))).reshape(
            2, -1
        )
        for end, width, after in zip(ends, widths, widths[1:], strict=False)
    ]
    made = MadeGraph(int(ends[-1]), *np.concatenate(pairs, 1))
    for size in SEVERAL:
        same(simple(made.view()), size, "random", [0, made.n - 1, 8, 12])


def test_sources_of_a_batch_share_messages(monkeypatch):
    view, exchanged = simple(rmat(8).view()), []
    plain = ByLevel.exchange

    def exchange(self):
        exchanged.append(None)
        plain(self)

    monkeypatch.setattr(ByLevel, "exchange", exchange)
    times = []
    for sources in ([0], [0, 0, 0]):
        exchanged.clear()
        same(view, 2, "random", sources)
        times.append(len(exchanged))
    assert 0 < times[0] == times[1]


def test_sums_may_stay_on_the_gpus():
    view = simple(rmat(6).view())
    parts = cut(view, 2)
    how = {**PLAIN, "report": Report("test")}

    def work(share):
        some = parts.numbers[np.array([3, 4])]
        found = device_ranks.betweenness(share.staying(), some, **how)
        assert not isinstance(found, np.ndarray)
        return found.get()

    expected = cpu.betweenness(view, np.array([3, 4]), **how)
    np.testing.assert_allclose(parts.whole(on_gpus(parts, work)), expected, rtol=1e-9, atol=1e-9)


def test_again_on_one_share():
    """With what an earlier run has left, other sources, and a run of the processors between."""
    view = simple(SHAPES["skewed"](directed=True).view())
    parts = cut(view, SEVERAL[-1])
    chosen = [3, 4], [9], [3, 4, 5]

    def work(share):
        how = {**PLAIN, "report": Report("test")}
        return [
            device_ranks.betweenness(share, parts.numbers[np.array(sources)], **how)
            for sources in chosen
        ]

    for sources, found in zip(chosen, zip(*on_gpus(parts, work), strict=True), strict=True):
        expected = cpu.betweenness(view, np.array(sources), **PLAIN, report=Report("test"))
        np.testing.assert_allclose(parts.whole(list(found)), expected, rtol=1e-9, atol=1e-9)


def test_sources_from_a_deep_search_on_are_shared_out(monkeypatch):
    monkeypatch.setattr("dask_graphgpu.engine.gpu.level_sweeps.MOST_LEVELS", 25)
    # The first source reaches all within 20 levels, the second does not.
    same(path(40).view(), 2, "blocks", [20, 0, 19])


def test_too_many_paths():
    made = layers(20, 245)
    with pytest.raises(IntegerOverflow, match=r"beyond 1\.8e308"):
        sums(made.view(), 2, "random", [made.n - 2])


def test_no_edges_and_no_sources():
    same(edgeless(9).view(), SEVERAL[-1], "cyclic", [3, 4], endpoints=True)
    same(rmat(5).view(), SEVERAL[-1], "cyclic", np.empty(0, np.int64))
