"""Filters, fusion and separators of worklists: all of them find what the default finds."""

import dask
import numpy as np
import pytest
from made_graphs import grid, path, rmat, star

from dask_graphgpu.algorithms import pagerank
from dask_graphgpu.engine import cpu, gpu
from dask_graphgpu.engine.gpu.arrays import Arrays
from dask_graphgpu.engine.gpu.superstep import Superstep
from dask_graphgpu.engine.gpu.synchronous import Synchronous
from dask_graphgpu.engine.known import DISTANCES as SSSP
from dask_graphgpu.engine.options import RunOptions
from dask_graphgpu.engine.schedule import FILTERS, FUSIONS
from dask_graphgpu.engine.state import Binding
from dask_graphgpu.errors import IntegerOverflow, InvalidArgument
from dask_graphgpu.fields import Field, Max, Min, Sum
from dask_graphgpu.program import VertexProgram
from dask_graphgpu.report import Report

pytestmark = pytest.mark.gpu

LABELS = VertexProgram(
    state={"label": Field("id", initial=lambda id: id)},  # noqa: A006
    compute=lambda source_label: source_label, combine="min", edges="both",
)  # fmt: skip
SEEN = VertexProgram(
    state={"seen": Field("bool", at_source=True)}, compute=lambda source_seen: source_seen,
    combine="any",
)  # fmt: skip
AGGREGATES = VertexProgram(
    state={"x": Field("float64", initial=lambda id: id % 7 + 1.0)},  # noqa: A006
    compute=lambda source_x, mean: source_x / (1.0 + mean), combine="max",
    apply=lambda x, message, received, most: (x + message) / most if received else x,
    active=lambda x: x > 0.5,
    aggregates={
        "total": Sum(lambda x: x), "most": Max(lambda x, total: x + total),
        "mean": Sum(lambda x, total: x / total), "next_total": Sum(lambda new_x: new_x),
        "spread": Max(lambda new_x, x, next_total: abs(new_x - x) / next_total),
        "count": Sum(lambda x: x > 1.0), "least": Min(lambda id, new_x: id if new_x > 1 else 99),  # noqa: A006
    },
)  # fmt: skip
POWER = pagerank.power_program("float64", weighted=False, personal=False)
DELTA = pagerank.delta_program("float64", weighted=False)

FILTERED = FILTERS[1:]
FUSED = FUSIONS[1:]
VIEWS = {
    "rmat": rmat(9, directed=True, weight=np.random.default_rng(3).integers(1, 9, 16 << 9)),
    "undirected": rmat(8, weight=np.random.default_rng(4).integers(1, 9, 16 << 8)),
    "star": star(9_000, weight=np.ones(8_999, np.int64)),
    "grid": grid(12, weight=np.random.default_rng(5).integers(1, 9, 2 * 11 * 12)),
}


def ran(engine, program, view, **arguments):
    return engine.run(program, view, RunOptions(report=Report("test"), **arguments))


def same(found, expected):
    assert found.supersteps == expected.supersteps
    assert found.aggregates == pytest.approx(expected.aggregates, rel=1e-9, abs=1e-12)
    for name in expected:
        np.testing.assert_allclose(found[name], expected[name], rtol=1e-9, atol=1e-12)
    if expected.reached is not None:
        np.testing.assert_array_equal(found.reached, expected.reached)


@pytest.mark.parametrize("fusion", FUSED)
@pytest.mark.parametrize("kind", FILTERED)
@pytest.mark.parametrize("name", VIEWS)
def test_every_filter_and_fusion_finds_the_same(name, kind, fusion):
    view = VIEWS[name].view()
    for program, arguments in (
        (SSSP, {"sources": [0], "max_supersteps": 500}),
        (SSSP, {"sources": [3, 7], "max_supersteps": 2, "exact_supersteps": True}),
        (LABELS, {"max_supersteps": 500}),
    ):
        expected = ran(cpu, program, view, **arguments)
        with dask.config.set({"graphgpu.filter": kind, "graphgpu.fusion": fusion}):
            same(ran(gpu, program, view, **arguments), expected)


@pytest.mark.parametrize("fusion", FUSED)
@pytest.mark.parametrize("kind", FILTERED)
def test_votes_and_large_frontiers_in_one_direction(kind, fusion):
    view = VIEWS["undirected"].view()
    forced = {"graphgpu.filter": kind, "graphgpu.fusion": fusion, "graphgpu.direction": "push"}
    for program, arguments in ((SEEN, {"sources": [1]}), (LABELS, {})):
        expected = ran(cpu, program, view, max_supersteps=300, **arguments)
        with dask.config.set(forced):
            same(ran(gpu, program, view, max_supersteps=300, **arguments), expected)


@pytest.mark.parametrize("fusion", FUSED)
@pytest.mark.parametrize(
    ("kind", "slots"), [("online", 64), ("online", 1), ("jit", 64), ("jit", 1)]
)
def test_bins_that_overflow_lose_nothing(kind, slots, fusion):
    # One thread has all edges of the hub: its bin overflows with 64 slots too.
    view = star(5_000, weight=np.full(4_999, 3)).view()
    binding = Binding(SSSP, view, {})
    sources = np.array([9])
    expected = ran(cpu, SSSP, view, sources=sources, max_supersteps=50)
    forced = {"filter": kind, "fusion": fusion, "filter-bins": slots, "worklists": "off"}
    with dask.config.set({"graphgpu": {**forced, "direction": "push"}}):
        report = Report("test")
        run = Synchronous(Superstep(Arrays(binding, sources), report))
        state = run.run(RunOptions(report=report, max_supersteps=50))
    same(state, expected)
    assert run.overflows >= 1


# Their apply and active are asked of every vertex: apply records who is active.
K_CORE = VertexProgram(
    state={"left": Field("int64", initial=lambda degree: degree),
           "gone": Field("bool", initial=lambda degree: degree < 12)},
    compute=lambda source_gone: 1 if source_gone else 0, combine="sum", message="int64",
    apply=lambda left, message: {"left": left - message, "gone": left - message < 12},
    active=lambda gone, new_gone: new_gone and not gone,
)  # fmt: skip
UNASKED = VertexProgram(  # goes on in vertices that nobody sends to
    state={"x": Field("int64", initial=0, at_source=40)}, combine="max",
    compute=lambda source_x: source_x - 1, apply=lambda x, message: max(x - 2, min(message, 30)),
    active=lambda new_x: new_x > 0,
)  # fmt: skip
ALL_VERTICES = {
    "k-core": (K_CORE, {"max_supersteps": 200}),
    "delta": (DELTA, {"max_supersteps": 300, "constants": {"threshold": 1e-5}}),
    "unasked": (UNASKED, {"sources": [3, 0], "max_supersteps": 100}),
    "aggregates": (AGGREGATES, {"max_supersteps": 12, "exact_supersteps": True}),
}


@pytest.mark.parametrize("slots", [64, 1])
@pytest.mark.parametrize("fusion", FUSED)
@pytest.mark.parametrize("kind", [kind for kind in FILTERED if kind != "batch"])
@pytest.mark.parametrize("name", ALL_VERTICES)
def test_filters_of_programs_that_look_at_all_vertices(name, kind, fusion, slots):
    program, arguments = ALL_VERTICES[name]
    plain = VIEWS["rmat"].view(into=True)
    view = plain.with_columns({"residual": np.full(plain.num_vertices, 1 / plain.num_vertices)})
    expected = ran(cpu, program, view, **arguments)
    for direction in ("auto", "push", "notify-pull"):
        forced = {"filter": kind, "fusion": fusion, "filter-bins": slots, "direction": direction}
        with dask.config.set({"graphgpu": forced}):
            same(ran(gpu, program, view, **arguments), expected)


@pytest.mark.parametrize("fusion", FUSED)
@pytest.mark.parametrize("direction", ["auto", "push", "pull", "notify-pull"])
def test_an_atomic_for_every_edge(direction, fusion):
    plain = VIEWS["undirected"].view(into=True)
    view = plain.with_columns({"residual": np.full(plain.num_vertices, 1 / plain.num_vertices)})
    twelve = {"max_supersteps": 12, "exact_supersteps": True}
    for program, arguments in (
        (POWER, twelve), (AGGREGATES, twelve), (SEEN, {"sources": [1], "max_supersteps": 300}),
        (SSSP, {"sources": [0], "max_supersteps": 300}), (LABELS, {"max_supersteps": 300}),
        (DELTA, {"max_supersteps": 300, "constants": {"threshold": 1e-6}}),
    ):  # fmt: skip
        expected = ran(cpu, program, view, **arguments)
        forced = {"combine": "atomic", "fusion": fusion, "direction": direction}
        with dask.config.set({"graphgpu": forced}):
            same(ran(gpu, program, view, **arguments), expected)


def test_an_atomic_for_every_edge_of_long_rows():
    view = star(20_000).view(into=True)
    twelve = {"max_supersteps": 12, "exact_supersteps": True}
    with dask.config.set({"graphgpu.combine": "atomic"}):
        same(ran(gpu, POWER, view, **twelve), ran(cpu, POWER, view, **twelve))


@pytest.mark.parametrize("worklists", [[1, 1], [4, 128], [128, 2048], [3, 5], "off", None])
def test_separators_of_worklists(worklists):
    view = VIEWS["rmat"].view()
    forced = {"graphgpu.worklists": worklists, "graphgpu.direction": "push"}
    with dask.config.set(forced):
        found = ran(gpu, SSSP, view, sources=[0], max_supersteps=300)
        levels = gpu.bfs(view, 0, cutoff=None, targets=None, report=Report("test"))
    same(found, ran(cpu, SSSP, view, sources=[0], max_supersteps=300))
    expected = cpu.bfs(view, 0, cutoff=None, targets=None, report=Report("test"))
    np.testing.assert_array_equal(levels, expected)


@pytest.mark.parametrize("fusion", FUSED)
@pytest.mark.parametrize("direction", ["auto", "push", "pull", "notify-pull"])
def test_fusion_of_programs_that_look_at_all_vertices(direction, fusion):
    plain = VIEWS["rmat"].view(into=True)
    view = plain.with_columns({"residual": np.full(plain.num_vertices, 1 / plain.num_vertices)})
    twelve = {"max_supersteps": 12, "exact_supersteps": True}
    for program, arguments in (
        (AGGREGATES, twelve),
        (POWER, twelve),
        (POWER, {"max_supersteps": 300, "constants": {"tolerance": 1e-7}}),
        (DELTA, {"max_supersteps": 300, "constants": {"threshold": 1e-6}}),
        (SSSP, {"sources": [0], "max_supersteps": 300}),
    ):
        expected = ran(cpu, program, view, **arguments)
        with dask.config.set({"graphgpu.fusion": fusion, "graphgpu.direction": direction}):
            same(ran(gpu, program, view, **arguments), expected)


@pytest.mark.parametrize("fusion", ["selective", "all"])
def test_more_supersteps_than_a_launch_has(fusion, monkeypatch):
    monkeypatch.setattr("dask_graphgpu.engine.gpu.superstep.MOST", 3)
    view = path(40, weight=np.ones(39, np.int64)).view()
    with dask.config.set({"graphgpu.fusion": fusion, "graphgpu.filter": "jit"}):
        found = ran(gpu, SSSP, view, sources=[0], max_supersteps=300)
    same(found, ran(cpu, SSSP, view, sources=[0], max_supersteps=300))


def test_overflow_of_integers_is_an_error():
    far = VertexProgram(
        state={"x": Field("int64", at_source=2**62)}, compute=lambda source_x: source_x + source_x,
        combine="max",
    )  # fmt: skip
    forced = {"graphgpu.filter": "jit", "graphgpu.fusion": "all"}
    with dask.config.set(forced), pytest.raises(IntegerOverflow, match="compute"):
        ran(gpu, far, path(5).view(), sources=[0], max_supersteps=3)


def test_what_cannot_be_forced_is_told():
    view = path(5).view()
    asked = VertexProgram(
        state={"x": Field("int64", initial=lambda id: id)},  # noqa: A006
        compute=lambda source_x: source_x + 1, combine="max",
        aggregates={"most": Max(lambda new_x: new_x)}, stop=lambda most: most * 2 > 20,
    )  # fmt: skip
    for settings, program, arguments, reason in (
        ({"filter": "online"}, POWER, {"max_supersteps": 2}, "all vertices send"),
        ({"filter": "batch"}, asked, {}, "aggregates="),
        ({"filter": "batch"}, K_CORE, {}, "combine='sum'"),
        ({"combine": "atomic"}, K_CORE, {}, "watched for overflow"),
        ({"combine": "always"}, SSSP, {"sources": [0]}, "allowed are auto, atomic"),
        (
            {"combine": "atomic"},
            SSSP,
            {"sources": [0], "cutoff": 2},
            "a run with a cutoff has none",
        ),
        ({"filter": "jit", "direction": "pull"}, SSSP, {"sources": [0]}, "no superstep pushes"),
        ({"fusion": "all"}, asked, {}, "stop= is asked in Python"),
        ({"fusion": "all"}, SSSP, {"sources": [0], "cutoff": 2}, "a run with a cutoff has none"),
        ({"filter": "best"}, SSSP, {"sources": [0]}, "allowed are auto, batch"),
        ({"fusion": "some"}, SSSP, {"sources": [0]}, "allowed are auto, none"),
        ({"filter": "jit", "filter-bins": 0}, SSSP, {"sources": [0]}, "filter-bins is 0"),
        ({"worklists": [128, 32], "fusion": "none"}, SSSP, {"sources": [0]}, "worklists is"),
    ):
        forced = {f"graphgpu.{name}": value for name, value in settings.items()}
        with dask.config.set(forced), pytest.raises(InvalidArgument, match=reason):
            ran(gpu, program, view, **arguments)


@pytest.mark.parametrize("fusion", FUSED)
@pytest.mark.parametrize("name", VIEWS)
def test_the_list_of_edges_is_as_long_as_it_needs_to_be(name, fusion):
    view = VIEWS[name].view()
    expected = ran(cpu, SSSP, view, sources=[0], max_supersteps=500)
    room, memory = {}, {}
    for kind in ("just-enough", "fixed", "maximum", "fused"):
        forced = {"filter": "batch", "fusion": fusion, "allocation": kind, "direction": "push"}
        report = Report("test")
        with dask.config.set({"graphgpu": forced}):
            superstep = Superstep(Arrays(Binding(SSSP, view, {}), np.array([0])), report)
            run = Synchronous(superstep)
            same(run.run(RunOptions(report=report, max_supersteps=500)), expected)
        room[kind], memory[kind] = superstep._kept.room, report.memory
    assert room["maximum"] == view.num_edges
    assert 0 < room["fixed"] <= room["just-enough"] <= room["maximum"]
    assert room["fused"] == 0
    assert memory["fixed"] <= memory["just-enough"] <= memory["maximum"]
    if name == "grid":
        assert room["just-enough"] < view.num_edges / 2


def test_room_is_made_for_a_run_that_needs_more_than_those_before():
    view = VIEWS["grid"].view()
    forced = {"filter": "batch", "allocation": "fixed", "direction": "push"}
    with dask.config.set({"graphgpu": forced}):
        for limit in (1, 3, 500):
            few = {"sources": [0], "max_supersteps": limit, "exact_supersteps": limit < 500}
            same(ran(gpu, SSSP, view, **few), ran(cpu, SSSP, view, **few))
