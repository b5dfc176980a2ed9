"""Calls of the command line whose streams are closed, read by nobody, or a terminal."""

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from commands import ROOT, call, result, with_package


@pytest.mark.parametrize("words", ["run job.toml", "degree edges.parquet --report -"])
def test_a_reader_that_has_gone_away(folder, words):
    """As in ``| head -0``: the process ends well, says nothing and writes the files still to come."""
    reader, writer = os.pipe()
    os.close(reader)
    Path("job.toml").write_text(
        'edges = "edges.parquet"\n[[step]]\nalgorithm = "degree"\ntop = 4\n'
        '[[step]]\nalgorithm = "core_number"\ntop = 1\noutput = "out"'
    )
    code = "from dask_graphgpu.jobs.cli import graph; graph()"
    done = subprocess.run(
        [sys.executable, "-c", code, *words.split()],
        stdout=writer,
        stderr=subprocess.PIPE,
        check=False,
        timeout=120,
        env=with_package(),
    )
    os.close(writer)
    assert done.returncode == 0
    said = (
        [b"degree: 4 rows shown", b"core_number: 6 rows in out"]
        if "run" in words
        else [b"degree: 6 rows shown"]
    )
    lines = done.stderr.splitlines()
    assert len(lines) == len(said)
    assert all(line.startswith(start) for line, start in zip(lines, said, strict=True))
    assert "run" not in words or len(result()) == 6


AS_A_DAEMON = """
import os, sys
for number in {closed}:
    os.close(number)
    setattr(sys, ("stdin", "stdout", "stderr")[number], None)
from dask_graphgpu.jobs import cli, run as job
write = job.write_parquet

def watched(*given, **named):
    assert os.open(os.devnull, os.O_RDONLY) > 2
    return write(*given, **named)

job.write_parquet = watched
cli.graph()
"""


@pytest.mark.parametrize(
    ("closed", "more"), [((2,), ["--progress"]), ((1,), ["--progress"]), ((0, 1, 2), [])]
)
def test_closed_standard_streams(folder, closed, more):
    """As daemons have them: the answer is there, and no file has the number of a stream."""
    code = AS_A_DAEMON.format(closed=closed)
    words = ["degree", "edges.parquet", "--top", "3", "--output", "out", *more]
    done = subprocess.run(
        [sys.executable, "-c", code, *words],
        capture_output=True,
        check=False,
        timeout=120,
        env=with_package(),
    )
    assert done.returncode == 0, done
    assert len(result()) == 6
    assert (done.stdout.count(b"\n") == 4) == (1 not in closed)
    assert (b"| 100% | degree" in done.stderr) == (2 not in closed and bool(more))


def run_in_terminal(*words):
    """Standard error of a call whose standard error is a terminal."""
    ours, theirs = pty.openpty()
    code = "from dask_graphgpu.jobs.cli import graph; graph()"
    words = [sys.executable, "-c", code, *(str(w) for w in words)]
    subprocess.run(words, stderr=theirs, check=True, timeout=120, cwd=ROOT)
    os.close(theirs)
    shown = b""
    while True:
        try:
            piece = os.read(ours, 4096)
        except OSError:  # Linux says so at the end
            break
        if not piece:
            break
        shown += piece
    os.close(ours)
    return shown.decode()


def test_progress_bar_on_a_terminal_only(folder):
    words = ["degree", folder / "edges.parquet", "--output", folder / "out"]
    assert "100%" not in call(*words).stderr
    assert "| 100% | degree" in call(*words, "--progress").stderr
    assert "| 100% | degree" in run_in_terminal(*words)
    assert "100%" not in run_in_terminal(*words, "--no-progress")
