"""Measure our algorithms beside SciPy's and NetworKit's, in one run on the same cores.

    python tests/benchmarks/compare.py --scale 18 20 --graphs FOLDER --names osm-andorra git-v2.0.0

prints a Markdown table: medians of the kernel alone on a built graph (compiled before) and of the
way from Parquet file to Parquet file, in milliseconds, and how much faster than each peer ours is.
"""

from __future__ import annotations

import argparse
import platform
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from graphs import BenchmarkGraph, grid, real, rmat
from ours import CALLS, Ours
from peers import NetworKit, SciPy

UNDIRECTED = {"ego-twitter", "email-enron", "california-road", "luxembourg-osm"}
SHORTEST = 1.0  # seconds of repeats at least
REPEATS = 5


def median_ms(call: Callable[[], Any]) -> float:
    """Median of at least three and at most ``REPEATS`` calls, after one that is not counted."""
    call()
    seconds: list[float] = []
    while len(seconds) < 3 or (len(seconds) < REPEATS and sum(seconds) < SHORTEST):
        start = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - start)
    return 1e3 * statistics.median(seconds)


def compare(graph: BenchmarkGraph, peers: list[Any]) -> Iterator[tuple[str, ...]]:
    """One row an algorithm: names, then ours, theirs and the ratio, kernel and end to end."""
    ours, theirs, source = Ours(graph), [peer(graph) for peer in peers], graph.source()
    with tempfile.TemporaryDirectory() as folder:
        for algorithm in CALLS:
            mine = median_ms(ours.kernel(algorithm, source))
            whole = median_ms(ours.end_to_end(algorithm, source, Path(folder) / "ours"))
            cells = [f"{mine:.1f}", f"{whole:.0f}"]
            for peer in theirs:
                if algorithm not in peer.calls:
                    cells += ["-", "-"]
                    continue
                kernel = median_ms(peer.kernel(algorithm, source))
                out = Path(folder) / "theirs.parquet"
                end = median_ms(type(peer).end_to_end(graph, algorithm, source, out))
                cells += [f"{kernel:.1f} ({kernel / mine:.1f}x)", f"{end:.0f} ({end / whole:.1f}x)"]
            yield graph.name, algorithm, *cells


def table(graphs: list[BenchmarkGraph], peers: list[Any]) -> Iterator[str]:
    """The lines of a Markdown table."""
    heads = [f"{peer.name} {what}" for peer in peers for what in ("kernel", "end to end")]
    names = ["graph", "algorithm", "ours kernel", "ours end to end", *heads]
    yield "| " + " | ".join(names) + " |"
    yield "|" + " --- |" * len(names)
    for graph in graphs:
        for row in compare(graph, peers):
            yield "| " + " | ".join(row) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scale", type=int, nargs="*", default=[18, 20], help="R-MAT scales")
    parser.add_argument("--grid", type=int, nargs="*", default=[], help="sides of square grids")
    parser.add_argument("--graphs", type=Path, help="folder with Parquet files of real graphs")
    parser.add_argument("--names", nargs="*", default=[], help="which of them")
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "graph-cache")
    options = parser.parse_args()
    graphs = [rmat(scale, 16, options.cache) for scale in options.scale]
    graphs += [grid(side, options.cache) for side in options.grid]
    graphs += [
        real(
            options.graphs / f"{name}.parquet",
            directed=name not in UNDIRECTED,
            folder=options.cache,
        )
        for name in options.names
    ]
    print(f"{platform.machine()}, Python {platform.python_version()}; milliseconds, medians")
    for line in table(graphs, [SciPy, NetworKit]):
        print(line, flush=True)


if __name__ == "__main__":
    main()
