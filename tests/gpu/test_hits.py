"""Hubs and authorities on the GPU against the CPU engine."""

import importlib

import numpy as np
import pytest
from made_graphs import SHAPES, edgeless, path, random_small, rmat, star

from dask_graphgpu import errors
from dask_graphgpu.engine import cpu
from dask_graphgpu.report import Report

pytestmark = pytest.mark.gpu

gpu = importlib.import_module("dask_graphgpu.engine.gpu.hits")


def same(view, tolerance=0.0, iterations=3):
    """Scores, the CPU's but for rounding, by as many iterations."""
    ours, wanted = Report("hits"), Report("hits")
    found = gpu.hits(view, tolerance, iterations, ours)
    expected = cpu.hits(view, tolerance, iterations, wanted)
    for mine, other in zip(found, expected, strict=True):
        assert mine.dtype == np.float64
        np.testing.assert_allclose(mine, other, rtol=1e-9, atol=1e-15)
    assert sum(row.supersteps for row in ours.advances) == sum(
        row.supersteps for row in wanted.advances
    )
    return found


@pytest.mark.parametrize("kind", [None, "uint8", "int64", "float32", "float64"])
def test_small_graphs(kind):
    for seed in range(24):
        graph = random_small(seed)
        if kind is not None:
            weight = np.random.default_rng(seed).integers(0, 4, len(graph.source)).astype(kind)
            graph = random_small(seed, weight=weight)
        same(graph.view())


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("directed", [False, True])
def test_shapes(shape, directed):
    for ids in ("uint32", "uint64"):
        same(SHAPES[shape](directed=directed, ids=ids).view())


def test_weights_that_cancel():
    """A sum of 0 is not scaled, and is no end where scores are not 0."""
    same(star(3, directed=True, weight=np.array([1.0, -1.0])).view())
    same(path(4, weight=np.array([1.0, -2.0, 1.0])).view(), iterations=2)


def test_converged_and_not():
    view = rmat(12, directed=True).view()
    hub, authority = same(view, 1e-8, 100)
    np.testing.assert_allclose([hub.sum(), authority.sum()], 1)
    with pytest.raises(errors.NotConverged, match="after 2 iterations the hub scores still"):
        gpu.hits(view, 1e-12, 2, Report("hits"))


def test_rows_of_blocks():
    """Hubs of more edges than a warp adds up."""
    view = rmat(15, directed=True).view()
    assert view.out.degrees.max() > 4096
    found = same(view, iterations=2)
    for mine, again in zip(found, gpu.hits(view, 0.0, 2, Report("hits")), strict=True):
        np.testing.assert_array_equal(mine, again)


@pytest.mark.parametrize("n", [0, 1, 70])
def test_no_edges(n):
    hub, authority = gpu.hits(edgeless(n).view(), 1e-6, 10, Report("hits"))
    assert hub.tolist() == authority.tolist() == [0.0] * n
