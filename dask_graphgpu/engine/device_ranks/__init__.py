"""The engine of many ranks with a GPU each: CUDA kernels, and NCCL in between.

What has no kernels here is the CPU engine's of many ranks, and runs on the processors of the ranks.

Of the engines it may import `cuda`, `gpu`, `ranks`.
"""

from typing import Any

from dask_graphgpu.engine import ranks
from dask_graphgpu.engine.device_ranks.betweenness import betweenness as betweenness
from dask_graphgpu.engine.device_ranks.betweenness import edge_betweenness as edge_betweenness
from dask_graphgpu.engine.device_ranks.bfs import bfs as bfs
from dask_graphgpu.engine.device_ranks.components import components as components
from dask_graphgpu.engine.device_ranks.predecessors import predecessors as predecessors
from dask_graphgpu.engine.device_ranks.programs import run as run
from dask_graphgpu.engine.shortcuts import multi_bfs as multi_bfs
from dask_graphgpu.engine.shortcuts import pagerank as pagerank
from dask_graphgpu.engine.shortcuts import run_each as run_each
from dask_graphgpu.engine.shortcuts import small_ego as small_ego
from dask_graphgpu.engine.shortcuts import two_sided_path as two_sided_path

__all__ = [*ranks.__all__]


def __getattr__(name: str) -> Any:
    return getattr(ranks, name)
