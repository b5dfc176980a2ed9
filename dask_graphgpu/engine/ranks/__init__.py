"""The engine of many ranks: the CPU engine's kernels on each, and values that travel in between.

Of the engines it may import `cpu`.
"""

from dask_graphgpu.engine.cpu import anywhere
from dask_graphgpu.engine.cpu.anywhere import *
from dask_graphgpu.engine.ranks.betweenness import betweenness, edge_betweenness
from dask_graphgpu.engine.ranks.components import components
from dask_graphgpu.engine.ranks.jaccard import jaccard_of_pairs, jaccard_two_hop
from dask_graphgpu.engine.ranks.louvain import leiden, louvain
from dask_graphgpu.engine.ranks.peeling import core_numbers, k_core
from dask_graphgpu.engine.ranks.strong_components import strong_components
from dask_graphgpu.engine.ranks.triangles import neighbour_arcs, triangles
from dask_graphgpu.engine.shortcuts import pagerank as pagerank
from dask_graphgpu.engine.shortcuts import run_each as run_each
from dask_graphgpu.engine.shortcuts import small_ego as small_ego
from dask_graphgpu.engine.shortcuts import two_sided_path as two_sided_path

__all__ = [
    *anywhere.__all__,
    "betweenness",
    "components",
    "core_numbers",
    "edge_betweenness",
    "jaccard_of_pairs",
    "jaccard_two_hop",
    "k_core",
    "leiden",
    "louvain",
    "neighbour_arcs",
    "strong_components",
    "triangles",
]
