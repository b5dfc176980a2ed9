"""Vertex programs and traversals on one GPU."""

from __future__ import annotations

from dask_graphgpu.engine.gpu.bfs import bfs
from dask_graphgpu.engine.gpu.components import components
from dask_graphgpu.engine.gpu.path_counts import path_counts
from dask_graphgpu.engine.gpu.peeling import core_numbers
from dask_graphgpu.engine.gpu.predecessors import predecessors
from dask_graphgpu.engine.gpu.programs import run

__all__ = ["bfs", "components", "core_numbers", "path_counts", "predecessors", "run"]
