"""What serves every place of the host with one driver: memory, pages on disk, and ranks."""

from dask_graphgpu.engine.cpu.bfs import bfs
from dask_graphgpu.engine.cpu.hits import hits
from dask_graphgpu.engine.cpu.induced import edges_among
from dask_graphgpu.engine.cpu.label_propagation import label_propagation
from dask_graphgpu.engine.cpu.multi_bfs import multi_bfs
from dask_graphgpu.engine.cpu.path import path
from dask_graphgpu.engine.cpu.path_counts import path_counts
from dask_graphgpu.engine.cpu.predecessors import predecessors
from dask_graphgpu.engine.cpu.programs import run
from dask_graphgpu.engine.cpu.spanning_forest import spanning_forest
from dask_graphgpu.engine.cpu.trusses import trussness

__all__ = [
    "bfs",
    "edges_among",
    "hits",
    "label_propagation",
    "multi_bfs",
    "path",
    "path_counts",
    "predecessors",
    "run",
    "spanning_forest",
    "trussness",
]
