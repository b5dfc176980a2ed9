"""Methods with checkpoint= go on after they were killed, in a new process and on other ranks."""

import itertools
import os
import signal
from unittest import mock

import dask.dataframe as dd
import fork_server
import numpy as np
import pandas as pd
import pytest
from kept_runs import Cut, cutting

import dask_graphgpu as dg
from dask_graphgpu.checkpoint import CheckpointKeeper
from dask_graphgpu.errors import InvalidArgument, InvalidCheckpoint, NotConverged, OutputError

ALWAYS = {"seconds": None, "supersteps": 1}


@pytest.fixture
def frame():
    made = np.random.default_rng(0)
    source, destination = made.integers(0, 500, (2, 3000))
    return pd.DataFrame(
        {"src": [f"v{i}" for i in source], "dst": [f"v{i}" for i in destination]}
    ).assign(weight=made.integers(1, 100, 3000))


@pytest.mark.parametrize("first", [1, 3])
@pytest.mark.parametrize("then", [1, 2])
def test_goes_on_with_other_ranks(frame, tmp_path, first, then):
    wanted = frame.graph().pagerank(tolerance=1e-9)
    path = tmp_path / "kept"
    with pytest.raises(Cut), cutting(5):
        frame.graph(ranks=first).pagerank(tolerance=1e-9, checkpoint=dg.Checkpoint(path, **ALWAYS))
    assert path.exists()
    found = frame.graph(ranks=then).pagerank(tolerance=1e-9, checkpoint=path, resume=True)
    pd.testing.assert_frame_equal(found, wanted, rtol=1e-9)
    assert len(dg.last_report()) < 30
    assert not path.exists()  # the call has its result


@pytest.mark.parametrize("method", ["sssp", "sswp"])
def test_paths_on_ranks_go_on(frame, tmp_path, method):
    path = tmp_path / "kept"
    wanted = getattr(frame.graph(), method)("v0")
    with pytest.raises(Cut), cutting(2):
        getattr(frame.graph(ranks=2), method)("v0", checkpoint=dg.Checkpoint(path, **ALWAYS))
    found = getattr(frame.graph(ranks=3), method)("v0", checkpoint=path, resume=True)
    pd.testing.assert_frame_equal(found, wanted)


@pytest.mark.parametrize("ranks", [1, 2])
def test_what_runs_again_leaves_the_checkpoint_of_a_later_program(frame, tmp_path, ranks):
    """Of several sources those before the one that was cut short are searched from again."""
    sources, kept = ["v0", "v1"], dg.Checkpoint(tmp_path / "kept", **ALWAYS)
    graph = frame.graph(ranks=ranks)
    wanted = graph.sswp(sources)
    with mock.patch.object(CheckpointKeeper, "write") as write:
        graph.sswp("v0", checkpoint=kept)
    with pytest.raises(Cut), cutting(write.call_count // ranks + 1):
        graph.sswp(sources, checkpoint=kept)
    found = graph.sswp(sources, checkpoint=kept, resume=True)
    pd.testing.assert_frame_equal(found, wanted)
    assert not (tmp_path / "kept").exists()


def test_more_iterations_go_on(frame, tmp_path):
    kept = dg.Checkpoint(tmp_path / "kept", **ALWAYS)
    with pytest.raises(NotConverged):
        frame.graph().pagerank(tolerance=1e-9, max_iterations=10, checkpoint=kept)
    found = frame.graph().pagerank(tolerance=1e-9, checkpoint=kept, resume=True)
    again = dg.last_report()["supersteps"].sum()
    pd.testing.assert_frame_equal(found, frame.graph().pagerank(tolerance=1e-9))
    assert again == dg.last_report()["supersteps"].sum() - 10


def test_fewer_iterations_than_are_made_are_refused(frame, tmp_path):
    kept = dg.Checkpoint(tmp_path / "kept", seconds=None, supersteps=1)
    call = {"tolerance": 0, "checkpoint": kept}
    with pytest.raises(Cut), cutting(8):
        frame.graph().pagerank(max_iterations=20, **call)
    with pytest.raises(InvalidCheckpoint, match="exactly 5: give as many or more"):
        frame.graph().pagerank(max_iterations=5, resume=True, **call)
    found = frame.graph().pagerank(max_iterations=20, resume=True, **call)
    expected = frame.graph().pagerank(tolerance=0, max_iterations=20)
    pd.testing.assert_frame_equal(found, expected)


def test_lazy_methods_touch_nothing_before_they_are_computed(frame, tmp_path):
    edges = dd.from_pandas(frame, npartitions=3)
    path = tmp_path / "kept"
    lazy = edges.graph().pagerank(checkpoint=path)
    assert not path.exists()
    found, wanted = lazy.compute(), frame.graph().pagerank()
    assert found["vertex"].tolist() == wanted["vertex"].tolist()
    np.testing.assert_allclose(found["rank"], wanted["rank"], rtol=1e-12)


def until_killed(edges, kept, ranks, out):
    """Compute ranks from a checkpoint on; each process that does is killed after its seventh, on each rank."""
    write, kills = CheckpointKeeper.write, itertools.count(1)

    def counted(self, *args):
        write(self, *args)
        if next(kills) == 7 * ranks:
            os.kill(os.getpid(), signal.SIGKILL)

    CheckpointKeeper.write = counted
    graph = pd.read_parquet(edges).graph(ranks=ranks)
    checkpoint = dg.Checkpoint(kept, **ALWAYS)
    graph.pagerank(tolerance=1e-9, resume=True, checkpoint=checkpoint).to_parquet(out)


@pytest.mark.parametrize("ranks", [1, 2])
def test_killed_again_and_again(frame, tmp_path, ranks):
    edges, out = tmp_path / "edges.parquet", tmp_path / "out.parquet"
    frame.to_parquet(edges)
    killed, done = 0, False
    while not done and killed < 40:
        run = fork_server.begun(until_killed, edges, tmp_path / "kept", ranks, out)
        run.join()
        assert run.exitcode in (0, -signal.SIGKILL)
        done = run.exitcode == 0
        killed += not done
    assert done
    assert killed >= 2
    wanted = frame.graph().pagerank(tolerance=1e-9)
    pd.testing.assert_frame_equal(pd.read_parquet(out), wanted, rtol=1e-9)
    assert sorted(os.listdir(tmp_path)) == ["edges.parquet", "out.parquet"]


def test_what_is_refused(frame, tmp_path):
    graph = frame.graph()
    with pytest.raises(InvalidArgument, match="bfs has no checkpoints"):
        graph.bfs("v0", checkpoint=tmp_path / "kept")
    with pytest.raises(InvalidArgument, match="give checkpoint= too"):
        graph.pagerank(resume=True)
    with pytest.raises(InvalidArgument, match="checkpoint is a int"):
        graph.pagerank(checkpoint=3)
    with pytest.raises(InvalidArgument, match="is of the engines 'cpu', 'gpu' and 'hybrid'"):
        frame.graph(engine="interpreted").sssp("v0", checkpoint=tmp_path / "kept")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("mine")
    with pytest.raises(OutputError, match=r"holds notes\.txt"):
        graph.pagerank(checkpoint=tmp_path / "mine")
    kept = dg.Checkpoint(tmp_path / "kept", **ALWAYS)
    with pytest.raises(Cut), cutting(2):
        graph.pagerank(checkpoint=kept)
    with pytest.raises(InvalidCheckpoint, match="the method or its arguments differ"):
        graph.pagerank(damping=0.5, checkpoint=kept, resume=True)
    with pytest.raises(InvalidCheckpoint, match="the edges or their weights differ"):
        frame[:-1].graph().pagerank(checkpoint=kept, resume=True)
    with pytest.raises(InvalidCheckpoint, match="the method or its arguments differ"):
        graph.sssp("v0", checkpoint=kept, resume=True)
