"""Programs in which all vertices send in every superstep, over edges off the device, as these lie."""

import dask
import numpy as np
import pytest
from device_programs import BUILT_IN, columned, on, same
from made_graphs import MadeGraph, rmat

from dask_graphgpu.algorithms import pagerank
from dask_graphgpu.engine import cpu, limits, link_rates, tiered
from dask_graphgpu.engine.gpu.sizes import bytes_of_vertices
from dask_graphgpu.engine.limits import Cut
from dask_graphgpu.engine.options import RunOptions
from dask_graphgpu.engine.state import Binding
from dask_graphgpu.engine.tiered import dense, link, packed
from dask_graphgpu.engine.tiered.subgraph import Subgraph
from dask_graphgpu.fields import Field, Sum
from dask_graphgpu.program import VertexProgram
from dask_graphgpu.report import Report

pytestmark = pytest.mark.gpu

WAYS = ["stream", "zero-copy", "auto"]
GIVEN = {"max_supersteps": 5, "exact_supersteps": True, "constants": {"tolerance": 0.0}}
WEIGHTED = VertexProgram(
    state={"x": Field("float64", initial=lambda degree: 1.0 + degree)},
    compute=lambda source_x, weight: source_x * weight,
    combine="sum",
    apply=lambda message, x: 0.5 * x + 0.001 * message,
    constants={"tolerance": 0.0},
)


def power(weighted=False):
    return pagerank.power_program("float64", weighted=weighted, personal=False)


def ran(program, view, share, way, **given):
    """With this share of the edges beside the vertices, or the least that can be."""
    binding = Binding(program, view, given.get("constants", {}))
    edge, vertices = dense.bytes_of_edge(binding), bytes_of_vertices(binding)
    least = int(limits.BUFFERS * limits.BLOCK * edge)
    room = max(int(share * binding.send.num_edges * edge), least)
    report = Report("test")
    settings = {"device-memory-limit": vertices + room, "transfer": way}
    with dask.config.set({"graphgpu": settings}):
        return tiered.run(program, view, RunOptions(report=report, **given)), report


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("scale", "weight", "bits"),
    [(7, None, 7), (9, None, 9), (9, "int16", 15), (8, "float32", 40), (9, "float32", 41), (10, "float64", None)],
)  # fmt: skip
def test_words_of_all_sizes(scale, weight, bits, way, monkeypatch):
    monkeypatch.setattr(limits, "_MOST", 4096)
    rng = np.random.default_rng(0)
    given = {} if weight is None else {"weight": rng.integers(1, 64, 16 << scale).astype(weight)}
    if weight == "float32":
        given["weight"] += np.float32(0.3)  # no whole numbers, which take few bits
    elif weight == "float64":
        given["weight"] = rng.random(16 << scale)
    view = rmat(scale, directed=True, **given).view()
    program = power() if weight is None else WEIGHTED
    assert packed.bits_in_order(Binding(program, view, {"tolerance": 0.0})) == bits
    expected = on(cpu, program, view, **GIVEN)
    for share in (0, 0.3, 1):
        same(ran(program, view, share, way, **GIVEN)[0], expected, rtol=1e-9)


@pytest.mark.parametrize("way", WAYS)
def test_words_that_are_no_whole_bytes(way):
    """Ids of 17 bits, and rows without edges in long runs, at the front and at the end."""
    rng = np.random.default_rng(1)
    n = 100_000
    source = np.sort(rng.choice(np.r_[70:300, 40_000:40_040, 90_000:90_010], 30_000))
    edges = source, rng.integers(0, n, 30_000)
    view = MadeGraph(n, *map(np.asarray, edges), directed=True).view()
    assert packed.bits_in_order(Binding(power(), view, {"tolerance": 0.0})) == 17
    expected = on(cpu, power(), view, **GIVEN)
    for share in (0, 0.4):
        found, report = ran(power(), view, share, way, **GIVEN)
        same(found, expected, rtol=1e-9)
        (moved,) = report.moved.values()
        room = int(share * view.num_edges * 17 / 8) // (17 * limits.BLOCK // 8) * limits.BLOCK
        resident = max(room, limits.BUFFERS * limits.BLOCK)
        if "zero-copy" in report.moved:  # without buffers
            assert moved["bytes"] == 5 * int((view.num_edges - resident) * 17 / 8)


@pytest.mark.parametrize("way", WAYS[:2])
def test_what_is_moved(way, monkeypatch):
    """The edges off the device once in each superstep, and no lists of who is active."""
    monkeypatch.setattr(limits, "_MOST", 4096)
    monkeypatch.delattr(Subgraph, "find")
    view = rmat(9, 16, directed=True).view()
    found, report = ran(power(), view, 0.4, way, **GIVEN)
    assert found.supersteps == 5
    moved, edge = report.moved[way], 9 / 8
    assert report.moved.keys() == {way}
    assert moved["supersteps"] == 5
    beyond = round(moved["bytes"] / (5 * edge))
    assert abs(moved["bytes"] - 5 * edge * beyond) < 5
    kept = view.num_edges - beyond
    room = 0.4 * view.num_edges
    assert room - 2 * 4096 // edge - limits.BLOCK <= kept <= room
    assert kept > room - limits.BLOCK or way == "stream", "there are no buffers"
    assert ran(power(), view, 1, way, **GIVEN)[1].moved == {}


@pytest.mark.parametrize("way", WAYS[:2])
def test_a_run_that_ends_by_itself(way, monkeypatch):
    """What was sent ahead is all that is sent in vain."""
    monkeypatch.setattr(limits, "_MOST", 4096)
    view = rmat(9, 16, directed=True).view()
    given = {"constants": {"tolerance": 1e-5}}
    expected = on(cpu, power(), view, **given)
    found, report = ran(power(), view, 0.4, way, **given)
    same(found, expected, rtol=1e-9)
    moved = report.moved[way]
    assert moved["supersteps"] == expected.supersteps
    sent = expected.supersteps if way == "zero-copy" else moved["parts"]
    assert moved["parts"] == sent
    exactly, told = ran(power(), view, 0.4, way, **GIVEN)
    each = told.moved[way]["bytes"] // exactly.supersteps
    most = expected.supersteps * each + (0 if way == "zero-copy" else limits.BUFFERS * 4096)
    assert expected.supersteps * each <= moved["bytes"] <= most


@pytest.mark.parametrize("way", WAYS[:2])
def test_a_stop_that_the_host_is_asked(way):
    """And an aggregate that names another."""
    program = VertexProgram(
        state={"x": Field("float64", initial=1.0)},
        compute=lambda source_x, degree_of=2: source_x / degree_of,
        combine="sum",
        apply=lambda message, x: 0.5 * x + 0.001 * message,
        aggregates={"total": Sum(lambda new_x: new_x)},
        stop=lambda total, superstep: bool(superstep // 4) or total == "never",
    )
    view = rmat(9, 16, directed=True).view()
    same(ran(program, view, 0.3, way)[0], on(cpu, program, view), rtol=1e-9)


@pytest.mark.parametrize("way", WAYS[:2])
@pytest.mark.parametrize("name", ["heat weighted", "circuit", "neural network", "beliefs weighted"])
def test_built_in_programs(name, way, monkeypatch):
    monkeypatch.setattr(limits, "_MOST", 8192)
    program, given, rtol = BUILT_IN[name]
    weight = np.random.default_rng(2).integers(1, 9, 16 << 9)
    view = columned(rmat(9, 16, directed=True, weight=weight).view())
    expected = on(cpu, program, view, **given)
    same(ran(program, view, 0.3, way, **given)[0], expected, rtol=max(rtol, 1e-9))


def test_the_faster_way():
    """Long segments are copied, which is faster by the rates; short ones would wait for the host."""
    rates = link_rates.Rates(copies=53e9, reads=49e9, gathers=3e9)
    for number, limit, expected in (
        (2000 << 20, 1000 << 20, "stream"),
        (128 << 20, 96 << 20, "zero-copy"),
        (5 << 20, 4 << 20, "zero-copy"),
    ):
        assert dense._faster(Cut.of(number, 3, 0, limit, "it"), 3, rates) == expected
    slow = link_rates.Rates(copies=53e9, reads=20e9, gathers=3e9)
    assert dense._faster(Cut.of(128 << 20, 3, 0, 96 << 20, "it"), 3, slow) == "stream"


def test_its_own_way_follows_from_the_rates(monkeypatch):
    view = rmat(9, 16, directed=True).view()
    for reads, expected in ((1e12, "zero-copy"), (1e3, "stream")):
        rates = link_rates.Rates(copies=1e9, reads=reads, gathers=1e9, again=0)
        monkeypatch.setattr(link, "rates", lambda device, rates=rates: rates)
        assert ran(power(), view, 0.4, "auto", **GIVEN)[1].moved.keys() == {expected}
