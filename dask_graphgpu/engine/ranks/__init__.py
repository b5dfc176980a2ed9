"""The engine of many ranks: the CPU engine's kernels on each, and values that travel in between.

Of the engines it may import `cpu`.
"""

from dask_graphgpu.engine.best_links import best_links
from dask_graphgpu.engine.cpu.anywhere import *
from dask_graphgpu.engine.ranks.betweenness import betweenness, edge_betweenness
from dask_graphgpu.engine.ranks.components import components
from dask_graphgpu.engine.ranks.jaccard import jaccard_of_pairs, jaccard_two_hop
from dask_graphgpu.engine.ranks.louvain import leiden, louvain, smaller_communities
from dask_graphgpu.engine.ranks.multi_bfs import multi_bfs
from dask_graphgpu.engine.ranks.peeling import core_numbers, k_core
from dask_graphgpu.engine.ranks.similar import similar
from dask_graphgpu.engine.ranks.strong_components import strong_components
from dask_graphgpu.engine.ranks.triangles import neighbour_arcs, triangles
from dask_graphgpu.engine.shortcuts import of_engine as __getattr__
