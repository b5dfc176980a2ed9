"""Vertex programs whose edges the GPU and the CPU share: in supersteps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dask_graphgpu.engine.hybrid.dispatch import Speeds
    from dask_graphgpu.engine.hybrid.supersteps import HybridSupersteps
    from dask_graphgpu.engine.state import Binding, State
    from dask_graphgpu.engine.tiered.limits import Cut
    from dask_graphgpu.partition.view import View
    from dask_graphgpu.program import VertexProgram
    from dask_graphgpu.report import Report

# What a thread of the CPU is taken for at first: edges a second in a pull and pushed, seconds of a
# vertex, bytes a second that it writes one after the other.
_PULL, _PUSH, _VERTEX, _CLEARS = 2e8, 6e7, 2e-8, 4e9


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
) -> State:
    """Run a vertex program, compiled for both; as `engine.cpu.run`, in supersteps.

    ``targets`` do not end a run earlier. Monotone programs without ``max_supersteps`` run in the
    rounds of `engine.tiered.run` where no ``graphgpu.dispatch`` is asked for: these are counted, and
    have no pages for the CPU.

    Raises
    ------
    EngineUnavailable
        ``cutoff``, a direction other than "push", or sums of integers that are checked.
    InvalidArgument
        Asynchronous rounds, or what else is of graphs on the device.
    LimitTooSmall
        What belongs to vertices needs more than ``graphgpu.device-memory-limit``.

    References
    ----------
    .. [1] Ma et al. Garaph: efficient GPU-accelerated graph processing on a single machine with
       balanced replication. USENIX ATC 2017.
    """
    # No compiler before a run.
    from dask_graphgpu.engine.arguments import check_run
    from dask_graphgpu.engine.hybrid import dispatch
    from dask_graphgpu.engine.state import Binding
    from dask_graphgpu.engine.tiered import limits
    from dask_graphgpu.engine.tiered.arrays import bytes_of_edge
    from dask_graphgpu.engine.tiered.programs import check_pushed
    from dask_graphgpu.engine.tiered.shrinking import shrinking
    from dask_graphgpu.errors import InvalidArgument

    binding = Binding(program, view, constants or {})
    places, _ = check_run(binding, sources, cutoff, targets, max_supersteps)
    check_pushed(binding, cutoff, "engine='hybrid' pushes edges in supersteps", "use engine='cpu'")
    way, rounds = dispatch.configured(), limits.configured_rounds()
    if rounds in ("asynchronous", "near-far"):
        raise InvalidArgument(
            f"graphgpu.rounds is {rounds!r}, and with engine='hybrid' both sides see what the last "
            "superstep has made: use 'auto' or 'synchronous', or engine='gpu'"
        )
    in_rounds = (
        program.in_place and max_supersteps is None and way == "auto" and rounds != "synchronous"
    )
    cut = _cut(binding, bytes_of_edge(binding), bytes_of_vertices(binding), way)

    def attempt(cut: Cut) -> State:
        made = prepared(binding, places, cut, report, in_rounds=in_rounds)
        return made.run(max_supersteps, exact_supersteps)

    return shrinking(cut, report, attempt)


def prepared(
    binding: Binding, places: Any, cut: Cut, report: Report, *, in_rounds: bool
) -> HybridSupersteps:
    """A run that is about to begin, with its edges where ``cut`` says."""
    from dask_graphgpu.engine.hybrid import dispatch
    from dask_graphgpu.engine.hybrid.supersteps import HybridRounds, HybridSupersteps
    from dask_graphgpu.engine.hybrid.transfer import SharedTransfer
    from dask_graphgpu.engine.tiered import limits
    from dask_graphgpu.engine.tiered.arrays import TieredArrays

    arrays, way = TieredArrays(binding, places, cut), dispatch.configured()
    tier, view = arrays.tier, arrays.edge_view
    speeds: Speeds = view.made(
        ("speeds of both sides", binding.program),
        lambda: _speeds(binding, tier.bytes_of_edge),
    )
    transfer = SharedTransfer(
        tier, limits.configured_transfer(), view.defines, speeds, way, *_beside(binding)
    )
    kind = HybridRounds if in_rounds else HybridSupersteps
    return kind(arrays, report, transfer, speeds, way)


def bytes_of_vertices(binding: Binding) -> int:
    """As of `tiered.arrays.bytes_of_vertices`, with the messages that come from the CPU."""
    from dask_graphgpu.engine.tiered import arrays

    vertex = binding.message.itemsize + 1
    return arrays.bytes_of_vertices(binding) + (binding.view.num_vertices + 1) * vertex


def _cut(binding: Binding, edge: int, vertices: int, way: str) -> Cut:
    """What lies where: without a limit all edges are resident, and none where the CPU has to go along them."""
    from dask_graphgpu.engine.tiered import limits

    number, limit = binding.send.num_edges, limits.configured()
    what = f"the program on {binding.view.num_vertices:,} vertices"
    if limit is None:
        cut = limits.Cut(number, 0, number)
    else:
        cut = limits.Cut.of(number, edge, vertices, limit, what)
    if way not in ("cpu", "alternate"):
        return cut
    return limits.Cut(0, cut.segment or limits.BLOCK, number)


def _speeds(binding: Binding, edge: int) -> Speeds:
    """What either side is taken for before it was seen at work: by what the hardware does."""
    import cupy

    from dask_graphgpu.engine.hybrid.dispatch import Speeds
    from dask_graphgpu.engine.tiered import link
    from dask_graphgpu.kernels.cpu.threads import num_threads

    copies, n = link.rates(cupy.cuda.Device().id).copies, binding.view.num_vertices
    threads = num_threads()
    beside = 1e-4 + n * (_VERTEX / threads + 1e-9)
    return Speeds(threads * _PULL, threads * _PUSH, copies / edge, beside, 1.5e-4)


def _beside(binding: Binding) -> tuple[float, float]:
    """Seconds before the CPU's first page, and from its last until the device has its messages."""
    import cupy

    from dask_graphgpu.engine.tiered import link

    rates, n = link.rates(cupy.cuda.Device().id), binding.view.num_vertices
    size = n * (binding.message.itemsize + 1)
    brought = (
        0 if binding.source_only else n * sum(each.itemsize for each in binding.dtypes.values())
    )
    return 3e-4 + size / rates.gathers + brought / rates.copies, 2e-4 + 2 * size / rates.copies
