"""The GPU engine on graphs whose edges are not all on the device, but in pinned host memory."""

from dask_graphgpu.engine.tiered.bfs import bfs
from dask_graphgpu.engine.tiered.components import components
from dask_graphgpu.engine.tiered.path_counts import path_counts
from dask_graphgpu.engine.tiered.predecessors import predecessors
from dask_graphgpu.engine.tiered.programs import run

__all__ = ["bfs", "components", "path_counts", "predecessors", "run"]
