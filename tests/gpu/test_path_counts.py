"""Numbers of shortest paths on the GPU against exact integers and the CPU engine."""

import importlib

import numpy as np
import oracles
import pytest
from made_graphs import SHAPES, layers, random_small, simple

from dask_graphgpu.engine import cpu
from dask_graphgpu.errors import IntegerOverflow
from dask_graphgpu.report import Report

pytestmark = pytest.mark.gpu

gpu = importlib.import_module("dask_graphgpu.engine.gpu.path_counts")


def levels(view, source, **given):
    given = {"cutoff": None, "targets": None} | given
    return cpu.bfs(view, source, report=Report("bfs"), **given)


def outcome(engine, view, source, level, dtype):
    try:
        return engine.path_counts(view, source, level, dtype=dtype, report=Report("ssnsp"))
    except IntegerOverflow:
        return "overflow"


@pytest.mark.parametrize("dtype", ["int64", "float64"])
def test_small_graphs(dtype):
    for seed in range(24):
        graph = random_small(seed, rank=None)
        source = seed % graph.n
        view = simple(graph.view())
        paths = oracles.path_counts(graph.n, graph.edges(), source, directed=graph.directed)
        level = levels(view, source)
        count = gpu.path_counts(view, source, level, dtype=dtype, report=Report("ssnsp"))
        assert count.dtype == dtype
        assert count.tolist() == [paths.get(v, 0) for v in range(graph.n)], seed


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("directed", [False, True])
def test_shapes(shape, directed):
    for ids in ("uint32", "uint64"):
        graph = SHAPES[shape](ids=ids, directed=directed)
        view = simple(graph.view())
        source = graph.n // 3
        for stop in ({}, {"cutoff": 3}):
            given = (view, source, levels(view, source, **stop))
            for dtype in ("int64", "float64"):
                expected, count = (outcome(engine, *given, dtype) for engine in (cpu, gpu))
                if dtype == "int64":  # of a grid: too many
                    assert np.array_equal(count, expected)
                else:
                    assert np.allclose(count, expected, rtol=1e-9, atol=0)


@pytest.mark.parametrize(("width", "number"), [(2, 62), (4, 31), (3, 39)])
def test_the_largest_that_fit(width, number):
    graph = layers(width, number)
    view = graph.view()
    level = levels(view, graph.n - 2)
    count = gpu.path_counts(view, graph.n - 2, level, dtype="int64", report=Report("ssnsp"))
    assert count[-1] == width**number


@pytest.mark.parametrize(
    ("width", "number"), [(2, 63), (2, 64), (4, 32), (3, 40), (2, 90), (16, 32)]
)
def test_more_than_fits(width, number):
    """Among them sums that come back to zero."""
    graph = layers(width, number)
    view = graph.view()
    given = (view, graph.n - 2, levels(view, graph.n - 2))
    with pytest.raises(IntegerOverflow, match="float64"):
        gpu.path_counts(*given, dtype="int64", report=Report("ssnsp"))
    count = gpu.path_counts(*given, dtype="float64", report=Report("ssnsp"))
    assert count[-1] == pytest.approx(float(width) ** number)
