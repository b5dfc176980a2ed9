"""Programs that the GPU shares with the CPU: as the CPU engine alone, however they are split."""

from concurrent.futures import wait

import dask
import numpy as np
import pandas as pd
import pytest
from device_programs import BUILT_IN, CUSTOM, columned, graph, on, same, views
from made_graphs import SHAPES, random_small, rmat

from dask_graphgpu import last_report
from dask_graphgpu.engine import cpu, hybrid, limits
from dask_graphgpu.engine.hybrid import programs, transfer
from dask_graphgpu.engine.hybrid.cpu_side import CpuSide
from dask_graphgpu.engine.hybrid.programs import bytes_of_vertices
from dask_graphgpu.engine.hybrid.supersteps import HybridSupersteps
from dask_graphgpu.engine.known import DISTANCES as SSSP
from dask_graphgpu.engine.options import RunOptions
from dask_graphgpu.engine.speeds import Speeds
from dask_graphgpu.engine.state import Binding
from dask_graphgpu.engine.tiered.packed import bytes_of_edge
from dask_graphgpu.errors import (
    EngineUnavailable,
    IntegerOverflow,
    InvalidArgument,
    LimitTooSmall,
    NotConverged,
)
from dask_graphgpu.fields import Field, Sum
from dask_graphgpu.partition.view import View
from dask_graphgpu.program import VertexProgram
from dask_graphgpu.report import Report

pytestmark = pytest.mark.gpu

SPLITS = ["auto", "gpu", "cpu", "alternate", "supersteps"]
SHARES = [0, 0.4, 1]


def ran(program, view, share, split, **arguments):
    """A run with this share of the edges on the device, or the least that can be, and its report."""
    binding = Binding(program, view, arguments.get("constants", {}))
    edge, vertices = bytes_of_edge(binding), bytes_of_vertices(binding)
    least = limits.BUFFERS * limits.BLOCK * edge
    limit = vertices + max(int(share * binding.send.num_edges * edge), least)
    report = Report("test")
    with dask.config.set({"graphgpu.device-memory-limit": limit, "graphgpu.dispatch": split}):
        return hybrid.run(program, view, RunOptions(report=report, **arguments)), report


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("name", BUILT_IN)
def test_built_in_programs(name, split):
    program, arguments, rtol = BUILT_IN[name]
    for view in map(columned, views(program)):
        expected = on(cpu, program, view, **arguments)
        for share in SHARES:
            found, report = ran(program, view, share, split, **arguments)
            same(found, expected, rtol=max(rtol, 1e-9) if rtol else 0.0)
            assert sum(each.supersteps for each in report.advances) == expected.supersteps


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("name", CUSTOM)
def test_custom_programs(name, split):
    program, arguments = CUSTOM[name]
    view = graph().view()
    if Binding(program, view, {}).shadowed("sum"):
        with pytest.raises(EngineUnavailable, match="sums of integers"):
            ran(program, view, 0, split, **arguments)
        return
    expected = on(cpu, program, view, **arguments)
    for share in SHARES:
        found, _ = ran(program, view, share, split, **arguments)
        same(found, expected, rtol=1e-6 if "edges" in name else 1e-9)


@pytest.mark.parametrize("split", SPLITS)
def test_messages_that_read_aggregates_and_both_ends(split):
    program = VertexProgram(
        state={"x": Field("float64", initial=lambda id: id % 7 + 1.0), "y": Field("float64", initial=2.0)},  # noqa: A006
        compute=lambda source_x, destination_x, destination_y, weight, total, superstep: (
            (source_x - destination_x / 3) * weight / (destination_y * total * superstep)
        ),
        combine="sum", apply=lambda x, message: {"x": x / 2 + message},
        aggregates={"total": Sum(lambda x: x)},
    )  # fmt: skip
    given = {"max_supersteps": 6, "exact_supersteps": True}
    view = graph().view()
    expected = on(cpu, program, view, **given)
    for share in SHARES:
        found, _ = ran(program, view, share, split, **given)
        same(found, expected, rtol=1e-9)


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("shape", SHAPES)
def test_shapes(shape, split):
    view = SHAPES[shape]().view()
    expected = cpu.bfs(view, 1, cutoff=90, targets=None, report=Report("test"))
    settings = {"device-memory-limit": "1MB", "dispatch": split}
    with dask.config.set({"graphgpu": settings}):
        found = hybrid.bfs(view, 1, cutoff=90, targets=None, report=Report("test"))
    np.testing.assert_array_equal(found, expected)
    program = CUSTOM["labels"][0]
    given = {"max_supersteps": 60, "exact_supersteps": True}
    same(ran(program, view, 0, split, **given)[0], on(cpu, program, view, **given))


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("seed", range(12))
def test_small_graphs(seed, split, monkeypatch):
    monkeypatch.setattr(limits, "BLOCK", 32)
    view = random_small(seed).view()
    for name in ("hops", "labels", "seen"):
        program, arguments = CUSTOM[name]
        given = {**arguments, "sources": [0]} if "sources" in arguments else arguments
        same(ran(program, view, 0, split, **given)[0], on(cpu, program, view, **given))


@pytest.mark.parametrize("ids", [np.uint32, np.uint64])
@pytest.mark.parametrize("weight", ["uint8", "int64", "float32", "float64"])
@pytest.mark.parametrize("split", SPLITS)
def test_widths(split, weight, ids):
    view = graph(weight=weight, ids=ids).view()
    given = {"sources": [0], "max_supersteps": 300}
    same(ran(SSSP, view, 0, split, **given)[0], on(cpu, SSSP, view, **given))


def test_who_did_what():
    view = rmat(9, directed=True, weight=np.ones(16 << 9, np.int32)).view()
    given = {"sources": [0], "max_supersteps": 300}
    expected = on(cpu, SSSP, view, **given)
    sides, edges = {}, set()
    for split in SPLITS:
        found, report = ran(SSSP, view, 0, split, **given)
        sides[split] = report.sides
        gpu, host = report.sides["gpu"], report.sides["cpu"]
        edges.add(gpu["edges"] + host["edges"])
        assert gpu["alone"] + host["alone"] <= found.supersteps == expected.supersteps
        assert gpu["supersteps"] + host["alone"] == found.supersteps
        assert report.to_frame().attrs["sides"] == report.sides
    assert len(edges) == 1
    assert sides["gpu"]["cpu"] == dict.fromkeys(sides["gpu"]["cpu"], 0)
    assert sides["cpu"]["gpu"]["edges"] == sides["cpu"]["gpu"]["pages"] == 0
    assert sides["cpu"]["cpu"]["pages"] > found.supersteps
    both = sides["alternate"]
    assert both["gpu"]["alone"] < both["gpu"]["supersteps"]
    assert both["gpu"]["edges"] > 0 < both["cpu"]["edges"]
    turns = sides["supersteps"]["cpu"]
    assert turns["alone"] == turns["supersteps"] == found.supersteps // 2
    assert turns["edges"] > 0 == turns["pages"]


def test_a_fast_cpu_takes_pages_and_a_slow_one_none(monkeypatch):
    """By rates alone, which are put in place of the measured ones; its side is there at once."""
    begun = CpuSide.begun

    def waited_for(cpu):
        wait([begun(cpu)])
        return begun(cpu)

    monkeypatch.setattr(CpuSide, "begun", waited_for)
    program, arguments, _ = BUILT_IN["pagerank float64 plain"]
    view = graph(directed=False).view()
    expected = on(cpu, program, view, **arguments)
    for seconds, works in ((1e-9, True), (1e9, False)):
        rate = 1 / seconds
        speeds = Speeds(
            pull=rate, push=rate, gpu=1.0, cpu_beside=1e6, gpu_beside=0.0, measured=True
        )
        monkeypatch.setattr(programs, "_speeds", lambda *given, made=speeds: made)
        monkeypatch.setattr(programs, "_beside", lambda *given: (0.0, 0.0))
        for name in ("page_of_cpu", "page_of_gpu", "step_of_gpu", "step_of_both"):
            monkeypatch.setattr(Speeds, name, lambda *given: None)
        monkeypatch.setattr(CpuSide, "setting_up", 0.0)
        with dask.config.set({"graphgpu.transfer": "stream"}):
            found, report = ran(program, fresh(view), 0, "auto", **arguments)
        same(found, expected, rtol=1e-9)
        assert (report.sides["cpu"]["pages"] > 0) == works
        assert report.sides["cpu"]["alone"] == 0 or works


@pytest.mark.parametrize("rounds", ["auto", "synchronous"])
def test_what_the_cpu_could_not_shorten_is_the_gpus_own_way(rounds, monkeypatch):
    slow = Speeds(pull=1.0, push=1.0, gpu=1e9, cpu_beside=1.0, gpu_beside=0.0)
    monkeypatch.setattr(programs, "_speeds", lambda *given: slow)
    monkeypatch.setattr(programs, "_beside", lambda *given: (1.0, 1.0))
    shared = []
    monkeypatch.setattr(HybridSupersteps, "run", lambda *given, **named: shared.append(given))
    view = graph(directed=False).view()
    for call in (
        lambda of, report: of.bfs(view, 3, cutoff=None, targets=None, report=report),
        lambda of, report: of.components(view, report),
        lambda of, report: of.run(SSSP, view, RunOptions(sources=[0], report=report))["distance"],
        lambda of, report: of.run(
            SSSP, view, RunOptions(sources=[0], max_supersteps=300, report=report)
        )["distance"],
    ):  # fmt: skip
        report = Report("test")
        with dask.config.set({"graphgpu.device-memory-limit": "1MB", "graphgpu.rounds": rounds}):
            found = call(hybrid, report)
        np.testing.assert_array_equal(found, call(cpu, Report("test")))
        gpu, host = report.sides["gpu"], report.sides["cpu"]
        assert host == dict.fromkeys(gpu, 0)
        assert gpu["supersteps"] == gpu["alone"] > 0 < gpu["edges"]
    assert not shared


def test_what_the_cpu_could_not_shorten_is_judged_once(monkeypatch):
    asked, bound = [], []
    made = Binding.__init__
    monkeypatch.setattr(programs, "may_pay", lambda *given, **named: asked.append(1))
    view = graph(directed=False).view()
    with dask.config.set({"graphgpu.device-memory-limit": "1MB"}):  # the program is lowered
        hybrid.run(SSSP, fresh(view), RunOptions(sources=[0], report=Report("test")))
    asked.clear()
    monkeypatch.setattr(Binding, "__init__", lambda *given: (bound.append(1), made(*given))[1])
    view = fresh(view)
    for limit, times in (("1MB", 1), ("1MB", 1), ("2MB", 2)):
        bound.clear()
        with dask.config.set({"graphgpu.device-memory-limit": limit}):
            hybrid.run(SSSP, view, RunOptions(sources=[0], report=Report("test")))
        assert (len(asked), len(bound)) == (times, 1)


def test_there_are_no_pages_where_nothing_is_streamed(monkeypatch):
    def refused(*given, **named):
        raise AssertionError

    slow = Speeds(pull=1.0, push=1.0, gpu=1e9, cpu_beside=1e6, gpu_beside=0.0)
    monkeypatch.setattr(programs, "_speeds", lambda *given: slow)
    monkeypatch.setattr(programs, "may_pay", lambda *given, **named: True)
    monkeypatch.setattr(transfer, "Pages", refused)
    program, arguments, _ = BUILT_IN["pagerank float64 plain"]
    view = fresh(graph(directed=False).view())
    with dask.config.set({"graphgpu.transfer": "zero-copy"}):
        found, report = ran(program, view, 0, "auto", **arguments)
    same(found, on(cpu, program, view, **arguments), rtol=1e-9)
    assert report.sides["gpu"]["supersteps"] == found.supersteps
    with dask.config.set({"graphgpu.transfer": "stream"}), pytest.raises(AssertionError):
        ran(program, view, 0, "auto", **arguments)


def test_a_cpu_that_is_faster_runs_whole_supersteps(monkeypatch):
    program, arguments, _ = BUILT_IN["delta"]
    view = columned(graph(directed=False).view())
    expected = on(cpu, program, view, **arguments)
    speeds = Speeds(pull=1e9, push=1e9, gpu=1.0, cpu_beside=0.0, gpu_beside=1.0)
    monkeypatch.setattr(programs, "_speeds", lambda *given: speeds)
    found, report = ran(program, fresh(view), 0, "auto", **arguments)
    same(found, expected, rtol=1e-9)
    assert report.sides["cpu"]["alone"] == expected.supersteps
    assert [each.supersteps for each in report.advances] == [1] * expected.supersteps


@pytest.mark.parametrize("split", SPLITS)
def test_components(split):
    for view in (graph().view(), graph(directed=False).view(), random_small(3).view()):
        with dask.config.set({"graphgpu.device-memory-limit": "1MB", "graphgpu.dispatch": split}):
            found = hybrid.components(view, report=Report("test"))
        np.testing.assert_array_equal(found, cpu.components(view, report=Report("test")))


def test_a_monotone_program_in_rounds():
    view = graph().view()
    expected = on(cpu, SSSP, view, sources=[0])
    for share in SHARES:
        found, report = ran(SSSP, view, share, "auto", sources=[0])
        np.testing.assert_array_equal(found["distance"], expected["distance"])
        np.testing.assert_array_equal(found.reached, expected.reached)
        assert report.sides["cpu"]["pages"] == 0


@pytest.mark.parametrize("split", SPLITS)
def test_errors_of_a_run(split):
    view = graph().view()
    grown = VertexProgram(
        state={"x": Field("int64", initial=2**62)}, compute=lambda source_x: 0, combine="max",
        apply=lambda x: x + x,
    )  # fmt: skip
    with pytest.raises(IntegerOverflow, match="apply"):
        ran(grown, view, 0, split, max_supersteps=2, exact_supersteps=True)
    sent = VertexProgram(
        state={"x": Field("int64", initial=2**62)}, compute=lambda source_x, weight: source_x * weight,
        combine="max", apply=lambda x: x,
    )  # fmt: skip
    with pytest.raises(IntegerOverflow, match="float weights"):
        ran(sent, view, 0, split, max_supersteps=2, exact_supersteps=True)
    with pytest.raises(NotConverged, match="after 2 supersteps"):
        ran(SSSP, view, 0, split, sources=[0], max_supersteps=2)


def test_what_cannot_be_is_told():
    view = graph().view()
    for settings, given, error, reason in (
        ({}, {"cutoff": 5}, EngineUnavailable, "cutoff="),
        ({"direction": "pull"}, {}, EngineUnavailable, "is 'pull'"),
        ({"filter": "jit"}, {}, InvalidArgument, "graphgpu.filter"),
        ({"dispatch": "dice"}, {}, InvalidArgument, "dispatch is 'dice'"),
        ({"rounds": "near-far"}, {}, InvalidArgument, "is 'near-far'"),
        (
            {"rounds": "resident-first"},
            {"max_supersteps": 3},
            InvalidArgument,
            "is 'resident-first'",
        ),
        ({"device-memory-limit": 1000}, {}, LimitTooSmall, "is 1,000"),
    ):
        settings = {"device-memory-limit": "1MB", **settings}
        with dask.config.set({"graphgpu": settings}), pytest.raises(error, match=reason):
            on(hybrid, SSSP, view, sources=[0], **given)


def test_methods():
    rng = np.random.default_rng(2)
    edges = pd.DataFrame(rng.integers(300, size=(3_000, 2)), columns=["src", "dst"])
    edges["weight"] = rng.integers(1, 9, len(edges))
    plain, shared = edges.graph(engine="cpu"), edges.graph(engine="hybrid")
    with dask.config.set(
        {"graphgpu.device-memory-limit": 300_000, "graphgpu.dispatch": "alternate"}
    ):
        for call in (
            lambda g: g.sssp(0, predecessor=True),
            lambda g: g.bfs(0, cutoff=2),
            lambda g: g.shortest_path(0, 7),
            lambda g: g.weakly_connected_components(),
            lambda g: g.ego(0, radius=1),
        ):
            pd.testing.assert_frame_equal(call(shared), call(plain))
        ranks = shared.pagerank()
        assert last_report().attrs["sides"]["cpu"]["pages"] > 0
        pd.testing.assert_frame_equal(ranks, plain.pagerank(), rtol=1e-9)
        with pytest.raises(EngineUnavailable, match=r"engine='hybrid' runs .* takes triangles"):
            shared.triangle_count()
        with pytest.raises(EngineUnavailable, match="the engine 'hybrid' runs on one rank"):
            edges.graph(engine="hybrid", ranks=2).bfs(0)


def test_a_graph_that_fits_is_the_gpus():
    edges = pd.DataFrame({"src": [0, 1, 2, 0], "dst": [1, 2, 3, 3]})
    expected = edges.graph(engine="cpu").pagerank()
    for settings, sides in (
        ({}, set()),
        ({"device-memory-limit": "100MB"}, set()),
        ({"device-memory-limit": "100MB", "dispatch": "supersteps"}, {"gpu", "cpu"}),
    ):
        with dask.config.set({"graphgpu": settings}):
            found = edges.graph(engine="hybrid").pagerank()
        pd.testing.assert_frame_equal(found, expected, rtol=1e-9)
        assert last_report().attrs["sides"].keys() == sides


def fresh(view):
    """The same graph, of which no run has left anything."""
    return View.of(view.out, directed=view.directed).with_columns(dict(view.vertex_columns))
