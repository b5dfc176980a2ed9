"""Sums over searches, and HyperBall, on the device beside the host's: counters of any size, rows of any length."""

import importlib

import numpy as np
import pytest
from made_graphs import edgeless, path, random_small, rmat

from dask_graphgpu.algorithms.random_priorities import BITS as PRIORITY_BITS
from dask_graphgpu.engine import cpu
from dask_graphgpu.engine.hyperloglog import BITS
from dask_graphgpu.report import Report

pytestmark = pytest.mark.gpu

gpu = importlib.import_module("dask_graphgpu.engine.gpu")
balls = importlib.import_module("dask_graphgpu.engine.gpu.hyperball")


def same_balls(view, precision, direction):
    hashes = np.random.default_rng(3).integers(0, 1 << BITS, view.num_vertices)
    reports = Report("gpu"), Report("cpu")
    found, wanted = (
        engine.hyperball(view, hashes, precision, direction, report=report)
        for engine, report in zip((gpu, cpu), reports, strict=True)
    )
    np.testing.assert_allclose(found, wanted, rtol=1e-12)
    assert len({tuple(each.frontier for each in report.advances) for report in reports}) == 1


def test_small_graphs():
    assert BITS == PRIORITY_BITS
    for seed in range(8):
        same_balls(random_small(seed).view(), 4 + seed % 5, ("in", "out")[seed % 2])


@pytest.mark.parametrize("precision", [4, 8, 10])
def test_rows_of_blocks(precision):
    view = rmat(10, 40).view()
    assert view.into.degrees.max() > 2 * balls.LONG
    same_balls(view, precision, "in")


def test_no_edges_and_many_steps():
    same_balls(edgeless(3).view(), 6, "in")
    same_balls(path(40).view(), 6, "in")


def test_sums_over_searches():
    for graph in (*map(random_small, range(6)), rmat(8, 12), path(90)):
        view = graph.view(into=True)
        sources = np.random.default_rng(1).permutation(graph.n)[:70]
        found = gpu.hop_sums(view, sources, report=Report("t"))
        how = {"cutoff": None, "targets": None, "report": Report("t")}
        level = [cpu.multi_bfs(view, some, **how) for some in (sources[:64], sources[64:])]
        hops = np.concatenate(level).astype(float).clip(0)
        inverse = np.divide(1, hops, out=np.zeros_like(hops), where=hops > 0)
        wanted = (hops > 0, hops, hops**2, inverse, inverse**2)
        np.testing.assert_allclose(found, np.stack([each.sum(axis=0) for each in wanted], 1))
