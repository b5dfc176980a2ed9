"""Jaccard coefficients on the GPU against the CPU engine and a product of matrices."""

import importlib

import numpy as np
import pytest
from made_graphs import MadeGraph, edgeless, random_small, rmat, star

from dask_graphgpu.engine import cpu
from dask_graphgpu.report import Report

pytestmark = pytest.mark.gpu

gpu = importlib.import_module("dask_graphgpu.engine.gpu.jaccard")


def same(view, pairs=300):
    """What the CPU finds, to the last bit: of some pairs, and of all with a common neighbour."""
    n = view.num_vertices
    first, second = np.random.default_rng(n).integers(n, size=(2, pairs))
    values = gpu.jaccard_of_pairs(view, first, second, Report("jaccard"))
    expected = cpu.jaccard_of_pairs(view, first, second, Report("jaccard"))
    np.testing.assert_array_equal(values, expected)
    found = gpu.jaccard_two_hop(view, Report("jaccard"))
    for mine, other in zip(found, cpu.jaccard_two_hop(view, Report("jaccard")), strict=True):
        assert mine.dtype == other.dtype
        np.testing.assert_array_equal(mine, other)
    return found


def test_small_graphs():
    for seed in range(48):
        same(random_small(seed).view())


@pytest.mark.parametrize("ids", ["uint32", "uint64"])
def test_against_a_product_of_matrices(ids):
    graph = rmat(9, ids=ids, rank=np.random.default_rng(1).permutation(1 << 9))
    first, second, values = same(graph.view())
    matrix = np.zeros((graph.n, graph.n))
    matrix[graph.source, graph.destination] = 1
    matrix = np.maximum(matrix, matrix.T)
    np.fill_diagonal(matrix, 0)
    common, degree = matrix @ matrix, matrix.sum(axis=1)
    both = common[first, second]
    np.testing.assert_allclose(values, both / (degree[first] + degree[second] - both))
    assert len(values) == np.count_nonzero(np.triu(common, 1))


def test_two_hubs():
    """Rows that are a block's, and longer than a warp's."""
    n = 9_000
    leaf = np.arange(2, n)
    ends = np.r_[np.c_[np.zeros(n - 2, int), leaf], np.c_[np.ones(n - 2, int), leaf]]
    graph = MadeGraph(n, *ends.T)
    first, second = np.array([0, 0, 2, 1]), np.array([1, 2, 3, 1])
    values = gpu.jaccard_of_pairs(graph.view(), first, second, Report("jaccard"))
    assert values.tolist() == [1, 0, 1, 1]


def test_some_vertices_at_a_time(monkeypatch):
    view = rmat(8).view()
    whole = same(view)
    monkeypatch.setattr(gpu, "WALKS", 1000)
    for mine, other in zip(same(view), whole, strict=True):
        np.testing.assert_array_equal(mine, other)


@pytest.mark.parametrize("n", [1, 70])
def test_no_edges(n):
    assert len(same(edgeless(n).view())[0]) == 0


def test_no_vertices_and_no_pairs():
    assert gpu.jaccard_two_hop(edgeless(0).view(), Report("j"))[2].shape == (0,)
    none = np.empty(0, np.int64)
    assert gpu.jaccard_of_pairs(star(5).view(), none, none, Report("j")).shape == (0,)


def test_report():
    report = Report("jaccard")
    gpu.jaccard_of_pairs(star(5).view(), np.array([0, 1]), np.array([1, 2]), report)
    gpu.jaccard_two_hop(star(5).view(), report)
    pairs, walks = report.advances
    assert (pairs.direction, pairs.frontier, pairs.edges) == ("intersect", 2, 2)
    assert (walks.direction, walks.frontier, walks.edges) == ("intersect", 5, 20)
