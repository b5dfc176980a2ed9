"""A few of the kills of `killed_jobs.py`: it forks, and so has a process of its own, without threads."""

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.slow
def test_readers_see_the_old_or_the_new():
    script = Path(__file__).parents[1] / "killed_jobs.py"
    call = [sys.executable, script, "--runs", "12", "--seed", "3"]
    done = subprocess.run(call, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("0 wrong") == 5
