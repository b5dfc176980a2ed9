"""Vertex programs over edges in host memory: in supersteps that push, or asynchronous rounds."""

from __future__ import annotations

from typing import Any

from dask_graphgpu.engine import limits
from dask_graphgpu.engine.gpu import layered
from dask_graphgpu.engine.gpu.checkpoints import Beginning
from dask_graphgpu.engine.gpu.fewer_edges import shrinking
from dask_graphgpu.engine.gpu.settings import every_sends
from dask_graphgpu.engine.gpu.sizes import bytes_of_vertices
from dask_graphgpu.engine.gpu.superstep import Superstep
from dask_graphgpu.engine.gpu.synchronous import Synchronous
from dask_graphgpu.engine.options import RunOptions, configured_direction
from dask_graphgpu.engine.plan import Plan, plan, with_known_counts
from dask_graphgpu.engine.schedule import is_forced
from dask_graphgpu.engine.state import Binding, State
from dask_graphgpu.engine.tiered import dense, disk, near_far
from dask_graphgpu.engine.tiered.arrays import TieredArrays
from dask_graphgpu.engine.tiered.disk import transfer_of
from dask_graphgpu.engine.tiered.packed import bytes_of_edge
from dask_graphgpu.engine.tiered.rounds import Asynchronous, ResidentFirst
from dask_graphgpu.engine.tiered.supersteps import SegmentCarrier
from dask_graphgpu.errors import EngineUnavailable, InvalidArgument
from dask_graphgpu.partition.view import View
from dask_graphgpu.program import VertexProgram


def run(program: VertexProgram, view: View, options: RunOptions) -> State:
    """Run a vertex program, compiled; as `engine.gpu.run`, always pushed.

    Where there are rounds (``graphgpu.rounds``), these are counted and not supersteps: monotone
    programs without ``max_supersteps``, which update in place elsewhere, have them unless
    "synchronous" is asked for. ``targets`` end a run earlier in near-far order alone.

    Raises
    ------
    InvalidArgument
        Rounds that the program cannot have, or with a number of supersteps; near-far order where
        edges are not to be read where they lie.
    EngineUnavailable
        ``cutoff`` but in near-far order, a direction other than "push", or sums of integers that are checked.
    """
    program = with_known_counts(program, options.sources)
    binding = Binding(program, view, options.constants)
    how = plan(binding, options)
    if view.levels is None or not how.any_order:  # else it is swept, in any order
        rounds, way = limits.configured_rounds(), transfer_of(binding.send)
        by_priority = how.any_order and _may_be_near_far(rounds, way)
        check_pushed(
            binding,
            None if by_priority else options.cutoff,
            "the graph needs more than graphgpu.device-memory-limit, and its edges are pushed in supersteps",
            "raise the limit",
        )
        check_in_place(rounds, how)
        if rounds == "asynchronous":
            check_asynchronous(how)
    return run_planned(how)


def run_planned(how: Plan) -> State:
    """Run a program whose arguments and settings were checked."""
    binding, options, places = how.binding, how.options, how.starts
    cutoff, report, view = options.cutoff, options.report, binding.view
    if view.levels is not None and how.any_order:
        return layered.run(how)
    way, kinds = disk.transfer_of(binding.send), disk.kinds_of(binding.send)
    rounds = limits.configured_rounds()
    by_priority = how.any_order and _may_be_near_far(rounds, way)
    all_send = rounds != "asynchronous" and every_sends(binding, places)
    size = dense.bytes_of_edge(binding) if all_send else bytes_of_edge(binding)
    what = f"the program on {view.num_vertices:,} vertices"
    cut = disk.cut_of(binding.send, size, bytes_of_vertices(binding), what)
    if by_priority and (rounds == "near-far" or cutoff is not None or near_far.pays(binding, cut)):
        return shrinking(cut, report, near_far.prepared(how))
    if all_send:
        return shrinking(cut, report, dense.prepared(how, way))
    kind = Asynchronous if rounds == "asynchronous" else SegmentCarrier
    if rounds in ("auto", "resident-first") and improves(how):
        kind = ResidentFirst

    beginning = Beginning(options.keeper, how.any_order, cutoff)

    def attempt(cut: limits.Cut) -> State:
        arrays = TieredArrays(binding, places, cut)
        beginning(arrays)
        transfer = kinds[1](arrays.tier, way, arrays.edge_view.defines)
        superstep = Superstep(arrays, report, in_parts=True)
        engine = Synchronous(superstep, kind(superstep, transfer))
        return engine.run(options, beginning.keeping(engine))

    return shrinking(cut, report, attempt)


def _may_be_near_far(rounds: str, way: str) -> bool:
    """Whether the settings leave it to kernels to read edges where they lie, in any order."""
    reads = way in ("auto", "zero-copy")
    if rounds == "near-far" and not reads:
        raise InvalidArgument(
            f"graphgpu.rounds is 'near-far', which reads edges where they lie, and graphgpu.transfer "
            f"is {way!r}: use 'zero-copy' or 'auto'"
        )
    return reads and rounds in ("auto", "near-far")


def improves(how: Plan) -> bool:
    """Whether a program improves values until none improves, in whatever order."""
    return how.binding.program.in_place and how.options.max_supersteps is None


def check_asynchronous(how: Plan) -> None:
    """Raise InvalidArgument where a run cannot have asynchronous rounds."""
    program = how.binding.program
    if not (program.in_place or program.accumulative):
        raise InvalidArgument(
            "graphgpu.rounds is 'asynchronous', and the program depends on the order of its "
            "supersteps: it is neither monotone nor accumulative=True; use 'synchronous'"
        )
    if how.options.exactly is not None:
        raise InvalidArgument(
            "graphgpu.rounds is 'asynchronous', and a number of supersteps was asked for, which "
            "such rounds do not have: use 'synchronous'"
        )


def check_in_place(rounds: str, how: Plan) -> None:
    """Raise where the rounds that are asked for are not those of a run."""
    if rounds in ("resident-first", "near-far") and not improves(how):
        raise InvalidArgument(
            f"graphgpu.rounds is {rounds!r}, which is of monotone programs without max_supersteps: "
            "use 'auto' or 'synchronous'"
        )


def check_pushed(binding: Binding, cutoff: Any, why: str, instead: str) -> None:
    """Raise where a run cannot be in supersteps that push.

    Parameters
    ----------
    why, instead : str
        Why it has to be, and what else can be done about it.

    Raises
    ------
    EngineUnavailable, InvalidArgument
    """
    check_settings(why, instead)
    reason = None
    if cutoff is not None:
        reason = "cutoff= is of runs in place: leave it out"
    elif binding.shadowed("sum"):
        reason = "sums of integers that are checked are not pushed: declare a float, or wraps=True"
    if reason is not None:
        raise _unavailable(why, reason, instead)


def check_settings(why: str, instead: str) -> None:
    """Raise where the settings ask for what edges in parts cannot have; see `check_pushed`."""
    if configured_direction() not in ("auto", "push"):
        reason = f"graphgpu.direction is {configured_direction()!r}: use 'auto' or 'push'"
        raise _unavailable(why, reason, instead)
    if is_forced():
        raise InvalidArgument(
            "graphgpu.filter, fusion, combine, gather and tail are of graphs on the device alone: "
            f"{why}; leave them as they are, or {instead}"
        )


def _unavailable(why: str, reason: str, instead: str) -> Exception:
    return EngineUnavailable(f"{why}. {reason}; or {instead}")
