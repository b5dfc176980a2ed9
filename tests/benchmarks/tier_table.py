"""The table of Subway's comparison: each program by each way, and how long it has to take at least."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Collection
from functools import partial

import cupy as cp
from gpu import timed
from tier_cases import Case, linked, searched
from tier_ways import Limited, Partitioned, TooLong

from dask_graphgpu.engine import tiered
from dask_graphgpu.engine.gpu.device import DeviceView
from dask_graphgpu.report import Report

REPEATS = 3
LONG = 2.0  # seconds from which a run is done twice more at most
COMPILED = 6.0  # or not at all: up to here it may be kernels that were compiled

# As they are called, `graphgpu.transfer`, and what chooses among segments.
_WAYS = (
    ("PT", "stream", Partitioned),
    ("PT-Opt", "stream", Limited),
    ("Subway-sync", "compact", Limited),
    ("zero-copy", "zero-copy", Limited),
    ("auto", "auto", Limited),
)


def compare(
    cases: dict[str, Case],
    share: float,
    rate: float,
    *,
    limit: float,
    ways: Collection[str] = (),
    layered: bool = False,
) -> None:
    """Print the table.

    Parameters
    ----------
    cases : dict of str to Case
    share : float
        Of the edges' bytes, on the device.
    rate : float
        Of the link, bytes a second.
    limit : float
        Seconds of a run of a way, after which it is given up.
    ways : collection of str
        From PT to Subway-async, beside auto; none: all.
    layered : bool
        Whether layers are built and gone over, too.
    """
    print("| program | way | s | supersteps | parts | GB moved | GB/s |")
    print("| --- | --- | ---: | ---: | --- | ---: | ---: |")
    over: dict[str, list[float]] = {}
    least = []
    for name, case in cases.items():
        seconds = _by_ways(name, case, share, limit, ways)
        seconds |= _by_choice(name, case, share, limit, layered=layered)
        _ = DeviceView.of(case.view).out  # else its first run brings the edges over, and is long
        memory = row(name, "in memory", case.in_memory)
        bound = max(memory, case.least(share, rate))
        least.append(f"{name} {bound:.4f} ({seconds['auto'] / bound:.2f})")
        for label, each in seconds.items():
            over.setdefault(label, []).append(each / seconds["auto"])
    print(f"\nat least (auto over that): {', '.join(least)}")
    means = (f"{label} {statistics.geometric_mean(each):.2f}" for label, each in over.items())
    print(f"geometric means over auto: {', '.join(means)}")


def _by_ways(
    name: str, case: Case, share: float, limit: float, ways: Collection[str]
) -> dict[str, float]:
    """Lines of the ways, in supersteps but for auto and Subway-async; their seconds."""
    seconds = {}
    for label, way, kind in _WAYS:
        if not ways or label in (*ways, "auto"):
            seconds[label] = row(name, label, partial(case.tiered, way, share, kind), limit)
    if case.free is not None and (not ways or "Subway-async" in ways):
        run = partial(case.tiered, "compact", share, Limited, asynchronous=True)
        seconds["Subway-async"] = row(name, "Subway-async", run, limit)
    return seconds


def _by_choice(
    name: str, case: Case, share: float, limit: float, *, layered: bool
) -> dict[str, float]:
    """Lines of what methods do instead, where they do; seconds of the last, and of layers."""
    seconds = {}
    in_place = case.program.in_place and "max_supersteps" not in case.given
    if in_place:
        row(name, "near-far", partial(case.near_far, share), limit)
        seconds["auto"] = row(name, "auto, as chosen", partial(case.chosen, share), limit)
    if name == "components":
        seconds["auto"] = row(name, "auto, linked", partial(linked, tiered, case.view, share))
    if name == "bfs":
        seconds["auto"] = row(name, "auto, search", partial(searched, tiered, case.view, share))
    if layered and in_place:
        case.layered(share)  # builds the layers
        seconds["layered"] = row(name, "layered", partial(case.layered, share))
    return seconds


def row(name: str, way: str, run: Callable[[], Report], limit: float = math.inf) -> float:
    """Print a line of the table; its seconds. A run of more than ``limit`` is given up: that is told instead."""
    reports: list[Report] = []

    def once() -> None:
        Limited.until, Limited.passed = time.perf_counter() + limit, 0
        reports.append(run())

    try:
        began = time.perf_counter()
        once()
        cp.cuda.Device().synchronize()
        seconds = time.perf_counter() - began
        if seconds < LONG:
            seconds = min(timed(once, repeats=REPEATS).calls) / 1e3
        elif seconds < COMPILED:
            seconds = min(timed(once, repeats=1).calls) / 1e3
    except TooLong:
        print(
            f"| {name} | {way} | > {limit:.0f} | {Limited.passed} so far | - | - | - |", flush=True
        )
        return limit
    finally:
        Limited.until = math.inf
    last = reports[-1]
    moved = sum(each["bytes"] for each in last.moved.values())
    parts = ", ".join(f"{each['parts']} {way}" for way, each in last.moved.items()) or "-"
    supersteps = last.limit or sum(each.supersteps for each in last.advances)
    print(
        f"| {name} | {way} | {seconds:.4f} | {supersteps} | {parts} | {moved / 1e9:.3f} | "
        f"{moved / 1e9 / seconds:.1f} |",
        flush=True,
    )
    return seconds
