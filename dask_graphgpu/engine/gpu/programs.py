"""Vertex programs on the GPU."""

from __future__ import annotations

from dask_graphgpu.engine.gpu import layered, near_far
from dask_graphgpu.engine.gpu.arrays import Arrays
from dask_graphgpu.engine.gpu.checkpoints import Beginning
from dask_graphgpu.engine.gpu.settings import every_sends
from dask_graphgpu.engine.gpu.superstep import Superstep
from dask_graphgpu.engine.gpu.synchronous import Synchronous
from dask_graphgpu.engine.options import RunOptions
from dask_graphgpu.engine.plan import plan, with_known_counts
from dask_graphgpu.engine.schedule import is_forced
from dask_graphgpu.engine.state import Binding, State
from dask_graphgpu.errors import InvalidArgument
from dask_graphgpu.partition.view import View
from dask_graphgpu.program import VertexProgram


def run(program: VertexProgram, view: View, options: RunOptions) -> State:
    """Run a vertex program, compiled; parameters, result and errors as of the CPU engine's `run`.

    Monotone programs update in place (`near_far`; where the view has layers, by sweeps over these),
    others run in supersteps (`synchronous`). What
    functions do with zero divisors is the hardware's: infinity or NaN, no exception.
    """
    program = with_known_counts(program, options.sources)
    binding = Binding(program, view, options.constants)
    how = plan(binding, options, forced=is_forced())
    places, in_place = how.starts, how.in_place
    if in_place and is_forced():
        raise InvalidArgument(
            "graphgpu.filter, graphgpu.fusion, graphgpu.combine, graphgpu.gather and graphgpu.tail "
            "are of supersteps: a run with a cutoff has none."
        )
    if in_place and view.levels is not None:
        return layered.run(how)
    beginning = Beginning(options.keeper, in_place, options.cutoff)
    if in_place:
        arrays = Arrays(binding, places)
        places = beginning.places(arrays, places)
        return arrays.result(near_far.improved(arrays, places, how.ends, options))
    arrays = Arrays(binding, places, every=every_sends(binding, places))
    beginning(arrays)
    engine = Synchronous(Superstep(arrays, options.report))
    return engine.run(options, beginning.keeping(engine))
