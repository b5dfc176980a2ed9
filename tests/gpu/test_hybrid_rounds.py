"""Asynchronous rounds that the GPU shares with the CPU: the answers of the CPU engine, however they are split."""

import dask
import numpy as np
import pandas as pd
import pytest
from device_programs import CUSTOM, MONOTONE, columned, equal, graph, on, views
from made_graphs import SHAPES, random_small

from dask_graphgpu import last_report
from dask_graphgpu.algorithms.pagerank import delta_program, power_program
from dask_graphgpu.engine import cpu, hops, hybrid, limits
from dask_graphgpu.engine.hybrid.programs import bytes_of_vertices
from dask_graphgpu.engine.known import DISTANCES as SSSP
from dask_graphgpu.engine.limits import DISPATCH
from dask_graphgpu.engine.options import RunOptions
from dask_graphgpu.engine.state import Binding
from dask_graphgpu.engine.tiered.packed import bytes_of_edge
from dask_graphgpu.errors import InvalidArgument
from dask_graphgpu.fields import Field
from dask_graphgpu.program import VertexProgram
from dask_graphgpu.report import Report

pytestmark = pytest.mark.gpu

SHARES = [0, 0.4]
BOTH_ENDS = VertexProgram(  # what is sent depends on where it goes
    state={"x": Field("float64", initial=None, at_source=0)},
    compute=lambda source_x, destination_degree, weight: source_x + weight / (1 + destination_degree),
    combine="min", monotone=True,
)  # fmt: skip
DELTA = {"constants": {"threshold": 1e-8, "tolerance": 0.0}}


def ran(program, view, share, split, **arguments):
    """A run with this share of the edges on the device, or the least that can be, and its report."""
    binding = Binding(program, view, arguments.get("constants", {}))
    edge, least = bytes_of_edge(binding), limits.BUFFERS * limits.BLOCK * bytes_of_edge(binding)
    room = max(int(share * binding.send.num_edges * edge), least)
    settings = {
        "device-memory-limit": bytes_of_vertices(binding) + room,
        "rounds": "asynchronous",
        "dispatch": split,
    }
    report = Report("test")
    with dask.config.set({"graphgpu": settings}):
        return hybrid.run(program, view, RunOptions(report=report, **arguments)), report


def like(found, expected, view):
    """Ranks to within what may stay where it is: a rest at a vertex is worth 1 / (1 - damping) of rank."""
    most = 2 * view.num_vertices * DELTA["constants"]["threshold"] / 0.15
    np.testing.assert_allclose(found["rank"], expected["rank"], rtol=0, atol=most)
    assert (found["residual"] <= DELTA["constants"]["threshold"]).all()


@pytest.mark.parametrize("split", DISPATCH)
@pytest.mark.parametrize("name", MONOTONE)
def test_monotone_programs(name, split):
    program, given = MONOTONE[name]
    for view in views(program):
        expected = on(cpu, program, view, **given)
        for share in SHARES:
            found, report = ran(program, view, share, split, **given)
            equal(found, expected)
            if share == 0 and split in ("cpu", "alternate"):
                assert report.sides["cpu"]["pages"] > 0 < report.sides["cpu"]["edges"]
            if split == "cpu":
                assert report.sides["gpu"]["pages"] == 0


@pytest.mark.parametrize("split", DISPATCH)
def test_sums_of_what_is_new(split):
    program = delta_program("float64", weighted=False)
    view = columned(graph(directed=False).view())
    expected = on(cpu, program, view, **DELTA)
    for share in SHARES:
        found, _ = ran(program, view, share, split, **DELTA)
        like(found, expected, view)


@pytest.mark.parametrize("split", DISPATCH)
@pytest.mark.parametrize("shape", SHAPES)
def test_shapes(shape, split):
    view = SHAPES[shape]().view()
    level = cpu.bfs(view, 1, cutoff=None, targets=None, report=Report("test"))
    settings = {"device-memory-limit": "1MB", "rounds": "asynchronous", "dispatch": split}
    with dask.config.set({"graphgpu": settings}):
        found = hybrid.bfs(view, 1, cutoff=None, targets=None, report=Report("test"))
        labels = hybrid.components(view, report=Report("test"))
    np.testing.assert_array_equal(found, level)
    np.testing.assert_array_equal(labels, cpu.components(view, report=Report("test")))


@pytest.mark.parametrize("split", DISPATCH)
def test_small_graphs(split, monkeypatch):
    """Pages of 32 edges: rows are cut between both sides."""
    monkeypatch.setattr(limits, "BLOCK", 32)
    monkeypatch.setattr("dask_graphgpu.engine.page_dispatch.BLOCK", 32)
    for seed in range(6):
        view = random_small(seed).view()
        delta = delta_program("float64", weighted=False)
        residual = {"residual": np.full(view.num_vertices, 0.1)}
        for program, graph_, given in (
            (hops.PROGRAM, view, {"sources": [0]}),
            (CUSTOM["labels"][0], view, {}),
            (delta, view.with_columns(residual), DELTA),
        ):
            expected = on(cpu, program, graph_, **given)
            found, _ = ran(program, graph_, 0, split, **given)
            if program is delta:
                like(found, expected, view)
            else:
                equal(found, expected)


@pytest.mark.parametrize("split", DISPATCH)
def test_messages_of_both_ends(split):
    view = graph().view()
    expected = on(cpu, BOTH_ENDS, view, sources=[0])
    found, _ = ran(BOTH_ENDS, view, 0, split, sources=[0])
    np.testing.assert_allclose(found["x"], expected["x"], rtol=1e-12)
    np.testing.assert_array_equal(found.reached, expected.reached)


def test_methods():
    rng = np.random.default_rng(2)
    edges = pd.DataFrame(rng.integers(300, size=(3_000, 2)), columns=["src", "dst"])
    edges["weight"] = rng.integers(1, 9, len(edges))
    plain, shared = edges.graph(engine="cpu"), edges.graph(engine="hybrid")
    settings = {"device-memory-limit": 400_000, "rounds": "asynchronous", "dispatch": "alternate"}
    with dask.config.set({"graphgpu": settings}):
        for call in (
            lambda g: g.sssp(0, predecessor=True),
            lambda g: g.bfs(0),
            lambda g: g.weakly_connected_components(),
        ):
            pd.testing.assert_frame_equal(call(shared), call(plain))
        ranks = shared.pagerank(method="delta", tolerance=1e-7)
        assert last_report().attrs["sides"]["cpu"]["pages"] > 0
        wanted = plain.pagerank(method="delta", tolerance=1e-7)
        np.testing.assert_allclose(ranks["rank"], wanted["rank"], rtol=0, atol=1e-6)
        with pytest.raises(InvalidArgument, match="neither monotone nor accumulative"):
            shared.pagerank()


def test_programs_that_depend_on_the_order_are_refused():
    view = graph().view()
    power = power_program("float64", weighted=False, personal=False)
    with pytest.raises(InvalidArgument, match="neither monotone nor accumulative"):
        ran(power, view, 0, "alternate", constants={"tolerance": 1e-9})
    with pytest.raises(InvalidArgument, match="a number of supersteps was asked for"):
        ran(SSSP, view, 0, "auto", sources=[0], max_supersteps=3, exact_supersteps=True)
