"""Threads that use one GPU at once, and a GPU that has too little memory."""

from concurrent.futures import ThreadPoolExecutor

import cupy
import numpy as np
import pandas as pd
import pytest

from dask_graphgpu.errors import OutOfDeviceMemory
from dask_graphgpu.kernels import cuda_build

pytestmark = pytest.mark.gpu

METHODS = {
    "bfs": lambda graph: graph.bfs(0, predecessor=True),
    "sssp": lambda graph: graph.sssp(0, predecessor=True),
    "pagerank": lambda graph: graph.pagerank(),
    "components": lambda graph: graph.weakly_connected_components(),
    "core_number": lambda graph: graph.core_number(),
    "k_core": lambda graph: graph.k_core(3),
    "ssnsp": lambda graph: graph.ssnsp(0),
    "degree": lambda graph: graph.degree(),
}


def frame(edges=20_000, vertices=3_000):
    rng = np.random.default_rng(5)
    ends = (vertices * rng.random((2, edges)) ** 3).astype(np.int64)
    ends[:, 0] = 0, 1
    return pd.DataFrame({"src": ends[0], "dst": ends[1], "weight": rng.integers(1, 65, edges)})


def test_methods_of_one_graph_at_once(monkeypatch):
    edges = frame()
    wanted = {name: method(edges.graph(engine="cpu")) for name, method in METHODS.items()}
    monkeypatch.setattr(cuda_build, "_modules", {})  # so that all are loaded at once as well
    for _ in range(3):
        graph = edges.graph(engine="gpu").persist()
        with ThreadPoolExecutor(2 * len(METHODS)) as pool:
            running = [
                (name, pool.submit(method, graph))
                for _ in range(3)
                for name, method in METHODS.items()
            ]
            for name, result in running:
                pd.testing.assert_frame_equal(result.result(), wanted[name], rtol=1e-9, obj=name)


def test_too_little_memory_is_told_with_what_was_done():
    graph = frame(edges=1_000_000).graph(engine="gpu").persist()
    pool = cupy.cuda.MemoryPool()
    pool.set_limit(size=1 << 20)
    with (
        cupy.cuda.using_allocator(pool.malloc),
        pytest.raises(OutOfDeviceMemory, match="bfs on the GPU needs more memory than is left"),
    ):
        graph.bfs(0)
    assert graph.bfs(0).distance.notna().any()  # what there was is given back
