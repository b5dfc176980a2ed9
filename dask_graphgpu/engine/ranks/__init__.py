"""The engine of many ranks: the CPU engine's kernels on each, and values that travel in between."""

from dask_graphgpu.engine.ranks.components import components
from dask_graphgpu.engine.ranks.predecessors import predecessors
from dask_graphgpu.engine.ranks.programs import run

__all__ = ["components", "predecessors", "run"]
