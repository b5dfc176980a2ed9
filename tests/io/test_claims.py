"""Two writers of one local folder: who ends second learns of it, and leaves nothing behind."""

import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import time

import pandas as pd
import pytest
from commands import call, with_package

import dask_graphgpu as dg
from dask_graphgpu.io import locks, replace
from dask_graphgpu.io.claims import LostRace, claimed
from dask_graphgpu.io.output import check_destination, others_in, write_parquet

ONE, TWO = pd.DataFrame({"a": [1]}), pd.DataFrame({"a": [2, 2]})


@pytest.fixture(params=["exchange", "two steps"])
def way(request, monkeypatch):
    if request.param == "two steps":
        monkeypatch.setattr(replace, "_renameat2", lambda: None)


def value(folder):
    return pd.read_parquet(folder)["a"].tolist()


@pytest.mark.parametrize("before", ["nothing", "an empty folder", "a result"])
def test_the_second_one_is_refused(tmp_path, way, before):
    out = tmp_path / "out"
    if before == "an empty folder":
        out.mkdir()
    elif before == "a result":
        write_parquet(pd.DataFrame({"a": [0]}), out)
    slow = check_destination(out)
    write_parquet(ONE, out)
    with pytest.raises(LostRace, match=f"another job has written to {tmp_path}/out meanwhile"):
        write_parquet(TWO, slow)
    assert value(out) == [1]
    assert os.listdir(tmp_path) == ["out"]
    write_parquet(TWO, out)
    assert value(out) == [2, 2]


def test_what_is_no_race(tmp_path, way):
    """The folder has got a file of nobody's meanwhile, or was removed."""
    out = tmp_path / "out"
    write_parquet(ONE, out)
    slow = check_destination(out)

    def replaced_while_a_file_comes():
        with replace.replacing(slow, others_in) as folder:
            (out / "its.crc").touch()
            TWO.to_parquet(folder / "two.parquet")

    with pytest.warns(UserWarning, match="is replaced, and held its.crc"):
        replaced_while_a_file_comes()
    assert value(out) == [2, 2]
    write_parquet(ONE, tmp_path / "new")
    out = tmp_path / "new"
    slow = check_destination(out)
    for path in (*out.iterdir(), out):
        path.unlink() if path.is_file() else path.rmdir()
    write_parquet(ONE, slow)
    assert value(out) == [1]


def test_a_claim_travels(tmp_path):
    slow = check_destination(tmp_path / "out")
    there = pickle.loads(pickle.dumps(slow))
    assert (there, there.began, type(there)) == (slow, frozenset(), type(slow))
    assert claimed(there) is there
    assert there.parent.began is None
    assert type(write_parquet(ONE, there)) is type(tmp_path)


def test_saved_graphs(tmp_path):
    out = tmp_path / "saved"
    edges = pd.DataFrame({"src": [0, 1], "dst": [1, 2]})
    slow = dg.graphs.saving.check_destination(out)
    edges.graph().save(out)
    with pytest.raises(LostRace):
        edges[:1].graph().save(slow)
    assert len(dg.load(out).degree()) == 3
    assert os.listdir(tmp_path) == ["saved"]
    edges[:1].graph().save(out)
    assert len(dg.load(out).degree()) == 2


def race(out, text, barrier, told):
    place = claimed(out)
    barrier.wait()
    try:
        with replace.replacing(place, lambda _: []) as folder:
            (folder / text).write_text(text)
            barrier.wait()
        told.put(text)
    except LostRace:
        told.put(None)


def test_of_many_at_the_same_moment_one_wins(tmp_path):
    many, context = 4, multiprocessing.get_context("fork")
    for turn in range(5):
        barrier, told = context.Barrier(many), context.Queue()
        names = [f"{turn}-{i}" for i in range(many)]
        each = [
            context.Process(target=race, args=(tmp_path / "out", n, barrier, told)) for n in names
        ]
        for process in each:
            process.start()
        won = [name for name in (told.get(timeout=60) for _ in each) if name]
        for process in each:
            process.join()
        assert os.listdir(tmp_path / "out") == won
    assert os.listdir(tmp_path) == ["out"]


def test_a_killed_writer_leaves_no_lock(tmp_path):
    out = tmp_path / "out"
    code = f"""
import pathlib, time
from dask_graphgpu.io.locks import alone
with alone(pathlib.Path({str(out)!r})):
    print(flush=True)
    time.sleep(60)
"""
    words = [sys.executable, "-c", code]
    with subprocess.Popen(words, env=with_package(), stdout=subprocess.PIPE) as holder:
        holder.stdout.readline()
        assert [p.name for p in tmp_path.iterdir()] == [".out.graphgpu-lock"]
        locks.sweep_lock(out)  # not of one that lives
        assert len(os.listdir(tmp_path)) == 1
        holder.send_signal(signal.SIGKILL)
        holder.wait()
    start = time.monotonic()
    write_parquet(ONE, out)
    assert time.monotonic() - start < 5
    assert os.listdir(tmp_path) == ["out"]


def test_two_jobs_with_one_output(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pd.DataFrame({"src": [0, 1], "dst": [1, 2]}).to_parquet("edges.parquet")
    words = "pagerank edges.parquet --output out --tolerance 0 --max-iterations 1000".split()
    code = "from dask_graphgpu.jobs.cli import graph; graph()"
    command = [sys.executable, "-c", code, *words]
    with subprocess.Popen(command, env=with_package(), stderr=subprocess.PIPE, text=True) as slow:
        while not list(tmp_path.glob(".out.*")):
            assert slow.poll() is None, slow.stderr.read()
            time.sleep(0.01)
        slow.send_signal(signal.SIGSTOP)
        call("degree", "edges.parquet", "--output", "out")
        slow.send_signal(signal.SIGCONT)
        said = slow.communicate(timeout=120)[1]
    assert (slow.returncode, said.count("\n")) == (1, 1)
    assert said.startswith(
        f"Error: another job has written to {tmp_path}/out meanwhile, which stays as it is"
    )
    assert "degree" in pd.read_parquet("out")
    assert sorted(os.listdir()) == ["edges.parquet", "out"]
