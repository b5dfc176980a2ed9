"""Garaph's hybrid: the GPU engine on edges in host memory, of which the CPU engine goes along some."""

from dask_graphgpu.engine.hybrid.bfs import bfs
from dask_graphgpu.engine.hybrid.closing import edges_among, path, predecessors
from dask_graphgpu.engine.hybrid.components import components
from dask_graphgpu.engine.hybrid.programs import run

__all__ = ["bfs", "components", "edges_among", "path", "predecessors", "run"]
