"""Vertex programs on several GPUs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from dask_graphgpu import config
from dask_graphgpu.engine.cuda.lower import frozen
from dask_graphgpu.engine.device_ranks.arrays import RankArrays
from dask_graphgpu.engine.device_ranks.in_place import RankInPlace
from dask_graphgpu.engine.device_ranks.superstep import OwnEdges, RankSuperstep
from dask_graphgpu.engine.device_ranks.view import argsort, connected
from dask_graphgpu.engine.gpu import checkpoints
from dask_graphgpu.engine.gpu.settings import every_sends
from dask_graphgpu.engine.gpu.synchronous import Synchronous
from dask_graphgpu.engine.keeping import Keeping
from dask_graphgpu.engine.options import RunOptions
from dask_graphgpu.engine.plan import plan, with_known_counts
from dask_graphgpu.engine.ranks.in_place import converges_locally
from dask_graphgpu.engine.ranks.toward import at_ghosts, know_degrees
from dask_graphgpu.engine.schedule import is_forced
from dask_graphgpu.engine.state import Binding, State
from dask_graphgpu.errors import InvalidArgument
from dask_graphgpu.partition.ranks.view import RankView
from dask_graphgpu.program import VertexProgram


def run(program: VertexProgram, view: RankView, options: RunOptions) -> State:
    """Run a vertex program on all ranks, each on its own GPU; collective.

    Parameters, result and errors are those of `engine.ranks.run`. Arrays are on the host, as the
    share is, but of a view that is `RankView.staying`.

    Notes
    -----
    A program in supersteps exchanges once in each, without a look at the device. A monotone one runs
    on each GPU until nothing improves there before it exchanges; with targets it goes on to the end.
    With ``graphgpu.local-convergence`` set to False it runs in supersteps. Values that it improves
    before the others have been heard may be larger than any on one rank: an overflow is an error
    only where values overflow that vertices have in the end, or where the program has `active`.
    """
    if is_forced():
        raise InvalidArgument(
            "graphgpu.filter, fusion, combine and gather are of one GPU, and this graph is on "
            f"{view.ranks.size} ranks; leave them 'auto', or use ranks=1"
        )
    program = with_known_counts(program, options.sources)
    whole = view.with_columns(at_ghosts(program, view))
    toward = whole.toward(program.edges)
    # To make one checks all its functions.
    outward = program if program.edges == "out" else replace(program, edges="out")
    binding = Binding(outward, toward, options.constants)
    how = plan(binding, options, forced=not converges_locally())
    in_place, cutoff, report = how.in_place, options.cutoff, options.report
    know_degrees(toward, program)
    places = None
    if how.starts is not None:
        whole.know_order(argsort)
        places = whole.places(how.starts)[0]
    key = _key(program, binding, places, *(("in place", cutoff) if in_place else ()))
    made: RankInPlace | RankSuperstep | None
    with connected(whole, key) as (border, made):
        if made is not None:
            made.again(binding, places, report)
        elif in_place:
            arrays = RankArrays(binding, whole.ranks, places, every=False)
            made = RankInPlace(arrays, whole.ranks, border, cutoff, report, lasts=key is not None)
        else:
            arrays = RankArrays(binding, whole.ranks, places, every=every_sends(binding, places))
            made = RankSuperstep(arrays, whole.ranks, border, report, lasts=key is not None)
        made.arrays.stays = view.stays
        try:
            engine: RankInPlace | Synchronous
            engine = made if isinstance(made, RankInPlace) else Synchronous(made, OwnEdges(made))
            keeping = None
            if options.keeper is not None:
                kept = checkpoints.begun(options.keeper, program, made.arrays, in_place, cutoff)
                keeping = Keeping(engine, options.keeper, kept)
            if isinstance(engine, RankInPlace):
                return engine.run(keeping)
            return engine.run(options, keeping)
        finally:
            if made.lasts:
                made.release()
                border.leave(key, made)
            else:
                made.forget()


def _key(program: VertexProgram, binding: Binding, places: Any, *more: Any) -> Any:
    """What runs have in common that can use one engine; None of what no later one can."""
    if any(field.vertices for field in program.state.values()):
        return None  # the columns of another call's frame may be others
    # A program that comes to a worker is another object each time. What its functions say is frozen.
    values = [
        (
            name,
            field.dtype,
            *("" if callable(v) else repr(v) for v in (field.initial, field.at_source)),
        )
        for name, field in program.state.items()
    ]
    others = [
        repr(getattr(program, name))
        for name in ("combine", "edges", "monotone", "accumulative", "wraps", "message")
    ]
    taken = [(name, aggregate.combine) for name, aggregate in program.aggregates.items()]
    constants = [(name, repr(value)) for name, value in binding.constants.items()]
    settings = config.settings()
    parts = (frozen(binding), values, others, taken, constants, settings, places is None, more)
    return repr(parts), binding.view.rows
