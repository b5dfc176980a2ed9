"""Core numbers and k-cores on the GPU against repeated deletion and the CPU engine."""

import importlib

import dask
import numpy as np
import oracles
import pytest
from made_graphs import SHAPES, MadeGraph, edgeless, random_small, rmat

from dask_graphgpu.engine import cpu
from dask_graphgpu.report import Report

pytestmark = pytest.mark.gpu

gpu = importlib.import_module("dask_graphgpu.engine.gpu.peeling")


def test_small_graphs():
    for seed in range(40):
        graph = random_small(seed)
        core = gpu.core_numbers(graph.view(), Report("core"))
        assert core.dtype == np.int64
        expected = oracles.core_numbers(graph.n, graph.edges())
        assert core.tolist() == expected, seed
        for k in range(-1, max(expected) + 3):
            inside = gpu.k_core(graph.view(), k, Report("k_core"))
            assert inside.dtype == bool
            assert inside.tolist() == [number >= k for number in expected], (seed, k)


def test_no_vertices():
    assert gpu.core_numbers(edgeless(0).view(), Report("core")).tolist() == []


@pytest.mark.parametrize("shape", SHAPES)
def test_shapes(shape):
    for ids in ("uint32", "uint64"):
        view = SHAPES[shape](ids=ids).view()
        expected = cpu.core_numbers(view, Report("core"))
        assert (gpu.core_numbers(view, Report("core")) == expected).all()
        for k in (1, 2, 3, 16, int(expected.max()), int(expected.max()) + 1):
            assert (gpu.k_core(view, k, Report("k_core")) == (expected >= k)).all()


def test_a_large_skewed_graph():
    view = rmat(15).view()
    cpu_report, report = Report("core"), Report("core")
    expected = cpu.core_numbers(view, cpu_report)
    assert (gpu.core_numbers(view, report) == expected).all()
    (advance,), (cpu_advance,) = report.advances, cpu_report.advances
    assert advance.direction == "peel"
    assert advance.supersteps == cpu_advance.supersteps
    assert advance.edges <= cpu_advance.edges
    report = Report("k_core")
    assert (gpu.k_core(view, 16, report) == (expected >= 16)).all()
    assert report.advances[0].edges == view.symmetric.degrees[expected < 16].sum()


def test_cliques_with_tails():
    """Degrees with gaps between them: k jumps."""
    edges = []
    first = 0
    for size in (3, 40, 41, 150):
        edges += [(first + u, first + v) for u in range(size) for v in range(u)]
        edges += [(first + size - 1 + i, first + size + i) for i in range(3)]
        first += size + 3
    view = MadeGraph(first, *np.array(edges).T).view()
    report = Report("core")
    core = gpu.core_numbers(view, report)
    assert (core == cpu.core_numbers(view, Report("core"))).all()
    assert sorted(set(core.tolist())) == [1, 2, 39, 40, 149]
    assert report.advances[0].supersteps == 5


@pytest.mark.parametrize("separators", [(1, 2), (4, 64), (1 << 20, 1 << 21)])
def test_any_separators_of_the_worklists(separators):
    view = rmat(12).view()
    with dask.config.set({"graphgpu.worklists": list(separators)}):
        found = gpu.core_numbers(view, Report("core"))
    assert (found == cpu.core_numbers(view, Report("core"))).all()
