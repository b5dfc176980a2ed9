"""Label propagation on the GPU against counters over sets of edges and the CPU engine."""

import importlib

import numpy as np
import oracles
import pytest
from made_graphs import SHAPES, MadeGraph, edgeless, path, random_small, rmat, simple, star

from dask_graphgpu.engine import cpu
from dask_graphgpu.report import Report

pytestmark = pytest.mark.gpu

gpu = importlib.import_module("dask_graphgpu.engine.gpu.label_propagation")


def same(view, iterations=10):
    """The label after some supersteps, the CPU's, by as many."""
    ours, wanted = Report("labels"), Report("labels")
    label = gpu.label_propagation(view, iterations, ours)
    expected = cpu.label_propagation(view, iterations, wanted)
    assert label.dtype == expected.dtype
    np.testing.assert_array_equal(label, expected)
    assert sum(row.supersteps for row in ours.advances) == len(wanted.advances)
    every = view.out.num_edges + (view.into.num_edges if view.directed else 0)
    assert sum(row.edges for row in ours.advances) == len(wanted.advances) * every
    return label


@pytest.mark.parametrize("iterations", [1, 2, 5])
def test_small_graphs(iterations):
    for seed in range(48):
        graph = random_small(seed)
        ends = np.stack([graph.source, graph.destination])
        ends = np.unique(ends if graph.directed else np.sort(ends, axis=0), axis=1)
        once = MadeGraph(graph.n, *ends, directed=graph.directed, ids=graph.ids, rank=graph.rank)
        wanted = oracles.label_propagation(
            graph.n, graph.edges(), iterations, directed=graph.directed, rank=graph.rank
        )
        assert same(once.view(), iterations).tolist() == wanted, seed


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("directed", [False, True])
def test_shapes(shape, directed):
    made = SHAPES[shape](directed=directed)
    rank = np.random.default_rng(5).permutation(made.n)
    same(simple(SHAPES[shape](directed=directed).view()))
    graph = MadeGraph(
        made.n, made.source, made.destination, directed=directed, ids="uint64", rank=rank
    )
    if shape in ("star", "path", "grid"):  # no edge twice
        same(graph.view(), 4)


@pytest.mark.parametrize("ids", ["uint32", "uint64"])
@pytest.mark.parametrize("number", [1, 3, 1500, 3000, 9000])
def test_a_hub_of_many_labels(number, ids):
    """A hub, whose neighbours have about so many labels after a superstep, and a second one at the end."""
    rng = np.random.default_rng(number)
    n = 20_000
    leaf = np.arange(2, n)
    before = np.where(leaf % 7 == 0, n - 1, 2 + rng.integers(min(number, n - 3), size=n - 2))
    ends = np.r_[
        np.c_[np.zeros(n - 2, int), leaf], np.c_[leaf[leaf != before], before[leaf != before]]
    ]
    ends = np.unique(np.sort(ends, axis=1), axis=0)
    graph = MadeGraph(n, *ends.T, ids=ids, rank=rng.permutation(n))
    for iterations in (1, 2, 3):
        same(graph.view(), iterations)


def test_two_vertices_swing():
    assert same(path(2).view(), 1).tolist() == [1, 0]
    assert same(path(2).view(), 4).tolist() == [0, 1]
    assert same(star(300).view(), 5)[0] > 0


@pytest.mark.parametrize("n", [1, 70])
def test_no_edges(n):
    assert same(edgeless(n).view()).tolist() == list(range(n))


def test_no_vertices():
    assert gpu.label_propagation(edgeless(0).view(), 3, Report("labels")).shape == (0,)


def test_a_large_skewed_graph():
    for directed in (False, True):
        same(simple(rmat(14, directed=directed).view()), 4)
