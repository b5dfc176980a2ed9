"""Garaph's hybrid: the GPU engine on edges in host memory, of which the CPU engine goes along some.

Of the engines it may import `cpu`, `cuda`, `gpu`, `paged`, `tiered`.
"""

from dask_graphgpu.engine.hybrid.after_search import edges_among, path, predecessors
from dask_graphgpu.engine.hybrid.bfs import bfs
from dask_graphgpu.engine.hybrid.components import components
from dask_graphgpu.engine.hybrid.programs import run
from dask_graphgpu.engine.shortcuts import multi_bfs as multi_bfs
from dask_graphgpu.engine.shortcuts import pagerank as pagerank
from dask_graphgpu.engine.shortcuts import run_each as run_each
from dask_graphgpu.engine.shortcuts import small_ego as small_ego
from dask_graphgpu.engine.shortcuts import two_sided_path as two_sided_path

__all__ = ["bfs", "components", "edges_among", "path", "predecessors", "run"]
