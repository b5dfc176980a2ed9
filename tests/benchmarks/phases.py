"""What each phase of a whole job of ours takes, by the number of cores.

    python tests/benchmarks/phases.py --jobs pairs edges --millions 20 --cores 1 2 4 8 16 --turns 3

Jobs and their data are those of `jobs.py`, each in a process of its own that has done the job on a small file before.
A phase is a function of the package that a job calls; while it calls another, the time is the other's. What is between
phases is the rest. Prints Markdown: the median seconds of the turns.
"""

from __future__ import annotations

import argparse
import functools
import importlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import jobs

PHASES = {
    "reading": ["ingest read_parquet_edges"],
    "ordering ids": ["partition.id_table IdTable.distinct"],
    "building": ["ingest build", "ingest build_edge_list"],
    "method": ["execute execute"],
    "writing": ["io.output _write_partition"],
    "syncing": ["io.replace _sync_tree"],
}


def watch() -> list[tuple[float, float, str]]:
    """Have the functions of the phases say when they began and ended, and of which phase they are."""
    spans: list[tuple[float, float, str]] = []

    def timed(phase: str, call: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(call)
        def watched(*given: Any, **more: Any) -> Any:
            begun = time.perf_counter()
            try:
                return call(*given, **more)
            finally:
                spans.append((begun, time.perf_counter(), phase))

        return watched

    for phase, functions in PHASES.items():
        for function in functions:
            module, name = function.split()
            *owners, last = name.split(".")
            owner = importlib.import_module(f"dask_graphgpu.{module}")
            owner = functools.reduce(getattr, owners, owner)
            setattr(owner, last, timed(phase, getattr(owner, last)))
    return spans


def seconds_of(spans: list[tuple[float, float, str]]) -> Counter[str]:
    """How long each phase was the one that began last of those that were under way."""
    seconds: Counter[str] = Counter()
    times = sorted({each for begun, ended, _ in spans for each in (begun, ended)})
    for lo, hi in pairwise(times):
        under_way = [span for span in spans if span[0] <= lo and hi <= span[1]]
        if under_way:
            seconds[max(under_way)[2]] += hi - lo
    return seconds


def child(job: str, folder: Path, cores: int) -> None:
    """Do a job on a small file, then on a large one; print the seconds of the second's phases."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])
    spans = watch()
    run = jobs.ours(job, cores)
    with tempfile.TemporaryDirectory() as temporary:
        run(folder / "few", Path(temporary) / "few")
        spans.clear()
        begun = time.perf_counter()
        run(folder / "many", Path(temporary) / "many")
        whole = time.perf_counter() - begun
    seconds = seconds_of(spans)
    print(json.dumps({**seconds, "rest": whole - sum(seconds.values()), "all": whole}))


def measured(job: str, folder: Path, cores: int) -> dict[str, float]:
    """What a process of its own prints."""
    command = [sys.executable, __file__, "--child", job, str(folder), str(cores)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    row: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return row


def main() -> None:
    """Print a table row for each job and number of cores."""
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2], Path(sys.argv[3]), int(sys.argv[4]))
        return
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", nargs="*", default=["pairs", "edges"], choices=["pairs", "edges"])
    parser.add_argument("--millions", type=float, default=20, help="of rows")
    parser.add_argument("--cores", type=int, nargs="*", default=[1, 2])
    parser.add_argument("--turns", type=int, default=3)
    options = parser.parse_args()
    names = [*PHASES, "rest", "all"]
    print(f"| job | cores | {' | '.join(names)} |\n|{' --- |' * (2 + len(names))}")
    for job in options.jobs:
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary)
            jobs.write(job, folder, options.millions)
            for cores in options.cores:
                rows = [measured(job, folder, cores) for _ in range(options.turns)]
                middle = [statistics.median(row.get(name, 0.0) for row in rows) for name in names]
                cells = [job, str(cores), *(f"{value:.3f}" for value in middle)]
                print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
