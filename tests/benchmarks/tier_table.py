"""The table of Subway's comparison: each program by each way, and how long it has to take at least."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Collection
from functools import partial
from typing import Any

import cupy as cp
from tier_cases import Case
from tier_ways import InStreams, Limited, Partitioned, TooLong, Watch

from dask_graphgpu.engine import cpu
from dask_graphgpu.engine.gpu.device import DeviceView
from dask_graphgpu.report import Report

LONG = 2.0  # seconds from which a run is done once more at most
COMPILED = 12.0  # or not at all: up to here it may be what only a first run does
SHORT, OFTEN = 0.02, 10  # seconds below which it is done so many times as often

LINK = 55e9  # bytes a second, of the link as it is taken for the least that a program takes
STREAMED = 0.85  # of that, asked for of what streams
LEAST = 1.3  # times the least that a program takes, asked for
MEANS = {"PT": 4.0, "PT-Opt": 2.0}  # geometric means over ours, asked for

# As they are called, `graphgpu.transfer`, what chooses among segments, and whether rounds are asynchronous.
_WAYS = (
    ("PT", "stream", Partitioned, False),
    ("PT-Opt", "stream", Limited, False),
    ("PT-Opt 32", "stream", InStreams, False),
    ("Subway-sync", "compact", Limited, False),
    ("Subway-async", "compact", Limited, True),
    ("zero-copy", "zero-copy", Limited, False),
)


class Comparison:
    """The tables of one run, graph after graph, and what comes of them.

    Parameters
    ----------
    share : float
        Of the edges' bytes, on the device.
    limit : float
        Seconds of a run of a way, after which it is given up.
    ways : collection of str
        Beside ours and the time in memory; none: all.
    orders : bool
        Also both orders that the engine may choose for monotone programs.
    repeats : int
        Runs of a way after one that is not counted; 0: that one is all.
    """

    def __init__(
        self, share: float, *, limit: float, ways: Collection[str], orders: bool, repeats: int
    ) -> None:
        self._share, self._ways, self._orders = share, ways, orders
        self._table = Table(limit, repeats)
        self._seconds: dict[tuple[str, str], dict[str, float]] = {}  # by graph and program
        self._least: dict[tuple[str, str], float] = {}

    def add(self, graph: str, cases: dict[str, Case]) -> None:
        """Print the table of a graph."""
        print(
            "| program | way | s | rounds | over 80 % | oversized | GB | generation | transfer | compute |"
        )
        print("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
        for name, case in cases.items():
            seconds = self._seconds[graph, name] = {}
            for label, run in _ways(case, self._share, orders=self._orders).items():
                if not self._ways or label in (*self._ways, "ours", "in memory"):
                    seconds[label] = self._table.row(name, label, run)
            self._least[graph, name] = max(seconds["in memory"], case.least(self._share, LINK))
        print(flush=True)

    def conclude(self) -> None:
        """Print the seconds of all, the geometric means, and how far ours is from what is asked for."""
        rows = {key: each for key, each in self._seconds.items() if key in self._least}
        labels = list(dict.fromkeys(label for each in rows.values() for label in each))
        print(f"| graph, program | {' | '.join(labels)} | ours over the least |")
        print("| --- |" + " ---: |" * (len(labels) + 1))
        for key, each in rows.items():
            told = [f"{each[label]:.4f}" if label in each else "-" for label in labels]
            print(
                f"| {', '.join(key)} | {' | '.join(told)} | {each['ours'] / self._least[key]:.2f} |"
            )
        print("\n(A run that was given up counts as long as it may take.)")
        for graph in (*dict.fromkeys(graph for graph, _ in rows), None):
            self._means(graph, [each for key, each in rows.items() if graph in (key[0], None)])
        others = [label for label in labels if label not in ("ours", "CPU", "in memory")]
        for key, each in rows.items():
            faster = [
                f"{n} {each[n]:.4f}" for n in (*others, "CPU") if each.get(n, 9e9) < each["ours"]
            ]
            if faster:
                print(
                    f"faster than ours, {each['ours']:.4f}, on {', '.join(key)}: {', '.join(faster)}"
                )
        over = {key: each["ours"] / self._least[key] for key, each in rows.items()}
        slow = [f"{', '.join(key)} {each:.2f}" for key, each in over.items() if each > LEAST]
        print(f"over {LEAST} times the least: {'; '.join(slow) or 'none'}")
        share, label = self._table.streamed
        print(
            f"fastest to stream, over {LINK / 1e9:.0f} GB/s: {share:.3f} of all its time, {label} (asked: {STREAMED})"
        )

    def _means(self, graph: str | None, rows: list[dict[str, float]]) -> None:
        told = []
        for label in dict.fromkeys(label for each in rows for label in each if label != "ours"):
            ratios = [each[label] / each["ours"] for each in rows if label in each]
            asked = f" (asked: {MEANS[label]:g})" if label in MEANS else ""
            told.append(f"{label} {statistics.geometric_mean(ratios):.2f} of {len(ratios)}{asked}")
        print(f"geometric means over ours, {graph or 'all graphs'}: {', '.join(told)}")


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
        self.streamed = 0.0, ""  # the largest part of the link's rate, in all of a run's time

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
                seconds = once()  # the one before has loaded code
                repeats = self._repeats if seconds < LONG and way != "CPU" else 1
                repeats *= OFTEN if seconds < SHORT else 1
                seconds = min([seconds, *(once() for _ in range(repeats - 1))])
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
        streams = reports[-1].moved.get("stream", {"bytes": 0})["bytes"]
        self.streamed = max(self.streamed, (streams / seconds / LINK, f"{name} by {way}"))
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
