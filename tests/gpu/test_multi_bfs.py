"""Searches from many sources at once on the GPU against an oracle and searches one by one."""

import importlib

import dask
import numpy as np
import oracles
import pytest
from made_graphs import edgeless, path, random_small, rmat

from dask_graphgpu.engine import cpu
from dask_graphgpu.report import Report

pytestmark = pytest.mark.gpu

gpu = importlib.import_module("dask_graphgpu.engine.gpu.multi_bfs")


def search(view, sources, cutoff=None, targets=None, report=None):
    level = gpu.multi_bfs(
        view, np.array(sources), cutoff=cutoff, targets=targets, report=report or Report("bfs")
    )
    assert (level.dtype, level.shape) == (np.int32, (len(sources), view.num_vertices))
    return level


@pytest.mark.parametrize("direction", ["auto", "push", "pull"])
@pytest.mark.parametrize("cutoff", [None, 0, 1, 3])
def test_small_graphs(direction, cutoff):
    for seed in range(24):
        graph = random_small(seed)
        sources = np.random.default_rng(seed).integers(graph.n, size=1 + 63 * (seed % 3 > 0))
        report = Report("bfs")
        with dask.config.set({"graphgpu.direction": direction}):
            level = search(graph.view(into=True), sources, cutoff, report=report)
        for source, found in zip(sources.tolist(), level.tolist(), strict=True):
            hops = oracles.bfs(graph.n, graph.edges(), source, directed=graph.directed)
            last = graph.n if cutoff is None else cutoff
            assert found == [h if (h := hops.get(v, -1)) <= last else -1 for v in range(graph.n)]
        ways = {advance.direction for advance in report.advances}
        assert ways <= ({"push", "pull"} if direction == "auto" else {direction})


@pytest.mark.parametrize("number", [1, 3, 64])
def test_targets(number):
    """Levels up to the farthest target are all there; the searches do not go on for long."""
    graph = path(400)
    sources, targets = np.arange(number), np.array([5, 50, 90])
    level = search(graph.view(), sources, targets=targets)
    wanted = np.abs(np.arange(400) - sources[:, None])
    farthest = wanted[:, targets].max()
    np.testing.assert_array_equal(level[:, targets], wanted[:, targets])
    assert farthest <= level.max() <= farthest + 1
    same = np.where(wanted <= level.max(), wanted, -1)
    np.testing.assert_array_equal(level, same)
    apart = search(edgeless(70).view(), sources, targets=targets[:1])
    assert (apart >= 0).sum() == number


def test_edges_are_read_for_many_searches_at_once():
    view = rmat(14).view()
    sources = np.argsort(-view.out.degrees)[:64]
    report = Report("bfs")
    level = search(view, sources, report=report)
    wanted = cpu.multi_bfs(view, sources, cutoff=None, targets=None, report=Report("bfs"))
    np.testing.assert_array_equal(level, wanted)
    assert {advance.direction for advance in report.advances} == {"push", "pull"}
    assert sum(advance.edges for advance in report.advances) < 8 * view.num_edges
    assert sum(advance.supersteps for advance in report.advances) >= level.max()


def test_searches_of_few_edges_are_pushed_beside_pulls_of_the_others(monkeypatch):
    """So that vertices have all bits that they look for before the end of their rows."""
    view = rmat(14).view()
    sources = np.random.default_rng(3).choice(np.flatnonzero(view.out.degrees), 64, replace=False)
    wanted = cpu.multi_bfs(view, sources, cutoff=None, targets=None, report=Report("bfs"))
    read = {}
    for few in (gpu.FEW, 0):
        monkeypatch.setattr(gpu, "FEW", few)
        report = Report("bfs")
        np.testing.assert_array_equal(search(view, sources, report=report), wanted)
        read[few] = sum(advance.edges for advance in report.advances)
    monkeypatch.undo()
    assert read[gpu.FEW] < 0.9 * read[0]


@pytest.mark.parametrize("cutoff", [14, 15, 16, 17, None])
@pytest.mark.parametrize("vertices", [31, 32, 65])
def test_depths_around_those_that_are_kept_as_bits(cutoff, vertices):
    """`PLANES` bits of a depth are; larger ones are written where they are found."""
    assert 2**gpu.PLANES == 16
    sources = np.array([0, vertices // 2, vertices - 1])
    wanted = np.abs(np.arange(vertices) - sources[:, None])
    level = search(path(vertices).view(), sources, cutoff)
    wanted = np.where(wanted <= (vertices if cutoff is None else cutoff), wanted, -1)
    np.testing.assert_array_equal(level, wanted)
