"""Removing a checkpoint never decides over a result, and what is left of it is swept by the next run."""

import os
import signal
import sys

import pandas as pd
import pytest
from kept_runs import Cut, cutting

import dask_graphgpu as dg

EDGES = pd.DataFrame({"src": range(50), "dst": [(7 * k + 1) % 50 for k in range(50)]})
EVENTS = {"open", "os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.listdir", "fcntl.flock"}


def call(path, **options):
    kept = dg.Checkpoint(path, seconds=None, supersteps=2)
    return EDGES.graph.pagerank(tolerance=0, max_iterations=9, checkpoint=kept, **options)


def killed_at(path, step):
    """Whether a call was killed before the n-th change of its removal of a checkpoint that Python reports."""
    child = os.fork()
    if child == 0:
        steps, removing = 0, False

        def hook(event, arguments):
            nonlocal steps, removing
            removing |= event == "os.rename" and str(arguments[0]).endswith("manifest.json")
            if removing and event in EVENTS:
                steps += 1
                if steps == step:
                    os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(hook)
        try:
            call(path)
        finally:
            os._exit(0)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


@pytest.mark.parametrize("resume", [False, True])
def test_killed_at_every_step(tmp_path, resume):
    right, path, step = call(tmp_path / "other"), tmp_path / "kept", 0
    while True:
        step += 1
        killed = killed_at(path, step)
        pd.testing.assert_frame_equal(call(path, resume=resume), right)
        assert os.listdir(tmp_path) == [], f"left after a kill at step {step}"
        if not killed:
            break
    assert step > 6


@pytest.mark.parametrize("resume", [False, True])
def test_a_whole_checkpoint_is_not_taken_for_one_that_is_being_removed(tmp_path, resume):
    """As where a copy was made before and after the manifest got its other name."""
    path = tmp_path / "kept"
    with pytest.raises(Cut), cutting(2):
        call(path)
    (path / "removed.json").write_bytes((path / "manifest.json").read_bytes())
    before = {file.name: file.read_bytes() for file in path.iterdir()}
    with pytest.raises(dg.errors.OutputError, match=r"holds removed\.json"):
        call(path, resume=resume)
    assert {file.name: file.read_bytes() for file in path.iterdir()} == before


@pytest.mark.parametrize("resume", [False, True])
def test_what_a_kill_has_left_and_cannot_be_removed(tmp_path, resume, monkeypatch):
    """It is known for what it is: a run begins anew, and its own checkpoint takes the place."""
    path = tmp_path / "kept"
    assert killed_at(path, 3)
    assert "removed.json" in os.listdir(path)
    unlink = os.unlink

    def refuse(name, *arguments, **options):
        if str(name).startswith(str(path)):
            raise PermissionError(13, "Permission denied", str(name))
        unlink(name, *arguments, **options)

    with monkeypatch.context() as patched:
        patched.setattr(os, "unlink", refuse)
        with pytest.warns(UserWarning, match="is not removed: .*Permission denied"):
            found = call(path, resume=resume)
    pd.testing.assert_frame_equal(found, call(path, resume=resume))
    assert os.listdir(tmp_path) == []


def refused(event, name, error):
    """Have a call of the system fail for a path."""

    def hook(given, arguments):
        if active and given == event and str(arguments[0]).endswith(name):
            raise error

    active = [1]
    sys.addaudithook(hook)
    return active.clear


@pytest.mark.parametrize(
    ("event", "name"),
    [("os.rmdir", "kept"), ("os.remove", "part.00000.parquet"), ("os.rename", "manifest.json")],
)
def test_one_that_cannot_be_removed_is_a_warning(tmp_path, event, name):
    path, right = tmp_path / "kept", call(tmp_path / "other")
    allow = refused(
        event,
        str(path / name) if name != "kept" else str(path),
        OSError(16, "Device or resource busy"),
    )
    try:
        with pytest.warns(UserWarning, match="is not removed: .*Device or resource busy"):
            found = call(path)
    finally:
        allow()
    pd.testing.assert_frame_equal(found, right)
    for resume in (True, False):
        pd.testing.assert_frame_equal(call(path, resume=resume), right)
    assert os.listdir(tmp_path) == []


def test_a_file_of_somebody_is_left_with_the_checkpoint(tmp_path, monkeypatch):
    path, end = tmp_path / "kept", dg.checkpoint.CheckpointKeeper.end

    def note_and_end(keeper):
        (path / "notes.txt").write_text("mine")
        end(keeper)

    monkeypatch.setattr(dg.checkpoint.CheckpointKeeper, "end", note_and_end)
    with pytest.warns(UserWarning, match=r"is not removed: .*kept also holds notes\.txt"):
        call(path)
    assert (path / "notes.txt").read_text() == "mine"


def test_what_a_network_file_system_keeps_of_deleted_files_counts_for_nothing(tmp_path):
    path = tmp_path / "kept"
    path.mkdir()
    (path / ".nfs0000000000a1b2c300000001").write_text("deleted, and open")
    for resume in (True, False):
        call(path, resume=resume)
