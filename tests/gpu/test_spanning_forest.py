"""Minimum spanning forests on the GPU against Kruskal's algorithm and the CPU engine."""

import importlib

import numpy as np
import oracles
import pytest
from made_graphs import SHAPES, MadeGraph, edgeless, path, random_small, rmat

from dask_graphgpu.engine import cpu
from dask_graphgpu.report import Report

pytestmark = pytest.mark.gpu

gpu = importlib.import_module("dask_graphgpu.engine.gpu.spanning_forest")


def forest(engine, view):
    """Edges of the forest in order, as lists, and the type of the weights."""
    low, high, weight = engine.spanning_forest(view, Report("msf"))
    assert low.dtype == high.dtype == view.out.neighbours.dtype
    order = np.lexsort((high, low))
    return low[order].tolist(), high[order].tolist(), weight[order].tolist(), weight.dtype


def same(view):
    found = forest(gpu, view)
    assert found == forest(cpu, view)
    return found


@pytest.mark.parametrize("kind", [None, "uint8", "int64", "uint64", "float32", "float64"])
def test_small_graphs(kind):
    for seed in range(24):
        graph = random_small(seed)
        if kind is not None:
            weight = np.random.default_rng(seed).integers(0, 4, len(graph.source)).astype(kind)
            weight *= np.array(3, kind)
            graph = random_small(seed, weight=weight)
        low, high, weight, _ = same(graph.view())
        rank = np.arange(graph.n) if graph.rank is None else graph.rank
        order = np.argsort(rank)
        ends = [order[each].tolist() for each in (low, high)] if low else [[], []]
        edges = [(u, v, *(w or [1])) for u, v, *w in graph.edges()]
        wanted = oracles.spanning_forest(graph.n, edges, rank.tolist())
        if kind is None:
            weight = [1] * len(low)
        assert list(zip(*ends, weight, strict=True)) == wanted, seed


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("kind", ["int64", "float32"])
def test_shapes(shape, directed, kind):
    made = SHAPES[shape]()
    weight = np.random.default_rng(2).integers(1, 50, len(made.source)).astype(kind)
    for ids in ("uint32", "uint64"):
        given = {"ids": ids, "directed": directed, "weight": weight}
        same(SHAPES[shape](**given).view())
        same(SHAPES[shape](**given, rank=np.random.default_rng(5).permutation(made.n)).view())


def test_weights_of_all_sizes():
    values = np.array([-(2**63), -5, -1, 0, 3, 2**62, 2**63 - 1])
    floats = np.array([-np.inf, -1e300, -1.0, -1e-300, -0.0, 0.0, 1e-300, 2.0, 1e300, np.inf])
    for weight in (values, np.array([0, 5, 2**63, 2**64 - 1], np.uint64), floats):
        rng = np.random.default_rng(1)
        ends = rng.integers(30, size=(2, 300))
        drawn = weight[rng.integers(len(weight), size=300)]
        made = MadeGraph(30, *ends, directed=True, weight=drawn)
        low, high, taken, dtype = forest(gpu, made.view())
        assert dtype == weight.dtype
        edges = [(u, v, w) for u, v, w in made.edges() if u != v]
        wanted = oracles.spanning_forest(30, edges, range(30))
        assert list(zip(low, high, taken, strict=True)) == [tuple(edge) for edge in wanted]


def test_long_chains_of_components():
    """Every component but one takes the edge to the next."""
    n = 20_000
    low, high, *_ = same(path(n, weight=np.arange(n - 1)).view())
    assert (low, high) == (list(range(n - 1)), list(range(1, n)))
    place = np.random.default_rng(1).permutation(n)
    same(MadeGraph(n, place[:-1], place[1:], weight=np.arange(n - 1)[::-1].copy()).view())


@pytest.mark.parametrize("n", [0, 1, 70])
def test_no_edges(n):
    assert forest(gpu, edgeless(n).view())[:3] == ([], [], [])


def test_a_large_skewed_graph():
    weight = np.random.default_rng(2).integers(1, 64, 16 << 15)
    for directed in (False, True):
        same(rmat(15, directed=directed, weight=weight).view())


def test_report():
    report = Report("msf")
    view = path(50).view()
    gpu.spanning_forest(view, report)
    (row,) = report.advances
    assert (row.direction, row.frontier) == ("hook", 50)
    assert row.edges >= 49
