"""Garaph's hybrid [1]_: the GPU engine on edges in host memory, of which the CPU engine goes along some.

Of the engines it may import `cpu`, `cuda`, `gpu`, `paged`, `tiered`.

References
----------
.. [1] Ma et al. Garaph: efficient GPU-accelerated graph processing on a single machine with balanced
   replication. USENIX ATC 2017.
"""

from dask_graphgpu.engine.best_links import best_links
from dask_graphgpu.engine.cpu.hyperball import hyperball
from dask_graphgpu.engine.cpu.induced import edges_among
from dask_graphgpu.engine.cpu.nearest import nearest
from dask_graphgpu.engine.cpu.neighbor_sample import neighbor_sample
from dask_graphgpu.engine.cpu.predecessors import path, predecessors
from dask_graphgpu.engine.cpu.walks import random_walks
from dask_graphgpu.engine.hybrid.bfs import bfs
from dask_graphgpu.engine.hybrid.components import components
from dask_graphgpu.engine.hybrid.programs import run
from dask_graphgpu.engine.shortcuts import of_engine as __getattr__
from dask_graphgpu.engine.wherever import *
