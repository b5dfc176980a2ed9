"""The GPU engine: CUDA kernels, one GPU."""

from dask_graphgpu.engine.gpu.bfs import bfs
from dask_graphgpu.engine.gpu.programs import run

__all__ = ["bfs", "run"]
