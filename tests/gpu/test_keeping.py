"""Runs on the GPU that are cut short go on from what was kept, there and on the CPU."""

import itertools
import json
import shutil
from concurrent.futures import Future, wait

import dask
import numpy as np
import pandas as pd
import pytest
from device_programs import BUILT_IN, CUSTOM, columned, graph, on, same
from kept_runs import PROGRAMS, Cut, N, cut_short, cutting, kept_in, view
from layered_views import layered
from made_graphs import rmat

import dask_graphgpu as dg
from dask_graphgpu.checkpoint import CheckpointKeeper
from dask_graphgpu.engine import cpu, gpu, hybrid, limits, tiered
from dask_graphgpu.engine.gpu import checkpoints
from dask_graphgpu.engine.gpu.sizes import bytes_of_vertices
from dask_graphgpu.engine.hybrid import programs
from dask_graphgpu.engine.hybrid.asynchronous import SharedRounds
from dask_graphgpu.engine.known import DISTANCES as SSSP
from dask_graphgpu.engine.limits import DISPATCH
from dask_graphgpu.engine.speeds import Speeds
from dask_graphgpu.engine.state import Binding
from dask_graphgpu.engine.tiered import supersteps
from dask_graphgpu.engine.tiered.packed import bytes_of_edge
from dask_graphgpu.errors import InvalidCheckpoint, NotConverged
from dask_graphgpu.partition import fingerprint
from dask_graphgpu.partition.device import fingerprint as on_device

pytestmark = pytest.mark.gpu


def begun(path, engine, program, given, after, **arguments):
    """Cut a run short once its state was kept so often; whether it was."""
    keeper = cut_short(kept_in(path, n=given.num_vertices), after)
    try:
        on(engine, program, given, keeper=keeper, **arguments)
    except Cut:
        return True
    return False


def gone_on(path, engine, program, given, **arguments):
    keeper = kept_in(path, resume=True, n=given.num_vertices)
    return on(engine, program, given, keeper=keeper, **arguments)


SUPERSTEPS = {
    **{name: (program, arguments) for name, (program, arguments, _) in BUILT_IN.items()},
    **CUSTOM,
}


@pytest.mark.parametrize("after", [1, 3])
@pytest.mark.parametrize("name", SUPERSTEPS)
def test_programs_in_supersteps(name, after, tmp_path):
    program, arguments = SUPERSTEPS[name]
    given = columned(graph().view())
    expected = on(gpu, program, given, **arguments)
    if not begun(tmp_path / "kept", gpu, program, given, after, **arguments):
        assert expected.supersteps <= after
        return
    found = gone_on(tmp_path / "kept", gpu, program, given, **arguments)
    same(found, expected, rtol=1e-5 if "32" in name or "edges" in name else 1e-9)


@pytest.mark.parametrize(
    ("name", "setting"),
    [
        *itertools.product(["sssp", "delta", "hops"], [{"fusion": "all"}, {"fusion": "none"}]),
        *itertools.product(["sssp", "hops"], [{"filter": "batch"}, {"filter": "online"}]),
    ],
)
def test_however_they_are_queued(name, setting, tmp_path):
    program, arguments = SUPERSTEPS[name]
    given = columned(graph().view())
    expected = on(cpu, program, given, **arguments)
    with dask.config.set({"graphgpu": setting}):
        assert begun(tmp_path / "kept", gpu, program, given, 2, **arguments)
        found = gone_on(tmp_path / "kept", gpu, program, given, **arguments)
    same(found, expected, rtol=1e-9)


@pytest.mark.parametrize("name", [name for name in PROGRAMS if "in place" in name])
@pytest.mark.parametrize("after", [1, 3])
@pytest.mark.parametrize("layers", [False, True])
def test_programs_in_place(name, after, layers, tmp_path, monkeypatch):
    monkeypatch.setattr("dask_graphgpu.engine.gpu.near_far.ALONE_LIST", 8)
    program, arguments = PROGRAMS[name]
    given = layered(view()) if layers else view()
    expected = on(cpu, program, view(), **arguments)
    assert begun(tmp_path / "kept", gpu, program, given, after, **arguments) or layers
    found = gone_on(tmp_path / "kept", gpu, program, given, **arguments)
    np.testing.assert_array_equal(found[program.first], expected[program.first])


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("order", [(cpu, gpu), (gpu, cpu)])
def test_another_engine_goes_on(name, order, tmp_path, monkeypatch):
    monkeypatch.setattr("dask_graphgpu.engine.cpu.in_place.FEW_EDGES", 0)
    program, arguments = PROGRAMS[name]
    expected = on(cpu, program, view(), **arguments)
    assert begun(tmp_path / "kept", order[0], program, view(), 2, **arguments) or "rounds" in name
    found = gone_on(tmp_path / "kept", order[1], program, view(), **arguments)
    np.testing.assert_allclose(found[program.first], expected[program.first], rtol=1e-9)


@pytest.mark.parametrize("rounds", limits.ROUNDS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_edges_in_host_memory(name, rounds, tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "BLOCK", 32)
    monkeypatch.setattr(supersteps, "FEW", -1)  # else one launch has all rounds of so few edges
    program, arguments = PROGRAMS[name]
    binding = Binding(program, view(), arguments.get("constants", {}))
    in_place = program.in_place and "max_supersteps" not in arguments
    of_some = {"asynchronous": in_place or program.accumulative, "resident-first": in_place}
    if not of_some.get(rounds, rounds != "near-far" or in_place):
        return  # refused, with or without a checkpoint
    room = limits.BUFFERS * limits.BLOCK * bytes_of_edge(binding)
    limit = {"device-memory-limit": bytes_of_vertices(binding) + room, "rounds": rounds}
    expected = on(cpu, program, view(), **arguments)
    monkeypatch.setattr("dask_graphgpu.engine.cpu.in_place.FEW_EDGES", 0)
    with dask.config.set({"graphgpu": limit}):
        for first, second in ((tiered, tiered), (tiered, cpu), (cpu, tiered)):
            path = tmp_path / f"{first.__name__} {second.__name__}"
            assert begun(path, first, program, view(), 2, **arguments) or first is cpu
            found = gone_on(path, second, program, view(), **arguments)
            np.testing.assert_allclose(found[program.first], expected[program.first], rtol=1e-8)


@pytest.mark.parametrize("rounds", ["asynchronous", "resident-first"])
@pytest.mark.parametrize("engine", [tiered, hybrid], ids=["tiered", "hybrid"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_in_the_middle_of_a_round(name, engine, rounds, tmp_path, monkeypatch):
    """Between any two parts: what was sent and not taken is kept as well."""
    check_middles(name, engine, rounds, tmp_path, monkeypatch)


@pytest.mark.parametrize("name", ["in place, by rounds", "sums of some"])
def test_in_the_middle_of_a_round_that_is_shared(name, tmp_path, monkeypatch):
    """The CPU takes pages, from the end, wherever the GPU is."""
    slow = {"pull": 1.0, "push": 1e12, "gpu": 1e3, "cpu_beside": 1e3, "gpu_beside": 1.0}
    monkeypatch.setattr("dask_graphgpu.engine.page_dispatch._FIRST", 64)
    monkeypatch.setattr("dask_graphgpu.engine.page_dispatch.BLOCK", 32)
    monkeypatch.setattr(programs, "_speeds", lambda *_: Speeds(**slow))
    monkeypatch.setattr(Future, "done", lambda self: bool(wait([self]).done))
    begin, taken = SharedRounds._begin_page, []
    monkeypatch.setattr(SharedRounds, "_begin_page", lambda self: (taken.append(1), begin(self)))
    check_middles(name, hybrid, "asynchronous", tmp_path, monkeypatch)
    assert taken


def check_middles(name, engine, rounds, tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "BLOCK", 32)
    monkeypatch.setattr(supersteps, "FEW", -1)
    monkeypatch.setattr("dask_graphgpu.engine.cpu.in_place.FEW_EDGES", 0)
    monkeypatch.setattr("dask_graphgpu.engine.hybrid.programs._is_gpus", lambda *_, **__: False)
    program, arguments = PROGRAMS[name]
    in_place = program.in_place and "max_supersteps" not in arguments
    if not (in_place or (program.accumulative and rounds == "asynchronous")):
        return  # refused
    binding = Binding(program, view(), arguments.get("constants", {}))
    room = limits.BUFFERS * limits.BLOCK * bytes_of_edge(binding)
    limit = {
        tiered: bytes_of_vertices(binding) + room,
        hybrid: programs.bytes_of_vertices(binding) + room,
        cpu: None,
    }
    settings = {"rounds": rounds, "transfer": "stream", "device-memory-limit": limit[engine]}
    expected, within = on(cpu, program, view(), **arguments), 0
    with dask.config.set({"graphgpu": settings}):
        for after in (1, 2, 3, 5, 8, 13, 40):
            path = tmp_path / f"kept {after}"
            keeper = cut_short(kept_in(path, every=None, seconds=0), after)
            try:
                on(engine, program, view(), keeper=keeper, **arguments)
            except Cut:
                pass
            else:
                continue
            pending = "pending" in json.loads((path / "manifest.json").read_text())["columns"]
            within += pending
            for second in (cpu, tiered, hybrid):
                copy = tmp_path / f"{after} {second.__name__}"
                shutil.copytree(path, copy)
                with dask.config.set({"graphgpu.device-memory-limit": limit[second]}):
                    found = gone_on(copy, second, program, view(), **arguments)
                np.testing.assert_allclose(found[program.first], expected[program.first], rtol=1e-8)
            if pending:
                with (
                    dask.config.set({"graphgpu.device-memory-limit": None}),
                    pytest.raises(
                        InvalidCheckpoint, match="in the middle of an asynchronous round"
                    ),
                ):
                    gone_on(path, gpu, program, view(), **arguments)
    assert (within > 0) == (program.accumulative or program.active is not None)


@pytest.mark.parametrize("split", [*DISPATCH, "alternate, asynchronous"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_hybrid(name, split, tmp_path, monkeypatch):
    """It goes on from itself, and so does the CPU engine; and it goes on from that."""
    monkeypatch.setattr(limits, "BLOCK", 32)
    monkeypatch.setattr(supersteps, "FEW", -1)
    monkeypatch.setattr("dask_graphgpu.engine.cpu.in_place.FEW_EDGES", 0)
    program, arguments = PROGRAMS[name]
    split, _, rounds = split.partition(", ")
    if rounds and not (program.in_place or program.accumulative):
        return  # refused
    binding = Binding(program, view(), arguments.get("constants", {}))
    room = limits.BUFFERS * limits.BLOCK * bytes_of_edge(binding)
    limit = programs.bytes_of_vertices(binding) + room
    expected = on(cpu, program, view(), **arguments)
    settings = {"device-memory-limit": limit, "dispatch": split, "rounds": rounds or "auto"}
    with dask.config.set({"graphgpu": settings}):
        for first, second in ((hybrid, hybrid), (hybrid, cpu), (cpu, hybrid)):
            path = tmp_path / f"{first.__name__} {second.__name__}"
            assert begun(path, first, program, view(), 2, **arguments) or "rounds" in name
            found = gone_on(path, second, program, view(), **arguments)
            np.testing.assert_allclose(found[program.first], expected[program.first], rtol=1e-8)
            if "in place" not in name and not rounds:
                assert found.supersteps == expected.supersteps


@pytest.mark.parametrize("after", [1, 2, 3])
@pytest.mark.parametrize("split", ["alternate", "supersteps"])
@pytest.mark.parametrize(
    "name", ["pagerank float64 plain", "aggregates of aggregates", "asked by the host"]
)
def test_aggregates_of_a_hybrid_run(name, split, after, tmp_path):
    """Those that `apply` takes along are the GPU's or the CPU's, whichever had the superstep before."""
    program, arguments = SUPERSTEPS[name]
    given, path = columned(graph().view()), tmp_path / "kept"
    expected = on(cpu, program, given, **arguments)
    with dask.config.set({"graphgpu": {"device-memory-limit": "1MB", "dispatch": split}}):
        if not begun(path, hybrid, program, given, after, **arguments):
            assert expected.supersteps <= after
            return
        found = gone_on(path, hybrid, program, given, **arguments)
    same(found, expected, rtol=1e-9)


def test_stretches_are_as_long_as_the_clock_allows(tmp_path):
    by_number = checkpoints.CheckpointStretches(kept_in(tmp_path / "kept", every=3))
    by_clock = CheckpointKeeper(
        dg.Checkpoint(tmp_path / "other"),
        resume=False,
        call="test",
        ids=None,
        numbers=None,
        num_owned=N,
    )
    stretches = checkpoints.CheckpointStretches(by_clock)
    for given, lengths in ((stretches, [1, 2, 4]), (by_number, [1, 2, 3])):
        found = []
        for _ in lengths:
            found.append(given.after(0))
            given.done()
        assert found == lengths


def test_nothing_is_kept_before_it_is_due(tmp_path):
    """A run of less than a minute, with the default, leaves no trace and has the same report."""
    frame = pd.DataFrame({"src": np.arange(500), "dst": np.arange(1, 501), "weight": 2})
    wanted = frame.graph(engine="gpu").sssp(0)
    found = frame.graph(engine="gpu").sssp(0, checkpoint=tmp_path / "kept")
    pd.testing.assert_frame_equal(found, wanted)
    assert not (tmp_path / "kept").exists()


@pytest.mark.parametrize("method", ["pagerank", "sssp"])
def test_methods_go_on(method, tmp_path):
    rng = np.random.default_rng(1)
    ends = rng.integers(0, 300, (2, 2000))
    frame = pd.DataFrame(
        {"src": [f"v{i}" for i in ends[0]], "dst": [f"v{i}" for i in ends[1]]}
    ).assign(weight=rng.integers(1, 9, 2000))
    graph = frame.graph(engine="gpu")
    given = {"pagerank": {"tolerance": 1e-9}, "sssp": {"source": "v0"}}[method]
    wanted = getattr(graph, method)(**given)
    kept = dg.Checkpoint(tmp_path / "kept", seconds=None, supersteps=1)
    with pytest.raises(Cut), cutting(2):
        getattr(graph, method)(**given, checkpoint=kept)
    found = getattr(graph, method)(**given, checkpoint=kept, resume=True)
    pd.testing.assert_frame_equal(found, wanted, rtol=1e-9)
    assert not (tmp_path / "kept").exists()


def test_a_limit_that_was_passed_before_is_not_converged(tmp_path):
    program, arguments = PROGRAMS["sums"]
    assert begun(tmp_path / "kept", gpu, program, view(), 5, **arguments)
    with pytest.raises(NotConverged, match="after 5 supersteps"):
        gone_on(tmp_path / "kept", gpu, program, view(), **arguments, max_supersteps=3)


def test_a_cutoff_is_of_the_run(tmp_path):
    given = view()
    expected = on(cpu, SSSP, given, sources=[0], cutoff=90)
    assert begun(tmp_path / "kept", gpu, SSSP, given, 1, sources=[0], cutoff=90)
    found = gone_on(tmp_path / "kept", gpu, SSSP, given, sources=[0], cutoff=90)
    np.testing.assert_array_equal(found["distance"], expected["distance"])
    np.testing.assert_array_equal(found.reached, expected.reached)


@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize("weight", [None, "float32", "int64"])
def test_fingerprints_are_those_of_the_host(weight, named):
    import cupy

    rng = np.random.default_rng(0)
    columns = {} if weight is None else {"weight": rng.integers(0, 99, 16 << 6).astype(weight)}
    rows = rmat(6, directed=True, **columns).view().out
    n = rows.num_vertices
    numbers = rng.permutation(n).astype(np.uint32) if named else None
    there = type(rows)(
        cupy.asarray(rows.offsets),
        cupy.asarray(rows.neighbours),
        {name: cupy.asarray(column) for name, column in rows.columns.items()},
    )
    for by in ("source", "destination"):
        wanted = fingerprint.of_edges(rows, numbers, n, by)
        assert on_device.of_edges(there, numbers, n, by) == wanted
        assert on_device.of_edges(rows, numbers, n, by) == wanted
