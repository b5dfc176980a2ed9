"""What of the hybrid engine works where edges lie in pages on disk."""

from dask_graphgpu.engine.cpu.hyperball import hyperball
from dask_graphgpu.engine.cpu.predecessors import predecessors
from dask_graphgpu.engine.hybrid.bfs import bfs
from dask_graphgpu.engine.hybrid.components import components
from dask_graphgpu.engine.hybrid.programs import run
from dask_graphgpu.engine.shortcuts import (
    first_free_colors,
    hop_sums,
    multi_bfs,
    neighbour_statistics,
    pagerank,
    run_each,
    small_ego,
    two_sided_path,
)
