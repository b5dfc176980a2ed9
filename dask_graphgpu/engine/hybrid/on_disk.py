"""What of the hybrid engine works where edges lie in pages on disk."""

from dask_graphgpu.engine.cpu.hyperball import hyperball
from dask_graphgpu.engine.cpu.predecessors import predecessors
from dask_graphgpu.engine.hybrid.bfs import bfs
from dask_graphgpu.engine.hybrid.components import components
from dask_graphgpu.engine.hybrid.programs import run
from dask_graphgpu.engine.shortcuts import of_engine as __getattr__
