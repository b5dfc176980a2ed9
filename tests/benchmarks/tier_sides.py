"""The table of the GPU alone, the CPU alone and both (``engine="hybrid"``) on one graph."""

from __future__ import annotations

import math
import statistics
from dataclasses import replace
from functools import partial

from gpu import timed
from tier_cases import Case, Method, linked, searched
from tier_table import REPEATS

from dask_graphgpu.engine import hybrid, tiered
from dask_graphgpu.report import Report


def compare_sides(cases: dict[str, Case], share: float) -> None:
    """Print the table of the GPU alone, the CPU alone and both."""
    print(
        "| program | engine | s | supersteps | GPU pages, edges | CPU pages, edges | s an iteration |"
    )
    print("| --- | --- | ---: | ---: | --- | --- | ---: |")
    worst: list[str] = []
    for name, case in cases.items():
        runs = {
            "GPU": partial(case.by, tiered, share),
            "hybrid": partial(case.by, hybrid, share),
            "CPU": case.on_host,
        }
        reported: dict[str, list[Report]] = {label: [] for label in runs}
        seconds = dict.fromkeys(runs, math.inf)
        for label in [*["GPU", "hybrid"] * (REPEATS + 1), *["CPU"] * REPEATS]:  # in turn
            took = timed(
                lambda run=runs[label], into=reported[label]: into.append(run()),  # type: ignore[misc]
                repeats=1,
            )
            seconds[label] = min(seconds[label], took.calls[0] / 1e3)
        steps: dict[str, list[float]] = {}
        for label, reports in reported.items():
            each = [[a.seconds / a.supersteps for a in report.advances] for report in reports]
            same = all(len(one) == len(each[-1]) for one in each)
            steps[label] = [min(some) for some in zip(*each, strict=True)] if same else each[-1]
            sides = reports[-1].sides
            shares = [
                f"{sides[side]['pages']}, {sides[side]['edges']:,}" if sides else "-"
                for side in ("gpu", "cpu")
            ]
            number = sum(a.supersteps for a in reports[-1].advances)
            middle = statistics.median(steps[label] or [math.nan])
            print(
                f"| {name} | {label} | {seconds[label]:.4f} | {number} | {shares[0]} | {shares[1]} | "
                f"{middle:.5f} |",
                flush=True,
            )
        over = f"{name} {seconds['hybrid'] / min(seconds['GPU'], seconds['CPU']):.3f}"
        lengths = {len(some) for some in steps.values()}
        if len(lengths) == 1 and steps["GPU"]:
            better = map(min, steps["GPU"], steps["CPU"])
            ratios = [a / b for a, b in zip(steps["hybrid"], better, strict=True) if b > 1e-4]
            over += f" (an iteration at most {max(ratios, default=0.0):.3f})"
        worst.append(over)
        if case.speeds is None:
            continue
        rates = {each: getattr(case.speeds, each) / 1e9 for each in ("pull", "push", "gpu")}
        beside = case.speeds.cpu_beside * 1e3, case.speeds.gpu_beside * 1e3
        print(
            f"rates of {name}: CPU {rates['pull']:.2f}, its pages {rates['push']:.2f}, GPU "
            f"{rates['gpu']:.2f} G edges/s; beside edges {beside[0]:.2f}, {beside[1]:.2f} ms",
            flush=True,
        )
    print(f"hybrid over the better: {', '.join(worst)}")


def with_methods(cases: dict[str, Case]) -> dict[str, Case]:
    """The cases, a hundred iterations of PageRank, and what methods do in another way than by programs."""
    again = cases["pagerank"].given | {"max_supersteps": 100}
    found = cases | {"pagerank 100": replace(cases["pagerank"], given=again)}
    for name, own in (("bfs", searched), ("components", linked)):
        case = cases[name]
        found[f"{name} method"] = Method(case.program, case.view, {}, None, own=own)
    return found
