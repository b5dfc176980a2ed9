"""Rounds and near-far order over edges of which only some fit the limit of device memory."""

import itertools

import dask
import numpy as np
import pandas as pd
import pytest
from device_programs import BUILT_IN, CUSTOM, MONOTONE, columned, equal, graph, on, views
from made_graphs import SHAPES, grid, path, random_small, rmat

from dask_graphgpu import last_report
from dask_graphgpu.algorithms import pagerank
from dask_graphgpu.engine import cpu, hops, limits, tiered
from dask_graphgpu.engine.gpu import near_far as gpu_near_far
from dask_graphgpu.engine.gpu.sizes import bytes_of_vertices
from dask_graphgpu.engine.known import DISTANCES as SSSP
from dask_graphgpu.engine.options import RunOptions
from dask_graphgpu.engine.state import Binding
from dask_graphgpu.engine.tiered import near_far as tiered_near_far
from dask_graphgpu.engine.tiered import rounds as tiered_rounds
from dask_graphgpu.engine.tiered import supersteps
from dask_graphgpu.engine.tiered.packed import bytes_of_edge
from dask_graphgpu.errors import IntegerOverflow, InvalidArgument
from dask_graphgpu.fields import Field
from dask_graphgpu.program import VertexProgram
from dask_graphgpu.report import Report

pytestmark = pytest.mark.gpu

WAYS = ["auto", "stream", "zero-copy", "compact"]
SHARES = [0, 0.4, 1]
KINDS = ["resident-first", "asynchronous"]
READS = ["auto", "zero-copy"]
DELTA = {"constants": {"threshold": 1e-10, "tolerance": 0.0}}


@pytest.fixture(autouse=True)
def no_frontier_of_few_edges(monkeypatch):
    """Graphs of tests have few edges; where a test asks for it, a frontier may."""
    monkeypatch.setattr(supersteps, "FEW", -1)


def limited(program, view, share, way, rounds="asynchronous", **arguments):
    """Settings by which this share of the edges fits beside the vertices, or the least that can be."""
    binding = Binding(program, view, arguments.get("constants", {}))
    edge, least = bytes_of_edge(binding), limits.BUFFERS * limits.BLOCK * bytes_of_edge(binding)
    room = max(int(share * binding.send.num_edges * edge), least)
    limit = {"device-memory-limit": bytes_of_vertices(binding) + room}
    return dask.config.set({"graphgpu": {**limit, "transfer": way, "rounds": rounds}})


def ran(program, view, share, way, rounds="asynchronous", **arguments):
    report = Report("test")
    with limited(program, view, share, way, rounds, **arguments):
        return tiered.run(program, view, RunOptions(report=report, **arguments)), report


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", MONOTONE)
def test_monotone_programs(name, way):
    program, given = MONOTONE[name]
    for view in views(program):
        expected = on(cpu, program, view, **given)
        for share in SHARES:
            for rounds in KINDS:
                equal(ran(program, view, share, way, rounds, **given)[0], expected)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("shape", SHAPES)
def test_shapes(shape, way):
    view = SHAPES[shape]().view()
    level = cpu.bfs(view, 1, cutoff=None, targets=None, report=Report("test"))
    for share in (0, 0.4) if shape != "path" else (0.4,):
        with limited(hops.PROGRAM, view, share, way):
            found = tiered.bfs(view, 1, cutoff=None, targets=None, report=Report("test"))
        np.testing.assert_array_equal(found, level)


@pytest.mark.parametrize("way", WAYS)
def test_small_graphs(way, monkeypatch):
    monkeypatch.setattr(limits, "BLOCK", 32)
    for seed in range(12):
        # Small rounds in launches of several, some of them, and none.
        monkeypatch.setattr(tiered_rounds, "_SMALL", (1 << 18, 20, -1)[seed % 3])
        monkeypatch.setattr(supersteps, "FEW", (1 << 16, 30, -1, 5)[seed % 4])
        view = random_small(seed).view()
        for program, given in ((hops.PROGRAM, {"sources": [0]}), (CUSTOM["labels"][0], {})):
            expected = on(cpu, program, view, **given)
            for share, kind in itertools.product((0, 0.4), KINDS):
                equal(ran(program, view, share, way, kind, **given)[0], expected)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("weighted", [False, True])
def test_an_accumulative_program(weighted, way, monkeypatch):
    """What a vertex has is sent once along each edge, also where its row is cut."""
    monkeypatch.setattr(limits, "BLOCK", 32)
    program = pagerank.delta_program("float64", weighted=weighted)
    view = columned(graph(directed=False).view())
    expected = on(cpu, program, view, **DELTA)
    # A rest at a vertex is worth at most 1 / (1 - damping) of rank.
    most = 2 * view.num_vertices * 1e-10 / 0.15
    for share in SHARES:
        found, _ = ran(program, view, share, way, **DELTA)
        np.testing.assert_allclose(found["rank"], expected["rank"], rtol=0, atol=most)
        assert (found["residual"] <= 1e-10).all()


def test_fewer_rounds_and_bytes():
    view = grid(60).view()
    level = cpu.bfs(view, 0, cutoff=None, targets=None, report=Report("test"))
    kinds = "synchronous", "asynchronous"
    for way in ("stream", "compact"):
        reports = {}
        for rounds, program in zip(kinds, (hops.LEVELS, hops.PROGRAM), strict=True):
            state, reports[rounds] = ran(program, view, 0.4, way, rounds, sources=[0])
            np.testing.assert_array_equal(hops.levels(state), level)
        sync, free = (reports[rounds] for rounds in kinds)
        assert sum(a.supersteps for a in free.advances if a.direction == "push") < 50
        assert sum(a.supersteps for a in sync.advances) > 100
        moved = [sum(each["bytes"] for each in r.moved.values()) for r in (free, sync)]
        assert moved[0] < moved[1]
        local = next(a for a in free.advances if a.direction == "local")
        assert local.supersteps >= 10


@pytest.mark.parametrize("way", READS)
@pytest.mark.parametrize("name", MONOTONE)
def test_near_far_order(name, way):
    program, given = MONOTONE[name]
    for view in views(program):
        expected = on(cpu, program, view, **given)
        for share in SHARES:
            found, report = ran(program, view, share, way, "near-far", **given)
            equal(found, expected)
            assert report.moved.keys() == (set() if share == 1 else {"zero-copy"})


@pytest.mark.parametrize("ids", [np.uint32, np.uint64])
@pytest.mark.parametrize("weight", ["uint8", "int64", "float32", "float64"])
def test_near_far_order_of_all_widths(weight, ids):
    view = graph(weight=weight, ids=ids).view()
    expected = on(cpu, SSSP, view, sources=[0])
    for share in (0, 0.4):
        equal(ran(SSSP, view, share, "auto", "near-far", sources=[0])[0], expected)


def test_near_far_order_of_small_graphs(monkeypatch):
    """Rows are cut where the resident edges end, and long ones into pieces."""
    monkeypatch.setattr(limits, "BLOCK", 32)
    monkeypatch.setattr(gpu_near_far, "PIECE", 8)
    for seed in range(24):
        view = random_small(seed).view()
        for program, given in ((hops.PROGRAM, {"sources": [0]}), (CUSTOM["labels"][0], {})):
            expected = on(cpu, program, view, **given)
            for share in (0, 0.4):
                equal(ran(program, view, share, "auto", "near-far", **given)[0], expected)


def test_what_near_far_order_reads():
    """Each row once where weights are equal, but for what is on the device; and nothing beyond a cutoff."""
    view = grid(40, weight=np.ones(2 * 40 * 39, np.int64)).view()
    given = {"sources": [0]}
    found, report = ran(SSSP, view, 0.4, "auto", "near-far", **given)
    assert report.moved["zero-copy"]["bytes"] <= 2 * view.num_edges * bytes_of_edge(
        Binding(SSSP, view, {})
    )
    assert found.supersteps == report.moved["zero-copy"]["supersteps"]
    near, less = ran(SSSP, view, 0.4, "auto", "near-far", cutoff=9, **given)
    equal(near, on(cpu, SSSP, view, cutoff=9, **given))
    assert less.moved["zero-copy"]["bytes"] < report.moved["zero-copy"]["bytes"] / 4


def test_which_order_is_chosen():
    """Few bytes, or no hubs on the device: near-far. Otherwise rounds, and where edges are not to be read."""
    binding = Binding(SSSP, grid(40, weight=np.ones(2 * 40 * 39, np.int32)).view(), {})
    number = binding.send.num_edges
    assert tiered_near_far.pays(binding, limits.Cut(number // 4, 256, number))
    view = rmat(12, weight=np.ones(16 << 12, np.int32)).view()
    binding, number = Binding(SSSP, view, {}), view.num_edges
    cut = limits.Cut(number // 4 // limits.BLOCK * limits.BLOCK, 256, number)
    assert tiered_near_far.pays(binding, cut)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(tiered_near_far, "_ROUNDS", 0)
        assert not tiered_near_far.pays(binding, cut)
        assert tiered_near_far.pays(binding, limits.Cut(0, 256, number))
        patched.setattr(tiered_near_far, "_HUBS", 1)
        for way in ("auto", "stream"):
            _, report = ran(SSSP, view, 0.4, way, "auto", sources=[0])
            assert {"push", "local"} <= {each.direction for each in report.advances}
    for way, directions in (("auto", {"near-far"}), ("stream", {"push", "local"})):
        _, report = ran(SSSP, view, 0.4, way, "auto", sources=[0])
        assert {each.direction for each in report.advances} == directions


@pytest.mark.parametrize("way", READS)
@pytest.mark.parametrize("name", MONOTONE)
def test_frontiers_of_few_edges(name, way, monkeypatch):
    program, given = MONOTONE[name]
    view = graph(directed=False).view()
    expected = on(cpu, program, view, **given)
    for few in (100, 1 << 16):
        monkeypatch.setattr(supersteps, "FEW", few)
        for share in (0, 0.4):
            equal(ran(program, view, share, way, "resident-first", **given)[0], expected)


def test_a_road_network_is_left_to_the_device(monkeypatch):
    monkeypatch.setattr(supersteps, "FEW", 1 << 16)
    view = grid(40, weight=np.arange(2 * 40 * 39) % 7 + 1).view()
    found, report = ran(SSSP, view, 0.4, "auto", "resident-first", sources=[0])
    equal(found, on(cpu, SSSP, view, sources=[0]))
    assert found.supersteps <= 2
    assert list(report.moved) == ["zero-copy"]
    assert sum(each.supersteps for each in report.advances if each.direction == "local") > 70


@pytest.mark.parametrize("way", ["stream", "zero-copy"])
def test_resident_edges_first_moves_less(way):
    """A vertex waits until what is on the device is settled before its edges cross the link."""
    weight = np.random.default_rng(3).integers(1, 64, 16 << 10)
    view = rmat(10, weight=weight).view()
    expected, moved = on(cpu, SSSP, view, sources=[0]), {}
    for rounds in ("resident-first", "synchronous"):
        found, report = ran(SSSP, view, 0.4, way, rounds, sources=[0])
        equal(found, expected)
        moved[rounds] = report.moved[way]["bytes"], found.supersteps
    assert moved["resident-first"][0] < moved["synchronous"][0]
    assert moved["resident-first"][1] < moved["synchronous"][1]


@pytest.mark.parametrize("rounds", ["auto", "synchronous"])
def test_supersteps_are_counted_where_they_are_limited(rounds):
    view = path(40, directed=True).view()
    given = {"sources": [0], "max_supersteps": 7, "exact_supersteps": True}
    found, report = ran(hops.PROGRAM, view, 0.4, "auto", rounds, **given)
    equal(found, on(cpu, hops.PROGRAM, view, **given))
    assert found.supersteps == 7
    assert {each.direction for each in report.advances} == {"push"}


def test_one_round_where_all_edges_are_on_the_device():
    view = path(400).view()
    found, report = ran(hops.PROGRAM, view, 1, "auto", sources=[0])
    np.testing.assert_array_equal(found["level"], np.arange(400))
    assert found.supersteps == 1
    assert report.moved == {}


def test_the_first_round_is_the_whole_graph():
    view = rmat(9, weight=np.ones(16 << 9, np.int32)).view()
    _, report = ran(SSSP, view, 0.4, "compact", sources=[int(view.num_vertices) - 1])
    assert report.moved["stream"]["supersteps"] == 1


def test_what_is_refused():
    view = columned(graph().view())
    power = BUILT_IN["pagerank float64 plain"][0]
    for program, given, reason in (
        (power, {"max_supersteps": 3}, "neither monotone nor accumulative"),
        (CUSTOM["seen"][0], {"sources": [2]}, "neither monotone nor accumulative"),
        (SSSP, {"sources": [0], "max_supersteps": 3, "exact_supersteps": True}, "a number of"),
    ):
        with pytest.raises(InvalidArgument, match=reason):
            ran(program, view, 0.4, "auto", **given)
    for rounds in ("near-far", "resident-first"):
        with pytest.raises(InvalidArgument, match=f"{rounds}.*monotone programs"):
            ran(power, view, 0.4, "auto", rounds, max_supersteps=3)
    with pytest.raises(InvalidArgument, match=r"near-far.*use 'zero-copy'"):
        ran(SSSP, view, 0.4, "stream", "near-far", sources=[0])
    with limited(hops.PROGRAM, view, 0.4, "auto"), pytest.raises(InvalidArgument, match="a number"):
        tiered.bfs(view, 0, cutoff=2, targets=None, report=Report("test"))
    with pytest.raises(InvalidArgument, match="rounds is 'some'"):
        ran(SSSP, view, 0.4, "auto", "some", sources=[0])


def test_overflow_in_a_local_round():
    view = path(40, directed=True).view()
    doubled = VertexProgram(
        state={"x": Field("int64", initial=None, at_source=1)},
        compute=lambda source_x: source_x * 4, combine="max",
    )  # fmt: skip
    with pytest.raises(IntegerOverflow, match="float weights"):
        ran(doubled, view, 1, "auto", sources=[0])


def test_a_method_of_a_frame():
    view = rmat(12, 64, directed=True, weight=np.arange(64 << 12) % 9 + 1).view()
    source = np.repeat(np.arange(view.num_vertices), view.out.degrees)
    edges = pd.DataFrame(
        {"src": source, "dst": view.out.neighbours, "weight": view.out.columns["weight"]}
    )
    settings = {"graphgpu.device-memory-limit": 750_000, "graphgpu.rounds": "asynchronous"}
    for name, given in (
        ("sssp", {"source": 0}),
        ("bfs", {"source": 3}),
        ("ssnsp", {"source": 3, "dtype": "float64"}),
    ):
        expected = getattr(edges.graph(engine="cpu"), name)(**given)
        with dask.config.set(settings):
            found = getattr(edges.graph(engine="gpu"), name)(**given)
        assert "local" in set(last_report()["direction"])
        pd.testing.assert_frame_equal(found, expected)
