"""The table of Subway's comparison: each program by each way, and how long it has to take at least."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Collection
from functools import partial
from typing import Any

import cupy as cp
from tier_cases import Case
from tier_ways import Limited, Partitioned, TooLong, Watch

from dask_graphgpu.engine import cpu
from dask_graphgpu.engine.gpu.device import DeviceView
from dask_graphgpu.report import Report

LONG = 2.0  # seconds from which a run is done once more at most
COMPILED = 12.0  # or not at all: up to here it may be what only a first run does

# As they are called, `graphgpu.transfer`, what chooses among segments, and whether rounds are asynchronous.
_WAYS = (
    ("PT", "stream", Partitioned, False),
    ("PT-Opt", "stream", Limited, False),
    ("Subway-sync", "compact", Limited, False),
    ("Subway-async", "compact", Limited, True),
    ("zero-copy", "zero-copy", Limited, False),
)


def compare(
    cases: dict[str, Case],
    share: float,
    rate: float,
    *,
    limit: float,
    ways: Collection[str] = (),
    orders: bool = False,
    repeats: int = 3,
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
        Beside ours and the time in memory; none: all.
    orders : bool
        Also both orders that the engine may choose for monotone programs.
    repeats : int
        Runs of a way after one that is not counted; 0: that one is all.
    """
    print(
        "| program | way | s | rounds | over 80 % | oversized | GB | generation | transfer | compute |"
    )
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    table = Table(limit, repeats)
    over: dict[str, list[float]] = {}
    least = []
    for name, case in cases.items():
        seconds = {
            label: table.row(name, label, run)
            for label, run in _ways(case, share, orders=orders).items()
            if not ways or label in (*ways, "ours", "in memory")
        }
        bound = max(seconds["in memory"], case.least(share, rate))
        least.append(f"{name} {bound:.4f} ({seconds['ours'] / bound:.2f})")
        for label, each in seconds.items():
            over.setdefault(label, []).append(each / seconds["ours"])
    print(f"\nat least (ours over that): {', '.join(least)}")
    means = (
        f"{label} {statistics.geometric_mean(each):.2f} of {len(each)}"
        for label, each in over.items()
    )
    print(f"geometric means over ours: {', '.join(means)}")


def _ways(case: Case, share: float, *, orders: bool) -> dict[str, Callable[[], Report]]:
    """What runs a case in each way that it can be run in."""
    made: dict[str, Callable[[], Report]] = {
        label: partial(case.tiered, way, share, kind, asynchronous=free)
        for label, way, kind, free in _WAYS
        if not free or case.free is not None
    }
    improves = (case.free or case.program).in_place and "max_supersteps" not in case.given
    if improves:
        made["layered"] = partial(case.layered, share)
    if orders and case.program.in_place:
        made["rounds"] = partial(case.tiered, "auto", share, Limited)
        made["near-far"] = partial(case.near_far, share)
    made["ours"] = partial(case.ours, share)
    made["CPU"] = case.on_host if case.own is None else partial(case.own, cpu, case.view, 1.0)
    made["in memory"] = partial(_in_memory, case)
    return made


def _in_memory(case: Case) -> Report:
    _ = DeviceView.of(case.view).out  # else its first run brings the edges over, and is long
    return case.in_memory()


class Table:
    """Rows of the table; a run of more than ``limit`` seconds is given up, the others are repeated."""

    def __init__(self, limit: float, repeats: int) -> None:
        self._limit, self._repeats = limit, repeats

    def row(self, name: str, way: str, run: Callable[[], Report]) -> float:
        """Print a line; its seconds, of one that was given up the limit."""
        reports: list[Report] = []

        def once() -> float:
            Limited.limit, Limited.passed = self._limit, 0
            cp.cuda.Device().synchronize()
            began = time.perf_counter()
            reports.append(run())
            cp.cuda.Device().synchronize()
            return time.perf_counter() - began

        try:
            seconds = once()
            if self._repeats and seconds < COMPILED:
                repeats = self._repeats if seconds < LONG and way != "CPU" else 1
                seconds = min(once() for _ in range(repeats))
            watch = Limited.watch = Watch()
            if (
                self._repeats
                and seconds < LONG
                and way not in ("CPU", "in memory", "layered", "near-far")
            ):
                once()
        except TooLong:
            passed = Limited.passed - 1
            print(
                f"| {name} | {way} | > {self._limit:g} | {passed} so far |" + " - |" * 6, flush=True
            )
            return self._limit
        finally:
            Limited.watch = None
        print(f"| {name} | {way} | {seconds:.4f} | {_told(reports[-1], watch)} |", flush=True)
        return seconds


def _told(report: Report, watch: Watch) -> str:
    """Rounds, over 80 %, oversized, gigabytes, and milliseconds of generation, transfer and compute."""
    moved = sum(each["bytes"] for each in report.moved.values())
    rounds = report.limit or sum(each.supersteps for each in report.advances)
    compute, transfer = watch.seconds("compute"), watch.seconds("transfer")
    told: list[Any] = [rounds]
    if compute:
        generation = watch.generation + watch.seconds("find")
        told += [watch.over, watch.oversized, f"{moved / 1e9:.2f}"]
        told += [f"{1e3 * each:.1f}" for each in (generation, transfer, compute)]
    else:
        told += ["-", "-", f"{moved / 1e9:.2f}" if moved else "-", "-", "-", "-"]
    return " | ".join(map(str, told))
