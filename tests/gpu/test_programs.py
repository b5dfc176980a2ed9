"""Vertex programs in supersteps on the GPU against the CPU engine and the interpreter."""

import gc
import weakref

import dask
import numpy as np
import pytest
from device_programs import BUILT_IN, CUSTOM, EXACTLY, columned, graph, numbered, on, same
from made_graphs import path, star

from dask_graphgpu.algorithms import pagerank
from dask_graphgpu.engine import cpu, gpu, interpret
from dask_graphgpu.engine.cuda import lower
from dask_graphgpu.engine.gpu import policies
from dask_graphgpu.engine.gpu.device import DeviceView
from dask_graphgpu.engine.options import RunOptions
from dask_graphgpu.errors import IntegerOverflow, NotConverged, ProgramError
from dask_graphgpu.fields import Field, Sum
from dask_graphgpu.program import VertexProgram
from dask_graphgpu.report import Report

pytestmark = pytest.mark.gpu

DIRECTIONS = ["auto", "push", "pull", "notify-pull"]


@pytest.mark.parametrize("name", BUILT_IN)
@pytest.mark.parametrize("directed", [True, False])
def test_built_in_programs(name, directed):
    program, arguments, rtol = BUILT_IN[name]
    view = columned(graph(directed=directed).view())
    if not directed or program.edges != "both":
        same(on(gpu, program, view, **arguments), on(cpu, program, view, **arguments), rtol=rtol)


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


@pytest.mark.parametrize("name", ["labels", "asked by the host", "aggregates of aggregates"])
def test_ids_are_in_the_order_of_the_users(name):
    program, arguments = CUSTOM[name]
    for ids in (np.uint32, np.uint64):
        view = numbered(graph(directed="labels" != name, ids=ids).view())
        found = on(gpu, program, view, **arguments)
        same(found, on(interpret, program, view, **arguments), rtol=1e-9)


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
    monkeypatch.setattr(policies.Blind, "most_ahead", 3)
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
    state = gpu.run(power, view, RunOptions(max_supersteps=9, exact_supersteps=True, report=report))
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


def test_a_program_is_lowered_once_for_what_it_reads():
    """Again for other values from outside, constants and types; a graph is not kept by it."""
    added = 1

    def compute(source_sum, step):
        return source_sum + step + added

    program = VertexProgram(
        state={"sum": Field("float64", initial=1)},
        compute=compute,
        combine="max",
        constants={"step": 1},
    )
    made = lower._lowered.cache_info().misses
    for added in (1, 1, 5):  # noqa: B007  the closure's cell
        for step in (1, 2.0, 2):
            for shape in (path(40), path(40), star(30)):
                view, given = shape.view(), {"constants": {"step": step}, "max_supersteps": 3}
                found = on(gpu, program, view, exact_supersteps=True, **given)
                wanted = on(interpret, program, view, exact_supersteps=True, **given)
                same(found, wanted)
    assert lower._lowered.cache_info().misses - made == 2 * 3 * 2
    rows = path(50).view()
    on(gpu, CUSTOM["hops"][0], rows, sources=[7], max_supersteps=400)
    gone = weakref.ref(rows.rows)
    del rows
    gc.collect()
    assert gone() is None
