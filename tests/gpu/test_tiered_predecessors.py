"""Predecessors over edges of which only some fit the limit of device memory: those of the CPU engine."""

import dask
import numpy as np
import oracles
import pandas as pd
import pytest
from made_graphs import SHAPES, WEIGHTS, MadeGraph, rmat, weighted_small

from dask_graphgpu import last_report
from dask_graphgpu.engine import cpu, limits, tiered
from dask_graphgpu.errors import LimitTooSmall
from dask_graphgpu.report import Report

pytestmark = pytest.mark.gpu

WAYS = ["auto", "stream", "zero-copy", "compact"]


def by_cpu(view, *given, hops):
    report = Report("test")
    return cpu.predecessors(view, *given, hops=hops, report=report), report


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
def test_hops_of_shapes(shape, directed, way, limited):
    rank = np.random.default_rng(5).permutation(SHAPES[shape]().n)
    for given in ({}, {"rank": rank, "ids": "uint64"}):
        view = SHAPES[shape](directed=directed, **given).view()
        level = cpu.bfs(view, 1, cutoff=None, targets=None, report=Report("test"))
        expected, _ = by_cpu(view, 1, level, level >= 0, hops=True)
        for share in (0, 0.4, 1):
            found, _ = limited(
                tiered.predecessors, view, share, way, 1, level, level >= 0, hops=True
            )
            assert found.dtype == expected.dtype
            np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("weights", WEIGHTS)
def test_weights_of_small_graphs(weights, way, limited, monkeypatch):
    """Among them zeros, and small ones that sums absorb: what is reached along these alone has one too."""
    monkeypatch.setattr(limits, "BLOCK", 32)
    for seed in range(12):
        graph = weighted_small(seed, weights)
        source = seed % graph.n
        nearest = oracles.dijkstra(graph.n, graph.edges(), source, directed=graph.directed)
        dtype = np.float64 if weights.startswith("f") else np.int64
        reached = np.array([v in nearest for v in range(graph.n)])
        distance = np.array([nearest.get(v, 0) for v in range(graph.n)], dtype)
        expected, told = by_cpu(graph.view(), source, distance, reached, hops=False)
        assert expected.tolist() == oracles.predecessors(
            graph.n, graph.edges(), source, nearest, directed=graph.directed, rank=graph.rank
        )
        found, report = limited(
            tiered.predecessors, graph.view(), 0, way, source, distance, reached, hops=False
        )
        np.testing.assert_array_equal(found, expected)
        assert len(report.advances) == len(told.advances)


def test_what_is_moved(limited):
    """The edges of vertices that were reached, once, with their weights; of hops without."""
    view = rmat(10, 16, directed=True, weight=np.ones(16 << 10, np.float32)).view()
    level = cpu.bfs(view, 0, cutoff=None, targets=None, report=Report("test"))
    reached, size = level >= 0, view.out.degrees[level >= 0].sum()
    for hops, edge in ((True, 4), (False, 8)):
        given = 0, level.astype(np.float64), reached
        _, report = limited(tiered.predecessors, view, 0, "zero-copy", *given, hops=hops)
        assert report.moved["zero-copy"]["bytes"] == size * edge
        assert [each.edges for each in report.advances] == [size]
        assert limited(tiered.predecessors, view, 1, "auto", *given, hops=hops)[1].moved == {}


@pytest.mark.parametrize("limit", ["device", "host"])
@pytest.mark.parametrize("directed", [True, False])
def test_methods(directed, limit, tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "_MOST", 8192)
    rng = np.random.default_rng(6)
    source = (600 * rng.random(40_000) ** 2).astype(np.int64)
    frame = pd.DataFrame({"src": source, "dst": rng.integers(0, 600, 40_000)})
    frame["weight"] = rng.integers(0, 9, 40_000) / 8
    settings = {}
    if limit == "host":
        settings |= {
            "graphgpu.host-memory-limit": "610kB",
            "graphgpu.page-bytes": 4096,
            "graphgpu.spill-directories": [str(tmp_path)],
        }
    for method, room in (("bfs", 100_000), ("sssp", 420_000)):
        settings["graphgpu.device-memory-limit"] = room
        given = {"source": 3, "predecessor": True}
        wanted = getattr(frame.graph(engine="cpu", directed=directed), method)(**given)
        with dask.config.set(settings):
            found = getattr(frame.graph(engine="gpu", directed=directed), method)(**given)
        pd.testing.assert_frame_equal(found, wanted)
        told = last_report().attrs
        assert sum(way["bytes"] for way in told["moved"].values()) > 0
        assert (told["disk_bytes"] > 0) == (limit == "host")


def test_a_limit_too_small_for_the_vertices():
    view = MadeGraph(3, *np.array([[0, 1], [1, 2]]), directed=True).view()
    with (
        dask.config.set({"graphgpu.device-memory-limit": 100}),
        pytest.raises(LimitTooSmall, match=r"predecessors of 3 vertices needs .* is 100"),
    ):
        tiered.predecessors(
            view, 0, np.array([0, 1, 2]), np.ones(3, bool), hops=True, report=Report("test")
        )
