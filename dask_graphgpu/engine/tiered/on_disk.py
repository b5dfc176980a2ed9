"""What of the GPU engine works wherever its edges lie beyond the device: in host memory, and in pages on disk."""

from dask_graphgpu.engine.best_links import best_links
from dask_graphgpu.engine.cpu.cycles import cycles
from dask_graphgpu.engine.cpu.hyperball import hyperball
from dask_graphgpu.engine.cpu.induced import edges_among
from dask_graphgpu.engine.cpu.nearest import nearest
from dask_graphgpu.engine.cpu.neighbor_sample import neighbor_sample
from dask_graphgpu.engine.cpu.predecessors import path
from dask_graphgpu.engine.cpu.walks import random_walks
from dask_graphgpu.engine.score_levels import components_at
from dask_graphgpu.engine.shortcuts import of_engine as __getattr__
from dask_graphgpu.engine.tiered.betweenness import betweenness
from dask_graphgpu.engine.tiered.bfs import bfs
from dask_graphgpu.engine.tiered.components import components
from dask_graphgpu.engine.tiered.hits import hits
from dask_graphgpu.engine.tiered.label_propagation import label_propagation
from dask_graphgpu.engine.tiered.path_counts import path_counts
from dask_graphgpu.engine.tiered.peeling import core_numbers, k_core
from dask_graphgpu.engine.tiered.predecessors import predecessors
from dask_graphgpu.engine.tiered.programs import run
from dask_graphgpu.engine.tiered.spanning_forest import spanning_forest
from dask_graphgpu.engine.tiered.strong_components import strong_components
from dask_graphgpu.engine.wherever import *
