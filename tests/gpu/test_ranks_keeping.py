"""Runs on several GPUs that are cut short go on from what was kept, on any ranks and any engine."""

import os
import signal
import time
from dataclasses import replace
from functools import partial

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from cut_graphs import cut
from device_rank_runs import SEVERAL, SIZES, marks, on_gpus
from distributed import Client
from kept_runs import PROGRAMS, Cut, check, cut_short, kept_in, run, view
from rank_programs import CASES, SUPERSTEPS
from rank_runs import made_view, on_one, put_together, same

import dask_graphgpu as dg
from dask_graphgpu import errors
from dask_graphgpu.checkpoint import CheckpointKeeper
from dask_graphgpu.engine import cpu, device_ranks, gpu, ranks
from dask_graphgpu.engine.device_ranks import near_far
from dask_graphgpu.engine.known import DISTANCES as SSSP
from dask_graphgpu.engine.options import RunOptions
from dask_graphgpu.engine.ranks import in_place
from dask_graphgpu.report import Report

pytestmark = marks


class Ids:
    """Who owns which vertices of a graph that was cut, of which a rank has a share."""

    def __init__(self, parts, share):
        self._parts, self._ranks = parts, share.ranks
        self._owner = parts.owner[parts.dense(np.arange(parts.n))]  # of numbers

    def to_owners(self, numbers, columns):
        peers = [self._owner[numbers] == rank for rank in range(self._ranks.size)]
        numbers, *columns = (
            np.concatenate(self._ranks.all_to_all([np.asarray(column)[to] for to in peers]))
            for column in (numbers, *columns)
        )
        return self._parts.local(self._parts.dense(numbers)), columns


def begun(path, parts, work, after):
    """Cut a run short on every rank once its state was kept so often; whether it was."""

    def begin(share):
        return work(share, keeper=cut_short(kept_in(path, share), after))

    try:
        on_gpus(parts, begin)
    except Cut:
        return True
    return False


def gone_on(path, parts, work):
    """What a run gives on every rank that goes on."""
    return on_gpus(
        parts,
        lambda share: work(share, keeper=kept_in(path, share, resume=True, ids=Ids(parts, share))),
    )


def by_name(engine, name, parts):
    """A program of `kept_runs`, on a share; its first field alone."""
    return lambda share, **given: run(engine, share, name, **given)[0]


@pytest.mark.parametrize("after", [1, 3])
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", PROGRAMS)
def test_as_many_gpus_go_on(name, size, after, tmp_path, monkeypatch):
    few = replace(near_far.STRETCHES, few_edges=8)
    monkeypatch.setattr(near_far, "STRETCHES", few)
    monkeypatch.setattr(near_far, "FEW_EDGES_A_GHOST", 0)
    wanted, _ = run(cpu, view(), name)
    parts = cut(view(), size)
    work = by_name(device_ranks, name, parts)
    assert begun(tmp_path / "kept", parts, work, after) or "in place" in name
    check(name, parts.whole(gone_on(tmp_path / "kept", parts, work)), wanted)


@pytest.mark.parametrize("name", sorted(SUPERSTEPS))
def test_programs_in_supersteps(name, tmp_path):
    case = CASES[name]
    given = made_view(2, case)
    arguments = case.arguments(given.num_vertices)
    expected = on_one(case.program, given, **arguments)
    parts = cut(given, SEVERAL[-1], "random", 2)

    def work(share, **more):
        return device_ranks.run(
            case.program, share, RunOptions(report=Report("test"), **arguments, **more)
        )

    if not begun(tmp_path / "kept", parts, work, 2):
        assert expected.supersteps <= 2
        return
    found = put_together(parts, gone_on(tmp_path / "kept", parts, work))
    same(found, expected, rtol=max(case.rtol, 1e-12))
    assert found.supersteps == expected.supersteps


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("order", [(2, 1), (1, 2)])
@pytest.mark.parametrize("engines", [(device_ranks, ranks), (ranks, device_ranks)])
def test_others_go_on(name, order, engines, tmp_path, monkeypatch):
    """As many ranks as there were or others, on the other kind of engine."""
    few = replace(in_place.STRETCHES, few_edges=0)
    monkeypatch.setattr(in_place, "STRETCHES", few)
    wanted, _ = run(cpu, view(), name)
    before, after = (cut(view(), size, "random", size) for size in order)
    assert begun(tmp_path / "kept", before, by_name(engines[0], name, before), 2) or order[0] == 1
    found = gone_on(tmp_path / "kept", after, by_name(engines[1], name, after))
    check(name, after.whole(found), wanted)


@pytest.mark.parametrize("name", PROGRAMS)
def test_one_gpu_goes_on_after_several(name, tmp_path):
    wanted, _ = run(cpu, view(), name)
    parts = cut(view(), 2)
    assert begun(tmp_path / "kept", parts, by_name(device_ranks, name, parts), 2)
    check(name, run(gpu, view(), name, keeper=kept_in(tmp_path / "kept", resume=True))[0], wanted)


@pytest.mark.parametrize("name", PROGRAMS)
def test_with_what_an_earlier_run_has_left(name, tmp_path):
    """Arrays and recorded launches that stay with a share."""
    wanted, _ = run(cpu, view(), name)
    parts = cut(view(), 2)
    work = by_name(device_ranks, name, parts)
    assert begun(tmp_path / "kept", parts, work, 2)

    def three(share):
        keeper = kept_in(tmp_path / "kept", share, resume=True, ids=Ids(parts, share))
        return [work(share), work(share, keeper=keeper), work(share)]

    for found in zip(*on_gpus(parts, three), strict=True):
        check(name, parts.whole(list(found)), wanted)


@pytest.mark.parametrize("direction", ["push", "pull", "notify-pull"])
def test_forced_directions(direction, tmp_path):
    name = "supersteps from a source"
    wanted, _ = run(cpu, view(), name)
    parts = cut(view(), 2)
    work = by_name(device_ranks, name, parts)
    with dask.config.set({"graphgpu.direction": direction}):
        assert begun(tmp_path / "kept", parts, work, 3)
        check(name, parts.whole(gone_on(tmp_path / "kept", parts, work)), wanted)


def test_a_cutoff_is_of_the_run(tmp_path, monkeypatch):
    few = replace(near_far.STRETCHES, few_edges=8)
    monkeypatch.setattr(near_far, "STRETCHES", few)
    expected = on_one(SSSP, view(), sources=[0], cutoff=90)
    parts = cut(view(), 2)

    def work(share, **given):
        given = {"sources": [0], "cutoff": 90, "report": Report("test")} | given
        return device_ranks.run(SSSP, share, RunOptions(**given))

    assert begun(tmp_path / "kept", parts, work, 1)
    same(put_together(parts, gone_on(tmp_path / "kept", parts, work)), expected, rtol=0)
    assert begun(tmp_path / "kept", parts, work, 1)
    with pytest.raises(errors.InvalidCheckpoint, match="the program differ"):
        gone_on(tmp_path / "kept", parts, partial(work, cutoff=91))


def test_a_limit_that_was_passed_before_is_not_converged(tmp_path):
    parts = cut(view(), 2)
    assert begun(tmp_path / "kept", parts, by_name(device_ranks, "sums", parts), 5)
    program, arguments = PROGRAMS["sums"]

    def work(share, **more):
        more |= {"max_supersteps": 3, "report": Report("test")}
        return device_ranks.run(program, share, RunOptions(**arguments, **more))

    with pytest.raises(errors.NotConverged, match="after 5 supersteps"):
        gone_on(tmp_path / "kept", parts, work)


@pytest.mark.parametrize("method", ["pagerank", "sssp"])
@pytest.mark.parametrize("then", [{"ranks": 2}, {"ranks": 1}, {"ranks": 3, "engine": "cpu"}])
def test_methods_of_frames(method, then, tmp_path, monkeypatch):
    rng = np.random.default_rng(1)
    ends = rng.integers(0, 300, (2, 2000))
    frame = pd.DataFrame(
        {"src": [f"v{i}" for i in ends[0]], "dst": [f"v{i}" for i in ends[1]]}
    ).assign(weight=rng.integers(1, 9, 2000))
    given = {"pagerank": {"tolerance": 1e-9}, "sssp": {"source": "v0"}}[method]
    wanted = getattr(frame.graph(engine="cpu"), method)(**given)
    write, count = CheckpointKeeper.write, {}

    def cut_at_second(self, *arguments):
        write(self, *arguments)
        rank = self.ranks.rank
        count[rank] = count.get(rank, 0) + 1
        if count[rank] == 2:
            raise Cut

    few = replace(near_far.STRETCHES, few_edges=8)
    monkeypatch.setattr(near_far, "STRETCHES", few)
    monkeypatch.setattr(near_far, "FEW_EDGES_A_GHOST", 0)
    kept = dg.Checkpoint(tmp_path / "kept", seconds=None, supersteps=1)
    with monkeypatch.context() as cutting:
        cutting.setattr(CheckpointKeeper, "write", cut_at_second)
        with pytest.raises(Cut):
            getattr(frame.graph(engine="gpu", ranks=2), method)(**given, checkpoint=kept)
    assert list((tmp_path / "kept").glob("*.json"))
    graph = frame.graph(**{"engine": "gpu"} | then)
    found = getattr(graph, method)(**given, checkpoint=kept, resume=True)
    pd.testing.assert_frame_equal(found, wanted, rtol=1e-9)
    assert not (tmp_path / "kept").exists()


@pytest.mark.parametrize("who", [0, 1])
def test_a_run_goes_on_when_a_worker_dies(who, tmp_path):
    cuda = pytest.importorskip("dask_cuda")
    rng = np.random.default_rng(5)
    ends = rng.integers(0, 2000, (2, 9000))
    frame = pd.DataFrame({"src": ends[0], "dst": ends[1]})
    given = {"tolerance": 0, "max_iterations": 5000}
    kept = dg.Checkpoint(tmp_path / "kept", seconds=None, supersteps=200)
    with (
        dask.config.set({"distributed.deploy.lost-worker-timeout": "1 hour"}),
        cuda.LocalCUDACluster(n_workers=2, dashboard_address=":0", silence_logs=50) as cluster,
        Client(cluster) as client,
    ):
        process = sorted(client.run(os.getpid).items())[who][1]
        graph = dd.from_pandas(frame, npartitions=4).graph(engine="gpu", ranks=2)
        future = client.compute(graph.pagerank(**given, checkpoint=kept))
        until = time.monotonic() + 60
        while not list((tmp_path / "kept").glob("*.json")):
            assert time.monotonic() < until
            assert not future.done()
            time.sleep(0.001)
        os.kill(process, signal.SIGKILL)
        found = future.result(60)
        assert 0 < dg.last_report()["supersteps"].sum() <= given["max_iterations"] - 200
    wanted = frame.graph(engine="cpu").pagerank(**given)
    assert found["vertex"].tolist() == wanted["vertex"].tolist()
    np.testing.assert_allclose(found["rank"], wanted["rank"], rtol=1e-9)
