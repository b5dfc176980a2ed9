"""Vertex programs on the CPU."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dask_graphgpu.engine.lower import Lowered
    from dask_graphgpu.engine.options import RunOptions
    from dask_graphgpu.engine.plan import Plan
    from dask_graphgpu.engine.state import State
    from dask_graphgpu.partition.view import View
    from dask_graphgpu.program import VertexProgram


def run(program: VertexProgram, view: View, options: RunOptions) -> State:
    """Run a vertex program, compiled.

    Notes
    -----
    Monotone programs update in place: near-far order with a priority, else rounds over a queue, or
    sweeps over in-edges while most vertices are active. Others run in supersteps, each by pull,
    notify-pull or push as ``f``, the share of edges that active vertices send over, and the
    adjacencies at hand suggest; ``graphgpu.direction`` forces one where the program allows it. Where
    the view has layers, monotone programs sweep over them instead.
    """
    # No Numba before a run.
    from dask_graphgpu.engine.lower import lower
    from dask_graphgpu.engine.plan import plan
    from dask_graphgpu.engine.state import Binding

    binding = Binding(program, view, options.constants)
    how = plan(binding, options)
    return run_lowered(how, lower(binding))


def run_lowered(how: Plan, lowered: Lowered) -> State:
    """As `run`, of a program that is compiled for its graph, whatever the constants and options."""
    from dask_graphgpu.engine.cpu.arrays import Arrays
    from dask_graphgpu.engine.cpu.improving import resumed
    from dask_graphgpu.engine.cpu.in_place import InPlace
    from dask_graphgpu.engine.cpu.layered import Sweeps
    from dask_graphgpu.engine.cpu.synchronous import Synchronous
    from dask_graphgpu.engine.keeping import Keeping, begun
    from dask_graphgpu.engine.loop import run_supersteps

    binding, options, places = how.binding, how.options, how.starts
    cutoff, report, keeper = options.cutoff, options.report, options.keeper
    arrays = Arrays(binding, lowered, places)
    kept = None
    if keeper is not None:
        kept = begun(keeper, binding.program, binding, arrays.state, how.in_place, cutoff)
    if how.in_place:
        if kept is not None:
            places = resumed(arrays, kept)
        if binding.view.levels is not None:
            return Sweeps(arrays, places, cutoff, report).run(keeper)
        return InPlace(arrays, places, cutoff, how.ends, report).run(keeper)
    engine = Synchronous(arrays, report)
    keeping = None if keeper is None else Keeping(engine, keeper, kept)
    return run_supersteps(binding, engine, arrays.aggregates, options, keeping)
