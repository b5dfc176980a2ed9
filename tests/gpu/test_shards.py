"""Sums that are pulled in shards: as by rows."""

import dask
import numpy as np
import pytest
from made_graphs import path, rmat, star

from dask_graphgpu.algorithms import heat_simulation, pagerank
from dask_graphgpu.engine import cpu, gpu
from dask_graphgpu.engine.gpu import gathers
from dask_graphgpu.engine.gpu import shards as module
from dask_graphgpu.engine.gpu.device import DeviceView
from dask_graphgpu.engine.known import DISTANCES as SSSP
from dask_graphgpu.engine.options import RunOptions
from dask_graphgpu.engine.schedule import REPLICATIONS
from dask_graphgpu.errors import InvalidArgument
from dask_graphgpu.fields import Field
from dask_graphgpu.program import VertexProgram
from dask_graphgpu.report import Report

pytestmark = pytest.mark.gpu

TWELVE = {"max_supersteps": 12, "exact_supersteps": True}
STEP = {"constants": {"step": 0.001, "tolerance": 1e-9}, **TWELVE}
DELTA = {"max_supersteps": 300, "constants": {"threshold": 1e-6}}
COUNTS = VertexProgram(  # wraps: integers that nobody watches
    state={"hash": Field("int64", initial=lambda id: id)},  # noqa: A006
    compute=lambda source_hash, weight: (source_hash ^ weight) * 6364136223846793005,
    combine="sum", wraps=True,
)  # fmt: skip
PATHS = VertexProgram(
    state={"level": Field("int64", initial=-1, at_source=0),
           "paths": Field("float64", initial=0.0, at_source=1.0)},
    compute=lambda source_paths: source_paths, combine="sum", message="float64",
    apply=lambda level, paths, message, received, superstep: {
        "level": superstep if received and level < 0 else level,
        "paths": message if received and level < 0 else paths,
    },
    active=lambda level, new_level: new_level != level,
)  # fmt: skip
PROGRAMS = {
    "power": (pagerank.power_program("float64", weighted=False, personal=False), TWELVE, 1e-9),
    "power float32": (pagerank.power_program("float32", weighted=True, personal=False), TWELVE, 1e-5),
    "delta": (pagerank.delta_program("float64", weighted=False), DELTA, 1e-9),
    "heat": (heat_simulation.program(weighted=True), STEP, 1e-9),
    "counts": (COUNTS, {"max_supersteps": 4, "exact_supersteps": True}, 0.0),
    "paths": (PATHS, {"sources": [0]}, 0.0),
}  # fmt: skip
GRAPHS = {
    "rmat": rmat(9, directed=True, weight=np.random.default_rng(3).integers(1, 9, 16 << 9)),
    "undirected": rmat(8, weight=np.random.default_rng(4).integers(1, 9, 16 << 8)),
    "star": star(9_000, weight=np.ones(8_999, np.int64)),
    "path": path(300, weight=np.ones(299, np.int64)),
}


def ran(engine, program, view, **arguments):
    return engine.run(program, view, RunOptions(report=Report("test"), **arguments))


def columned(view):
    rng = np.random.default_rng(0)
    n = view.num_vertices
    return view.with_columns({name: rng.random(n) / n for name in ("residual", "initial", "start")})


@pytest.fixture(params=[256, 4096, None], ids=["small", "middle", "whole"])
def shared(request, monkeypatch):
    """Shared memory of a block, in bytes; small graphs fit one as it is."""
    if request.param is not None:
        for where in (module, gathers):
            monkeypatch.setattr(where, "shared_bytes", lambda: request.param)
    return request.param


@pytest.mark.parametrize("most", [64, 1 << 16])
@pytest.mark.parametrize("replication", ["auto", 4])
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("shape", GRAPHS)
@pytest.mark.usefixtures("shared")
def test_shards_add_up_to_what_rows_do(shape, name, replication, most, monkeypatch):
    monkeypatch.setattr(module, "MOST", most)
    program, arguments, rtol = PROGRAMS[name]
    if shape == "star" and name == "power float32":
        rtol = 5e-4  # 9,000 values join the hub's float32 sum one after another
    view = columned(GRAPHS[shape].view(into=True))
    expected = ran(cpu, program, view, **arguments)
    with dask.config.set({"graphgpu.gather": "shards", "graphgpu.replication": replication}):
        found = ran(gpu, program, view, **arguments)
    assert found.supersteps == expected.supersteps
    near = {"rel": max(rtol, 1e-9), "abs": max(rtol / 10, 1e-12)}
    assert found.aggregates == pytest.approx(expected.aggregates, **near)
    for field in expected:
        np.testing.assert_allclose(found[field], expected[field], rtol=rtol, atol=rtol * 1e-3)


@pytest.mark.parametrize("capacity", [32, 100, 5_000])
@pytest.mark.parametrize("replication", [None, *REPLICATIONS])
@pytest.mark.parametrize("shape", GRAPHS)
def test_shards_are_the_longest_that_fit(shape, replication, capacity, monkeypatch):
    monkeypatch.setattr(module, "_STRETCH", 200)
    monkeypatch.setattr(module, "MOST", 50)
    edges = DeviceView.of(GRAPHS[shape].view(into=True)).into
    found = module.Shards.of(edges, capacity, replication)
    offsets, first = edges.offsets.get().astype(np.int64), found.first.get().astype(np.int64)

    def copies(begin, end):
        if replication is not None:
            return replication
        degree = (offsets[end] - offsets[begin]) / (end - begin)
        power = np.ceil(np.log2(degree) - 0.5) if degree else 0
        return 2 ** int(min(max(power, 0), 5))

    expected, begin, n = [], 0, edges.num_vertices
    stretch = max(200, -(-n // 1024))
    while begin < n:
        stop, end = min(n, (begin // stretch + 1) * stretch), begin + 1
        while end < stop and (end + 1 - begin) * copies(begin, end + 1) <= capacity:
            end += 1
        expected.append((begin, copies(begin, end)))
        begin = end
    assert list(zip(first, 2 ** found.copies.get().astype(int), strict=False)) == expected
    assert first[-1] == n
    rows = np.repeat(np.arange(n), np.diff(offsets))
    shard = np.searchsorted(first, rows, side="right") - 1
    np.testing.assert_array_equal(found.place.get(), rows - first[shard])
    begins, which = found.item_begin.get().astype(np.int64), found.item_shard.get()
    np.testing.assert_array_equal(which, shard[begins])
    ends = np.minimum(begins + 50, offsets[first[which + 1]])
    assert ends.tolist() == [*begins[1:].tolist(), offsets[-1]]


def test_a_graph_without_edges():
    power = PROGRAMS["power"][0]
    view = path(1).view()
    with dask.config.set({"graphgpu.gather": "shards"}):
        assert ran(gpu, power, view, max_supersteps=99)["rank"].sum() == pytest.approx(1)


def test_what_cannot_be_pulled_in_shards_is_told():
    checked = VertexProgram(
        state={"x": Field("int64", initial=1)}, compute=lambda source_x: source_x, combine="sum"
    )
    view, power = path(5).view(into=True), PROGRAMS["power"][0]
    for settings, program, arguments, reason in (
        ({}, SSSP, {"sources": [0]}, "combine is 'min'"),
        ({}, checked, {"max_supersteps": 2}, "watched for overflow"),
        ({"direction": "push"}, power, {"max_supersteps": 2}, "do not all pull"),
        ({"fusion": "all"}, power, {"max_supersteps": 2}, "of rows"),
        ({"combine": "atomic"}, power, {"max_supersteps": 2}, "of rows"),
        ({"replication": 3}, power, {"max_supersteps": 2}, "replication is 3"),
    ):
        forced = {"gather": "shards", **settings}
        with dask.config.set({"graphgpu": forced}), pytest.raises(InvalidArgument, match=reason):
            ran(gpu, program, view, **arguments)
