"""Programs over edges of which only some fit the limit of device memory: as the CPU engine."""

from unittest import mock

import dask
import numpy as np
import pandas as pd
import pytest
from device_programs import BUILT_IN, CUSTOM, columned, graph, on, same, views
from made_graphs import SHAPES, path, random_small, rmat, star

from dask_graphgpu import last_report
from dask_graphgpu.engine import cpu, limits, link_rates, tiered
from dask_graphgpu.engine.gpu.sizes import bytes_of_vertices
from dask_graphgpu.engine.hops import LEVELS as HOPS
from dask_graphgpu.engine.known import DISTANCES as SSSP
from dask_graphgpu.engine.options import RunOptions
from dask_graphgpu.engine.state import Binding
from dask_graphgpu.engine.tiered import link, supersteps
from dask_graphgpu.engine.tiered.packed import bytes_of_edge
from dask_graphgpu.engine.tiered.transfer import Transfer
from dask_graphgpu.errors import (
    EngineUnavailable,
    IntegerOverflow,
    InvalidArgument,
    LimitTooSmall,
    NotConverged,
)
from dask_graphgpu.fields import Field
from dask_graphgpu.partition.csr import Adjacency
from dask_graphgpu.partition.view import View
from dask_graphgpu.program import VertexProgram
from dask_graphgpu.report import Report

pytestmark = pytest.mark.gpu

WAYS = ["auto", "stream", "zero-copy", "compact"]
# What the engine takes where most edges are of active vertices, and where few are: here always.
READS = ["in order", "from host"]
# Of the edges: the least that is possible, some, all.
SHARES = [0, 0.4, 1]


def limited(program, view, share, way, **arguments):
    """Settings by which this share of the edges fits beside the vertices, or the least that can be."""
    binding = Binding(program, view, arguments.get("constants", {}))
    edge, vertices = bytes_of_edge(binding), bytes_of_vertices(binding)
    least = limits.BUFFERS * limits.BLOCK * edge
    limit = vertices + max(int(share * binding.send.num_edges * edge), least)
    return dask.config.set({"graphgpu.device-memory-limit": limit, "graphgpu.transfer": way})


def ran(program, view, share, way, **arguments):
    if way in READS:
        few = 2**40 if way == "from host" else -1
        with (
            mock.patch.object(supersteps, "FEW", few),
            mock.patch.object(Transfer, "pays_in_order", return_value=way == "in order"),
        ):
            return ran(program, view, share, "auto", **arguments)
    report = Report("test")
    with limited(program, view, share, way, **arguments):
        return tiered.run(program, view, RunOptions(report=report, **arguments)), report


@pytest.fixture(autouse=True)
def no_short_cut(monkeypatch):
    """Graphs of these tests have so few edges that kernels would read all of them on the host."""
    monkeypatch.setattr(supersteps, "FEW", -1)


@pytest.mark.parametrize("way", [*WAYS, *READS])
@pytest.mark.parametrize("name", BUILT_IN)
def test_built_in_programs(name, way):
    program, arguments, rtol = BUILT_IN[name]
    for view in map(columned, views(program)):
        expected = on(cpu, program, view, **arguments)
        for share in SHARES:
            found, _ = ran(program, view, share, way, **arguments)
            same(found, expected, rtol=max(rtol, 1e-9) if rtol else 0.0)


@pytest.mark.parametrize("way", [*WAYS, *READS])
@pytest.mark.parametrize("name", CUSTOM)
def test_custom_programs(name, way):
    program, arguments = CUSTOM[name]
    view = graph().view()
    if Binding(program, view, {}).shadowed("sum"):
        with pytest.raises(EngineUnavailable, match="sums of integers"):
            ran(program, view, 0, way, **arguments)
        return
    expected = on(cpu, program, view, **arguments)
    for share in SHARES:
        found, _ = ran(program, view, share, way, **arguments)
        same(found, expected, rtol=1e-6 if "edges" in name else 1e-9)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("shape", SHAPES)
def test_shapes(shape, way):
    view = SHAPES[shape]().view()
    expected = cpu.bfs(view, 1, cutoff=90, targets=None, report=Report("test"))
    program = CUSTOM["labels"][0]
    labels = on(cpu, program, view, max_supersteps=60, exact_supersteps=True)
    for share in (0, 0.4):
        report = Report("test")
        with limited(HOPS, view, share, way):
            found = tiered.bfs(view, 1, cutoff=90, targets=None, report=report)
        np.testing.assert_array_equal(found, expected)
        same(ran(program, view, share, way, max_supersteps=60, exact_supersteps=True)[0], labels)


@pytest.mark.parametrize("way", [*WAYS, *READS])
@pytest.mark.parametrize("seed", range(12))
def test_small_graphs(seed, way, monkeypatch):
    monkeypatch.setattr(limits, "BLOCK", 32)
    view = random_small(seed).view()
    for name in ("hops", "labels", "seen"):
        program, arguments = CUSTOM[name]
        given = {**arguments, "sources": [0]} if "sources" in arguments else arguments
        same(ran(program, view, 0, way, **given)[0], on(cpu, program, view, **given))


@pytest.mark.parametrize("ids", [np.uint32, np.uint64])
@pytest.mark.parametrize("weight", ["uint8", "int64", "float32", "float64"])
@pytest.mark.parametrize("way", [*WAYS, *READS])
def test_widths(way, weight, ids):
    view = graph(weight=weight, ids=ids).view()
    given = {"sources": [0], "max_supersteps": 300}
    found, report = ran(SSSP, view, 0, way, **given)
    same(found, on(cpu, SSSP, view, **given))
    assert sum(moved["bytes"] for moved in report.moved.values()) > 0


def test_what_is_moved():
    view = rmat(9, directed=True, weight=np.ones(16 << 9, np.int32)).view()
    given = {"sources": [0], "max_supersteps": 300}
    size, rest = 8, {}
    expected = on(cpu, SSSP, view, **given)
    for way in WAYS[1:]:
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(link_rates, "MOST_GATHERED", 1.0)
            found, report = ran(SSSP, view, 0.4, way, **given)
        assert report.moved.keys() == {way}
        rest[way] = report.moved[way]
        assert 0 < rest[way]["supersteps"] <= found.supersteps == expected.supersteps
    edges = view.num_edges
    assert 0 < rest["zero-copy"]["bytes"] < rest["stream"]["bytes"]
    assert rest["stream"]["bytes"] <= rest["stream"]["supersteps"] * edges * size
    # The rows of the subgraph go to the host as well.
    assert rest["zero-copy"]["bytes"] < rest["compact"]["bytes"]
    assert ran(SSSP, view, 1, "auto", **given)[1].moved == {}  # all edges are on the device
    frame = report.to_frame()
    assert frame.attrs["moved"] == report.moved


def test_a_dense_frontier_is_not_gathered():
    """In a first superstep all vertices send."""
    view = graph(directed=False).view()
    given = {"max_supersteps": 1, "exact_supersteps": True}
    _, report = ran(CUSTOM["labels"][0], view, 0.4, "compact", **given)
    assert report.moved.keys() == {"stream"}


@pytest.mark.parametrize("way", WAYS[1:])
def test_nothing_is_sent_for_vertices_at_rest(way):
    """Segments without an active row are skipped: a path has one active vertex at a time."""
    view = path(3_000, directed=True).view()
    program = CUSTOM["hops"][0]
    found, report = ran(
        program, view, 0, way, sources=[0], max_supersteps=200, exact_supersteps=True
    )
    assert found.supersteps == 200
    segment = limits.BLOCK * 4 if way == "stream" else 20
    assert report.moved[way]["bytes"] <= 200 * segment


def test_cuts():
    for num_edges, edge, left in (
        (0, 4, 0),
        (10_000, 4, 40_000),
        (10_000, 12, 40_000),
        (9, 4, 2048),
    ):
        cut = limits.Cut.of(num_edges, edge, 1000, 1000 + left, "it")
        used = cut.resident * edge + (limits.BUFFERS * cut.segment * edge if cut.segment else 0)
        assert used <= left
        bounds = cut.bounds
        assert bounds[0] == cut.resident
        assert bounds[-1] == num_edges
        assert (np.diff(bounds) > 0).all()
        assert (bounds[:-1] % limits.BLOCK == 0).all() or len(bounds) == 1
        assert (cut.resident == num_edges) == (num_edges * edge <= left)
    with pytest.raises(LimitTooSmall, match=r"it needs 3,048 bytes .* is 3,047"):
        limits.Cut.of(10_000, 4, 1000, 3047, "it")


def test_a_limit_too_small_for_the_vertices():
    view = graph().view()
    with (
        dask.config.set({"graphgpu.device-memory-limit": 1000}),
        pytest.raises(LimitTooSmall, match=r"256 vertices needs .* is 1,000"),
    ):
        on(tiered, SSSP, view, sources=[0])


def test_what_cannot_be_is_told():
    view = graph().view()
    power = BUILT_IN["pagerank float64 plain"][0]
    for settings, program, given, error, reason in (
        (
            {"rounds": "synchronous"},
            SSSP,
            {"sources": [0], "cutoff": 5},
            EngineUnavailable,
            "cutoff=",
        ),
        ({"transfer": "stream"}, SSSP, {"sources": [0], "cutoff": 5}, EngineUnavailable, "cutoff="),
        ({"direction": "pull"}, power, {"max_supersteps": 2}, EngineUnavailable, "is 'pull'"),
        ({"filter": "jit"}, SSSP, {"sources": [0]}, InvalidArgument, "graphgpu.filter"),
        ({"transfer": "fly"}, SSSP, {"sources": [0]}, InvalidArgument, "transfer is 'fly'"),
        ({"device-memory-limit": -3}, SSSP, {"sources": [0]}, InvalidArgument, "is -3"),
        ({"device-memory-limit": 1.5}, SSSP, {"sources": [0]}, InvalidArgument, "is 1.5"),
    ):
        settings = {"device-memory-limit": "1MB", **settings}
        with dask.config.set({"graphgpu": settings}), pytest.raises(error, match=reason):
            on(tiered, program, view, **given)


@pytest.mark.parametrize("way", WAYS)
def test_errors_of_a_run(way):
    view = graph().view()
    grown = VertexProgram(
        state={"x": Field("int64", initial=2**62)}, compute=lambda source_x: 0, combine="max",
        apply=lambda x: x + x,
    )  # fmt: skip
    with pytest.raises(IntegerOverflow, match="apply"):
        ran(grown, view, 0, way, max_supersteps=1, exact_supersteps=True)
    with pytest.raises(NotConverged, match="after 2 supersteps"):
        ran(SSSP, view, 0, way, sources=[0], max_supersteps=2)


def test_the_cheapest_way():
    rates = link_rates.Rates(copies=50e9, reads=45e9, gathers=5e9)

    def chosen(active, rows, rates=rates):
        lengths = np.full(3, 8_000_000)
        return link_rates.choose(
            lengths, np.array(active), rows, edge=4, row=8, arrays=1, measured=rates
        )

    assert chosen([0, 8_000_000, 7_900_000], 400_000) == [None, "stream", "stream"]
    assert chosen([40, 0, 2_000], 60) == ["zero-copy", None, "zero-copy"]
    # Short rows waste most of the lines that are read; a host that gathers fast does not.
    fast = link_rates.Rates(copies=50e9, reads=45e9, gathers=200e9)
    assert chosen([1_500_000, 1_500_000, 0], 2_000_000, fast) == ["compact", "compact", None]
    assert chosen([1_500_000, 1_500_000, 0], 2_000_000)[2] is None
    # A short last segment is not worth a launch of its own where the others are streamed, but by itself it is.
    short = np.array([8_000_000, 8_000_000, 500_000])
    found = link_rates.choose(short, short, 600_000, edge=4, row=8, arrays=1, measured=rates)
    assert found == ["stream"] * 3
    lone = np.array([0, 0, 100])
    found = link_rates.choose(short, lone, 10, edge=4, row=8, arrays=1, measured=rates)
    assert found == [None, None, "zero-copy"]
    # All edges of many segments that are short, of a small limit, are read in one launch.
    brief = np.full(50, 80_000)
    found = link_rates.choose(brief, brief, 300_000, edge=4, row=8, arrays=1, measured=rates)
    assert found == ["zero-copy"] * 50
    # Few edges of many segments are one launch, and not worth a look of the host.
    many = np.full(100, 8_000_000), np.full(100, 60)
    found = link_rates.choose(*many, 3_000, edge=8, row=8, arrays=2, measured=rates)
    assert found == ["zero-copy"] * 100


def test_reading_in_order_pays():
    """Where most edges are of active vertices, and segments are too short to be streamed fast."""
    rates = link_rates.Rates(copies=54e9, reads=48e9, gathers=5e9)
    edges = 4_000_000

    def by_rows(active, rows):
        return link_rates.reads_of_rows(edges, active, rows, 4, 1, rates)

    in_order = link_rates.reads_in_order(edges, 4, rates)
    assert in_order < by_rows(edges, 300_000)
    assert in_order < by_rows(3_200_000, 300_000)
    assert in_order > by_rows(400_000, 30_000)
    assert in_order < link_rates.streams(np.full(50, 80_000), 4, rates)
    assert in_order > link_rates.streams(np.full(1, edges), 4, rates)


def test_a_link_that_others_were_at_is_measured_again(monkeypatch):
    measured = iter([(20e9, 44e9), (50e9, 40e9)])
    monkeypatch.setattr(link, "_measured", lambda host: next(measured))
    rates = link_rates.Rates(copies=17e9, reads=45e9, gathers=1e9)
    for copies in (20e9, 50e9, 50e9):  # the last time there is no need to
        link.mend(rates)
        assert (rates.copies, rates.reads) == (copies, 45e9)
    monkeypatch.setattr(link, "_measured", lambda host: (10e9, 44e9))
    slow = link_rates.Rates(copies=10e9, reads=45e9, gathers=1e9, again=2)
    for left in (1, 0, 0):
        link.mend(slow)
        assert (slow.copies, slow.again) == (10e9, left)


def test_a_star_with_a_row_longer_than_a_segment():
    view = star(9_000).view()
    for way in WAYS:
        for name in ("hops", "seen"):
            program, _ = CUSTOM[name]
            found, _ = ran(program, view, 0, way, sources=[7], max_supersteps=9)
            same(found, on(cpu, program, view, sources=[7], max_supersteps=9))


def frame(view):
    source = np.repeat(np.arange(view.num_vertices), view.out.degrees)
    weight = view.out.columns["weight"]
    return pd.DataFrame({"src": source, "dst": view.out.neighbours, "weight": weight})


def test_methods_of_a_frame():
    edges = frame(rmat(12, 64, directed=True, weight=np.arange(64 << 12) % 9 + 1).view())
    limit = {"graphgpu.device-memory-limit": 750_000}
    for name, given in (
        ("sssp", {"source": 0}),
        ("sssp", {"source": 0, "cutoff": 5}),
        ("sswp", {"source": 0}),
        ("bfs", {"source": 3, "cutoff": 2}),
        ("pagerank", {"tolerance": 1e-12}),
        ("pagerank", {"method": "delta"}),
        ("ssnsp", {"source": 3, "dtype": "float64"}),
        ("weakly_connected_components", {}),
    ):
        expected = getattr(edges.graph(engine="cpu"), name)(**given)
        with dask.config.set(limit):
            found = getattr(edges.graph(engine="gpu"), name)(**given)
        assert sum(moved["bytes"] for moved in last_report().attrs["moved"].values()) > 0
        pd.testing.assert_frame_equal(found, expected, rtol=1e-6)
    with dask.config.set(limit):
        with pytest.raises(EngineUnavailable, match=r"device-memory-limit.*pagerank"):
            edges.graph(engine="gpu").k_truss()


def test_memory_is_told_alike_of_offsets_of_any_width():
    """Rows that were made on a device have unsigned ones; of a row of many edges."""
    rows, needed = star(3000).view().out, []
    for dtype in (np.int64, np.uint32):
        here = Adjacency(rows.offsets.astype(dtype), rows.neighbours)
        needed.append(bytes_of_vertices(Binding(HOPS, View.of(here), {})))
    assert needed[0] == needed[1]
