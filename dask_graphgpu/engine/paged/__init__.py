"""The CPU engine on graphs whose edges lie in pages on disk: what can work pass by pass.

Of the engines it may import `cpu`.
"""

from dask_graphgpu.engine.cpu.anywhere import *
from dask_graphgpu.engine.cpu.louvain import leiden, louvain, smaller_communities
from dask_graphgpu.engine.cpu.multi_bfs import multi_bfs
from dask_graphgpu.engine.paged.best_links import best_links
from dask_graphgpu.engine.paged.betweenness import betweenness, edge_betweenness
from dask_graphgpu.engine.paged.components import components
from dask_graphgpu.engine.paged.jaccard import jaccard_of_pairs
from dask_graphgpu.engine.paged.peeling import core_numbers, k_core
from dask_graphgpu.engine.paged.similar import similar
from dask_graphgpu.engine.paged.strong_components import strong_components
from dask_graphgpu.engine.paged.triangles import neighbour_arcs, triangles
from dask_graphgpu.engine.paged.two_hop import jaccard_two_hop
from dask_graphgpu.engine.shortcuts import of_engine as __getattr__
