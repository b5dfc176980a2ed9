"""Vertex programs over edges in host memory: in supersteps that push, or asynchronous rounds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    from dask_graphgpu.engine.keeping import Keeper
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
) -> State:
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
    LimitTooSmall
        What belongs to vertices needs more than ``graphgpu.device-memory-limit``.
    """
    # No compiler before a run.
    from dask_graphgpu.engine.arguments import check_run
    from dask_graphgpu.engine.keeping import keeps_senders
    from dask_graphgpu.engine.state import Binding
    from dask_graphgpu.engine.tiered import limits
    from dask_graphgpu.engine.tiered.disk import transfer_of

    binding = Binding(program, view, constants or {})
    places, ends = check_run(binding, sources, cutoff, targets, max_supersteps)
    in_place = program.in_place and max_supersteps is None
    in_steps = max_supersteps is not None or keeps_senders(program, keeper, cutoff)
    if view.levels is None or not in_place or in_steps:  # else it is swept, in any order
        rounds, way = limits.configured_rounds(), transfer_of(binding.send)
        by_priority = in_place and not in_steps and _may_be_near_far(rounds, way)
        check_pushed(
            binding,
            None if by_priority else cutoff,
            "the graph needs more than graphgpu.device-memory-limit, and its edges are pushed in supersteps",
            "raise the limit",
        )
        check_in_place(rounds, in_place=in_place)
        if rounds == "asynchronous":
            check_asynchronous(program, exact=exact_supersteps)
    return run_bound(
        binding, places, ends, cutoff=cutoff, max_supersteps=max_supersteps,
        exact_supersteps=exact_supersteps, report=report, keeper=keeper,
    )  # fmt: skip


def run_bound(
    binding: Binding,
    places: np.ndarray | None,
    ends: np.ndarray | None,
    *,
    cutoff: Any,
    max_supersteps: int | None,
    exact_supersteps: bool,
    report: Report,
    keeper: Keeper | None,
) -> State:
    """As of `run`, with arguments and settings that were checked; sources and targets as `check_run` gives them."""
    from dask_graphgpu.engine.gpu.asked import every_sends
    from dask_graphgpu.engine.gpu.checkpoints import Beginning, keeping_of
    from dask_graphgpu.engine.keeping import keeps_senders
    from dask_graphgpu.engine.tiered import dense, disk, limits, near_far
    from dask_graphgpu.engine.tiered.arrays import TieredArrays, bytes_of_vertices
    from dask_graphgpu.engine.tiered.packed import bytes_of_edge
    from dask_graphgpu.engine.tiered.rounds import Asynchronous, ResidentFirst
    from dask_graphgpu.engine.tiered.shrinking import shrinking
    from dask_graphgpu.engine.tiered.supersteps import TieredSynchronous

    program, view = binding.program, binding.view
    in_steps = max_supersteps is not None or keeps_senders(program, keeper, cutoff)
    if view.levels is not None and program.in_place and not in_steps:
        from dask_graphgpu.engine.tiered import layered

        return layered.run(binding, places, cutoff, report, keeper)
    way, kinds = disk.transfer_of(binding.send), disk.kinds_of(binding.send)
    rounds, in_place = limits.configured_rounds(), program.in_place and max_supersteps is None
    by_priority = in_place and not in_steps and _may_be_near_far(rounds, way)
    all_send = rounds != "asynchronous" and every_sends(binding, places)
    size = dense.bytes_of_edge(binding) if all_send else bytes_of_edge(binding)
    what = f"the program on {view.num_vertices:,} vertices"
    cut = disk.cut_of(binding.send, size, bytes_of_vertices(binding), what)
    if by_priority and (rounds == "near-far" or cutoff is not None or near_far.pays(binding, cut)):
        return shrinking(
            cut, report, near_far.prepared(binding, places, cutoff, ends, report, keeper)
        )
    if all_send:
        given = binding, places, way, max_supersteps, report, keeper
        return shrinking(cut, report, dense.prepared(*given, exact=exact_supersteps))
    kind = Asynchronous if rounds == "asynchronous" else TieredSynchronous
    if rounds in ("auto", "resident-first") and in_place:
        kind = ResidentFirst

    improves = in_place and not in_steps
    beginning = None if keeper is None else Beginning(keeper, improves, cutoff)

    def attempt(cut: limits.Cut) -> State:
        arrays = TieredArrays(binding, places, cut)
        found = None if beginning is None else beginning(arrays)
        transfer = kinds[1](arrays.tier, way, arrays.edge_view.defines)
        engine = kind(arrays, report, transfer)
        kept = keeping_of(engine, keeper, found, in_place=improves)
        return engine.run(max_supersteps, exact_supersteps, kept)

    return shrinking(cut, report, attempt)


def _may_be_near_far(rounds: str, way: str) -> bool:
    """Whether the settings leave it to kernels to read edges where they lie, in any order."""
    from dask_graphgpu.errors import InvalidArgument

    reads = way in ("auto", "zero-copy")
    if rounds == "near-far" and not reads:
        raise InvalidArgument(
            f"graphgpu.rounds is 'near-far', which reads edges where they lie, and graphgpu.transfer "
            f"is {way!r}: use 'zero-copy' or 'auto'"
        )
    return reads and rounds in ("auto", "near-far")


def check_asynchronous(program: VertexProgram, *, exact: bool) -> None:
    """Raise where a program cannot have asynchronous rounds.

    Parameters
    ----------
    exact : bool
        Whether a number of supersteps is asked for.

    Raises
    ------
    InvalidArgument
    """
    from dask_graphgpu.errors import InvalidArgument

    if not (program.in_place or program.accumulative):
        raise InvalidArgument(
            "graphgpu.rounds is 'asynchronous', and the program depends on the order of its "
            "supersteps: it is neither monotone nor accumulative=True; use 'synchronous'"
        )
    if exact:
        raise InvalidArgument(
            "graphgpu.rounds is 'asynchronous', and a number of supersteps was asked for, which "
            "such rounds do not have: use 'synchronous'"
        )


def check_in_place(rounds: str, *, in_place: bool) -> None:
    """Raise where the rounds that are asked for are not those of a run."""
    from dask_graphgpu.errors import InvalidArgument

    if rounds in ("resident-first", "near-far") and not in_place:
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
    from dask_graphgpu.engine.direction import configured_direction
    from dask_graphgpu.engine.schedule import is_forced
    from dask_graphgpu.errors import InvalidArgument

    if configured_direction() not in ("auto", "push"):
        reason = f"graphgpu.direction is {configured_direction()!r}: use 'auto' or 'push'"
        raise _unavailable(why, reason, instead)
    if is_forced():
        raise InvalidArgument(
            "graphgpu.filter, fusion, combine, gather and tail are of graphs on the device alone: "
            f"{why}; leave them as they are, or {instead}"
        )


def _unavailable(why: str, reason: str, instead: str) -> Exception:
    from dask_graphgpu.errors import EngineUnavailable

    return EngineUnavailable(f"{why}. {reason}; or {instead}")
