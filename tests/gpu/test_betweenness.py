"""Betweenness on the GPU against the definition by path counts and the CPU engine."""

import importlib
from unittest import mock

import dask
import networkx as nx
import numpy as np
import oracles
import pytest
from made_graphs import (
    SHAPES,
    MadeGraph,
    apart,
    edgeless,
    layers,
    path,
    random_small,
    rmat,
    simple,
)

from dask_graphgpu.engine import cpu
from dask_graphgpu.engine.gpu.degree_lists import degree_lists
from dask_graphgpu.engine.gpu.device import DeviceView
from dask_graphgpu.engine.gpu.level_sweeps import LevelSweeps
from dask_graphgpu.errors import IntegerOverflow, InvalidEdges, OutOfDeviceMemory
from dask_graphgpu.partition.csr import Adjacency
from dask_graphgpu.report import Report

pytestmark = pytest.mark.gpu

gpu = importlib.import_module("dask_graphgpu.engine.gpu.betweenness")

PLAIN = {"weighted": False, "endpoints": False, "edges": False}


def sums(engine, view, sources, **given):
    how = {**PLAIN, **given, "report": Report("betweenness")}
    return engine.betweenness(view, np.asarray(sources), **how)


def same(view, sources, **given):
    expected, found = (sums(engine, view, sources, **given) for engine in (cpu, gpu))
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("edges_a_block", [1, 1 << 16])
def test_small_graphs(edges_a_block):
    for seed in range(24):
        graph = random_small(seed, rank=None)
        view = simple(graph.view())
        rng = np.random.default_rng(seed)
        sources = rng.choice(graph.n, rng.integers(1, graph.n + 1), replace=False)
        peer = (nx.DiGraph if graph.directed else nx.Graph)(graph.edges())
        peer.add_nodes_from(range(graph.n))
        with mock.patch.object(gpu, "EDGES_A_BLOCK", edges_a_block):
            found = sums(gpu, view, sources)
            expected = oracles.dependencies(graph.n, peer, sources.tolist(), None)
            np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
            same(view, sources, endpoints=True)
            same(view, sources, edges=True)


@pytest.fixture
def large(monkeypatch):
    """As of a graph of which one search keeps the device busy."""
    monkeypatch.setattr(gpu.PathSums, "is_large", lambda self: True)
    monkeypatch.setattr(gpu, "MANY_SOURCES", 1)


@pytest.mark.parametrize("cost", [0.0, 2.0, np.inf])
@pytest.mark.parametrize("directed", [False, True])
def test_by_levels(cost, directed, large, monkeypatch):
    """Edges between two levels from either end, all from one, all from the other."""
    monkeypatch.setattr("dask_graphgpu.engine.gpu.level_plan.PUSH_COST", cost)
    for shape, ids in [("star", "uint32"), ("apart", "uint64"), ("skewed", "uint32")]:
        view = simple(SHAPES[shape](ids=ids, directed=directed).view())
        sources = np.linspace(0, view.num_vertices - 1, 3).astype(int)
        same(view, sources)
        same(view, sources, endpoints=True)
    same(edgeless(9).view(), [3, 4], endpoints=True)


def test_by_levels_on_small_graphs(large):
    for seed in range(12):
        graph = random_small(seed, rank=None)
        view = simple(graph.view())
        same(view, np.arange(graph.n)[:5], endpoints=bool(seed % 2))


@pytest.mark.parametrize("most", [1, 3])
@pytest.mark.parametrize("directed", [False, True])
def test_batches(most, directed, large, monkeypatch):
    """Of sources that have different numbers of levels."""
    monkeypatch.setattr("dask_graphgpu.engine.gpu.level_sweeps.MOST_SOURCES", most)
    for made in (path(12, directed=directed), apart(5, 20, directed=directed)):
        sources = np.linspace(0, made.n - 1, 7).astype(int)
        same(simple(made.view()), sources)
        same(simple(made.view()), sources, endpoints=True)


@pytest.mark.parametrize("worklists", [[2, 4], [1, 1], "off"])
def test_rows_of_lanes_warps_and_blocks(worklists, large):
    """A row is stored by its lane or warp; of blocks each warp adds its part."""
    view = simple(rmat(8, directed=True).view())
    with dask.config.set({"graphgpu.worklists": worklists}):
        same(view, [0, 5, 200])
    assert degree_lists(DeviceView.of(view).out, separators=(3, 9))[1] == (3, 9)


def test_sources_of_a_batch_share_launches(large):
    view, launched = simple(rmat(8).view()), []
    plain = LevelSweeps._flat

    def flat(self, kernel, items, args):
        launched[-1].append(kernel.name)
        plain(self, kernel, items, args)

    with mock.patch.object(LevelSweeps, "_flat", flat):
        for sources in ([0], [0, 0, 0]):
            launched.append([])
            same(view, sources)
    one, three = (sorted(set(names)) for names in launched)
    assert one == three
    for name in one:
        times = [names.count(name) for names in launched]
        assert times[1] == times[0] * (3 if name == "narrow" else 1), name


def test_rows_that_need_wider_offsets_in_one_direction(large):
    plain = LevelSweeps.__init__

    def wide(self, own, pairs, sources):
        pulled, pushed = pairs[0]
        wider = Adjacency(pulled.offsets.astype(np.uint64), pulled.neighbours)
        plain(self, own, [(wider, pushed), *pairs[1:]], sources)

    with mock.patch.object(LevelSweeps, "__init__", wide):
        same(simple(rmat(7, directed=True).view()), [0, 5, 100])


def test_searches_of_many_levels(large, monkeypatch):
    """All from the first of them on are counted while they are made."""
    monkeypatch.setattr(gpu, "MOST_LEVELS", 25)
    same(path(40).view(), [20, 0, 19], endpoints=True)
    monkeypatch.setattr(gpu, "MOST_LEVELS", 250)
    same(path(600).view(), [300, 599])


def test_fewer_edges_are_read_by_levels(large):
    view = simple(rmat(10).view())
    source = int(np.argmax(np.diff(view.out.offsets)))
    report = Report("betweenness")
    gpu.betweenness(view, np.array([source]), **PLAIN, report=report)
    assert 0 < report.advances[-1].edges < view.num_edges


@pytest.mark.parametrize("number", [1, 2])
def test_in_edges_are_made_for_many_sources(number, large, monkeypatch):
    monkeypatch.setattr(gpu, "MANY_SOURCES", 2)
    view = simple(rmat(6, directed=True).view())
    same(view, np.arange(number))
    assert view.has_into == (number == 2)


def test_by_levels_with_too_many_paths(large):
    graph = layers(20, 245)
    with pytest.raises(IntegerOverflow, match=r"beyond 1\.8e308"):
        sums(gpu, graph.view(), [graph.n - 2])


def test_more_sources_than_a_launch_takes():
    view = simple(rmat(7).view())
    with mock.patch.object(gpu, "SOURCES_A_TEAM", 2):
        same(view, np.arange(128))
    with mock.patch.object(gpu, "MOST_BYTES", 1):
        same(view, np.arange(40))


def test_no_edges_and_no_sources():
    assert sums(gpu, edgeless(5).view(), [2, 3]).tolist() == [0] * 5
    assert sums(gpu, edgeless(5).view(), [2], edges=True).tolist() == []
    assert sums(gpu, rmat(5).view(), np.empty(0, np.int64)).tolist() == [0] * 32


def test_what_cannot_be_counted():
    graph = layers(10, 320)
    with pytest.raises(IntegerOverflow, match=r"beyond 1\.8e308"):
        sums(gpu, graph.view(), [graph.n - 2])

    def path(*weights):
        n = len(weights) + 1
        return MadeGraph(
            n, np.arange(n - 1), np.arange(1, n), directed=True, weight=np.array(weights)
        ).view()

    for weights, error, words in (
        ([1, 0], InvalidEdges, "a weight is 0"),
        ([1.0, 1e-30], InvalidEdges, "too far apart"),
        ([1e308, 1.7e308], InvalidEdges, "too far apart"),
        ([2**62, 2**62], IntegerOverflow, "does not fit int64"),
    ):
        with pytest.raises(error, match=words):
            sums(gpu, path(*weights), [0], weighted=True)


def test_a_large_skewed_graph():
    for directed in (False, True):
        view = simple(rmat(14, directed=directed).view())
        same(view, np.arange(0, 400, 57))
        same(view, [0], edges=True)


def test_report():
    report = Report("betweenness")
    view = simple(rmat(6).view())
    gpu.betweenness(view, np.array([0, 1]), **PLAIN, report=report)
    (row,) = report.advances
    assert (row.direction, row.supersteps) == ("accumulate", 2)
    assert row.edges == 2 * 2 * view.num_edges


def test_in_edges_for_which_there_is_no_room(monkeypatch):
    """Then teams search, which need none."""
    view = simple(rmat(7, directed=True, seed=5).view())

    def refused(self):
        raise OutOfDeviceMemory("no room")

    monkeypatch.setattr(gpu.PathSums, "is_large", lambda self: True)
    monkeypatch.setattr(DeviceView, "into", property(refused))
    assert not DeviceView.of(view).has_into
    same(view, range(gpu.MANY_SOURCES))
