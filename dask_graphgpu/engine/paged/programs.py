"""Vertex programs over pages: in place where they are monotone, else in supersteps."""

from __future__ import annotations

from dask_graphgpu.engine.cpu.arrays import Arrays
from dask_graphgpu.engine.cpu.improving import resumed
from dask_graphgpu.engine.cpu.programs import in_supersteps, what_was_kept
from dask_graphgpu.engine.cpu.synchronous import Synchronous
from dask_graphgpu.engine.lower import lower
from dask_graphgpu.engine.options import RunOptions
from dask_graphgpu.engine.paged.in_place import InPlaceOnDisk, bytes_of_vertex
from dask_graphgpu.engine.paged.synchronous import (
    EdgesOnDisk,
    bytes_of_vertices,
    check_direction,
    check_memory,
)
from dask_graphgpu.engine.plan import plan
from dask_graphgpu.engine.state import Binding, State
from dask_graphgpu.partition.view import View
from dask_graphgpu.program import VertexProgram


def run(program: VertexProgram, view: View, options: RunOptions) -> State:
    """As `cpu.programs.run`, of edges on disk."""
    binding = Binding(program, view, options.constants)
    how = plan(binding, options)
    report, keeper = options.report, options.keeper
    if how.in_place:
        check_memory(binding, view.num_vertices * bytes_of_vertex(binding))
    else:
        check_direction()
        check_memory(binding, bytes_of_vertices(binding, keeps=keeper is not None))
    arrays = Arrays(binding, lower(binding), how.starts)
    kept = what_was_kept(program, how, arrays)
    if not how.in_place:
        engine = Synchronous(arrays, report, EdgesOnDisk(arrays, report, keeper))
        return in_supersteps(engine, how, kept)
    places = how.starts if kept is None else resumed(arrays, kept)
    return InPlaceOnDisk(arrays, places, options.cutoff, how.ends, report).run(keeper)
