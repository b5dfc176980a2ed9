"""Components on several GPUs, against the CPU engine."""

from importlib import import_module

import numpy as np
import pytest
from cut_graphs import cut
from device_rank_runs import SEVERAL, marks, on_gpus
from made_graphs import grid, path, random_small, rmat

from dask_graphgpu.engine import cpu, device_ranks
from dask_graphgpu.engine.device_ranks.border import DeviceBorder
from dask_graphgpu.engine.device_ranks.components import Joined
from dask_graphgpu.engine.device_ranks.view import border_of
from dask_graphgpu.partition.csr import from_edges
from dask_graphgpu.partition.view import View
from dask_graphgpu.report import Report

pytestmark = marks

FOREST = import_module("dask_graphgpu.engine.device_ranks.components")


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
    monkeypatch.setattr(FOREST, "VALUES_A_PLACE", values_a_place)
    monkeypatch.setattr(FOREST, "FEW_PAIRS", few_pairs)
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
    monkeypatch.setattr(FOREST, "VALUES_A_PLACE", 8)
    shapes = [rmat(12), path(300)]  # of the second one each rank has many trees
    for made, whole in zip(shapes, (False, True), strict=True):
        refreshed.clear()
        found, _ = components_of(made.view(), 2, "random", 1)
        np.testing.assert_array_equal(found, cpu.components(made.view(), Report("test")))
        assert bool(refreshed) == whole


@pytest.mark.parametrize("asked", [0, 1 << 16])
def test_components_whose_largest_trees_meet_once(asked, monkeypatch):
    """Two cliques, the largest tree of their rank each, and an edge that stands last in its rows."""
    monkeypatch.setattr(FOREST, "_ASKED", asked)
    clique = np.array([(a, b) for a in range(20) for b in range(20) if a != b])
    for ends in ([], [(19, 39), (39, 19)]):
        pairs = np.concatenate([clique, clique + 20, np.array(ends, np.int64).reshape(-1, 2)])
        view = View.of(from_edges(40, *pairs.T), directed=False)
        found, report = components_of(view, 2, "blocks")
        assert found.tolist() == ([0] * 40 if ends else [0] * 20 + [20] * 20)
        looked = bool(ends) and not asked  # at all ghosts, where the first vertices do not tell
        assert report.advances[0].edges == 20 + looked


@pytest.mark.parametrize("method", ["components", "bfs"])
def test_what_one_rank_has_let_go_of_is_made_again(method):
    """Others have begun with what they kept, before the ranks agree that it is no use."""
    view = rmat(9).view()
    parts = cut(view, SEVERAL[-1], "random", 3)

    def run(share):
        if method == "components":
            return device_ranks.components(share, Report("test"))
        return device_ranks.bfs(share, 5, cutoff=None, targets=None, report=Report("test"))

    def work(share):
        found = [run(share), run(share)]
        border = border_of(share)
        assert border.drop() if share.ranks.rank == 1 else border._kept
        return [*found, run(share), run(share)]

    one = cpu.components(view, Report("test"))
    if method == "bfs":
        one = cpu.bfs(view, 5, cutoff=None, targets=None, report=Report("test"))
    for labels in zip(*on_gpus(parts, work), strict=True):
        np.testing.assert_array_equal(parts.whole(labels), one)
