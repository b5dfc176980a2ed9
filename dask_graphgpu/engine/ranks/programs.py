"""Vertex programs on many ranks."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from dask_graphgpu.functions import parameters, plain

if TYPE_CHECKING:
    from dask_graphgpu.engine.options import RunOptions
    from dask_graphgpu.engine.state import State
    from dask_graphgpu.partition.ranks.view import RankView, TowardView
    from dask_graphgpu.program import VertexProgram


def run(program: VertexProgram, view: RankView, options: RunOptions) -> State:
    """Run a vertex program on all ranks, each for its own vertices; collective.

    Parameters and errors are those of the CPU engine's `run`, but that sources and targets are
    numbers of vertices, the same on all ranks, and that ``id`` in a program is the number.

    Returns
    -------
    State
        Arrays over the vertices that are here, right for the own ones. Aggregates and supersteps
        are the same on all ranks.

    Notes
    -----
    Programs that run in supersteps exchange once in each, and once more for an aggregate that reads
    another. Monotone programs run on each rank until nothing changes there before they exchange,
    with ``graphgpu.local-convergence`` set to False one round.
    """
    # No Numba before a run.
    from dask_graphgpu.engine.cpu.arrays import Arrays
    from dask_graphgpu.engine.keeping import Keeping, begun
    from dask_graphgpu.engine.loop import run_supersteps
    from dask_graphgpu.engine.lower import lower
    from dask_graphgpu.engine.plan import plan
    from dask_graphgpu.engine.ranks.in_place import RankInPlace, resumed
    from dask_graphgpu.engine.ranks.synchronous import RankSynchronous
    from dask_graphgpu.engine.state import Binding

    whole = view.with_columns(at_ghosts(program, view))
    toward = whole.toward(program.edges)
    binding = Binding(replace(program, edges="out"), toward, options.constants)
    how, keeper = plan(binding, options), options.keeper
    lowered = lower(binding)
    know_degrees(toward, program)
    places = None if how.starts is None else whole.places(how.starts)[0]
    arrays = Arrays(binding, lowered, places)
    kept = None
    if keeper is not None:
        kept = begun(keeper, program, binding, arrays.state, how.in_place, options.cutoff)
    if how.in_place:
        if kept is not None:
            places = resumed(arrays, whole, kept)
        own = None if how.ends is None else whole.places(how.ends)[0]
        own = None if own is None else own[own < arrays.owned]
        improving = RankInPlace(arrays, whole, places, options.cutoff, own, options.report, keeper)
        return improving.run()
    engine = RankSynchronous(arrays, whole, options.report)
    keeping = None if keeper is None else Keeping(engine, keeper, kept)
    return run_supersteps(binding, engine, arrays.aggregates, options, keeping)


def at_ghosts(program: VertexProgram, view: RankView) -> dict[str, np.ndarray]:
    """The columns of the vertices frame; those that the program reads are right for ghosts too."""
    columns = dict(view.vertex_columns)
    read = {declared.vertices for declared in program.state.values() if declared.vertices}
    for name in sorted(read & columns.keys()):
        if columns[name].dtype.kind in "biuf":  # others are refused
            columns[name] = view.at_ghosts(columns[name].copy())
    return columns


def know_degrees(toward: TowardView, program: VertexProgram) -> None:
    """Have degrees at hand: to work them out is collective, and not all ranks run all kernels."""
    toward.degrees("out")
    named = (parameters(plain(each, role), role) for role, each in program.functions().items())
    if any(name.endswith("weighted_degree") for names in named for name in names):
        toward.weighted_degrees("out")
