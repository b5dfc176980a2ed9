"""What goes wrong where edges lie on disk, whoever works on them: a clear error, and nothing is left."""

import errno
import gc
import json
import os
import signal
import subprocess
import sys
import threading
import time

import dask
import numpy as np
import pandas as pd
import pytest

from dask_graphgpu import Checkpoint
from dask_graphgpu.engine import limits
from dask_graphgpu.errors import LimitTooSmall, SpillError

pytestmark = pytest.mark.gpu

ROWS, VERTICES = 60_000, 600
SIDES = ["cpu", "gpu", "hybrid", "hybrid cpu", "hybrid alternate", "hybrid supersteps"]


@pytest.fixture(scope="module")
def edges():
    rng = np.random.default_rng(6)
    source = (VERTICES * rng.random(ROWS) ** 2).astype(np.int64)
    destination = rng.integers(0, VERTICES, ROWS)
    weight = rng.integers(1, 99, ROWS)
    return pd.DataFrame({"src": source, "dst": destination, "weight": weight})


@pytest.fixture(params=SIDES)
def side(request, tmp_path, monkeypatch):
    """An engine, with settings under which these edges lie on disk, in two folders."""
    monkeypatch.setattr(limits, "_MOST", 8192)
    engine, _, split = request.param.partition(" ")
    settings = {
        "graphgpu.host-memory-limit": "900kB",
        "graphgpu.page-bytes": 4096,
        "graphgpu.device-memory-limit": 420_000,
        "graphgpu.dispatch": split or "auto",
        "graphgpu.spill-directories": [str(tmp_path / "a"), str(tmp_path / "b")],
    }
    with dask.config.set(settings):
        yield engine


def nothing_is_left(folder):
    assert not [t for t in threading.enumerate() if t.name.startswith("graphgpu-hybrid")]
    for _ in range(100):  # a frame of the error may hold a file for a moment
        gc.collect()
        left = [each for below in folder.iterdir() for each in below.iterdir()]
        if not left:
            return
        time.sleep(0.02)
    raise AssertionError(left)


def flipped(path):
    """A bit of every page is another one."""
    with open(path, "r+b") as file:
        for place in range(77, os.path.getsize(path), 4096):
            file.seek(place)
            byte = file.read(1)
            file.seek(place)
            file.write(bytes([byte[0] ^ 8]))


def cut(path):
    os.truncate(path, os.path.getsize(path) // 2 // 4096 * 4096 + 100)


@pytest.mark.parametrize(
    ("damage", "match"), [(flipped, "is not what was written"), (cut, "ends before it")]
)
def test_damaged_files(damage, match, side, edges, tmp_path):
    graph = edges.graph(engine=side).persist()
    graph.pagerank(max_iterations=3, tolerance=0)
    for path in [path for path in tmp_path.rglob("*.pages") if path.stat().st_size]:
        damage(path)
    # The edges that stay on a GPU were read before.
    with pytest.raises(SpillError, match=rf"page \d+ of {tmp_path}.* {match}; the disk or another"):
        graph.pagerank(max_iterations=3, tolerance=0)
    del graph
    nothing_is_left(tmp_path)


@pytest.mark.parametrize("after", [0, 100, 250])
def test_a_read_that_fails(after, side, edges, tmp_path, monkeypatch):
    graph = edges.graph(engine=side).persist()
    graph.pagerank(max_iterations=2, tolerance=0)
    read, count = os.preadv, []

    def failing(*given):
        count.append(1)
        if len(count) > after:
            raise OSError(errno.EIO, "Input/output error")
        return read(*given)

    monkeypatch.setattr(os, "preadv", failing)
    with pytest.raises(SpillError, match=r"page \d+ of .* cannot be read: .*Input/output error"):
        graph.pagerank(max_iterations=9, tolerance=0)
    monkeypatch.undo()
    del graph
    nothing_is_left(tmp_path)


@pytest.mark.parametrize("after", [0, 60, 200])
def test_a_full_disk(after, side, edges, tmp_path, monkeypatch):
    """While the graph is built, or rows are turned over in a run."""
    wrote, count = os.pwrite, []

    def failing(*given):
        count.append(1)
        if len(count) > after:
            raise OSError(errno.ENOSPC, "No space left on device")
        return wrote(*given)

    monkeypatch.setattr(os, "pwrite", failing)
    with pytest.raises(
        SpillError, match=rf"cannot write {tmp_path}.*No space left on device; make room there"
    ):
        edges.graph(engine=side).pagerank()
    monkeypatch.undo()
    nothing_is_left(tmp_path)


def test_limits_that_are_too_small(side, edges, tmp_path):
    with (
        dask.config.set({"graphgpu.host-memory-limit": "100kB"}),
        pytest.raises(LimitTooSmall, match=r"needs [\d,]+ bytes.*host-memory-limit is 100,000"),
    ):
        edges.graph(engine=side).pagerank()
    if side != "cpu":
        with (
            dask.config.set({"graphgpu.device-memory-limit": 1000}),
            pytest.raises(LimitTooSmall, match=r"needs [\d,]+ bytes.*device-memory-limit is 1,000"),
        ):
            edges.graph(engine=side).pagerank()
    nothing_is_left(tmp_path)


KILLED = """
import sys, time, dask, pandas as pd
from dask_graphgpu import Checkpoint
from dask_graphgpu.checkpoint import CheckpointKeeper
from dask_graphgpu.engine import limits

limits._MOST = 8192
frame, path, engine, settings = sys.argv[1:]
write, count = CheckpointKeeper.write, []

def counted(self, *arguments):
    write(self, *arguments)
    count.append(1)
    if len(count) == 30:
        print("kept", flush=True)
        time.sleep(600)

CheckpointKeeper.write = counted
with dask.config.set(eval(settings)):
    graph = pd.read_parquet(frame).graph(engine=engine)
    graph.pagerank(method="delta", checkpoint=Checkpoint(path, seconds=0))
"""


@pytest.mark.parametrize("side", ["gpu", "hybrid"], indirect=True)
def test_a_process_that_is_killed(side, edges, tmp_path):
    """With kill -9, in the middle of an asynchronous round: another one goes on, and sweeps its pages."""
    frame, path = tmp_path.parent / f"{side}.parquet", tmp_path.parent / f"kept by {side}"
    edges.to_parquet(frame)
    names = ("host-memory-limit", "page-bytes", "device-memory-limit", "spill-directories")
    settings = {f"graphgpu.{name}": dask.config.get(f"graphgpu.{name}") for name in names}
    settings["graphgpu.rounds"] = "asynchronous"
    command = [sys.executable, "-c", KILLED, str(frame), str(path), side, repr(settings)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as run:
        try:
            assert run.stdout.readline() == b"kept\n"
        finally:
            os.kill(run.pid, signal.SIGKILL)
    assert "pending" in json.loads((path / "manifest.json").read_text())["columns"]
    left = [each for below in tmp_path.iterdir() for each in below.iterdir()]
    assert left
    wanted = edges.graph(engine=side).pagerank(method="delta")
    assert not any(each.exists() for each in left)
    with dask.config.set(settings):
        found = edges.graph(engine=side).pagerank(
            method="delta", checkpoint=Checkpoint(path), resume=True
        )
    pd.testing.assert_frame_equal(found, wanted, rtol=1e-5)
    assert not path.exists()
