"""Anonymous memory of a process that works on a graph of four times its limit."""

import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from engines import on_one_cpu

pytestmark = [on_one_cpu, pytest.mark.slow]

LIMIT = 24_000_000
ROWS = 4 * LIMIT // 4  # four bytes an edge on disk
VERTICES = 50_000

CHILD = """
import gc, sys, threading, time
import dask
import dask.dataframe as dd
import pyarrow as pa
import dask_graphgpu

method, small, large, folder, limit = sys.argv[1:]


def run(path, limit):
    settings = {"graphgpu.host-memory-limit": limit, "graphgpu.page-bytes": 1 << 17,
                "graphgpu.spill-directories": folder}
    with dask.config.set(settings):
        graph = dd.read_parquet(path).graph(duplicates="keep")
        result = getattr(graph, method)(**({"source": 1} if method == "bfs" else {}))
        found = result.compute(scheduler="synchronous")
    assert dask_graphgpu.last_report().attrs["disk_bytes"] > 0
    return found


def anonymous():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("RssAnon")) * 1024


run(small, 10_000_000)  # imports and compiles all that is used
gc.collect()
pa.default_memory_pool().release_unused()
before, peak = anonymous(), 0


def watch():
    global peak
    while True:
        peak = max(peak, anonymous())
        time.sleep(0.001)


threading.Thread(target=watch, daemon=True).start()
run(large, int(limit))
print(peak - before)
"""


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Random edges in small row groups: many, and few."""
    folder = tmp_path_factory.mktemp("edges")
    rng = np.random.default_rng(4)
    for name, rows in (("small", 1_000_000), ("large", ROWS)):
        ends = rng.integers(0, VERTICES, (2, rows))
        table = pa.table({"src": ends[0], "dst": ends[1]})
        pq.write_table(table, folder / f"{name}.parquet", row_group_size=1 << 16)
    yield folder
    for file in folder.iterdir():
        file.unlink()


METHODS = ["pagerank", "weakly_connected_components", "bfs", "hits", "label_propagation",
           "strongly_connected_components", "core_number", "minimum_spanning_forest"]  # fmt: skip


@pytest.mark.parametrize("method", METHODS)
def test_anonymous_memory_stays_within_the_limit(files, tmp_path, method):
    words = [method, files / "small.parquet", files / "large.parquet", tmp_path / "pages", LIMIT]
    command = [sys.executable, "-c", CHILD, *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr
    assert 0 < int(done.stdout) <= LIMIT
