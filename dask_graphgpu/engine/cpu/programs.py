"""Vertex programs on the CPU."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dask_graphgpu.engine.keeping import Keeper
    from dask_graphgpu.engine.lower import Lowered
    from dask_graphgpu.engine.state import Binding, State
    from dask_graphgpu.partition.view import View
    from dask_graphgpu.program import VertexProgram
    from dask_graphgpu.report import Report


def run(
    program: VertexProgram,
    view: View,
    *,
    sources: Any = None,
    constants: Mapping[str, Any] | None = None,
    cutoff: Any = None,
    targets: Any = None,
    max_supersteps: int | None = None,
    exact_supersteps: bool = False,
    report: Report,
    keeper: Keeper | None = None,
    compiled: tuple[Binding, Lowered] | None = None,
) -> State:
    """Run a vertex program, compiled.

    Parameters
    ----------
    program : VertexProgram
        What to run.
    view : View
        The graph.
    sources : int or array of int, optional
        Dense ids that get ``at_source`` and start active; default: all start active.
    constants : mapping of str to number, optional
        Values in place of the program's own.
    cutoff : number, optional
        Messages of a higher priority are dropped. Needs ``priority=``.
    targets : array of int, optional
        Dense ids; the run ends once their values are final, others' may not be. Needs a
        ``priority=`` that never falls along an edge.
    max_supersteps : int, optional
        Most supersteps; a monotone program runs in supersteps then.
    exact_supersteps : bool
        To reach ``max_supersteps`` is what was asked for, not a failure.
    report : Report
        Gets one row an advance.
    keeper : Keeper, optional
        Has the state kept, and may have one to go on from.
    compiled : tuple, optional
        Of several runs of the program on the view, with its own constants, what they share; see `compile_program`.

    Returns
    -------
    State
        Fields in dense order.

    Raises
    ------
    ProgramError
        A function does not compile, or reads what the graph does not have.
    IntegerOverflow
        An integer does not fit and the program does not say ``wraps=True``.
    NotConverged
        ``max_supersteps`` came before the end.

    Notes
    -----
    Monotone programs update in place: near-far order with a priority, else rounds over a queue, or
    sweeps over in-edges while most vertices are active. Others run in supersteps, each by pull,
    notify-pull or push as ``f``, the share of edges that active vertices send over, and the
    adjacencies at hand suggest; ``graphgpu.direction`` forces one where the program allows it. Where
    the view has layers, monotone programs sweep over them instead.
    """
    # No Numba before a run.
    from dask_graphgpu.engine.arguments import check_run
    from dask_graphgpu.engine.cpu.arrays import Arrays
    from dask_graphgpu.engine.cpu.improving import resumed
    from dask_graphgpu.engine.cpu.in_place import InPlace
    from dask_graphgpu.engine.cpu.layered import Sweeps
    from dask_graphgpu.engine.cpu.synchronous import Synchronous
    from dask_graphgpu.engine.direction import configured_direction
    from dask_graphgpu.engine.keeping import Keeping, begun, keeps_senders
    from dask_graphgpu.engine.loop import run_supersteps
    from dask_graphgpu.engine.lower import lower
    from dask_graphgpu.engine.state import Binding

    binding = Binding(program, view, constants or {}) if compiled is None else compiled[0]
    places, ends = check_run(binding, sources, cutoff, targets, max_supersteps)
    lowered = lower(binding) if compiled is None else compiled[1]
    arrays = Arrays(binding, lowered, places)
    report.limit = max_supersteps if exact_supersteps else None
    in_steps = max_supersteps is not None or keeps_senders(program, keeper, cutoff)
    in_steps = in_steps or (cutoff is None and configured_direction() in ("pull", "notify-pull"))
    in_place = program.in_place and not in_steps
    kept = None
    if keeper is not None:
        kept = begun(keeper, program, binding, arrays.state, in_place, cutoff)
    if in_place:
        if kept is not None:
            places = resumed(arrays, kept)
        if view.levels is not None:
            return Sweeps(arrays, places, cutoff, report).run(keeper)
        return InPlace(arrays, places, cutoff, ends, report).run(keeper)
    engine = Synchronous(arrays, report)
    keeping = None if keeper is None else Keeping(engine, keeper, kept)
    return run_supersteps(
        binding, engine, arrays.aggregates, max_supersteps, exact_supersteps, keeping
    )


def compile_program(program: VertexProgram, view: View) -> tuple[Binding, Lowered]:
    """What several runs of a program on a view share."""
    from dask_graphgpu.engine.lower import lower
    from dask_graphgpu.engine.state import Binding

    binding = Binding(program, view)
    return binding, lower(binding)
