"""Measure our algorithms beside SciPy's, NetworKit's and igraph's, in one run on the same cores.

    python tests/benchmarks/compare.py --scale 18 20 --graphs FOLDER --names osm-andorra git-v2.0.0

prints a Markdown table: medians of the kernel alone on a built graph (compiled before) and of the
way from Parquet file to Parquet file, in milliseconds, each beside the fastest of the peers.
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
from peers import IGraph, NetworKit, SciPy

PEERS = {peer.name: peer for peer in (SciPy, NetworKit, IGraph)}
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
    """One row an algorithm: ours, the best peer and how many times its time ours is."""
    ours, theirs, source = Ours(graph), [peer(graph) for peer in peers], graph.source()
    with tempfile.TemporaryDirectory() as folder:
        for algorithm in CALLS:
            if algorithm == "path counts" and graph.name.startswith("grid"):
                continue  # more paths than int64 counts
            able = [peer for peer in theirs if algorithm in peer.calls]
            mine = median_ms(ours.kernel(algorithm, source))
            kernels = {peer.name: median_ms(peer.kernel(algorithm, source)) for peer in able}
            whole = median_ms(ours.end_to_end(algorithm, source, Path(folder) / "ours"))
            out = Path(folder) / "theirs.parquet"
            ends = {
                peer.name: median_ms(type(peer).end_to_end(graph, algorithm, source, out))
                for peer in able
            }
            yield graph.name, algorithm, *_cells(mine, kernels), *_cells(whole, ends)


def _cells(mine: float, theirs: dict[str, float]) -> tuple[str, str, str]:
    """Our time, the best of theirs with its name, and the ratio."""
    best = min(theirs, key=lambda name: theirs[name])
    return f"{mine:.1f}", f"{theirs[best]:.1f} {best}", f"{theirs[best] / mine:.1f}"


def table(graphs: list[BenchmarkGraph], peers: list[Any]) -> Iterator[str]:
    """The lines of a Markdown table."""
    columns = ("ours", "best peer", "ratio")
    heads = [f"{what}: {name}" for what in ("kernel", "end to end") for name in columns]
    names = ["graph", "algorithm", *heads]
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
    parser.add_argument("--peers", nargs="*", default=list(PEERS), choices=list(PEERS))
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
    for line in table(graphs, [PEERS[name] for name in options.peers]):
        print(line, flush=True)


if __name__ == "__main__":
    main()
