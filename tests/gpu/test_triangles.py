"""Triangles and edges between neighbours on the GPU against the matrix's third power and the CPU engine."""

import importlib

import numpy as np
import oracles
import pytest
from made_graphs import MadeGraph, edgeless, random_small, rmat

from dask_graphgpu.engine import cpu
from dask_graphgpu.report import Report

pytestmark = pytest.mark.gpu

gpu = importlib.import_module("dask_graphgpu.engine.gpu.triangles")
hub_triangles = importlib.import_module("dask_graphgpu.engine.gpu.hub_triangles")

# Vertices from which a vertex of a clique has more neighbours than half of a block's table holds.
TWO_PARTS = 2100


def both(view):
    """What the GPU finds, and whether it is what the CPU engine finds."""
    count, arcs = gpu.triangles(view, Report("t")), gpu.neighbour_arcs(view, Report("t"))
    assert count.dtype == arcs.dtype == np.int64
    assert np.array_equal(count, cpu.triangles(view, Report("t")))
    assert np.array_equal(arcs, cpu.neighbour_arcs(view, Report("t")))
    return count, arcs


def test_small_graphs():
    for seed in range(24):
        graph = random_small(seed)
        count, arcs = both(graph.view())
        assert count.tolist() == oracles.triangles(graph.n, graph.edges()), seed
        edges, degree = graph.edges(), graph.view().symmetric.degrees
        expected = oracles.clustering(graph.n, edges, directed=graph.directed)
        assert (arcs / np.maximum(degree * (degree - 1), 1)).tolist() == pytest.approx(expected)


@pytest.mark.parametrize("n", [0, 1, 70])
def test_no_edges(n):
    assert gpu.triangles(edgeless(n).view(), Report("t")).tolist() == [0] * n
    assert gpu.neighbour_arcs(edgeless(n, directed=True).view(), Report("t")).tolist() == [0] * n


def clique(n, **given):
    return MadeGraph(n, *np.array(np.tril_indices(n, -1)), **given)


@pytest.mark.parametrize("n", [3, 33, 66, 130, 300, TWO_PARTS])
@pytest.mark.parametrize("ids", ["uint32", "uint64"])
def test_cliques(n, ids):
    """Closed form: every pair of the other n - 1 vertices."""
    view = clique(n, ids=ids).view()
    assert (gpu.triangles(view, Report("t")) == (n - 1) * (n - 2) // 2).all()
    view = clique(n, ids=ids, directed=True).view()
    assert (gpu.neighbour_arcs(view, Report("t")) == (n - 1) * (n - 2) // 2).all()


def test_ids_that_would_collide():
    """All neighbours a multiple of the table's size apart."""
    low = clique(200)
    step = 1 << 12
    graph = MadeGraph(199 * step + 1, low.source * step, low.destination * step)
    count = gpu.triangles(graph.view(), Report("t"))
    assert (count[::step] == 199 * 198 // 2).all()
    assert count.sum() == 200 * 199 * 198 // 2


def test_a_large_skewed_graph():
    for directed in (False, True):
        count, _ = both(rmat(15, directed=directed).view())
        assert count.sum() % 3 == 0


@pytest.mark.parametrize("words", [4, 8])
@pytest.mark.parametrize("ids", ["uint32", "uint64"])
def test_hubs_by_rows_of_bits(words, ids, monkeypatch):
    """Rows for few and for all, more rows than planes count at once, and hubs that are not all in bits."""
    monkeypatch.setattr(hub_triangles, "LEAST_EDGES", 0)
    monkeypatch.setattr(hub_triangles, "WORDS", words)
    for graph in (rmat(9, ids=ids), clique(600, ids=ids), clique(33, ids=ids), random_small(3)):
        for least in (1, 2, 40):
            monkeypatch.setattr(hub_triangles, "LEAST", least)
            count = gpu.triangles(graph.view(), Report("t"))
            assert np.array_equal(count, cpu.triangles(graph.view(), Report("t")))


def test_in_edges_are_not_made():
    view = rmat(8, directed=True).view()
    assert view.symmetric.num_edges > 0
    had = view.has_into
    gpu.neighbour_arcs(view, Report("t"))
    assert view.has_into == had


def test_report():
    report = Report("t")
    gpu.triangles(clique(5).view(), report)
    (row,) = report.advances
    assert (row.direction, row.frontier) == ("intersect", 5)
    assert row.edges == (4 + 6) + (3 + 3) + (2 + 1)  # higher neighbours, and theirs
