"""Readers that open a folder all the time while a writer replaces it see the old content or the new one."""

import os
import signal
import sys
import time
from contextlib import contextmanager

import dask
import numpy as np
import pandas as pd
import pytest

from dask_graphgpu import load
from dask_graphgpu.checkpoint import Checkpoint, CheckpointKeeper
from dask_graphgpu.io import replace
from dask_graphgpu.io.output import write_parquet
from dask_graphgpu.partition.csr import from_edges
from dask_graphgpu.store import checkpoint

N = 200
RNG = np.random.default_rng(0)
SOURCE, DESTINATION = RNG.integers(0, N, (2, 2000))
WEIGHT = RNG.integers(1, 100, 2000)
OTHER = RNG.permutation(N)
# The same graph with its vertices renumbered: no size and no count tells the two apart.
FRAMES = [
    pd.DataFrame({"src": SOURCE, "dst": DESTINATION, "weight": WEIGHT}),
    pd.DataFrame({"src": OTHER[SOURCE], "dst": OTHER[DESTINATION], "weight": WEIGHT}),
]
READS = 60


@pytest.fixture(params=["exchange", "two steps"], autouse=True)
def way(request, monkeypatch):
    """How folders are replaced; and tasks run in this thread, so that the process can be forked."""
    if request.param == "two steps":
        monkeypatch.setattr(replace, "_renameat2", lambda: None)
    with dask.config.set(scheduler="synchronous"):
        yield


@contextmanager
def writing(write):
    """Another process calls ``write(number)`` again and again; killed at the end."""
    child = os.fork()
    if child == 0:
        try:
            number = 0
            while True:
                number += 1
                write(number)
        finally:
            os._exit(1)
    try:
        yield
        assert os.waitpid(child, os.WNOHANG) == (0, 0), "the writer failed"
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def both_seen(read, right, allowed=()):
    """Read until each of the right contents was seen and many times; nothing else may be."""
    seen, reads, end = set(), 0, time.monotonic() + 120
    while reads < READS or len(seen) < len(right):
        assert time.monotonic() < end, f"only {seen} in {reads} reads"
        try:
            found = read()
        except allowed:
            continue
        reads += 1
        assert found in right
        seen.add(right.index(found))


EVENTS = {"open", "os.mkdir", "os.rename", "os.remove", "os.rmdir", "fcntl.flock", "renameat2"}


def killed_at(step, write):
    """Whether a process that writes was killed before the n-th change of files that Python reports."""
    child = os.fork()
    if child == 0:
        steps, exchange = 0, replace._exchange

        def hook(event, _):
            nonlocal steps
            steps += event in EVENTS
            if event in EVENTS and steps == step:
                os.kill(os.getpid(), signal.SIGKILL)

        def announced(one, other):
            sys.audit("renameat2")
            return exchange(one, other)

        replace._exchange = announced
        sys.addaudithook(hook)
        try:
            write()
        finally:
            os._exit(0)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


def old_or_new_after_kills(path, write, read, stride=1):
    """Kill a writer of 1 over 0 at every step, or some: it is read 0, or 1 and then 1 for good."""
    write(0)
    found, step = [], 0
    while True:
        step += stride
        killed = killed_at(step, lambda: write(1))
        found.append(read())
        if not killed:
            break
    assert step > 15
    assert set(found) == {0, 1}
    assert found == sorted(found)  # once the new one is there, it stays
    write(0)
    assert os.listdir(path.parent) == [path.name]


def test_kills_of_who_saves_a_graph(tmp_path):
    graphs = [frame.graph().persist() for frame in FRAMES]
    right = [graph.degree()["out_degree"].tolist() for graph in graphs]
    path = tmp_path / "saved"
    old_or_new_after_kills(
        path,
        lambda i: graphs[i].save(path),
        lambda: right.index(load(path).degree().compute()["out_degree"].tolist()),
        stride=3,
    )


def test_kills_of_who_writes_a_result(tmp_path):
    path = tmp_path / "out"

    def read():
        replace.sweep(path)  # as the next job does
        return pd.read_parquet(path)["rank"].unique().item()

    old_or_new_after_kills(
        path, lambda i: write_parquet(pd.DataFrame({"rank": [i] * 9}), path), read
    )


def test_kills_of_who_writes_a_checkpoint(tmp_path):
    path = tmp_path / "kept"

    def write(i):
        made, _ = keeper(path, resume=False)
        made.write(i, {"distance": np.full(N, i)}, {})

    old_or_new_after_kills(path, write, lambda: keeper(path, resume=True)[1].superstep)


def test_a_saved_graph(tmp_path):
    graphs = [frame.graph().persist() for frame in FRAMES]
    right = [graph.sssp(1)["distance"].tolist() for graph in graphs]
    graphs[0].save(tmp_path / "saved")
    with writing(lambda number: graphs[number % 2].save(tmp_path / "saved")):
        both_seen(
            lambda: load(tmp_path / "saved").sssp(1).compute()["distance"].tolist(),
            right,
        )


def test_a_saved_graph_that_is_verified(tmp_path):
    graphs = [frame.graph().persist() for frame in FRAMES]
    right = [graph.degree()["out_degree"].tolist() for graph in graphs]
    graphs[0].save(tmp_path / "saved")
    with writing(lambda number: graphs[number % 2].save(tmp_path / "saved")):
        both_seen(
            lambda: load(tmp_path / "saved", verify=True).degree().compute()["out_degree"].tolist(),
            right,
        )


def test_a_result(tmp_path):
    """A file of the old result may be gone, which its reader is told; it never reads rows of both."""
    results = [pd.DataFrame({"vertex": np.arange(N), "rank": [i] * N}) for i in range(2)]
    parts = [dask.dataframe.from_pandas(result, npartitions=4, sort=False) for result in results]
    right = [result["rank"].tolist() for result in results]
    write_parquet(parts[0], tmp_path / "out")

    def read():
        names = sorted(os.listdir(tmp_path / "out"))
        frames = [pd.read_parquet(tmp_path / "out" / name) for name in names]
        return [rank for frame in frames for rank in frame["rank"].tolist()]

    with writing(lambda number: write_parquet(parts[number % 2], tmp_path / "out")):
        both_seen(read, right, allowed=FileNotFoundError)


class Ids:
    position = None


def keeper(path, **options):
    made = CheckpointKeeper(
        Checkpoint(path), call="sssp", ids=Ids(), numbers=None, num_owned=N, **options
    )
    rows = from_edges(N, SOURCE, DESTINATION, {"weight": WEIGHT})
    return made, made.begin("program", rows, "source", {"distance": np.zeros(N, np.int64)})


def test_a_checkpoint(tmp_path):
    def write(number):
        made, _ = keeper(tmp_path / "kept", resume=False)
        values = np.full(N, number % 2, np.int64)
        made.write(number % 2, {"distance": values}, {"residual": number % 2})

    def read():
        _, kept = keeper(tmp_path / "kept", resume=True)
        return {kept.superstep, kept.aggregates["residual"], *kept.columns["distance"].tolist()}

    write(0)
    with writing(write):
        both_seen(read, [{0}, {1}])


def test_a_checkpoint_that_is_read_later_stays_the_one_that_was_found(tmp_path):
    made, _ = keeper(tmp_path / "kept", resume=False)
    made.write(3, {"distance": np.full(N, 3)}, {})
    found = CheckpointKeeper(
        Checkpoint(tmp_path / "kept"),
        resume=True, call="sssp", ids=Ids(), numbers=None, num_owned=N,
    )  # fmt: skip
    other, _ = keeper(tmp_path / "kept", resume=False)
    other.write(4, {"distance": np.full(N, 4)}, {})
    rows = from_edges(N, SOURCE, DESTINATION, {"weight": WEIGHT})
    kept = found.begin("program", rows, "source", {"distance": np.zeros(N, np.int64)})
    assert (kept.superstep, set(kept.columns["distance"].tolist())) == (3, {3})


def test_a_checkpoint_that_is_removed(tmp_path):
    """Who reads it meanwhile finds it or none, and is not in the way of who removes it."""
    path = tmp_path / "kept"

    def write_and_remove(number):
        made, _ = keeper(path, resume=False)
        made.write(3, {"distance": np.full(N, 3)}, {})
        checkpoint.remove(path)

    def read():
        found = checkpoint.read(path, slice(None))
        return None if found is None else found.content["superstep"]

    with writing(write_and_remove):
        for _ in range(10):
            both_seen(read, [None, 3])
