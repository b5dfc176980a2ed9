"""What serves every place of the host with one driver: memory, pages on disk, and ranks."""

from dask_graphgpu.engine.cpu.bfs import bfs as bfs
from dask_graphgpu.engine.cpu.biconnected import biconnected_edges as biconnected_edges
from dask_graphgpu.engine.cpu.biconnected import bridges as bridges
from dask_graphgpu.engine.cpu.biconnected import num_blocks as num_blocks
from dask_graphgpu.engine.cpu.cycles import cycles as cycles
from dask_graphgpu.engine.cpu.hits import hits as hits
from dask_graphgpu.engine.cpu.hop_sums import hop_sums as hop_sums
from dask_graphgpu.engine.cpu.hyperball import hyperball as hyperball
from dask_graphgpu.engine.cpu.induced import edges_among as edges_among
from dask_graphgpu.engine.cpu.label_propagation import label_propagation as label_propagation
from dask_graphgpu.engine.cpu.nearest import nearest as nearest
from dask_graphgpu.engine.cpu.neighbor_sample import neighbor_sample as neighbor_sample
from dask_graphgpu.engine.cpu.neighbour_statistics import (
    neighbour_statistics as neighbour_statistics,
)
from dask_graphgpu.engine.cpu.path_counts import path_counts as path_counts
from dask_graphgpu.engine.cpu.predecessors import path as path
from dask_graphgpu.engine.cpu.predecessors import predecessors as predecessors
from dask_graphgpu.engine.cpu.programs import run as run
from dask_graphgpu.engine.cpu.spanning_forest import spanning_forest as spanning_forest
from dask_graphgpu.engine.cpu.trusses import trussness as trussness
from dask_graphgpu.engine.cpu.walks import random_walks as random_walks
from dask_graphgpu.engine.score_levels import components_at as components_at
from dask_graphgpu.engine.simple_degrees import simple_degrees as simple_degrees
from dask_graphgpu.engine.wherever import *
