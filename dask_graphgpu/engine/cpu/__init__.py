"""The CPU engine: Numba kernels over blocks of a partition, on the threads of this process.

Of the engines it may import no other.
"""

from dask_graphgpu.engine.best_links import best_links
from dask_graphgpu.engine.cpu.anywhere import *
from dask_graphgpu.engine.cpu.betweenness import betweenness, edge_betweenness
from dask_graphgpu.engine.cpu.coloring import first_free_colors
from dask_graphgpu.engine.cpu.components import components
from dask_graphgpu.engine.cpu.induced import small_ego
from dask_graphgpu.engine.cpu.jaccard import jaccard_of_pairs, jaccard_two_hop
from dask_graphgpu.engine.cpu.louvain import leiden, louvain, smaller_communities
from dask_graphgpu.engine.cpu.multi_bfs import multi_bfs
from dask_graphgpu.engine.cpu.pagerank import pagerank
from dask_graphgpu.engine.cpu.peeling import core_numbers, k_core
from dask_graphgpu.engine.cpu.programs import run_each
from dask_graphgpu.engine.cpu.similar import similar
from dask_graphgpu.engine.cpu.strong_components import strong_components
from dask_graphgpu.engine.cpu.triangles import neighbour_arcs, triangles
from dask_graphgpu.engine.cpu.two_sided import two_sided_path
