"""Where an allocation fails, a method gives its answer or raises; the process goes on, and so do later calls.

Of the allocations from 4 KiB on many fail in turn, one in a call, whoever asks for it: NumPy, pandas, Arrow or
Numba. Left out are smaller ones, of which Python makes thousands, and the loader's, which ends the process itself.

Only what the calls below come by is tested. NumPy 2.4 ends the process, too, where there is no memory for the buffer
in which it casts an operand of arithmetic (`a - b` of two types), or an array stored by an index: such lines are left.
"""

import ctypes
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import dask
import numpy as np
import pandas as pd
import pytest
from commands import with_package

import dask_graphgpu  # noqa: F401  puts .graph on frames

LEAST = 4096
# Method, ranks, and which allocations fail: all, or one of so many.
CASES = [
    ("pagerank", 1, 1),
    ("louvain", 1, 2),
    ("pagerank", 2, 17),
    ("weakly_connected_components", 2, 17),
]


def failures(method, ranks, step):
    """Call a method again and again, until no allocation is left that could fail; what was raised."""
    lib = ctypes.CDLL(None)
    lib.arm.argtypes, lib.disarm.restype = [ctypes.c_long, ctypes.c_size_t], ctypes.c_long
    rng, raised, nth = np.random.default_rng(1), [], 1
    edges = pd.DataFrame(rng.integers(0, 2000, (10_000, 2)) * 7, columns=["src", "dst"])
    edges["weight"] = rng.integers(1, 9, len(edges))

    def call():
        with dask.config.set({"graphgpu.ranks": ranks}):
            return getattr(edges.graph, method)()

    wanted = call()
    while True:
        print(method, ranks, nth, flush=True)
        lib.arm(nth, LEAST)
        try:
            found = call()
        except Exception as error:
            found = wanted
            raised.append(type(error))
        failed = lib.disarm() == 0
        pd.testing.assert_frame_equal(found, wanted)
        if not failed:
            return raised
        nth += step


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler, as cc")
@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="takes the place of glibc's malloc")
def test_the_process_survives(tmp_path):
    shim = tmp_path / "failing.so"
    source = Path(__file__).with_name("failing_allocations.c")
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", shim, source, "-ldl"], check=True)
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", __file__],
        env=with_package() | {"LD_PRELOAD": str(shim)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-100:] + done.stderr[-5000:]


if __name__ == "__main__":
    for case in CASES:
        raised = failures(*case)
        enough = sum(issubclass(error, MemoryError) for error in raised)
        assert enough > len(raised) / 2, raised
