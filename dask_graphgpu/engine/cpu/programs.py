"""Vertex programs on the CPU."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from dask_graphgpu.engine.cpu.arrays import Arrays
from dask_graphgpu.engine.cpu.improving import resumed
from dask_graphgpu.engine.cpu.in_place import InPlace
from dask_graphgpu.engine.cpu.layered import Sweeps
from dask_graphgpu.engine.cpu.synchronous import Synchronous
from dask_graphgpu.engine.keeping import Keeping, Kept, begun
from dask_graphgpu.engine.loop import run_supersteps
from dask_graphgpu.engine.lower import Lowered, lower
from dask_graphgpu.engine.options import RunOptions
from dask_graphgpu.engine.plan import Plan, plan
from dask_graphgpu.engine.state import Binding, State
from dask_graphgpu.kernels.cpu.threads import at_most, for_blocks, num_threads
from dask_graphgpu.partition.ranks.view import AnyView, RankView
from dask_graphgpu.partition.view import View
from dask_graphgpu.program import VertexProgram
from dask_graphgpu.report import Report


def run(program: VertexProgram, view: AnyView, options: RunOptions) -> State:
    """Run a vertex program, compiled.

    Returns
    -------
    State
        Right for own vertices. On ranks ``id`` in a program is the number, and aggregates and supersteps are the same
        on all of them.

    Raises
    ------
    EngineUnavailable, LimitTooSmall, SpillError
        Of edges on disk; see `paged.synchronous`.

    Notes
    -----
    Monotone programs update in place: near-far order with a priority, else rounds over a queue, or
    sweeps over in-edges while most vertices are active. Others run in supersteps, each by pull,
    notify-pull or push as ``f``, the share of edges that active vertices send over, and the
    adjacencies at hand suggest; ``graphgpu.direction`` forces one where the program allows it. Where
    the view has layers, monotone programs sweep over them instead.

    Of edges on disk too; in place they go as far as the rows at hand lead before others are read (`paged.in_place`).
    Ranks exchange once a superstep, and once more for an aggregate that reads another. In place each runs until nothing
    changes there before they exchange, with ``graphgpu.local-convergence`` set to False one round.
    """
    if not isinstance(view, View):
        from dask_graphgpu.engine.ranks.toward import know_degrees, toward

        whole, binding = toward(program, view, options.constants)
        how = plan(binding, options)
        lowered = lower(binding)
        know_degrees(binding.view, program)
        return _on_ranks(program, whole, how, lowered)
    if view.paged:
        from dask_graphgpu.engine.paged import programs

        return programs.run(program, view, options)
    binding = Binding(program, view, options.constants)
    how = plan(binding, options)
    return run_lowered(how, lower(binding))


def run_lowered(how: Plan, lowered: Lowered) -> State:
    """As `run` on one rank, of a program that is compiled for its graph, whatever the constants and options."""
    binding, options, places = how.binding, how.options, how.starts
    report, keeper = options.report, options.keeper
    arrays = Arrays(binding, lowered, places)
    kept = what_was_kept(binding.program, how, arrays)
    if not how.in_place:
        return in_supersteps(Synchronous(arrays, report), how, kept)
    if kept is not None:
        places = resumed(arrays, kept)
    if binding.view.levels is not None:
        return Sweeps(arrays, places, options.cutoff, report).run(keeper)
    return InPlace(arrays, places, options.cutoff, how.ends, report).run(keeper)


def _on_ranks(program: VertexProgram, whole: RankView, how: Plan, lowered: Lowered) -> State:
    """As `run` on one of several ranks; ``program`` as it was given."""
    from dask_graphgpu.engine.ranks.in_place import RankInPlace, resumed
    from dask_graphgpu.engine.ranks.synchronous import RankSynchronous

    def here(numbers: np.ndarray | None) -> np.ndarray | None:
        return None if numbers is None else whole.places(numbers)[0]

    options, places = how.options, here(how.starts)
    arrays = Arrays(how.binding, lowered, places)
    kept = what_was_kept(program, how, arrays)
    if not how.in_place:
        return in_supersteps(RankSynchronous(arrays, whole, options.report), how, kept)
    if kept is not None:
        places = resumed(arrays, whole, kept)
    own = here(how.ends)
    own = None if own is None else own[own < arrays.owned]
    given = places, options.cutoff, own, options.report, options.keeper
    return RankInPlace(arrays, whole, *given).run()


def what_was_kept(program: VertexProgram, how: Plan, arrays: Arrays) -> Kept | None:
    """What was kept of an earlier run that was the same, where there is something."""
    keeper, cutoff = how.options.keeper, how.options.cutoff
    if keeper is None:
        return None
    return begun(keeper, program, how.binding, arrays.state, how.in_place, cutoff)


def in_supersteps(engine: Synchronous, how: Plan, kept: Kept | None) -> State:
    """Run a program in supersteps, from what was kept of it on where there is something."""
    keeper = how.options.keeper
    keeping = None if keeper is None else Keeping(engine, keeper, kept)
    return run_supersteps(how.binding, engine, engine.arrays.aggregates, how.options, keeping)


def run_each(
    program: VertexProgram, view: View, sources: np.ndarray, options: RunOptions
) -> list[State]:
    """Run a vertex program from each of several sources; what `run` gives of each.

    With at least as many sources as threads each is one thread's, and as many run side by side:
    they wait for nobody. Else they run one after another, each on all threads.
    """
    if num_threads() == 1 or len(sources) < num_threads():
        return [run(program, view, replace(options, sources=[each])) for each in sources]
    binding = Binding(program, view, options.constants)
    lowered, how = lower(binding), plan(binding, replace(options, sources=sources))

    def one(i: int, report: Report) -> State:
        report.limit = options.exactly
        some = sources[i : i + 1].astype(np.int64)
        asked = replace(options, sources=some, report=report)
        return run_lowered(replace(how, options=asked, starts=some), lowered)

    return side_by_side(len(sources), options.report, one)


def side_by_side(number: int, report: Report, work: Callable[[int, Report], Any]) -> list[Any]:
    """What ``work(i, report)`` gives for each i below a number, each by one thread, at the same time on all threads."""
    reports = [Report(report.algorithm) for _ in range(number)]

    def one(lo: int, hi: int) -> Any:
        with at_most(1):
            return work(lo, reports[lo])

    made = for_blocks(one, np.arange(number + 1))
    for advance in (advance for each in reports for advance in each.advances):
        report.advance(**vars(advance))
    return made
