"""No method indexes an array by narrow integers: all are called while `narrow_indexes` looks.

By hand whole folders of tests can be run so, as it says there: they come by more lines.
"""

import subprocess
import sys
import tempfile

import dask
import numpy as np
import pandas as pd
import pytest
from commands import with_package
from method_calls import IN_PLACES, METHODS

EDGES, VERTICES = 20_000, 1000
ON_DISK = ("betweenness", "cores", "pagerank", "sssp predecessor", "strong components")


def call_every_method():
    """In memory and on two ranks, some on disk."""
    rng = np.random.default_rng(6)
    source = (VERTICES * rng.random(EDGES) ** 3).astype(np.int64)
    frame = pd.DataFrame({"src": source, "dst": rng.integers(0, VERTICES, EDGES)})
    frame["weight"] = rng.integers(1, 99, EDGES)
    with tempfile.TemporaryDirectory() as folder:
        disk = {
            "graphgpu.host-memory-limit": "500kB",
            "graphgpu.page-bytes": 4096,
            "graphgpu.spill-directories": [folder],
        }
        ranks = {"graphgpu.ranks": 2}
        for name, method in (METHODS | IN_PLACES).items():
            for settings in ({}, ranks, disk)[: 3 if name in ON_DISK else 2]:
                for directed in (True, False)[: 1 if settings is disk else 2]:
                    with dask.config.set(settings):
                        method(frame.graph(directed=directed))


@pytest.mark.slow
def test_no_method_indexes_by_narrow_integers():
    code = """if True:
        import narrow_indexes  # before the package
        from test_narrow_indexes import call_every_method
        call_every_method()
        for where, types in narrow_indexes.FOUND.items():
            print(where, *types)
    """
    given = with_package()
    given["PYTHONPATH"] += f":{__file__.rpartition('/')[0]}"
    done = subprocess.run(
        [sys.executable, "-c", code], env=given, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
