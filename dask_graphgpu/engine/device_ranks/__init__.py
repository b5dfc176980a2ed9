"""The engine of many ranks with a GPU each: CUDA kernels, and NCCL in between.

What has no kernels here is the CPU engine's of many ranks, and runs on the processors of the ranks.
"""

from dask_graphgpu.engine.device_ranks.betweenness import betweenness, edge_betweenness
from dask_graphgpu.engine.device_ranks.bfs import bfs
from dask_graphgpu.engine.device_ranks.components import components
from dask_graphgpu.engine.device_ranks.predecessors import predecessors
from dask_graphgpu.engine.device_ranks.programs import run
from dask_graphgpu.engine.ranks import (
    core_numbers,
    edges_among,
    hits,
    jaccard_of_pairs,
    jaccard_two_hop,
    k_core,
    label_propagation,
    leiden,
    louvain,
    neighbour_arcs,
    path,
    path_counts,
    spanning_forest,
    strong_components,
    triangles,
)
from dask_graphgpu.engine.shortcuts import multi_bfs as multi_bfs
from dask_graphgpu.engine.shortcuts import pagerank as pagerank
from dask_graphgpu.engine.shortcuts import run_each as run_each
from dask_graphgpu.engine.shortcuts import small_ego as small_ego
from dask_graphgpu.engine.shortcuts import two_sided_path as two_sided_path

__all__ = [
    "betweenness",
    "bfs",
    "components",
    "core_numbers",
    "edge_betweenness",
    "edges_among",
    "hits",
    "jaccard_of_pairs",
    "jaccard_two_hop",
    "k_core",
    "label_propagation",
    "leiden",
    "louvain",
    "neighbour_arcs",
    "path",
    "path_counts",
    "predecessors",
    "run",
    "spanning_forest",
    "strong_components",
    "triangles",
]
