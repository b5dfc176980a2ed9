"""The CPU engine on graphs whose edges lie in pages on disk: what can work pass by pass."""

from dask_graphgpu.engine.paged.bfs import bfs
from dask_graphgpu.engine.paged.components import components
from dask_graphgpu.engine.paged.predecessors import predecessors
from dask_graphgpu.engine.paged.programs import run

__all__ = ["bfs", "components", "predecessors", "run"]
