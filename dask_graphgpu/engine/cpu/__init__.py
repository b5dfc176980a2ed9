"""The CPU engine: Numba kernels over blocks of a partition, on the threads of this process."""

from dask_graphgpu.engine.cpu.betweenness import betweenness, edge_betweenness
from dask_graphgpu.engine.cpu.bfs import bfs
from dask_graphgpu.engine.cpu.communities import leiden, louvain
from dask_graphgpu.engine.cpu.components import components
from dask_graphgpu.engine.cpu.ego import small_ego
from dask_graphgpu.engine.cpu.hits import hits
from dask_graphgpu.engine.cpu.induced import edges_among
from dask_graphgpu.engine.cpu.jaccard import jaccard_of_pairs, jaccard_two_hop
from dask_graphgpu.engine.cpu.label_propagation import label_propagation
from dask_graphgpu.engine.cpu.multi_bfs import multi_bfs
from dask_graphgpu.engine.cpu.pagerank import pagerank
from dask_graphgpu.engine.cpu.path import path
from dask_graphgpu.engine.cpu.path_counts import path_counts
from dask_graphgpu.engine.cpu.peeling import core_numbers, k_core
from dask_graphgpu.engine.cpu.predecessors import predecessors
from dask_graphgpu.engine.cpu.programs import run
from dask_graphgpu.engine.cpu.side_by_side import run_each
from dask_graphgpu.engine.cpu.spanning_forest import spanning_forest
from dask_graphgpu.engine.cpu.strong_components import strong_components
from dask_graphgpu.engine.cpu.triangles import neighbour_arcs, triangles
from dask_graphgpu.engine.cpu.two_sided import two_sided_path

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
    "multi_bfs",
    "neighbour_arcs",
    "pagerank",
    "path",
    "path_counts",
    "predecessors",
    "run",
    "run_each",
    "small_ego",
    "spanning_forest",
    "strong_components",
    "triangles",
    "two_sided_path",
]
