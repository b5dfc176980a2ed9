"""The GPU engine: CUDA kernels, one GPU.

Of the engines it may import `cuda`.
"""

from dask_graphgpu.engine.best_links import best_links
from dask_graphgpu.engine.gpu.betweenness import betweenness, edge_betweenness
from dask_graphgpu.engine.gpu.bfs import bfs
from dask_graphgpu.engine.gpu.biconnected import biconnected_edges, bridges, num_blocks
from dask_graphgpu.engine.gpu.components import components
from dask_graphgpu.engine.gpu.cycles import cycles
from dask_graphgpu.engine.gpu.hits import hits
from dask_graphgpu.engine.gpu.hop_sums import hop_sums
from dask_graphgpu.engine.gpu.hyperball import hyperball
from dask_graphgpu.engine.gpu.induced import edges_among
from dask_graphgpu.engine.gpu.jaccard import jaccard_of_pairs, jaccard_two_hop
from dask_graphgpu.engine.gpu.label_propagation import label_propagation
from dask_graphgpu.engine.gpu.louvain import leiden, louvain, smaller_communities
from dask_graphgpu.engine.gpu.multi_bfs import multi_bfs
from dask_graphgpu.engine.gpu.multi_source import run_each
from dask_graphgpu.engine.gpu.nearest import nearest
from dask_graphgpu.engine.gpu.neighbor_sample import neighbor_sample
from dask_graphgpu.engine.gpu.neighbour_statistics import neighbour_statistics
from dask_graphgpu.engine.gpu.path_counts import path_counts
from dask_graphgpu.engine.gpu.peeling import core_numbers, k_core
from dask_graphgpu.engine.gpu.predecessors import path, predecessors
from dask_graphgpu.engine.gpu.programs import run
from dask_graphgpu.engine.gpu.similar import similar
from dask_graphgpu.engine.gpu.spanning_forest import spanning_forest
from dask_graphgpu.engine.gpu.strong_components import strong_components
from dask_graphgpu.engine.gpu.triangles import neighbour_arcs, triangles
from dask_graphgpu.engine.gpu.trusses import trussness
from dask_graphgpu.engine.gpu.walks import random_walks
from dask_graphgpu.engine.score_levels import components_at
from dask_graphgpu.engine.shortcuts import of_engine as __getattr__
from dask_graphgpu.engine.simple_degrees import simple_degrees
from dask_graphgpu.engine.wherever import *
