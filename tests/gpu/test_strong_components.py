"""Strongly connected components on the GPU against reachability and the CPU engine."""

import importlib

import numpy as np
import oracles
import pytest
from made_graphs import SHAPES, MadeGraph, edgeless, path, random_small, rmat

from dask_graphgpu.engine import cpu
from dask_graphgpu.report import Report

pytestmark = pytest.mark.gpu

gpu = importlib.import_module("dask_graphgpu.engine.gpu.strong_components")


@pytest.fixture(params=[1024, 3, 0], ids=lambda most: f"levels{most}")
def levels(request, monkeypatch):
    """Levels after which a search gives up."""
    monkeypatch.setattr(gpu, "MOST_LEVELS", request.param)
    return request.param


def label(view):
    found = gpu.strong_components(view, Report("scc"))
    wanted = cpu.strong_components(view, Report("scc"))
    assert found.dtype == wanted.dtype
    np.testing.assert_array_equal(found, wanted)
    return found


def test_small_graphs(levels):
    for seed in range(48):
        graph = random_small(seed, directed=True)
        wanted = oracles.strong_components(graph.n, graph.edges(), graph.rank)
        ends = np.unique(np.stack([graph.source, graph.destination]), axis=1)
        once = MadeGraph(graph.n, *ends, directed=True, ids=graph.ids, rank=graph.rank)
        assert label(once.view()).tolist() == wanted, seed


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("directed", [False, True])
def test_shapes(shape, directed, levels):
    made = SHAPES[shape](directed=directed)
    rank = np.random.default_rng(5).permutation(made.n)
    for ids in ("uint32", "uint64"):
        label(SHAPES[shape](ids=ids, directed=directed).view(into=True))
        label(SHAPES[shape](ids=ids, directed=directed, rank=rank).view())


@pytest.mark.parametrize("seed", range(3))
def test_many_components_of_many_sizes(seed, levels):
    """Cycles of random lengths with edges forward between them: one pivot settles little."""
    rng = np.random.default_rng(seed)
    n = 6_000
    bounds = np.unique(np.r_[0, rng.integers(n, size=n // 12), n])
    after = np.arange(1, n + 1)
    after[bounds[1:] - 1] = bounds[:-1]
    forward = np.sort(rng.integers(n, size=(2, n)), axis=0)
    ends = np.unique(rng.permutation(n)[np.c_[[np.arange(n), after], forward]], axis=1)
    label(MadeGraph(n, *ends, directed=True).view())


@pytest.mark.parametrize("closed", [False, True])
def test_long_paths_take_few_sweeps(closed):
    """In order, and in an order that peels one vertex at a time from the end where it is the least that tells."""
    n = 40_000
    for place in (np.arange(n), np.r_[np.arange(0, n, 2), np.arange(1, n, 2)[::-1]]):
        ends = np.stack([place, np.roll(place, -1)])[:, : n if closed else n - 1]
        graph = MadeGraph(n, *ends, directed=True)
        report = Report("scc")
        found = gpu.strong_components(graph.view(), report)
        np.testing.assert_array_equal(found, np.zeros(n) if closed else np.arange(n))
        assert report.advances[-1].direction == "colour"
        assert report.advances[-1].supersteps < 1_000


@pytest.mark.parametrize("n", [0, 1, 70])
def test_no_edges(n):
    assert label(edgeless(n, directed=True).view()).tolist() == list(range(n))


def test_a_large_skewed_graph(levels):
    graph = rmat(14, directed=True)
    ends = np.unique(np.stack([graph.source, graph.destination]), axis=1)
    report = Report("scc")
    view = MadeGraph(graph.n, *ends, directed=True).view()
    np.testing.assert_array_equal(
        gpu.strong_components(view, report), cpu.strong_components(view, Report("scc"))
    )
    ways = [advance.direction for advance in report.advances]
    assert ways == ["trim", "forward-backward", "colour"]
    assert (report.advances[2].edges < len(ends[0])) == (levels == 1024)


def acyclic():
    """Ends of edges from smaller to larger vertices, once each, and how many vertices there are."""
    graph = rmat(12, directed=True)
    place = np.random.default_rng(2).permutation(graph.n)
    ends = np.sort(np.stack([place[graph.source], place[graph.destination]]), axis=0)
    return np.unique(ends[:, ends[0] != ends[1]], axis=1), graph.n


@pytest.mark.parametrize("ids", ["uint32", "uint64"])
@pytest.mark.parametrize("ranked", [False, True])
@pytest.mark.parametrize("back", [False, True])
@pytest.mark.parametrize("against", [False, True])
def test_ids_in_topological_order(against, back, ranked, ids):
    """Or against it: one look at all edges tells, a loop does not count, and one edge back does."""
    ends, n = acyclic()
    loops = [7, 7], [n - 1, n - 1]
    row = int(np.bincount(ends[0]).argmax())
    last = ends[1, ends[0] == row].max()  # so the first of each row is in order
    ends = np.c_[ends, np.transpose([*loops, *([(last, row)] if back else [])])]
    rank = np.random.default_rng(4).permutation(n) if ranked else None
    if ranked:
        ends = np.argsort(rank)[ends]
    ends = ends[::-1] if against else ends
    report = Report("scc")
    view = MadeGraph(n, *ends, directed=True, ids=ids, rank=rank).view()
    found = gpu.strong_components(view, report)
    np.testing.assert_array_equal(found, cpu.strong_components(view, Report("scc")))
    assert (len(np.unique(found)) < n) == back
    ways = [advance.direction for advance in report.advances]
    assert "order" in ways or back
    assert ("forward-backward" in ways) == back


@pytest.mark.parametrize("trimmed", [4096, 2])
def test_no_cycles(trimmed, monkeypatch):
    """Trimmed from both ends; what is too deep for that is coloured."""
    monkeypatch.setattr(gpu, "MOST_TRIMMED", trimmed)
    ends, n = acyclic()
    ends = np.random.default_rng(2).permutation(n)[ends]
    graph = MadeGraph(n, *ends, directed=True)
    report = Report("scc")
    found = gpu.strong_components(graph.view(), report)
    np.testing.assert_array_equal(found, np.arange(n))
    searched, trims, coloured = report.advances[1:]
    assert trims.direction == "trim"
    assert trims.edges <= 2 * len(ends[0])  # from either end
    assert (trims.supersteps == 2) == (trimmed == 2)
    assert searched.edges < 2 * len(ends[0])
    assert (coloured.edges == 0) == (trimmed == 4096)


@pytest.mark.parametrize("ids", ["uint32", "uint64"])
def test_no_cycles_and_each_vertex_a_level(ids):
    """All that may be joined in one direction: rows of all lengths up to those of several warps."""
    n = 301
    place = np.random.default_rng(3).permutation(n)
    ends = np.stack(np.triu_indices(n, 1))
    report = Report("scc")
    graph = MadeGraph(n, *place[ends], directed=True, ids=ids)
    found = gpu.strong_components(graph.view(), report)
    np.testing.assert_array_equal(found, np.arange(n))
    _, _, trims, coloured = report.advances
    assert trims.supersteps == n // 2 + 1  # the one in the middle goes from one end
    assert trims.edges < 1.6 * len(
        ends[0]
    )  # those of the first half, and of the other one, to all others
    assert coloured.edges == 0


@pytest.mark.parametrize("cycle", [False, True])
def test_a_cycle_behind_a_hub_that_is_alone(cycle):
    """What lies on a cycle, or between two, is left by trimming and told by colours."""
    hub = [(i, 20) for i in range(10)] + [(20, i) for i in range(10, 20)]
    rest = [(21, 22), (22, 23), (23, 24), (24, 25), (25, 26), (26, 27)]
    cycles = [(22, 21), (27, 26)] if cycle else []
    ends = np.array([*hub, *rest, *cycles]).T
    found = label(MadeGraph(28, *ends, directed=True).view())
    assert (found[22] == found[21]) == (found[27] == found[26]) == cycle


def test_report():
    report = Report("scc")
    gpu.strong_components(path(50, directed=True).view(), report)
    assert [row.direction for row in report.advances] == ["trim", "order", "colour"]
    assert report.advances[0].frontier == 50
