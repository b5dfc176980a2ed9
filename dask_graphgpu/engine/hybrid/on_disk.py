"""What of the hybrid engine works where edges lie in pages on disk."""

from dask_graphgpu.engine.hybrid.bfs import bfs
from dask_graphgpu.engine.hybrid.components import components
from dask_graphgpu.engine.hybrid.programs import run
from dask_graphgpu.engine.paged.predecessors import predecessors

__all__ = ["bfs", "components", "predecessors", "run"]
