"""Anonymous memory of a process that works on a graph of four times its limit."""

import json
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
LINKS = 1_000_000  # edges with weights, each in the rows of both ends
LIMIT_OF_LINKS = 27_000_000  # communities take 344 bytes a vertex of it

# Builds the graph, which takes most of the time, then answers each line with what a method takes. Methods run in
# forked processes: the graph is there, and nothing that another method has left.
CHILD = """
import ctypes, gc, json, os, sys, threading, time, traceback
from contextlib import contextmanager
import dask
import dask.dataframe as dd
import pyarrow as pa
import dask_graphgpu
from dask_graphgpu.engine.cpu import hub_triangles

hub_triangles.MUCH = hub_triangles.OFTEN = 0  # so that all is compiled on the small graph
small, large, folder, limit, how, *calls = sys.argv[1:]
how, calls = json.loads(how), [json.loads(call) for call in calls]
sys.modules["dask_graphgpu.engine.cpu.louvain"].MANY_OF_LEIDEN = 0  # Louvain one by one, Leiden in batches
dask.config.set({"graphgpu.page-bytes": 1 << 17, "graphgpu.spill-directories": folder,
                 "scheduler": "synchronous"})


def built(path, limit):
    dask.config.set({"graphgpu.host-memory-limit": limit})
    return dd.read_parquet(path).graph(**how).persist()


def run(graph, method, options):
    found = getattr(graph, method)(**options).compute()
    assert dask_graphgpu.last_report().attrs["disk_bytes"] > 0
    return found


def anonymous():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("RssAnon")) * 1024


@contextmanager
def watched():
    '''The peak meanwhile, as the one item of a list.'''
    peak, done = [0], threading.Event()

    def watch():
        while True:
            peak[0] = max(peak[0], anonymous())
            if done.wait(0.001):
                return

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    yield peak
    done.set()
    thread.join()


def answer(call):
    # What levels of communities take is counted from the call on: beside what building has left.
    level = anonymous() if call[0] in ("louvain", "leiden") else before
    with watched() as peak:
        run(graph, *call)
    print(peak[0] - level, flush=True)


graph = built(small, 10_000_000)
for call in calls:  # imports and compiles all that is used
    run(graph, *call)
del graph
gc.collect()
pa.default_memory_pool().release_unused()
ctypes.CDLL(None).malloc_trim(0)  # what is free already would be taken again unseen
before = anonymous()
with watched() as peak:
    graph = built(large, int(limit))
print(peak[0] - before, flush=True)
for line in sys.stdin:
    child = os.fork()
    if not child:
        try:
            answer(json.loads(line))
        except BaseException:
            traceback.print_exc()
            print(-1, flush=True)
        os._exit(0)
    os.waitpid(child, 0)
"""

METHODS = ["pagerank", "weakly_connected_components", "bfs", "hits", "label_propagation",
           "strongly_connected_components", "core_number", "minimum_spanning_forest",
           "triangle_count", "clustering_coefficient"]  # fmt: skip
OF_LINKS = [
    "louvain",
    "leiden",
    "best_links",
    "betweenness_centrality",
    "edge_betweenness_centrality",
]
SOURCES = {"sources": [1, 9], "weighted": True}
OPTIONS = {
    "bfs": {"source": 1},
    "betweenness_centrality": SOURCES,
    "edge_betweenness_centrality": SOURCES,
}

# Bytes of answers that are beside the limit: sums of entries, then their ends and sums as arrays and as a frame.
BESIDE = {"edge_betweenness_centrality": LINKS * (16 + 16 + 24 + 24)}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Random edges in small row groups: many, and few."""
    folder = tmp_path_factory.mktemp("edges")
    rng = np.random.default_rng(4)
    for name, rows in (("small", 1_000_000), ("large", ROWS)):
        ends = rng.integers(0, VERTICES, (2, rows))
        table = pa.table({"src": ends[0], "dst": ends[1]})
        pq.write_table(table, folder / f"{name}.parquet", row_group_size=1 << 16)
    for name, rows, vertices in (("small-links", 400_000, 4000), ("large-links", LINKS, VERTICES)):
        ends = rng.integers(0, vertices, (2, rows))
        weights = rng.integers(1, 99, rows)
        table = pa.table({"src": ends[0], "dst": ends[1], "weight": weights})
        pq.write_table(table, folder / f"{name}.parquet", row_group_size=1 << 16)
    yield folder
    for file in folder.iterdir():
        file.unlink()


@pytest.fixture(scope="module")
def child(files, tmp_path_factory):
    """A process with a graph of many edges, and where its errors are."""
    yield from started_on(files, "", LIMIT, {"duplicates": "keep"}, METHODS, tmp_path_factory)


@pytest.fixture(scope="module")
def child_with_links(files, tmp_path_factory):
    """The same with an undirected graph with weights."""
    yield from started_on(
        files, "-links", LIMIT_OF_LINKS, {"directed": False}, OF_LINKS, tmp_path_factory
    )


def call_of(method):
    """A method and its options, as the process takes them."""
    return json.dumps([method, OPTIONS.get(method, {})])


def started_on(files, which, limit, how, methods, tmp_path_factory):
    folder = tmp_path_factory.mktemp("child")
    graphs = [files / f"{size}{which}.parquet" for size in ("small", "large")]
    words = [*graphs, folder / "pages", limit, json.dumps(how), *map(call_of, methods)]
    command = [sys.executable, "-c", CHILD, *map(str, words)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with (
        (folder / "errors").open("w") as errors,
        subprocess.Popen(command, stderr=errors, **pipes) as started,
    ):
        started.errors, started.limit = folder / "errors", limit
        started.of_building = started.stdout.readline()
        yield started
        started.kill()


def assert_within_the_limit(told, child, beside=0):
    assert told, child.errors.read_text()
    assert int(told) >= 0, child.errors.read_text()
    assert 0 < int(told) <= child.limit + beside


def test_anonymous_memory_of_building_stays_within_the_limit(child):
    assert_within_the_limit(child.of_building, child)


@pytest.mark.parametrize("method", METHODS)
def test_anonymous_memory_stays_within_the_limit(child, method):
    ask(child, method)


@pytest.mark.parametrize("method", OF_LINKS)
def test_anonymous_memory_with_weights_stays_within_the_limit(child_with_links, method):
    ask(child_with_links, method)


def ask(child, method):
    child.stdin.write(f"{call_of(method)}\n")
    child.stdin.flush()
    assert_within_the_limit(child.stdout.readline(), child, BESIDE.get(method, 0))
