"""Betweenness over edges of which only some fit the limit of device memory, against the CPU engine."""

from importlib import import_module

import dask
import numpy as np
import pytest
from made_graphs import SHAPES, edgeless, layers, random_small, rmat, simple

from dask_graphgpu.engine import cpu, limits, tiered
from dask_graphgpu.errors import IntegerOverflow, LimitTooSmall
from dask_graphgpu.report import Report

pytestmark = pytest.mark.gpu

ours = import_module(
    "dask_graphgpu.engine.tiered.betweenness"
)  # the package has a function of this name
WAYS = ["auto", "stream", "zero-copy", "compact"]


@pytest.fixture
def sums(monkeypatch):
    """Sums with room for this share of the edges beside the vertices, or for the least buffers; and the report."""
    cut_of = limits.Cut.of

    def run(view, sources, share, way="auto", **given):
        def cut(num_edges, edge, vertices, limit, what):
            room = max(int(share * num_edges * edge), limits.BUFFERS * limits.BLOCK * edge)
            return cut_of(num_edges, edge, vertices, vertices + room, what)

        report, how = Report("test"), {"weighted": False, "endpoints": False, "edges": False}
        monkeypatch.setattr(limits.Cut, "of", cut)
        with dask.config.set({"graphgpu.device-memory-limit": "1TB", "graphgpu.transfer": way}):
            found = tiered.betweenness(view, np.asarray(sources), **how | given, report=report)
        return found, report

    return run


def by_cpu(view, sources, **given):
    how = {"weighted": False, "endpoints": False, "edges": False, **given}
    return cpu.betweenness(view, np.asarray(sources), **how, report=Report("test"))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize(
    "shape", sorted(set(SHAPES) - {"path"})
)  # its levels are too many for streams
def test_shapes(shape, directed, way, sums):
    for ids, share, number in (("uint32", 0, 11), ("uint64", 0.4, 3), ("uint32", 1, 1)):
        view = simple(SHAPES[shape](directed=directed, ids=ids).view())
        sources = np.linspace(0, view.num_vertices - 1, number).astype(int)
        found, _ = sums(view, sources, share, way)
        assert found.dtype == np.float64
        np.testing.assert_allclose(found, by_cpu(view, sources), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("endpoints", [False, True])
def test_small_graphs(way, endpoints, sums, monkeypatch):
    monkeypatch.setattr(limits, "BLOCK", 32)
    for seed in range(24):
        monkeypatch.setattr(ours, "AT_ONCE", (1, 3, 8)[seed % 3])
        graph = random_small(seed, rank=None)
        view, rng = simple(graph.view()), np.random.default_rng(seed)
        sources = rng.choice(graph.n, rng.integers(1, graph.n + 1), replace=False)
        found, _ = sums(view, sources, 0, way, endpoints=endpoints)
        expected = by_cpu(view, sources, endpoints=endpoints)
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


def test_sources_share_what_is_brought(sums, monkeypatch):
    view, sources = simple(rmat(11).view()), np.arange(8)
    moved = []
    for at_once in (1, 8):
        monkeypatch.setattr(ours, "AT_ONCE", at_once)
        _, report = sums(view, sources, 0, "compact")
        passes = [each for each in report.advances if each.direction in ("count", "accumulate")]
        assert [each.frontier for each in passes] == [at_once] * (2 * 8 // at_once)
        moved.append(sum(each.edges for each in passes))
    assert moved[1] < 0.3 * moved[0]


def test_rows_of_the_side_that_has_fewer(sums):
    """Of an undirected graph each edge between levels is read once a pass, or less."""
    view = simple(rmat(12).view())
    _, report = sums(view, [0], 0, "compact")
    passes = [each for each in report.advances if each.direction in ("count", "accumulate")]
    assert all(each.edges < 0.6 * view.num_edges for each in passes)


def test_the_limit_bounds_how_many_sources_go_at_once(monkeypatch):
    monkeypatch.setattr(limits, "BLOCK", 32)
    view = simple(rmat(9).view())
    expected = by_cpu(view, np.arange(8))
    how = {"weighted": False, "endpoints": False, "edges": False}
    for limit, number in (("40kB", 1), ("100kB", 2)):
        report = Report("test")
        with dask.config.set({"graphgpu.device-memory-limit": limit}):
            found = tiered.betweenness(view, np.arange(8), **how, report=report)
        assert max(each.frontier for each in report.advances if each.direction == "count") == number
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
    with dask.config.set({"graphgpu.device-memory-limit": "4kB"}), pytest.raises(LimitTooSmall):
        tiered.betweenness(view, np.arange(8), **how, report=Report("test"))


def test_no_edges(sums):
    for n in (1, 3):
        found, _ = sums(edgeless(n).view(), np.arange(n), 0)
        assert found.tolist() == [0.0] * n
    assert sums(edgeless(0).view(), np.arange(0), 0)[0].tolist() == []


def test_more_paths_than_fit(sums):
    view = layers(16, 300).view()
    with pytest.raises(IntegerOverflow, match=r"beyond 1.8e308"):
        sums(view, [view.num_vertices - 2], 0.4)
