"""Vertex programs in supersteps on the GPU against the CPU engine and the interpreter."""

import math

import dask
import numpy as np
import pytest
from made_graphs import path, rmat, star

from dask_graphgpu.algorithms import circuit_simulation, heat_simulation, neural_network, pagerank
from dask_graphgpu.algorithms.linear_beliefs import System
from dask_graphgpu.algorithms.sssp import PROGRAM as SSSP
from dask_graphgpu.algorithms.sswp import program as widest
from dask_graphgpu.engine import cpu, gpu, interpret
from dask_graphgpu.engine.gpu import synchronous
from dask_graphgpu.engine.gpu.device import DeviceView
from dask_graphgpu.errors import IntegerOverflow, NotConverged, ProgramError
from dask_graphgpu.program import Field, Max, Min, Sum, VertexProgram
from dask_graphgpu.report import Report

pytestmark = pytest.mark.gpu

DIRECTIONS = ["auto", "push", "pull", "notify-pull"]


def on(engine, program, view, **arguments):
    return engine.run(program, view, report=Report("test"), **arguments)


def same(found, expected, *, rtol=0.0):
    assert list(found) == list(expected)
    assert found.supersteps == expected.supersteps
    near = {"rel": max(rtol, 1e-9), "abs": max(rtol / 10, 1e-12)}
    assert found.aggregates == pytest.approx(expected.aggregates, **near)
    assert (found.reached is None) == (expected.reached is None)
    if found.reached is not None:
        np.testing.assert_array_equal(found.reached, expected.reached)
    for name in found:
        assert found[name].dtype == expected[name].dtype
        np.testing.assert_allclose(found[name], expected[name], rtol=rtol, atol=rtol * 1e-3)


def graph(*, weight="int64", directed=True, ids=np.uint32, seed=3):
    rng = np.random.default_rng(seed)
    weights = rng.integers(1, 9, 16 << 8) if weight != "float64" else rng.random(16 << 8)
    given = {} if weight is None else {"weight": weights.astype(weight)}
    return rmat(8, directed=directed, ids=ids, seed=seed, **given)


def columned(view):
    rng = np.random.default_rng(0)
    n = view.num_vertices
    names = ("initial", "bias", "explicit", "start", "current", "personalization", "residual")
    columns = {name: rng.random(n) / n for name in names}
    columns["held"] = (rng.random(n) < 0.1) | (view.degrees("both") == 0)
    columns["terminal"] = (rng.random(n) < 0.1).astype(np.int32)
    return view.with_columns(columns)


DELTA = {"max_supersteps": 300, "constants": {"threshold": 1e-6}}
EXACTLY = {"max_supersteps": 12, "exact_supersteps": True}
STEP = {"constants": {"step": 0.001, "tolerance": 1e-9}, **EXACTLY}
BUILT_IN = {
    **{
        f"pagerank {dtype} {'weighted' if weighted else 'plain'}{' personal' if personal else ''}": (
            pagerank.power_program(dtype, weighted=weighted, personal=personal), EXACTLY,
            1e-9 if dtype == "float64" else 1e-5,
        )
        for dtype in ("float64", "float32") for weighted in (False, True) for personal in (False, True)
    },
    "delta": (pagerank.delta_program("float64", weighted=False), DELTA, 1e-9),
    "delta weighted": (pagerank.delta_program("float64", weighted=True), DELTA, 1e-9),
    "beliefs": (System(kind="uniform", coupling=0.001, echo=1e-6).program(), EXACTLY, 1e-9),
    "beliefs weighted": (System(kind="weighted", coupling=0.0001, echo=1e-9).program(), EXACTLY, 1e-9),
    "neural network": (neural_network.program("weight"), EXACTLY, 1e-9),
    "heat": (heat_simulation.program(weighted=False), STEP, 1e-9),
    "heat weighted": (heat_simulation.program(weighted=True), STEP, 1e-9),
    "circuit": (circuit_simulation.program(weighted=True), EXACTLY, 1e-9),
    "circuit joined": (circuit_simulation.joined_program(weighted=True), {"max_supersteps": 50}, 0.0),
    "sssp": (SSSP, {"sources": [0], "max_supersteps": 300}, 0.0),
    "widest": (widest(2**63 - 1), {"sources": [1], "max_supersteps": 300}, 0.0),
}  # fmt: skip


@pytest.mark.parametrize("name", BUILT_IN)
@pytest.mark.parametrize("directed", [True, False])
def test_built_in_programs(name, directed):
    program, arguments, rtol = BUILT_IN[name]
    view = columned(graph(directed=directed).view())
    if not directed or program.edges != "both":
        same(on(gpu, program, view, **arguments), on(cpu, program, view, **arguments), rtol=rtol)


def _helped(x, by):
    return x + by


CUSTOM = {
    "hops": (VertexProgram(
        state={"hops": Field("int64", at_source=0)}, compute=lambda source_hops: source_hops + 1,
        combine="min", bound=lambda num_vertices: num_vertices,
    ), {"sources": [0], "max_supersteps": 300}),
    "hops checked": (VertexProgram(
        state={"hops": Field("int64", at_source=0)}, compute=lambda source_hops: source_hops + 1,
        combine="min",
    ), {"sources": [0, 9], "max_supersteps": 300}),
    "seen": (VertexProgram(
        state={"seen": Field("bool", at_source=True)}, compute=lambda source_seen: source_seen,
        combine="any",
    ), {"sources": [2]}),
    "labels": (VertexProgram(
        state={"label": Field("id", initial=lambda id: id)},  # noqa: A006
        compute=lambda source_label: source_label, combine="min", edges="both",
    ), {"max_supersteps": 300}),
    "paths": (VertexProgram(
        state={"level": Field("int64", initial=-1, at_source=0),
               "paths": Field("int64", initial=0, at_source=1)},
        compute=lambda source_paths: source_paths, combine="sum", message="int64",
        apply=lambda level, paths, message, received, superstep: {
            "level": superstep if received and level < 0 else level,
            "paths": message if received and level < 0 else paths,
        },
        active=lambda level, new_level: new_level != level,
    ), {"sources": [0]}),
    "hash": (VertexProgram(
        state={"hash": Field("int64", initial=1)},
        compute=lambda source_hash, weight: (source_hash ^ weight) * 6364136223846793005,
        combine="sum", wraps=True,
    ), {"max_supersteps": 4}),
    "aggregates of aggregates": (VertexProgram(
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
    ), EXACTLY),
    "asked by the host": (VertexProgram(
        state={"x": Field("int64", initial=lambda id: id)},  # noqa: A006
        compute=lambda source_x: source_x + 1, combine="max",
        aggregates={"most": Max(lambda new_x: new_x), "before": Min(lambda x: x)},
        stop=lambda most, superstep, before: most * 2 + before >= 540 or superstep == 50,
    ), {}),
    "edges and helpers": (VertexProgram(
        state={"x": Field("float32", initial=0.5), "odd": Field("bool", initial=lambda id: id % 2 == 1)},  # noqa: A006
        compute=lambda source_x, source_odd, destination_id, source_degree, weight: (
            math.sqrt(_helped(source_x, weight)) / source_degree + (destination_id if source_odd else 1)
        ),
        combine="min", apply=lambda x, message, odd: {"odd": not odd, "x": min(x, message)},
        active=lambda new_odd, id: new_odd or id < 10,  # noqa: A006
    ), EXACTLY),
    "narrow integers": (VertexProgram(
        state={"x": Field("int32", initial=lambda degree: degree)},
        compute=lambda source_x, weight: source_x * weight % 1000, combine="sum",
        apply=lambda message: message % 1000,
    ), {"max_supersteps": 5, "exact_supersteps": True}),
    "against the edges": (VertexProgram(
        state={"far": Field("int64", at_source=3)},
        compute=lambda source_far, weight: source_far + weight, combine="max", edges="in",
        apply=lambda far, message: max(far, min(message, 50)),
        active=lambda far, new_far: new_far > far,
    ), {"sources": [4, 5], "max_supersteps": 100}),
    "constants": (VertexProgram(
        state={"x": Field("float64", initial=1.0)},
        compute=lambda source_x, factor, flag: source_x * factor if flag else 0.0,
        combine="sum", apply=lambda message, shift: message / 1000 + shift,
        constants={"factor": 0.5, "shift": 3, "flag": True},
    ), {"max_supersteps": 3, "constants": {"factor": 2.0}}),
}  # fmt: skip


@pytest.mark.parametrize("name", CUSTOM)
@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_custom_programs(name, directed, direction):
    program, arguments = CUSTOM[name]
    view = graph(directed=directed).view()
    with dask.config.set({"graphgpu.direction": direction}):
        found = on(gpu, program, view, **arguments)
    same(found, on(interpret, program, view, **arguments), rtol=1e-6 if "edges" in name else 1e-9)


@pytest.mark.parametrize("name", ["hops", "paths", "labels", "narrow integers"])
def test_ids_of_64_bits(name):
    program, arguments = CUSTOM[name]
    view = graph(ids=np.uint64).view()
    same(on(gpu, program, view, **arguments), on(cpu, program, view, **arguments))


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("shape", [star(20_000), star(20_000, directed=True), path(300)])
def test_long_rows_are_put_together(shape, direction):
    view = shape.view(into=True)
    power = pagerank.power_program("float64", weighted=False, personal=False)
    with dask.config.set({"graphgpu.direction": direction}):
        found = on(gpu, power, view, **EXACTLY)
        hops = on(gpu, CUSTOM["hops"][0], view, sources=[7], max_supersteps=400)
        paths = on(gpu, CUSTOM["paths"][0], view, sources=[7])
        seen = on(gpu, CUSTOM["seen"][0], view, sources=[0])
    same(found, on(cpu, power, view, **EXACTLY), rtol=1e-9)
    same(hops, on(cpu, CUSTOM["hops"][0], view, sources=[7], max_supersteps=400))
    same(paths, on(cpu, CUSTOM["paths"][0], view, sources=[7]))
    same(seen, on(cpu, CUSTOM["seen"][0], view, sources=[0]))


def test_sums_are_the_same_bits_every_time():
    view = graph(directed=False).view()
    power = pagerank.power_program("float32", weighted=True, personal=False)
    assert len({on(gpu, power, view, **EXACTLY)["rank"].tobytes() for _ in range(5)}) == 1


def test_the_host_looks_now_and_then_only(monkeypatch):
    monkeypatch.setattr(synchronous.Synchronous, "most_ahead", 3)
    power = pagerank.power_program("float64", weighted=False, personal=False)
    view = graph(directed=False).view()
    for tolerance in (1e-2, 1e-6, 1e-10):
        arguments = {"max_supersteps": 300, "constants": {"tolerance": tolerance}}
        same(on(gpu, power, view, **arguments), on(cpu, power, view, **arguments), rtol=1e-9)


@pytest.mark.parametrize("direction", ["auto", "push", "pull"])
def test_overflow_is_an_error(direction):
    count = VertexProgram(
        state={"x": Field("int64", initial=2**60)}, compute=lambda source_x: source_x, combine="sum"
    )
    grown = VertexProgram(
        state={"x": Field("int64", initial=2**62)}, compute=lambda source_x: 0, combine="max",
        apply=lambda x: x + x,
    )  # fmt: skip
    total = VertexProgram(
        state={"x": Field("int64", initial=2**60)}, compute=lambda source_x: source_x, combine="max",
        aggregates={"total": Sum(lambda new_x: new_x)},
    )  # fmt: skip
    with dask.config.set({"graphgpu.direction": direction}):
        for program, role in ((count, "compute"), (grown, "apply"), (total, "aggregates")):
            with pytest.raises(IntegerOverflow, match=role):
                on(gpu, program, graph().view(), max_supersteps=1, exact_supersteps=True)


def test_what_does_not_compile_is_told_as_by_the_cpu_engine():
    programs = [
        VertexProgram(state={"x": Field("int64", initial=0)}, compute=lambda source_x: source_x / 2,
                      combine="max", apply=lambda x: x),
        VertexProgram(state={"x": Field("float64", initial=0)}, compute=lambda source_x: [source_x],
                      combine="sum"),
        VertexProgram(state={"x": Field("float64", initial=0)}, compute=lambda source_x: source_x,
                      combine="sum", apply=lambda message: message.part),
    ]  # fmt: skip
    for program in programs:
        told = []
        for engine in (cpu, gpu):
            with pytest.raises(ProgramError, match="does not compile") as caught:
                on(engine, program, graph().view(), max_supersteps=1)
            told.append(str(caught.value))
        assert told[0].split(": ")[0] in told[1] or told[1].split(": ")[0] in told[0]


def test_not_converged_and_the_report():
    power = pagerank.power_program("float64", weighted=False, personal=False)
    view = graph().view()
    with pytest.raises(NotConverged, match=r"after 3 supersteps .*residual = 0"):
        on(gpu, power, view, max_supersteps=3)
    report = Report("test")
    state = gpu.run(power, view, max_supersteps=9, exact_supersteps=True, report=report)
    assert [row.supersteps for row in report.advances] == [1] * 9 == [1] * state.supersteps
    assert {row.edges for row in report.advances} == {view.num_edges}
    assert all(0 < row.seconds < 1 for row in report.advances)


def test_graphs_without_edges_or_vertices():
    for n in (1, 5):
        view = path(1).view() if n == 1 else star(5).view()
        ranks = on(gpu, BUILT_IN["pagerank float64 plain"][0], view, max_supersteps=99)["rank"]
        assert ranks.sum() == pytest.approx(1)


def test_fields_leave_the_device_when_they_are_asked_for(monkeypatch):
    view, program = graph().view(), CUSTOM["paths"][0]
    left = []
    bring = DeviceView.to_caller
    monkeypatch.setattr(
        DeviceView, "to_caller", lambda self, array: left.append(array) or bring(self, array)
    )
    state = on(gpu, program, view, sources=[0])
    assert not left
    paths = state["paths"]
    assert state["paths"] is paths
    assert len(left) == 1
    assert [name for name, column in state.items() if len(column)] == ["level", "paths"]
    assert len(left) == 2
    assert len(list(state.values())) == len(left)
