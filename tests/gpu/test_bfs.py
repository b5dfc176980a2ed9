"""Breadth-first search on the GPU against a queue in plain Python and the CPU engine."""

import importlib

import dask
import numpy as np
import oracles
import pytest
from made_graphs import SHAPES, grid, path, random_small, rmat

from dask_graphgpu.engine import cpu
from dask_graphgpu.errors import InvalidArgument
from dask_graphgpu.report import Report

pytestmark = pytest.mark.gpu

gpu = importlib.import_module("dask_graphgpu.engine.gpu.bfs")  # not the function of that name

DIRECTIONS = ["auto", "push", "pull", "notify-pull"]


@pytest.fixture(params=[1024, 8, 0], ids=["solo", "little solo", "no solo"])
def solo(request, monkeypatch):
    """Largest frontier of one block: with 0 the whole grid takes even the smallest."""
    monkeypatch.setattr(gpu, "SOLO_VERTICES", request.param)


def search(view, source, direction="auto", *, engine=gpu, cutoff=None, targets=None):
    report = Report("bfs")
    with dask.config.set({"graphgpu.direction": direction}):
        level = engine.bfs(view, source, cutoff=cutoff, targets=targets, report=report)
    return level, report.advances


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.usefixtures("solo")
def test_small_graphs(direction):
    for seed in range(24):
        graph = random_small(seed)
        source = seed % graph.n
        hops = oracles.bfs(graph.n, graph.edges(), source, directed=graph.directed)
        level, _ = search(graph.view(into=seed % 4 == 1), source, direction)
        assert level.dtype == np.int32
        assert level.tolist() == [hops.get(v, -1) for v in range(graph.n)], seed


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("ids", ["uint32", "uint64"])
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.usefixtures("solo")
def test_shapes(shape, ids, directed):
    graph = SHAPES[shape](ids=ids, directed=directed)
    view = graph.view(into=True)
    for source in (0, graph.n // 3):
        expected, _ = search(view, source, engine=cpu)
        for direction in DIRECTIONS[:3]:
            level, advances = search(view, source, direction)
            assert (level == expected).all()
            if direction != "auto":
                assert {advance.direction for advance in advances} <= {direction}


def test_a_long_path_is_one_row_of_the_report():
    view = path(10_000).view()
    level, advances = search(view, 0)
    assert (level == np.arange(10_000)).all()
    assert [(a.direction, a.supersteps, a.edges) for a in advances] == [("push", 10_000, 19_998)]


@pytest.mark.parametrize("direction", ["push", "pull"])
@pytest.mark.parametrize("stop", [{"cutoff": 10}, {"targets": np.array([3, 10, 3], np.uint32)}])
@pytest.mark.usefixtures("solo")
def test_search_stops_early(stop, direction):
    level, advances = search(path(1000).view(), 0, direction, **stop)
    assert level.max() == 10
    assert sum(advance.supersteps for advance in advances) == 10


@pytest.mark.parametrize("direction", DIRECTIONS[:3])
@pytest.mark.usefixtures("solo")
def test_targets_and_cutoff_as_on_the_cpu(direction):
    view = rmat(12).view()
    for given in (
        {"targets": np.array([0], np.uint32)},
        {"targets": np.array([5, 2000], np.uint32)},
        {"targets": np.array([view.num_vertices - 1, 3], np.uint32)},  # one is not reached
        {"cutoff": 0},
        {"cutoff": 1},
        {"cutoff": 2},
    ):
        expected, _ = search(view, 900, direction, engine=cpu, **given)
        level, _ = search(view, 900, direction, **given)
        assert (level == expected).all()


def test_a_skewed_graph_is_pushed_then_pulled_then_pushed(monkeypatch):
    graph = rmat(15)
    view = graph.view()
    monkeypatch.setattr(gpu, "SOLO_VERTICES", 0)
    monkeypatch.setattr(gpu, "VERTEX_COST", 0.5)
    expected, _ = search(view, 3000, engine=cpu)
    level, advances = search(view, 3000)
    assert (level == expected).all()
    assert [advance.direction for advance in advances][:2] == ["push", "pull"]
    assert sum(advance.edges for advance in advances) < view.num_edges / 2
    assert sum(a.supersteps for a in advances) == expected.max() + 1


@pytest.mark.parametrize("push_cost", [0.5, 2.0, 1000.0])
@pytest.mark.parametrize("vertex_cost", [0.0, 2.0])
@pytest.mark.usefixtures("solo")
def test_any_changes_of_direction(push_cost, vertex_cost, monkeypatch):
    """Among them from pull back to push, and into pull again."""
    monkeypatch.setattr(gpu, "PUSH_COST", push_cost)
    monkeypatch.setattr(gpu, "VERTEX_COST", vertex_cost)
    for graph in (rmat(12), grid(50), SHAPES["apart"]()):
        view = graph.view()
        expected, _ = search(view, 40, engine=cpu)
        assert (search(view, 40)[0] == expected).all()


@pytest.mark.parametrize("separators", [(1, 2), (2, 4), (1 << 20, 1 << 21), (4, 1 << 21)])
@pytest.mark.usefixtures("solo")
def test_any_separators_of_the_worklists(separators):
    view = rmat(12).view()
    expected, _ = search(view, 7, engine=cpu)
    with dask.config.set({"graphgpu.worklists": list(separators)}):
        for direction in DIRECTIONS[:3]:
            assert (search(view, 7, direction)[0] == expected).all()


def test_in_edges_are_made_once_searches_have_pushed_enough(monkeypatch):
    monkeypatch.setattr(gpu, "INTO_COST", 8)
    monkeypatch.setattr(gpu, "SOLO_VERTICES", 0)
    view = rmat(14, directed=True).view()
    first, advances = search(view, 0)
    assert {advance.direction for advance in advances} == {"push"}
    for _ in range(100):
        level, advances = search(view, 0)
        assert (level == first).all()
        if view.has_into:
            break
    assert "pull" in {advance.direction for advance in advances}


def test_an_unknown_direction_is_refused():
    with pytest.raises(InvalidArgument, match="allowed are auto, push, pull, notify-pull"):
        search(path(3).view(), 0, "sideways")


@pytest.mark.parametrize("cutoff", [0, 2, None])
def test_notify_pull_is_what_a_search_does_when_it_is_forced(cutoff):
    view = rmat(9, directed=True).view(into=True)
    expected, _ = search(view, 3, engine=cpu, cutoff=cutoff)
    level, advances = search(view, 3, "notify-pull", cutoff=cutoff)
    assert level.dtype == np.int32
    np.testing.assert_array_equal(level, expected)
    assert {advance.direction for advance in advances} <= {"notify-pull"}
