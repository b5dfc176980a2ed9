"""Components on the GPU against union-find over sets and the CPU engine."""

import importlib

import numpy as np
import oracles
import pytest
from made_graphs import MadeGraph, edgeless, path, random_small, rmat

from dask_graphgpu.report import Report

pytestmark = pytest.mark.gpu

# Not the function of that name.
gpu = importlib.import_module("dask_graphgpu.engine.gpu.components")


@pytest.mark.parametrize("into", [False, True])
def test_small_graphs(into):
    for seed in range(24):
        graph = random_small(seed)
        view = graph.view(into=into)
        had_into = view.has_into
        labels = gpu.components(view, Report("wcc"))
        assert labels.dtype == graph.ids
        assert labels.tolist() == oracles.components(graph.n, graph.edges(), graph.rank), seed
        assert view.has_into == had_into


def test_no_vertices():
    assert gpu.components(edgeless(0).view(), Report("wcc")).tolist() == []


def test_a_long_path_in_any_order():
    n = 30_000
    place = np.random.default_rng(1).permutation(n)
    view = MadeGraph(n, place[:-1], place[1:], directed=True).view()
    assert not gpu.components(view, Report("wcc")).any()
    assert not gpu.components(path(n).view(), Report("wcc")).any()


def test_two_giants_of_stars():
    """Hubs outside the largest tree are the work of many blocks."""
    n = 40_000
    leaves = np.arange(2, n)
    graph = MadeGraph(n, leaves % 2, leaves)
    labels = gpu.components(graph.view(), Report("wcc"))
    assert (labels == np.arange(n) % 2).all()


def test_most_edges_are_not_read_when_they_are_there_in_both_directions():
    view = rmat(14).view()
    report = Report("wcc")
    gpu.components(view, report)
    assert [advance.direction for advance in report.advances] == ["link", "link"]
    assert report.advances[1].edges < 0.05 * view.num_edges
