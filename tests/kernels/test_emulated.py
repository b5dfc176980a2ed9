"""Kernels that are run, without a GPU: a part of tests/gpu in the emulator, and faults that it has to see."""

import os
import platform
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

EMULATOR = Path(__file__).parents[1] / "emulator"
# Threads in a random order, guarded arrays, queues that run late: what it can find at all.
SETTINGS = {f"GRAPHGPU_EMULATOR_{name}": "1" for name in ("SEED", "GUARD", "LAZY")}
# Launches and their barriers, searches in one kernel and in many, worklists, atomics, two GPUs.
PART = [
    "test_launch.py",
    "test_bfs.py::test_any_separators_of_the_worklists",
    "test_bfs.py::test_targets_and_cutoff_as_on_the_cpu",
    "test_near_far.py::test_overflow_of_a_message_is_an_error",
    "test_near_far.py::test_targets_are_final",
    "test_betweenness.py::test_by_levels_on_small_graphs",
    "test_ranks_integers.py::test_overflow_on_one_gpu_is_an_error_on_all",
]

pytestmark = [
    pytest.mark.skipif(
        shutil.which("g++") is None,
        reason="the emulator builds kernels with g++, which is not installed",
    ),
    pytest.mark.skipif(
        (sys.platform, platform.machine()) != ("linux", "x86_64"),
        reason="the emulator changes stacks by instructions of x86-64, on Linux",
    ),
]


def emulated(*arguments):
    """What run.py prints; its end has to be a good one."""
    done = subprocess.run(
        [sys.executable, EMULATOR / "run.py", *arguments],
        env={**os.environ, **SETTINGS},
        capture_output=True,
        text=True,
        timeout=280,
    )
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-4000:]
    return done.stdout


@pytest.mark.slow
def test_a_part_of_the_gpus_tests():
    told = emulated(*(f"tests/gpu/{name}" for name in PART), "-q")
    assert int(re.search(r"(\d+) passed", told)[1]) >= 30
    assert "skipped" not in told


def test_faults_are_seen():
    told = dict(
        line.split(": ", 1) for line in emulated("--script", EMULATOR / "selfcheck.py").splitlines()
    )
    assert "illegal memory access at 0x10 (block 0, thread 7)" in told["nowhere"]
    assert "illegal memory access" in told["behind"]  # one element behind an array
    assert "12 bytes of device memory were overrun" in told["behind few"]
    assert "56 at __syncthreads, 8 at warp operations" in told["diverged"]
    assert told["no_barrier"].endswith("wrong")
    assert told["barrier"] == "no error, right"
    assert int(told["lost"].split()[2]) < 64 * 20  # updates that others have overwritten
    assert told["added"] == "no error, 1280 of 1280"
    assert told["unwaited"] == "5, then 9"  # read before the copy has been waited for
    stale = str(0x5B5B5B5B)
    assert told["stale"] == stale  # let go of while another stream was to read it
    assert told["in order"] == "9"
    assert told["unpinned"] == stale  # pinned memory that was let go of before the copy


def test_what_stands_for_cupy_is_seen_in_the_emulator_only():
    found = find_spec("cupy")
    assert found is None or EMULATOR not in Path(found.origin).parents
