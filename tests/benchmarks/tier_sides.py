"""The GPU alone, the CPU alone and both (``engine="hybrid"``) on one graph: in all, and superstep by superstep."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from unittest.mock import patch

import cupy as cp
from tier_cases import Case, Method

from dask_graphgpu.engine import hybrid, tiered
from dask_graphgpu.engine.hybrid import programs
from dask_graphgpu.report import Report

LEAST = 5  # runs of each
OF_CPU = 1.0  # seconds from which a run of the CPU is the last one


@dataclass
class Side:
    """The runs of an engine."""

    seconds: list[float] = field(default_factory=list)
    reports: list[Report] = field(default_factory=list)

    def time(self, run: Callable[[], Report]) -> float:
        """Run once; its seconds."""
        cp.cuda.Device().synchronize()
        began = time.perf_counter()
        report = run()
        cp.cuda.Device().synchronize()
        self.seconds.append(time.perf_counter() - began)
        self.reports.append(report)
        return self.seconds[-1]

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)

    def forget(self) -> None:
        """What came so far was not counted."""
        self.seconds.clear()
        self.reports.clear()

    @property
    def steps(self) -> dict[tuple[int, str], float]:
        """Median seconds of each superstep, by its number and kind, if all runs had the same."""
        each = [
            {(i, a.direction): a.seconds for i, a in enumerate(report.advances) if a.seconds}
            for report in self.reports
        ]
        same = all(one.keys() == each[0].keys() for one in each)
        return {key: statistics.median(one[key] for one in each) for key in each[0]} if same else {}


def compare_sides(cases: dict[str, Case], share: float, seconds: float) -> None:
    """Print the tables.

    The GPU alone and both sides take turns for about ``seconds`` of each program, after a run of each
    that is not counted. Medians are compared, in all and of each superstep. What the GPU alone, a second
    time, takes over itself in the same way is what such a comparison cannot tell apart. In *judged* it is
    decided between all supersteps who runs the next one, also where no rate speaks for the CPU.
    """
    print("| program | engine | runs | s, least | median | supersteps | GPU pages | CPU pages |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    lines = []
    for name, case in cases.items():
        sides = _measured(case, share, seconds)
        for label, side in sides.items():
            last = side.reports[-1]
            pages = [str(last.sides[one]["pages"]) if last.sides else "-" for one in ("gpu", "cpu")]
            number = sum(a.supersteps for a in last.advances)
            print(
                f"| {name} | {label} | {len(side.seconds)} | {min(side.seconds):.5f} | "
                f"{side.median:.5f} | {number} | {pages[0]} | {pages[1]} |",
                flush=True,
            )
        lines += [
            f"| {name} | {label} | {_ratios(sides, label)} |"
            for label in ("hybrid", "judged", "GPU again")
            if label in sides
        ]
        if case.speeds is not None:
            told = {key: value for key, value in vars(case.speeds).items() if key[0] != "_"}
            print(f"rates of {name}: {told}", flush=True)
    print("\n| program | | over the better of GPU and CPU: medians | least | a superstep at most |")
    print("| --- | --- | ---: | ---: | --- |")
    print("\n".join(lines))


def _measured(case: Case, share: float, seconds: float) -> dict[str, Side]:
    runs = {
        "GPU": partial(case.by, tiered, share),
        "hybrid": partial(case.by, hybrid, share),
        "GPU again": partial(case.by, tiered, share),
    }
    if not isinstance(case, Method):
        runs["judged"] = partial(_judged, case, share)
    sides = {label: Side() for label in (*runs, "CPU")}
    for label, run in runs.items():
        sides[label].time(run)
        sides[label].forget()
    turns, began = list(runs.items()), time.perf_counter()
    while len(sides["GPU"].seconds) < LEAST or time.perf_counter() - began < seconds:
        for label, run in turns:
            sides[label].time(run)
        turns = turns[1:] + turns[:1]  # nobody is always behind the same
    cpu = sides["CPU"]
    cpu.time(case.on_host)  # loads the code
    cpu.forget()
    for _ in range(3):
        if cpu.time(case.on_host) > OF_CPU:
            break
    return sides


def _judged(case: Case, share: float) -> Report:
    """Both sides, superstep by superstep."""
    with patch.object(programs, "_is_gpus", lambda *given, **named: False):
        return case.by(hybrid, share)


def _ratios(sides: dict[str, Side], label: str) -> str:
    """Of medians and of the least, and of the superstep where it is largest: with the better one's milliseconds."""
    gpu, side = sides["GPU"], sides[label]
    cpu = gpu if label == "GPU again" else sides["CPU"]
    whole = side.median / min(gpu.median, cpu.median)
    least = min(side.seconds) / min(*gpu.seconds, *cpu.seconds)
    mine, theirs = side.steps, gpu.steps
    told = "-"
    if mine and mine.keys() == theirs.keys():
        on_host = {i: seconds for (i, _), seconds in cpu.steps.items()}
        same = len(on_host) == len(theirs)
        better = {k: min(s, on_host[k[0]]) if same else s for k, s in theirs.items()}
        worst = max(better, key=lambda key: mine[key] / better[key])
        told = (
            f"{mine[worst] / better[worst]:.3f} (no. {worst[0] + 1}, {1e3 * better[worst]:.3f} ms)"
        )
    return f"{whole:.3f} | {least:.3f} | {told}"


def with_methods(cases: dict[str, Case]) -> dict[str, Case]:
    """The cases, a hundred iterations of PageRank, and what methods do in another way than by programs."""
    again = cases["pagerank"].given | {"max_supersteps": 100}
    found = cases | {"pagerank 100": replace(cases["pagerank"], given=again)}
    for name, case in cases.items():
        if case.own is not None:
            found[f"{name} method"] = Method(case.program, case.view, {}, None, case.own)
    return found
