"""Events of a job: which there are, what they say, and how a job that is ended tells of it."""

import itertools
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from commands import ROOT, call, with_package

from dask_graphgpu.io.locks import sweep_lock
from dask_graphgpu.jobs.journal import Journal, options_of
from dask_graphgpu.jobs.steps import GraphOptions, Step

MADE = np.random.default_rng(4)
EDGES = pd.DataFrame(MADE.integers(0, 60, (300, 2)), columns=["src", "dst"])
VERTICES = len(set(EDGES["src"]) | set(EDGES["dst"]))
ALWAYS = {"time", "event", "elapsed", "peak_memory"}
OF_STEPS = {"step", "steps", "method"}
KEYS = {
    "started": {"version", "options"},
    "read": {"rows", "bytes", "seconds"},
    "built": {"edges", "vertices", "bytes", "seconds"},
    "superstep": {"algorithm", "number", "active", "seconds"},
    "written": {"path", "rows", "files", "bytes", "seconds"},
    "done": {"rows", "seconds", "path", "vertices", "edges", "supersteps"},
    "failed": {"error", "message"},
}
SUMMARY = {
    "methods",
    "steps",
    "steps_done",
    "supersteps",
    "seconds",
    "rows",
    "files",
    "bytes",
    "exit_code",
}
JOB = """
edges = "edges.parquet"
[[step]]
algorithm = "pagerank"
output = "ranks/"
[[step]]
algorithm = "degree"
output = "degrees"
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    EDGES.to_parquet("edges.parquet")
    Path("job.toml").write_text(JOB)


def events(text):
    found = [json.loads(line) for line in text.splitlines()]
    for event in found[:-1]:
        assert set(event) <= ALWAYS | OF_STEPS | KEYS[event["event"]]
        assert set(event) >= ALWAYS
    assert found[-1]["event"] == "summary"
    assert set(found[-1]) - {"error", "message"} == ALWAYS | SUMMARY
    return found


def test_a_job_tells_each_event():
    done = call("run", "job.toml", "--log", "json", "--summary", "--log-file", "events.jsonl")
    found = events(done.stderr)
    first = [event for event in found if event.get("step") == 1]
    assert [event["event"] for event in first] == [
        "started",
        "read",
        "built",
        "superstep",
        "written",
        "done",
    ]
    for event in first:
        assert set(event) == ALWAYS | OF_STEPS | KEYS[event["event"]]
    read, built, _, written, ended = first[1:]
    assert (read["rows"], read["bytes"]) == (300, Path("edges.parquet").stat().st_size)
    assert (built["edges"], built["vertices"]) == (300, VERTICES)
    assert built["bytes"] > 300 * 4
    files = [*Path("ranks").iterdir()]
    assert (written["rows"], written["files"]) == (VERTICES, len(files))
    assert written["bytes"] == sum(file.stat().st_size for file in files)
    assert ended["supersteps"] > 10
    second = [event["event"] for event in found if event.get("step") == 2]
    assert second[0] == "started"
    assert not {"read", "built"} & set(second)  # of the same graph
    summary = found[-1]
    assert (summary["rows"], summary["steps_done"], summary["exit_code"]) == (2 * VERTICES, 2, 0)
    assert json.loads(Path("degrees.summary.json").read_text()) == summary
    assert events(Path("events.jsonl").read_text()) == found
    call("degree", "edges.parquet", "--top", 1, "--log-file", "events.jsonl", "--quiet")
    assert Path("events.jsonl").read_text().count('"summary"') == 2


def test_a_job_that_fails():
    done = call(
        "bfs",
        "edges.parquet",
        "--source",
        99,
        "--output",
        "out",
        "--log",
        "json",
        "--summary",
        code=1,
    )
    *_, failed, summary = events(done.stderr)
    assert (failed["event"], failed["error"], failed["step"]) == ("failed", "UnknownVertex", 1)
    assert (summary["error"], summary["exit_code"]) == ("UnknownVertex", 1)
    assert json.loads(Path("out.summary.json").read_text()) == summary
    words = ["bfs", "edges.parquet", "--source", 99, "--top", 1]
    assert call(*words, "--log", "none", code=1).stderr.startswith("Error: 99 is not a vertex")
    *_, failed, summary = events(
        call(
            "degree", "edges.parquet", "--columns", "a,b", "--top", 1, "--log", "json", code=2
        ).stderr
    )
    assert failed["error"] == "InvalidArgument"
    assert summary["steps_done"] == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            "--top 1 --summary",
            "--summary is written beside the output of a step: give --output too",
        ),
        (
            "--top 1 --log-file no/such/folder",
            "--log-file no/such/folder cannot be written: No such file",
        ),
        ("--top 1 --log xml", "'xml' is not one of 'text', 'json', 'none'"),
    ],
)
def test_refusals(words, message):
    assert message in call("degree", "edges.parquet", *words.split(), code=2).stderr


def test_a_long_run_tells_once_a_second():
    """In another process, which is ended: by SIGTERM as by Ctrl-C, with the checkpoint kept."""
    words = [
        "pagerank",
        "edges.parquet",
        "--tolerance",
        0,
        "--max-iterations",
        10**8,
        "--log",
        "json",
    ]
    words += ["--checkpoint", "kept", "--every", 20, "--output", "ranks"]
    code = "from dask_graphgpu.jobs.cli import graph; graph()"
    command = [sys.executable, "-c", code, *map(str, words)]
    with subprocess.Popen(command, env=with_package(), stderr=subprocess.PIPE) as process:
        end = time.monotonic() + 120
        while not Path("kept/manifest.json").exists():
            assert process.poll() is None, process.stderr.read()
            assert time.monotonic() < end
            time.sleep(0.01)
        time.sleep(1.5)
        process.send_signal(signal.SIGTERM)
        try:
            _, shown = process.communicate(timeout=20)
        finally:
            process.kill()
    assert process.returncode == 143
    found = events(shown.decode())
    supersteps = [event for event in found if event["event"] == "superstep"]
    assert len(supersteps) >= 2
    assert all(b["elapsed"] - a["elapsed"] > 0.9 for a, b in itertools.pairwise(supersteps))
    assert supersteps[0]["number"] < supersteps[-1]["number"]
    assert found[-2]["error"] == "Terminated"
    assert found[-1]["exit_code"] == 143
    # A checkpoint that was being written at that moment is left to the next one to remove, and so is
    # its lock, which nobody holds.
    sweep_lock(Path("kept"))
    left = [
        name for name in os.listdir() if not re.fullmatch(r"\.kept\.[0-9a-f]{16}\.partial", name)
    ]
    assert sorted(left) == ["edges.parquet", "job.toml", "kept"]


def test_a_terminated_job_goes_on_to_the_same_answer():
    iterations = 3000
    words = ["pagerank", "edges.parquet", "--tolerance", 0, "--max-iterations", iterations]
    words += ["--checkpoint", "kept", "--every", 20, "--output", "ranks", "--report", "report.csv"]
    code = "from dask_graphgpu.jobs.cli import graph; graph()"
    command = [sys.executable, "-c", code, *map(str, words)]
    with subprocess.Popen(command, env=with_package(), stderr=subprocess.PIPE) as process:
        end = time.monotonic() + 120
        while not Path("kept/manifest.json").exists():
            assert process.poll() is None, process.stderr.read()
            assert time.monotonic() < end
        process.send_signal(signal.SIGTERM)
        _, shown = process.communicate(timeout=30)
    assert (process.returncode, shown) == (143, b"Terminated.\n")
    call(*words, "--resume")
    assert pd.read_csv("report.csv")["supersteps"].sum() < iterations
    wanted = EDGES.graph().pagerank(tolerance=0, max_iterations=iterations)
    found = pd.read_parquet("ranks").reset_index(drop=True)
    pd.testing.assert_frame_equal(found, wanted, check_dtype=False, rtol=1e-12)


def test_no_passwords():
    step = Step(
        "degree", GraphOptions("s3://key:se@cret@host/bucket"), output="s3://k:secret@h/out"
    )
    assert "cret" not in str(options_of(step))
    told = []
    journal = Journal([told.append])
    journal.tell("failed", error="UnreadableTable", message="cannot read s3://key:secret@host/b.")
    journal.end(1)
    assert "secret" not in str(told)
    assert "host/b" in told[0]["message"]


def test_the_reference_lists_all_keys():
    text = (ROOT / "docs/reference/job-events.md").read_text()
    for event, keys in {**KEYS, "summary": SUMMARY}.items():
        (row,) = re.findall(rf"^\| `{event}` \|.*$", text, re.M)
        assert keys <= set(re.findall(r"`(\w+)`", row)), event
