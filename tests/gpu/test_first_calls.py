"""What a first call waits for: nothing that CuPy compiles for seconds."""

import os
import re
import subprocess
import sys

import pytest
from commands import with_package

from dask_graphgpu.engine import driver

pytest.importorskip("cudf")
pytestmark = [pytest.mark.gpu, pytest.mark.slow]

ALL_METHODS = """
import contextlib, cudf, dask, numpy as np
import method_calls
from dask_graphgpu.errors import GraphError
from method_calls import IN_PLACES
for name in ("SOME", "FEW", "GROUPS"):
    setattr(method_calls, name, cudf.from_pandas(getattr(method_calls, name)))
random = np.random.default_rng(0)
edges = cudf.DataFrame(random.integers(0, 1200, (12000, 2)), columns=["src", "dst"])
edges["weight"] = random.integers(1, 9, len(edges)).astype("float32")
for directed in (True, False):
    graph = edges.graph(directed=directed).persist()
    for call in IN_PLACES.values():
        with contextlib.suppress(GraphError):  # a package is missing, or time that an undirected graph has not
            call(graph)
graph = edges.to_pandas().graph(directed=False, engine="gpu").persist()
for name in ("cores", "strong components", "hits", "labels", "betweenness", "sssp"):
    with dask.config.set({"graphgpu.device-memory-limit": 400_000}):
        IN_PLACES[name](graph)
"""

COMMUNITIES = """
import cudf, numpy as np, os, pathlib
import dask_graphgpu
random = np.random.default_rng(0)
edges = cudf.DataFrame(random.integers(0, 1200, (12000, 2)), columns=["src", "dst"])
edges["weight"] = random.random(len(edges))
graph = edges.graph(directed={directed}).persist()
graph.bfs(0)
before = set(pathlib.Path(os.environ["CUPY_CACHE_DIR"]).rglob("*.cu"))
graph.leiden()
for file in set(pathlib.Path(os.environ["CUPY_CACHE_DIR"]).rglob("*.cu")) - before:
    print(file.read_text())
"""

SECOND_CALLS = """
import numpy as np, os, pandas as pd, pathlib
import dask_graphgpu
random = np.random.default_rng(0)
edges = pd.DataFrame(random.integers(0, 1200, (12000, 2)), columns=["src", "dst"])
edges["weight"] = random.random(len(edges))
graph = edges.graph(directed=False, engine="gpu", ranks=2).persist()
def calls(source):
    graph.bfs(source), graph.sssp(source), graph.sswp(source)
    graph.pagerank(), graph.katz_centrality(1e-4), graph.eigenvector_centrality(tolerance=1e-2)
    graph.weakly_connected_components(), graph.hits(tolerance=1e-3)
    graph.random_walks([source, 5], length=9), graph.jaccard(pairs=edges[["src", "dst"]][:100])
calls(0)
before = set(pathlib.Path(os.environ["CUPY_CACHE_DIR"]).rglob("*.cu"))
calls(3)
for file in set(pathlib.Path(os.environ["CUPY_CACHE_DIR"]).rglob("*.cu")) - before:
    print(file.read_text())
"""


def run(script, folder):
    """What a process with an empty cache prints; CuPy keeps its sources beside what it compiles."""
    surroundings = with_package() | {
        "CUPY_CACHE_DIR": str(folder),
        "CUPY_CACHE_SAVE_CUDA_SOURCE": "1",
    }
    surroundings["PYTHONPATH"] += os.pathsep + os.path.dirname(os.path.dirname(__file__))
    command = [sys.executable, "-c", script]
    ended = subprocess.run(command, env=surroundings, capture_output=True, text=True)
    assert not ended.returncode, ended.stderr
    return ended.stdout


def kernels(source):
    """Names of what CuPy compiled."""
    return re.findall(r"__global__ void (?:__launch_bounds__\(\w+\) )?(\w+)", source)


def test_no_reduction_of_bools_is_compiled(tmp_path):
    """CuPy makes these of CUB's headers, five seconds each."""
    run(ALL_METHODS, tmp_path)
    sources = [file.read_text() for file in tmp_path.rglob("*.cu")]
    assert len(sources) > 10
    slow = [text for text in sources if "BlockReduce" in text]
    assert not [kernels(text) for text in slow]


@pytest.mark.parametrize("directed", [True, False])
def test_communities_take_no_kernels_of_cupys(tmp_path, directed):
    """A tenth of a second each, of which Leiden took twelve."""
    assert not kernels(run(COMMUNITIES.format(directed=directed), tmp_path))


@pytest.mark.skipif(driver.num_gpus() < 2, reason="there is one GPU")
def test_second_calls_on_ranks_take_no_new_kernels_of_cupys(tmp_path):
    """What a run puts where the run before has left something took a fill of CuPy's, a tenth of a second."""
    assert not kernels(run(SECOND_CALLS, tmp_path))
