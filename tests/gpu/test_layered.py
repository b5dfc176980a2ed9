"""Programs over edges by layers on the GPU: the answers of rows on the CPU."""

import dask
import numpy as np
import pandas as pd
import pytest
from device_programs import graph, on
from layered_views import against_the_order, layered
from made_graphs import SHAPES, grid, path, random_small, rmat

from dask_graphgpu import last_report
from dask_graphgpu.algorithms.sswp import program as widest
from dask_graphgpu.engine import cpu, gpu, hops, limits, tiered
from dask_graphgpu.engine.gpu.layered import Stretch, stretches
from dask_graphgpu.engine.gpu.sizes import bytes_apart, bytes_of_vertices
from dask_graphgpu.engine.known import DISTANCES as SSSP
from dask_graphgpu.engine.limits import Cut
from dask_graphgpu.engine.options import RunOptions
from dask_graphgpu.engine.state import Binding
from dask_graphgpu.errors import EngineUnavailable, IntegerOverflow, LimitTooSmall
from dask_graphgpu.fields import Field
from dask_graphgpu.program import VertexProgram
from dask_graphgpu.report import Report

pytestmark = pytest.mark.gpu

SHARES = [None, 0, 0.4, 1]  # of the edges on the device; None: without a limit
LEAST = [1, 100, 10**9]  # edges of combined layers
LABELS = VertexProgram(
    state={"label": Field("id", initial=lambda id: id)},  # noqa: A006
    compute=lambda source_label: source_label, combine="min", edges="both",
)  # fmt: skip
PROGRAMS = {
    "sssp": (SSSP, {"sources": [0]}),
    "widest": (widest(2**63 - 1), {"sources": [1]}),
    "hops": (hops.PROGRAM, {"sources": [0, 9]}),
    "labels": (LABELS, {}),
}


def settings(program, view, share, least):
    """By which this share of the edges fits beside the vertices, or the least that can be."""
    found = {"layer-edges": least}
    if share is not None:
        binding = Binding(program, view, {})
        edge = bytes_apart(binding) + binding.layered.sources.itemsize
        room = max(int(share * binding.layered.num_edges * edge), 2 * limits.BLOCK * edge)
        found["device-memory-limit"] = bytes_of_vertices(binding) + room
    return dask.config.set({f"graphgpu.{name}": value for name, value in found.items()})


def ran(program, view, share, least=100, **given):
    report = Report("test")
    with settings(program, view, share, least):
        engine = gpu if share is None else tiered
        return engine.run(program, view, RunOptions(report=report, **given)), report


def same(found, expected):
    for name in expected:
        assert found[name].dtype == expected[name].dtype
        np.testing.assert_array_equal(found[name], expected[name])
    if expected.reached is not None:
        np.testing.assert_array_equal(found.reached, expected.reached)


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name, share):
    program, given = PROGRAMS[name]
    view = graph(directed=False).view()
    expected = on(cpu, program, view, **given)
    for least in LEAST:
        for root in (None, 7):
            found, report = ran(program, layered(view, root), share, least, **given)
            same(found, expected)
            assert {each.direction for each in report.advances} == {"layers"}


@pytest.mark.parametrize("weight", ["uint8", "int64", "float32", "float64"])
def test_widths(weight):
    for ids in (np.uint32, np.uint64):
        view = graph(weight=weight, ids=ids).view()
        expected = on(cpu, SSSP, view, sources=[0])
        for share in (None, 0.4):
            same(ran(SSSP, layered(view), share, sources=[0])[0], expected)


@pytest.mark.parametrize("share", [None, 0.4])
def test_small_graphs(share, monkeypatch):
    monkeypatch.setattr(limits, "BLOCK", 32)
    for seed in range(12):
        view = random_small(seed).view()
        made = layered(view, seed % view.num_vertices)
        for program, given in ((hops.PROGRAM, {"sources": [0]}), (LABELS, {})):
            for least in (1, 5, 1000):
                expected = on(cpu, program, view, **given)
                same(ran(program, made, share, least, **given)[0], expected)


@pytest.mark.parametrize("least", LEAST)
@pytest.mark.parametrize("shape", SHAPES)
def test_a_search_from_the_root_is_one_sweep(shape, least):
    view = layered(SHAPES[shape]().view())
    numbers = np.arange(view.num_vertices) if view.user_rank is None else view.user_rank
    root = int(np.flatnonzero(numbers == view.levels.root)[0])
    for share in (None, 0.4):
        found, _ = ran(hops.PROGRAM, view, share, least, sources=[root])
        same(found, on(cpu, hops.PROGRAM, view, sources=[root]))
        assert found.supersteps == (view.num_edges > 0)


def test_searches_with_a_cutoff():
    view = rmat(8).view()
    for source, cutoff in ((0, 1), (5, 2), (9, None)):
        given = {"cutoff": cutoff, "targets": None}
        expected = cpu.bfs(view, source, report=Report("test"), **given)
        for share in (None, 0.4):
            engine = gpu if share is None else tiered
            with settings(hops.PROGRAM, layered(view, 3), share, 50):
                found = engine.bfs(layered(view, 3), source, report=Report("test"), **given)
            np.testing.assert_array_equal(found, expected)


def test_quiet_layers_are_not_sent_again():
    weight = np.random.default_rng(2).integers(1, 50, len(grid(30).source))
    view = layered(grid(30, weight=weight).view(), 0)
    found, report = ran(SSSP, view, 0, 1, sources=[450])
    same(found, on(cpu, SSSP, view, sources=[450]))
    moved = report.moved["stream"]
    assert moved["supersteps"] == found.supersteps > 1
    assert moved["parts"] < found.supersteps * (view.num_edges / limits.BLOCK)


@pytest.mark.parametrize("share", [None, 0])
def test_a_level_is_repeated_where_it_is_asked_for(share):
    view, sweeps = layered(against_the_order().view(), 0), []
    for repeats in (0, 1, 25):
        with dask.config.set({"graphgpu.layer-repeats": repeats}):
            found, _ = ran(SSSP, view, share, 1, sources=[0])
        assert found["distance"].tolist() == [0, *range(20, 0, -1)]
        sweeps.append(found.supersteps)
    assert sweeps[0] > sweeps[1] > sweeps[2] == 1


def test_stretches():
    starts = np.array([0, 5, 5, 9, 300, 310, 900])
    assert stretches(starts, 1, Cut(900, 0, 900)) == [
        Stretch(0, 5, 1), Stretch(5, 9, 1), Stretch(9, 300, 1), Stretch(300, 310, 1), Stretch(310, 900, 1)
    ]  # fmt: skip
    assert stretches(starts, 10, Cut(900, 0, 900)) == [
        Stretch(0, 300, 4), Stretch(300, 310, 1), Stretch(310, 900, 1)
    ]  # fmt: skip
    cut = stretches(starts, 10, Cut(256, 256, 900))
    assert [(each.lo, each.hi) for each in cut] == [
        (0, 256), (256, 300), (300, 310), (310, 512), (512, 768), (768, 900)
    ]  # fmt: skip
    assert [each.passes for each in cut] == [4, 1, 1, 1, 1, 1]
    assert stretches(np.zeros(1, np.int64), 10, Cut(0, 0, 0)) == []


def test_errors():
    view = layered(path(40, directed=True).view())
    doubled = VertexProgram(
        state={"x": Field("int64", initial=None, at_source=1)},
        compute=lambda source_x: source_x * 4, combine="max",
    )  # fmt: skip
    with pytest.raises(IntegerOverflow, match="float weights"):
        ran(doubled, view, None, sources=[0])
    with dask.config.set({"graphgpu.device-memory-limit": 1000}), pytest.raises(LimitTooSmall):
        on(tiered, SSSP, layered(graph().view()), sources=[0])


def test_methods_of_a_frame():
    view = rmat(10, weight=np.arange(16 << 10) % 9 + 1).view()
    source = np.repeat(np.arange(view.num_vertices), view.out.degrees)
    weight = view.out.columns["weight"]
    edges = pd.DataFrame({"src": source, "dst": view.out.neighbours, "weight": weight})
    for limit in (None, 300_000):
        with dask.config.set({"graphgpu.device-memory-limit": limit}):
            made = edges.graph(engine="gpu", layout="layered", root=5).persist()
            for name, given in (
                ("sssp", {"source": 0}),
                ("bfs", {"source": 5}),
                ("sswp", {"source": 2}),
            ):
                expected = getattr(edges.graph(engine="cpu"), name)(**given)
                pd.testing.assert_frame_equal(getattr(made, name)(**given), expected)
                assert set(last_report()["direction"]) == {"layers"}
                assert bool(last_report().attrs["moved"]) == (limit is not None)
    with pytest.raises(EngineUnavailable, match="several ranks"):
        edges.graph(engine="gpu", layout="layered", ranks=2).bfs(0)
