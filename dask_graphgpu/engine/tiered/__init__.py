"""The GPU engine on graphs whose edges are not all on the device, but in pinned host memory.

Of the engines it may import `cpu`, `cuda`, `gpu`, `paged`.
"""

from dask_graphgpu.engine.shortcuts import of_engine as __getattr__
from dask_graphgpu.engine.simple_degrees import simple_degrees
from dask_graphgpu.engine.tiered.biconnected import biconnected_edges, bridges, num_blocks
from dask_graphgpu.engine.tiered.jaccard import jaccard_of_pairs, jaccard_two_hop, similar
from dask_graphgpu.engine.tiered.louvain import leiden, louvain, smaller_communities
from dask_graphgpu.engine.tiered.on_disk import *
from dask_graphgpu.engine.tiered.path_sums import edge_betweenness
from dask_graphgpu.engine.tiered.triangles import neighbour_arcs, triangles
