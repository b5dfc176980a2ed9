"""The CPU engine on graphs whose edges lie in pages on disk: what can work pass by pass."""

from dask_graphgpu.engine.cpu.bfs import bfs
from dask_graphgpu.engine.cpu.hits import hits
from dask_graphgpu.engine.cpu.induced import edges_among
from dask_graphgpu.engine.cpu.label_propagation import label_propagation
from dask_graphgpu.engine.cpu.multi_bfs import multi_bfs
from dask_graphgpu.engine.cpu.path import path
from dask_graphgpu.engine.cpu.path_counts import path_counts
from dask_graphgpu.engine.cpu.predecessors import predecessors
from dask_graphgpu.engine.cpu.programs import run
from dask_graphgpu.engine.cpu.spanning_forest import spanning_forest
from dask_graphgpu.engine.paged.betweenness import betweenness
from dask_graphgpu.engine.paged.components import components
from dask_graphgpu.engine.paged.peeling import core_numbers, k_core
from dask_graphgpu.engine.paged.strong_components import strong_components
from dask_graphgpu.engine.shortcuts import pagerank as pagerank
from dask_graphgpu.engine.shortcuts import run_each as run_each
from dask_graphgpu.engine.shortcuts import small_ego as small_ego
from dask_graphgpu.engine.shortcuts import two_sided_path as two_sided_path

__all__ = [
    "betweenness",
    "bfs",
    "components",
    "core_numbers",
    "edges_among",
    "hits",
    "k_core",
    "label_propagation",
    "multi_bfs",
    "path",
    "path_counts",
    "predecessors",
    "run",
    "spanning_forest",
    "strong_components",
]
