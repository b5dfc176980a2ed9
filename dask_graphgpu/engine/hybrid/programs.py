"""Vertex programs whose edges the GPU and the CPU share: in supersteps."""

from __future__ import annotations

import math
from typing import Any

import cupy

from dask_graphgpu.engine import limits
from dask_graphgpu.engine.gpu import host, sizes
from dask_graphgpu.engine.gpu.checkpoints import Beginning
from dask_graphgpu.engine.gpu.device import DeviceView
from dask_graphgpu.engine.gpu.fewer_edges import shrinking
from dask_graphgpu.engine.gpu.settings import every_sends
from dask_graphgpu.engine.gpu.superstep import Superstep
from dask_graphgpu.engine.hybrid.asynchronous import SharedRounds
from dask_graphgpu.engine.hybrid.cpu_side import CpuSide
from dask_graphgpu.engine.hybrid.disk_pages import SharedDiskTransfer
from dask_graphgpu.engine.hybrid.shared_pages import SharedPages
from dask_graphgpu.engine.hybrid.supersteps import HybridSupersteps
from dask_graphgpu.engine.hybrid.transfer import Lending, SharedTransfer
from dask_graphgpu.engine.limits import Cut
from dask_graphgpu.engine.options import RunOptions
from dask_graphgpu.engine.page_dispatch import AT_ONCE, Page, Pages
from dask_graphgpu.engine.paged.rates import rates_of
from dask_graphgpu.engine.paged.synchronous import bytes_of_vertices as bytes_on_host
from dask_graphgpu.engine.plan import plan, with_known_counts
from dask_graphgpu.engine.speeds import Speeds, alpha, read_alone, streams, streams_of_disk
from dask_graphgpu.engine.state import Binding, State
from dask_graphgpu.engine.tiered import disk, link, supersteps
from dask_graphgpu.engine.tiered.arrays import TieredArrays
from dask_graphgpu.engine.tiered.packed import bytes_of_edge, num_arrays
from dask_graphgpu.engine.tiered.programs import (
    check_asynchronous,
    check_in_place,
    check_pushed,
    improves,
    run_planned,
)
from dask_graphgpu.engine.tiered.rounds import ResidentFirst
from dask_graphgpu.engine.tiered.supersteps import SegmentCarrier
from dask_graphgpu.errors import InvalidArgument, LimitTooSmall
from dask_graphgpu.kernels.cpu.threads import num_threads
from dask_graphgpu.partition.paged.sort import PagedAdjacency
from dask_graphgpu.partition.view import View
from dask_graphgpu.program import VertexProgram
from dask_graphgpu.report import Report

# What a thread of the CPU is taken for at first: edges a second in a pull and pushed, seconds of a
# vertex.
_PULL, _PUSH, _VERTEX = 2e8, 6e7, 2e-8


def run(program: VertexProgram, view: View, options: RunOptions) -> State:
    """Run a vertex program, compiled for both; as `engine.cpu.run`, in supersteps.

    ``targets`` do not end a run earlier. Where the CPU could not shorten any superstep, by the rates
    that are known at the start, and no ``graphgpu.dispatch`` is asked for, it is `engine.tiered.run`
    that runs. Monotone programs without ``max_supersteps`` have its rounds also where both sides
    work: these are counted, and have no pages for the CPU.

    Raises
    ------
    EngineUnavailable
        ``cutoff``, a direction other than "push", or sums of integers that are checked.
    InvalidArgument
        Rounds that the program cannot have, or what else is of graphs on the device.
    """
    program = with_known_counts(program, options.sources)
    binding = Binding(program, view, options.constants)
    how, report, keeper = plan(binding, options), options.report, options.keeper
    check_pushed(
        binding, options.cutoff, "engine='hybrid' pushes edges in supersteps", "use engine='cpu'"
    )
    way, rounds = limits.configured_dispatch(), limits.configured_rounds()
    if rounds == "near-far":
        raise InvalidArgument(
            "graphgpu.rounds is 'near-far', which engine='hybrid' has no pages for: use 'auto', "
            "'synchronous' or 'asynchronous', or engine='gpu'"
        )
    check_in_place(rounds, how)
    on_disk = disk.is_on_disk(binding.send)
    if rounds == "asynchronous":
        check_asynchronous(how)
        if on_disk and way not in ("auto", "gpu"):
            raise InvalidArgument(
                f"graphgpu.dispatch is {way!r}, and asynchronous rounds over edges on disk are the GPU's "
                "alone: use 'auto' or 'gpu', or graphgpu.rounds 'synchronous'"
            )
    in_rounds = improves(how) and way == "auto" and rounds in ("auto", "resident-first")
    alone = on_disk and rounds == "asynchronous"
    if alone or _is_gpus(binding, way, in_rounds=in_rounds):
        state = run_planned(how)
        gpu_alone(report)
        if on_disk:
            _note_stream(binding, report)
        return state

    cut = _cut(binding, way)
    beginning = Beginning(keeper, how.any_order, options.cutoff)

    def attempt(cut: Cut) -> State:
        arrays = TieredArrays(binding, how.starts, cut)
        beginning(arrays)
        made = prepared(arrays, report, in_rounds=in_rounds)
        return made.run(options, beginning.keeping(made))

    return shrinking(cut, report, attempt)


def prepared(arrays: TieredArrays, report: Report, *, in_rounds: bool) -> HybridSupersteps:
    """A run of both sides that is about to begin."""
    way, binding, tier = limits.configured_dispatch(), arrays.binding, arrays.tier
    speeds, transfer = speeds_of(binding), disk.transfer_of(binding.send)
    lending = Lending(speeds, way, *_beside(binding))
    brings: type[Any] = SharedDiskTransfer if disk.is_on_disk(binding.send) else SharedTransfer
    shared = brings(tier, transfer, arrays.edge_view.defines, lending)
    superstep = Superstep(arrays, report, in_parts=True)
    cpu = CpuSide(superstep, tier.kept, speeds, way)
    carrier: SegmentCarrier
    if limits.configured_rounds() == "asynchronous":
        carrier = SharedRounds(superstep, shared, lending, cpu)
    elif in_rounds:  # pages have an order there, and the GPU goes along all of them
        carrier = ResidentFirst(superstep, shared)
    else:
        carrier = SharedPages(superstep, shared, lending, cpu)
    return HybridSupersteps(superstep, carrier, cpu)


def _is_gpus(binding: Binding, way: str, *, in_rounds: bool) -> bool:
    """Whether a run is left to the GPU engine: nothing is asked for, and the CPU could not shorten it."""
    limit = limits.configured()
    if disk.is_on_disk(binding.send):
        limit = disk.limit_of(binding.send)
    if way != "auto":
        return False
    if limit is None:
        return not _has_room(binding)
    speeds, rates = speeds_of(binding), link.rates(cupy.cuda.Device().id)

    def judge() -> bool:
        try:
            cut = _cut(binding, way)
        except LimitTooSmall:  # what the GPU alone keeps of vertices may be less
            if disk.is_on_disk(binding.send) or host.room(binding.send) is not None:
                return False  # also on the host
            cut = limits.Cut(0, limits.BLOCK, binding.send.num_edges)
        return may_pay(binding, cut, speeds, in_rounds=in_rounds)

    return not speeds.judged((limit, in_rounds, rates.copies, rates.reads, rates.gathers), judge)


def may_pay(binding: Binding, cut: Cut, speeds: Speeds, *, in_rounds: bool) -> bool:
    """Whether the CPU could shorten any superstep of a run, by the rates that are known.

    Parameters
    ----------
    binding : Binding
    cut : Cut
        What lies where.
    speeds : Speeds
    in_rounds : bool
        Whether all pages are the GPU's, and it goes on from few edges by itself.
    """
    resident, edges, on_disk = cut.resident, binding.send.num_edges, disk.is_on_disk(binding.send)
    rest = edges - resident
    if not rest:
        return False
    if not in_rounds:
        pages = Pages([Page(resident, edges, rest)], speeds, "auto", *_beside(binding))
        if pages.worth:
            return True
    if on_disk and not binding.has_gather:
        return False
    rates, gpu, bound = link.rates(cupy.cuda.Device().id), speeds.gpu, 1 - speeds.least_gain
    edge, arrays = bytes_of_edge(binding), num_arrays(binding)
    share, least = 1.0, supersteps.FEW if in_rounds else 1
    while share == 1.0 or share * edges > least:  # of the edges, and of the vertices
        active = share * binding.view.num_vertices
        rows = active * rest / edges
        if on_disk:
            size = streams_of_disk(rows, rest, cut.segment)
        else:
            size = streams(share * rest, rows, rest, edge, arrays, rates, gpu)
        seconds = speeds.gpu_beside + size / gpu
        read = read_alone(share, speeds.random, active, edges, cut.segment) / speeds.disk
        pull, beside = edges / speeds.pull, speeds.cpu_beside
        if alpha(share, speeds.random, pull, seconds, beside, read) < bound:
            return True
        if every_sends(binding, None):
            return False
        share /= 2
    return False


def is_gpus(program: VertexProgram, view: View) -> bool:
    """Whether a method may leave what this program does to the GPU engine's own way of doing it.

    So it is where nothing is asked for, and edges are in host memory and the CPU could not shorten a
    superstep, or on disk: as a program they would be read more often, or be turned over first.
    """
    if limits.configured_rounds() != "auto":
        return False
    binding, way = Binding(program, view, {}), limits.configured_dispatch()
    if way == "auto" and disk.is_on_disk(binding.edges):
        return True
    return _is_gpus(binding, way, in_rounds=program.in_place)


def _note_stream(binding: Binding, report: Report) -> None:
    """Note at what rate edges came from disk to the GPU, in a run of its own."""
    streamed = report.moved.get("stream", {"bytes": 0})["bytes"] / bytes_of_edge(binding)
    speeds, seconds = speeds_of(binding), sum(each.seconds for each in report.advances)
    supersteps = sum(each.supersteps for each in report.advances)
    speeds.step_of_gpu(seconds - (supersteps - 1) * speeds.gpu_beside, streamed, report.disk_waited)


def gpu_alone(report: Report) -> None:
    """Note that the GPU has done all that a report tells of."""
    told = [each for each in report.advances if each.direction != "local"]  # in those of others
    supersteps = sum(each.supersteps for each in told)
    nothing = dict.fromkeys(("supersteps", "alone", "pages", "edges"), 0)
    of_gpu = {
        "supersteps": supersteps, "alone": supersteps,
        "pages": sum(way["parts"] for way in report.moved.values()),
        "edges": sum(each.edges for each in told),
    }  # fmt: skip
    report.sides = {"gpu": of_gpu, "cpu": nothing}


def bytes_of_vertices(binding: Binding) -> int:
    """As of `gpu.sizes.bytes_of_vertices`, with the messages that come from the CPU."""
    vertex = binding.message.itemsize + 1
    return sizes.bytes_of_vertices(binding) + (binding.view.num_vertices + 1) * vertex


def _cut(binding: Binding, way: str) -> Cut:
    """What lies where: without a limit all edges are resident, and none where the CPU has to go along them."""
    number, limit = binding.send.num_edges, limits.configured()
    edge, vertices = bytes_of_edge(binding), bytes_of_vertices(binding)
    what = f"the program on {binding.view.num_vertices:,} vertices"
    least = limits.BLOCK
    if disk.is_on_disk(binding.send):
        cut = disk.cut_of(binding.send, edge, vertices, what)
        least = _require_on_host(binding, cut, edge)
    elif limit is None:
        cut = limits.Cut(number, 0, number)
    else:
        cut = limits.Cut.of(number, edge, vertices, limit, what)
    if way in ("cpu", "alternate"):
        cut = limits.Cut(0, cut.segment or least, number)
    if not disk.is_on_disk(binding.send):
        _require_pinned(binding, cut, edge)
    return cut


def _require_pinned(binding: Binding, cut: Cut, edge: int) -> None:
    """Raise LimitTooSmall where what both sides pin of host memory does not fit beside the graph."""
    left, n, program = host.room(binding.send), binding.view.num_vertices, binding.program
    pinned = host.SMALL + (binding.send.num_edges * edge if cut.resident < cut.num_edges else 0)
    vertex = sum(dtype.itemsize for dtype in binding.dtypes.values()) + binding.message.itemsize
    vertex += 1 + program.has_reached + binding.needs_received
    if binding.source_only and binding.sent_field is None:
        vertex += binding.message.itemsize
    if left is not None and pinned + n * vertex > left:
        raise LimitTooSmall(
            f"the program on {n:,} vertices, on both sides, needs {pinned + n * vertex:,} bytes of pinned host "
            f"memory, of which graphgpu.host-memory-limit leaves {max(left, 0):,} beside the graph: raise it, "
            "or use engine='gpu' or engine='cpu'"
        )


def _has_room(binding: Binding) -> bool:
    """Whether the CPU's side has room on the host, where all edges are on the device."""
    number = binding.send.num_edges
    try:
        _require_pinned(binding, Cut(number, 0, number), 0)
    except LimitTooSmall:
        return False
    return True


def _require_on_host(binding: Binding, cut: Cut, edge: int) -> int:
    """Raise LimitTooSmall where the CPU's side does not fit beside the GPU's; edges of a page."""
    rows, n = binding.send, binding.view.num_vertices
    assert isinstance(rows, PagedAdjacency)
    page = cut.segment or rows.page_edges
    shared = (AT_ONCE + 1) * page * edge + disk.bytes_ahead(rows)
    alone = rows.limits.window_bytes(len(rows.arrays))
    what = f"the program on {n:,} vertices, on both sides with its edges on disk,"
    rows.limits.require(bytes_on_host(binding) + max(shared, alone), what)
    return page


def speeds_of(binding: Binding) -> Speeds:
    """What is known of either side: of the rows, from run to run."""
    view = DeviceView.of(binding.mirror if binding.mirrored else binding.view)
    return view.made(
        ("speeds of both sides", binding.program), lambda: _speeds(binding, bytes_of_edge(binding))
    )


def _speeds(binding: Binding, edge: int) -> Speeds:
    """What either side is taken for before it was seen at work: by what the hardware does."""
    copies, n = link.rates(cupy.cuda.Device().id).copies, binding.view.num_vertices
    threads = num_threads()
    beside = 1e-4 + n * (_VERTEX / threads + 1e-9)
    of_disk, random, rows = math.inf, 1.0, binding.send
    if isinstance(rows, PagedAdjacency):
        seen = rates_of(rows)
        of_disk, random = seen.bytes / edge, seen.random
    pull, gpu = min(threads * _PULL, of_disk), min(copies / edge, of_disk)
    return Speeds(pull, threads * _PUSH, gpu, beside, 1.5e-4, disk=of_disk, random=random)


def _beside(binding: Binding) -> tuple[float, float]:
    """Seconds before the CPU's first page, and from its last until the device has its messages."""
    rates, n = link.rates(cupy.cuda.Device().id), binding.view.num_vertices
    size = n * (binding.message.itemsize + 1)
    brought = (
        0 if binding.source_only else n * sum(each.itemsize for each in binding.dtypes.values())
    )
    return 3e-4 + size / rates.gathers + brought / rates.copies, 2e-4 + 2 * size / rates.copies
