"""The engine of many ranks with a GPU each: CUDA kernels, and NCCL in between.

What has no kernels for shares runs on the gathered graph, as on one GPU (`whole`, `whole_rows`). The rest is
the CPU engine's of many ranks, and runs on the processors of the ranks.

Of the engines it may import `cuda`, `gpu`, `ranks`.
"""

from typing import Any

from dask_graphgpu.engine import ranks
from dask_graphgpu.engine.device_ranks.betweenness import betweenness
from dask_graphgpu.engine.device_ranks.bfs import bfs
from dask_graphgpu.engine.device_ranks.components import components
from dask_graphgpu.engine.device_ranks.cycles import cycles
from dask_graphgpu.engine.device_ranks.hits import hits
from dask_graphgpu.engine.device_ranks.predecessors import predecessors
from dask_graphgpu.engine.device_ranks.programs import run
from dask_graphgpu.engine.device_ranks.whole import (
    core_numbers,
    hop_sums,
    hyperball,
    jaccard_of_pairs,
    k_core,
    label_propagation,
    leiden,
    louvain,
    multi_bfs,
    neighbour_arcs,
    num_blocks,
    path_counts,
    random_walks,
    simple_degrees,
    smaller_communities,
    strong_components,
    triangles,
)
from dask_graphgpu.engine.device_ranks.whole_rows import (
    biconnected_edges,
    bridges,
    edge_betweenness,
    edges_among,
    jaccard_two_hop,
    spanning_forest,
    trussness,
)


def __getattr__(name: str) -> Any:
    return getattr(ranks, name)
