"""Jobs with checkpoints: killed and called again until they are done, and what is refused."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import fork_server
import numpy as np
import pandas as pd
import pytest
from commands import call

import dask_graphgpu as dg
from dask_graphgpu.errors import NotConverged
from dask_graphgpu.jobs.cli import graph

ITERATIONS = 400
JOB = f"""
edges = "edges.parquet"
ranks = RANKS

[[step]]
algorithm = "degree"
output = "degrees"

[[step]]
algorithm = "pagerank"
tolerance = 0
max_iterations = {ITERATIONS}
checkpoint = "kept"
every = [20, "30s"]
output = "ranks"
report = "report.csv"
"""


@pytest.fixture
def frame(tmp_path, monkeypatch):
    """Edges, also as edges.parquet in the current folder."""
    monkeypatch.chdir(tmp_path)
    made = np.random.default_rng(1)
    frame = pd.DataFrame(made.integers(0, 300, (2000, 2)), columns=["src", "dst"])
    frame.to_parquet("edges.parquet")
    return frame


def job(folder, words):
    """Call ``dask graph`` in a folder."""
    os.chdir(folder)
    graph.main(words, prog_name="dask graph")


def until_killed(*words):
    """Call ``dask graph`` in a process, and kill it once it has written a new checkpoint.

    Returns whether it came to its end before that.
    """
    manifest = Path("kept/manifest.json")
    before = manifest.read_bytes() if manifest.exists() else b""
    process = fork_server.begun(job, os.getcwd(), [str(each) for each in words])
    end = time.monotonic() + 120
    while process.is_alive():
        assert time.monotonic() < end
        try:
            new = manifest.read_bytes()
        except OSError:  # not there yet, or its turn to be replaced
            new = before
        if new != before:
            process.kill()
            break
        time.sleep(0.001)
    process.join(30)
    assert process.exitcode in (0, -signal.SIGKILL)
    return process.exitcode == 0


@pytest.mark.parametrize("ranks", [1, 2])
def test_killed_jobs_go_on(frame, ranks):
    Path("job.toml").write_text(JOB.replace("RANKS", str(ranks)))
    killed = 0
    while killed < 3 and not until_killed("run", "job.toml", "--resume"):
        killed += 1
    assert killed >= 1
    call("run", "job.toml", "--resume")
    wanted = frame.graph(ranks=1).pagerank(tolerance=0, max_iterations=ITERATIONS)
    found = pd.read_parquet("ranks").reset_index(drop=True)
    pd.testing.assert_frame_equal(found, wanted, check_dtype=False, rtol=1e-12)
    assert pd.read_csv("report.csv")["supersteps"].sum() <= ITERATIONS - 20
    assert sorted(os.listdir()) == ["degrees", "edges.parquet", "job.toml", "ranks", "report.csv"]


def test_without_resume_it_begins_anew(frame):
    words = ["pagerank", "edges.parquet", "--tolerance", 0, "--max-iterations", ITERATIONS]
    words += ["--checkpoint", "kept", "--every", 20]
    assert not until_killed(*words, "--output", "out")
    call(*words, "--report", "report.csv")
    assert pd.read_csv("report.csv")["supersteps"].sum() == ITERATIONS
    assert not Path("kept").exists()


def test_more_iterations_go_on_of_a_saved_graph(frame):
    call("build", "edges.parquet", "--output", "saved")
    words = ["pagerank", "saved", "--checkpoint", "kept", "--every", 1, "--report", "report.csv"]
    with pytest.raises(NotConverged):
        frame.graph().pagerank(max_iterations=4)
    assert "residual" in call(*words, "--max-iterations", 4, code=1).stderr
    call(*words, "--resume")
    again = pd.read_csv("report.csv")["supersteps"].sum()
    frame.graph().pagerank()
    assert again == dg.last_report()["supersteps"].sum() - 4


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        ("--resume", 2, "--resume needs a checkpoint: give --checkpoint DIR too"),
        ("--every 3", 2, "--every needs a checkpoint"),
        ("--checkpoint kept --every 0", 2, "'0'; give a number of supersteps, such as 100, or"),
        ("--checkpoint kept --every 3moons", 2, "'3moons'; give a number"),
        ("--checkpoint kept --every 3 --every 4", 2, "one time, one number of supersteps, or one"),
        ("--checkpoint notes", 1, "notes is not a checkpoint: it holds thesis.tex"),
        ("--checkpoint notes --resume", 1, "notes is not a checkpoint"),
        ("--checkpoint out", 2, "out, is the output"),
        ("--checkpoint out/kept", 2, "lies within the output"),
        ("--checkpoint edges.parquet", 2, "is the edges"),
        ("--checkpoint kept --report kept/report.csv", 2, "lies within the checkpoint"),
        ("--checkpoint ftp://host/kept", 2, "is a URL"),
        (
            "--checkpoint kept --engine interpreted",
            2,
            "is of the engines 'cpu', 'gpu' and 'hybrid'",
        ),
    ],
)
def test_refusals(frame, words, code, message):
    Path("notes").mkdir()
    Path("notes/thesis.tex").touch()
    line = call("pagerank", "edges.parquet", "--output", "out", *words.split(), code=code).stderr
    assert message in line
    assert line.count("\n") == 1
    assert sorted(os.listdir()) == ["edges.parquet", "notes"]


def test_methods_without_checkpoints(frame):
    words = ["bfs", "edges.parquet", "--source", 0, "--output", "out", "--checkpoint", "kept"]
    assert "bfs has no checkpoints" in call(*words, code=2).stderr


def test_steps_have_a_checkpoint_each(frame):
    second = JOB.split("[[step]]")[2].replace('"ranks"', '"more"').replace("report.", "other.")
    Path("job.toml").write_text(JOB.replace("RANKS", "1") + "[[step]]" + second)
    line = call("run", "job.toml", code=2).stderr
    assert "the checkpoint of step 3" in line
    assert "is the checkpoint of step 2" in line
    Path("job.toml").write_text(JOB.replace("RANKS", "1").replace("[20,", "[-20,"))
    assert "'-20'; give a number of supersteps" in call("run", "job.toml", code=2).stderr


@pytest.mark.parametrize("options", [[], ["--ranks", "2"], ["pages"]])
def test_ctrl_c_ends_a_job_at_once(frame, tmp_path, options):
    """What computes in other threads is not waited for, and its pages on disk are deleted."""
    words = ["pagerank", "edges.parquet", "--tolerance", 0, "--max-iterations", 10**8]
    words += ["--checkpoint", "kept", "--every", 20, "--output", "ranks"]
    environment = {**os.environ, "DASK_GRAPHGPU__SPILL_DIRECTORIES": str(tmp_path / "pages")}
    if options == ["pages"]:
        environment |= {
            "DASK_GRAPHGPU__HOST_MEMORY_LIMIT": "200kB",
            "DASK_GRAPHGPU__PAGE_BYTES": "4096",
        }
        pd.concat([frame] * 10).to_parquet("edges.parquet", row_group_size=1000)
        options = []
    code = "from dask_graphgpu.jobs.cli import graph; graph()"
    command = [sys.executable, "-c", code, *map(str, words), *options]
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE) as process:
        end = time.monotonic() + 120
        while not Path("kept/manifest.json").exists():
            assert process.poll() is None, process.stderr.read()
            assert time.monotonic() < end
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        try:
            _, shown = process.communicate(timeout=20)
        finally:
            process.kill()
    assert (process.returncode, shown) == (130, b"Interrupted.\n")
    assert Path("kept/manifest.json").exists()
    assert not Path("ranks").exists()
    assert not list(Path().glob("pages/*"))
