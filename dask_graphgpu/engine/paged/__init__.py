"""The CPU engine on graphs whose edges lie in pages on disk: what can work pass by pass.

Of the engines it may import `cpu`.
"""

from dask_graphgpu.engine.cpu import anywhere
from dask_graphgpu.engine.cpu.anywhere import *
from dask_graphgpu.engine.paged.betweenness import betweenness
from dask_graphgpu.engine.paged.components import components
from dask_graphgpu.engine.paged.peeling import core_numbers, k_core
from dask_graphgpu.engine.paged.strong_components import strong_components
from dask_graphgpu.engine.shortcuts import pagerank as pagerank
from dask_graphgpu.engine.shortcuts import run_each as run_each
from dask_graphgpu.engine.shortcuts import small_ego as small_ego
from dask_graphgpu.engine.shortcuts import two_sided_path as two_sided_path

__all__ = [
    *anywhere.__all__,
    "betweenness",
    "components",
    "core_numbers",
    "k_core",
    "strong_components",
]
