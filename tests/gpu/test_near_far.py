"""Monotone programs in place on the GPU against Dijkstra, the interpreter and the CPU engine."""

import dataclasses

import dask
import numpy as np
import oracles
import pytest
from made_graphs import SHAPES, grid, path, random_small, rmat, star

from dask_graphgpu.algorithms.sswp import program as widest
from dask_graphgpu.engine import cpu, gpu, interpret
from dask_graphgpu.engine.gpu import near_far
from dask_graphgpu.engine.known import DISTANCES as SSSP
from dask_graphgpu.engine.options import RunOptions
from dask_graphgpu.errors import IntegerOverflow
from dask_graphgpu.fields import Field
from dask_graphgpu.partition.csr import from_edges
from dask_graphgpu.partition.view import View
from dask_graphgpu.program import VertexProgram
from dask_graphgpu.report import Report

pytestmark = pytest.mark.gpu

TOP = 2**63 - 1

LABELS = VertexProgram(
    state={"label": Field("id", initial=lambda id: id)},  # noqa: A006
    compute=lambda source_label: source_label,
    combine="min",
    edges="both",
)
HOPS = VertexProgram(  # no further than `most`; against the edges
    state={"level": Field("int32", initial=1000, at_source=0)},
    compute=lambda source_level: source_level + 1,
    combine="min",
    active=lambda level, new_level, most: new_level < level and new_level < most,
    priority=lambda level: 0.5 * level,
    edges="in",
    constants={"most": 3},
)
SAVINGS = VertexProgram(  # priorities fall along edges: the order is bad, the answer right
    state={"left": Field("float32", initial=-3.0, at_source=9.5)},
    compute=lambda source_left, weight: source_left - weight - 0.25,
    combine="max",
    priority=lambda left: left,
)

# How small graphs take the ways of large ones.
WAYS = {
    "default": {},
    "grid only": {"ALONE_LIST": 0},
    "scans": {"FAR_SHARE": 0, "FAR_LEAST": 1, "STARVED_SCAN": 0},
    "lists overflow": {"FAR_SHARE": 1 / 16, "FAR_LEAST": 8, "ALONE_LIST": 4, "WIDTH": 0.01},
    "many launches": {"STEPS": 3, "ALONE_LIST": 8},
    "wide buckets": {"WIDTH": 1e4},
}


@pytest.fixture(params=WAYS)
def way(request, monkeypatch):
    for name, value in WAYS[request.param].items():
        monkeypatch.setattr(near_far, name, value)


def run(program, view, *, engine=gpu, **given):
    report = Report("test")
    return engine.run(program, view, RunOptions(report=report, **given)), report.advances


def same(found, expected):
    assert list(found) == list(expected)
    assert (found.reached is None) == (expected.reached is None)
    if found.reached is not None:
        np.testing.assert_array_equal(found.reached, expected.reached)
    for name in found:
        assert found[name].dtype == expected[name].dtype
        np.testing.assert_array_equal(found[name], expected[name])


def weighted(graph, dtype="int64", *, seed=0, most=64):
    """The graph with random weights; zero among them."""
    rng = np.random.default_rng(seed)
    size = len(graph.source)
    weight = rng.integers(0, most + 1, size) if most else np.zeros(size)
    if np.dtype(dtype).kind == "f":
        weight = weight * rng.random(size)
    return dataclasses.replace(graph, weight=weight.astype(dtype))


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("dtype", ["int64", "float64"])
def test_distances_are_dijkstras(dtype):
    for seed in range(16):
        graph = weighted(random_small(seed, ids="uint32"), dtype, seed=seed, most=seed % 4 * 7)
        source = seed % graph.n
        final = oracles.dijkstra(graph.n, graph.edges(), source, directed=graph.directed)
        state, _ = run(SSSP, graph.view(), sources=[source])
        assert state["distance"].dtype == dtype
        assert set(np.flatnonzero(state.reached)) == set(final), seed
        found = {v: state["distance"][v].item() for v in final}
        assert found == (final if dtype == "int64" else pytest.approx(final, rel=1e-12)), seed


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("shape", SHAPES)
def test_shapes_as_on_the_cpu(shape):
    for directed in (False, True):
        view = weighted(SHAPES[shape](directed=directed)).view()
        for source in (0, view.num_vertices // 3):
            expected, _ = run(SSSP, view, engine=cpu, sources=[source])
            state, _ = run(SSSP, view, sources=[source])
            same(state, expected)


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("direction", ["auto", "push"])
@pytest.mark.parametrize(
    ("program", "given"),
    [
        pytest.param(SSSP, {"sources": [0, 7, 30], "cutoff": 90}, id="cutoff"),
        pytest.param(widest(TOP), {"sources": [1]}, id="widest"),
        pytest.param(widest(TOP), {"sources": [1], "cutoff": -30}, id="wide enough"),
        pytest.param(LABELS, {}, id="labels"),
        pytest.param(LABELS, {"sources": [3, 5]}, id="labels from some"),
        pytest.param(HOPS, {"sources": [2]}, id="active"),
        pytest.param(HOPS, {"sources": [2], "constants": {"most": 1}, "cutoff": 0.7}, id="both"),
        pytest.param(SAVINGS, {"sources": [4]}, id="falling priorities"),
    ],
)
def test_programs_as_interpreted(program, given, direction):
    with dask.config.set({"graphgpu.direction": direction}):
        for seed in (1, 2):
            graph = weighted(rmat(7, 4, seed=seed, directed=seed == 1), most=40)
            view = graph.view()
            same(run(program, view, **given)[0], run(program, view, engine=interpret, **given)[0])


@pytest.mark.usefixtures("way")
def test_targets_are_final():
    view = weighted(grid(60)).view()
    final, _ = run(SSSP, view, engine=cpu, sources=[0])
    for targets in ([0], [59], [130, 61], [3599, 2]):
        state, _ = run(SSSP, view, sources=[0], targets=np.array(targets))
        assert (state["distance"][targets] == final["distance"][targets]).all()
        assert state.reached[targets].all()
    # One that is not reached lets the run go to its end.
    view = weighted(path(50, directed=True)).view()
    state, _ = run(SSSP, view, sources=[20], targets=np.array([3]))
    assert state.reached.sum() == 30


def test_targets_end_a_run_early():
    view = weighted(grid(60)).view()
    _, everything = run(SSSP, view, sources=[0])
    _, early = run(SSSP, view, sources=[0], targets=np.array([1]))
    assert early[0].edges < everything[0].edges / 2


@pytest.mark.parametrize("scale", [14, 16])
def test_skewed_graphs_as_on_the_cpu(scale):
    for dtype, most in (("uint8", 64), ("float64", 1)):
        view = weighted(rmat(scale), dtype, most=most).view()
        expected, _ = run(SSSP, view, engine=cpu, sources=[5])
        state, advances = run(SSSP, view, sources=[5])
        np.testing.assert_array_equal(state.reached, expected.reached)
        if dtype == "uint8":
            same(state, expected)
        else:
            np.testing.assert_allclose(state["distance"], expected["distance"], rtol=1e-12)
        (advance,) = advances
        assert advance.direction == "near-far"
        assert advance.supersteps == state.supersteps > 0
        reached = view.out.degrees[state.reached].sum()
        assert reached <= advance.edges < 4 * reached


@pytest.mark.parametrize("graph", [grid(200), path(10_000), star(10_000)], ids=str)
def test_large_shapes_as_on_the_cpu(graph):
    view = weighted(graph).view()
    for source in (0, graph.n - 1):
        expected, _ = run(SSSP, view, engine=cpu, sources=[source])
        same(run(SSSP, view, sources=[source])[0], expected)


@pytest.mark.usefixtures("way")
def test_short_pieces_and_stages(monkeypatch):
    for name, value in {"PIECE": 4, "STAGE": 8, "UNROLL": 1, "THREADS": 64}.items():
        monkeypatch.setattr(near_far, name, value)
    view = weighted(rmat(11)).view()
    same(run(SSSP, view, sources=[5])[0], run(SSSP, view, engine=cpu, sources=[5])[0])


@pytest.mark.usefixtures("way")
def test_ids_of_64_bits():
    for program, given in ((SSSP, {"sources": [5]}), (LABELS, {})):
        view = weighted(rmat(9, ids="uint64")).view()
        same(run(program, view, **given)[0], run(program, view, engine=cpu, **given)[0])


def test_a_long_path_is_one_row_of_the_report():
    view = path(10_000).view()
    state, advances = run(SSSP, view, sources=[0])
    assert (state["distance"] == np.arange(10_000)).all()
    assert [(a.direction, a.frontier, a.edges) for a in advances] == [("near-far", 1, 19_998)]
    assert advances[0].supersteps == 10_000


# -- the ends of the types ------------------------------------------------------------------------


def chain(weights, dtype="int64"):
    v = np.arange(len(weights))
    return View.of(from_edges(len(v) + 1, v, v + 1, {"weight": np.array(weights, dtype)}))


@pytest.mark.usefixtures("way")
def test_the_largest_integer_is_a_distance_like_any_other():
    state, _ = run(SSSP, chain([2**62, 2**62 - 1, 0]), sources=[0])
    assert state["distance"].tolist() == [0, 2**62, TOP, TOP]
    assert state.reached.all()


@pytest.mark.usefixtures("way")
def test_infinity_is_a_distance_like_any_other():
    weight = np.array([np.inf, 1.0, np.inf, 1.0, np.inf])
    source, destination = np.array([0, 0, 1, 2, 0]), np.array([1, 2, 3, 4, 2])
    view = View.of(from_edges(6, source, destination, {"weight": weight}))
    state, _ = run(SSSP, view, sources=[0])
    assert state["distance"].tolist() == [0, np.inf, 1, np.inf, 2, 0]
    assert state.reached.tolist() == [True] * 5 + [False]


@pytest.mark.parametrize("weights", [[2**62, 2**62], [TOP, 1], [TOP, TOP]])
def test_overflow_of_a_message_is_an_error(weights):
    with pytest.raises(IntegerOverflow, match="float weights"):
        run(SSSP, chain(weights), sources=[0])


def test_graphs_without_edges_and_runs_without_sources():
    view = weighted(SHAPES["edgeless"]()).view()
    state, _ = run(SSSP, view, sources=[3])
    assert np.flatnonzero(state.reached).tolist() == [3]
    state, _ = run(SSSP, view, sources=np.empty(0, np.int64))
    assert not state.reached.any()
    assert state.supersteps == 0
