"""Measure our algorithms beside SciPy, NetworKit, igraph, python-graphblas and polars, in one run.

    python tests/benchmarks/compare.py --scale 20 --grid 1000 --graphs FOLDER \
        --names git-v2.0.0 ego-twitter cnr-2000 osm-andorra

prints Markdown: the versions, medians of the kernel alone on a built graph (compiled before) and of
the way from Parquet file to Parquet file, each beside the fastest peer, every peer's own time, and
the exact calls. With ``--turns 12`` it prints kernels only, the least of so many calls that take turns:
for machines that have other work.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import platform
import statistics
import tempfile
import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gap import gap
from graphs import BenchmarkGraph, grid, real, rmat
from ours import CALLS, Ours
from peers import PEERS, Peer

UNDIRECTED = {"ego-twitter", "email-enron", "california-road", "luxembourg-osm"}
LIBRARIES = (
    "numba", "numpy", "dask", "pyarrow", "scipy", "networkit", "igraph", "python-graphblas", "polars",
)  # fmt: skip
REPEATS = 9
SHORTEST = 1.0  # seconds of repeats at least
LONG = 2.0  # seconds from which a peer's first call is the only one

PATH_COUNTS = ("ssnsp", "betweenness", "edge betweenness")
HOPELESS = 2.0  # a peer whose parts take so many times the best is not run end to end

# What is required: so many times as fast as the best library, or this multiple of GAP's time.
FASTER, BESIDE_GAP = 2.0, 1.25


@dataclass(frozen=True)
class Row:
    """Milliseconds of one algorithm on one graph; of the peers by name."""

    graph: str
    algorithm: str
    kernel: float
    kernels: dict[str, float]
    whole: float
    wholes: dict[str, float]


def median_ms(call: Callable[[], Any], long: float = float("inf")) -> float:
    """Median of at least three and at most ``REPEATS`` calls, after one that is not counted.

    A first call of more than ``long`` seconds is the only one.
    """
    seconds = [_seconds(call)]
    if seconds[0] < long:
        seconds.clear()
    while len(seconds) < 3 and not (seconds and seconds[0] >= long):
        seconds.append(_seconds(call))
    while 3 <= len(seconds) < REPEATS and sum(seconds) < SHORTEST:
        seconds.append(_seconds(call))
    return 1e3 * statistics.median(seconds)


def _seconds(call: Callable[[], Any]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def compare(
    graph: BenchmarkGraph, peers: list[type[Peer]], algorithms: Collection[str] = tuple(CALLS)
) -> Iterator[Row]:
    """One row an algorithm."""
    ours, theirs = Ours(graph), [peer(graph) for peer in peers]
    built: dict[str, float] = {}  # milliseconds of reading and building
    with tempfile.TemporaryDirectory() as folder:
        mine, out = Path(folder) / "ours", Path(folder) / "theirs.parquet"
        for algorithm in algorithms:
            if algorithm in PATH_COUNTS and graph.name.startswith("grid"):
                continue  # more paths than int64 counts
            source = graph.starts_of(algorithm)
            able = [peer for peer in theirs if peer.does(algorithm)]
            kernels: dict[str, float] = {}
            wholes: dict[str, float] = {}
            for peer in able:
                start = time.perf_counter()
                call = peer.kernel(algorithm, source)
                built.setdefault(peer.name, 1e3 * (time.perf_counter() - start))
                kernels[peer.name] = median_ms(call, LONG)
                # One that is hopeless by its parts is left out: builds may take half a minute.
                parts = built[peer.name] + kernels[peer.name]
                if parts < HOPELESS * min(wholes.values(), default=float("inf")):
                    whole = type(peer).end_to_end(graph, algorithm, source, out)
                    wholes[peer.name] = median_ms(whole, LONG)
            yield Row(
                graph.name,
                algorithm,
                median_ms(ours.kernel(algorithm, source)),
                kernels,
                median_ms(ours.end_to_end(algorithm, source, mine)),
                wholes,
            )


def in_turns(
    graph: BenchmarkGraph, peers: list[type[Peer]], algorithm: str, turns: int
) -> dict[str, float]:
    """Least milliseconds of the kernels of all sides, ours first, that take turns.

    Each turn starts with the next of them: who comes after a library pays for what that has freed. Of a peer whose
    first call takes more than ``LONG`` seconds that is the only one; our first may compile, and our second make
    in-edges.
    """
    source = graph.starts_of(algorithm)
    sides = [Ours(graph), *(peer(graph) for peer in peers)]
    able = [side for side in sides if isinstance(side, Ours) or side.does(algorithm)]
    calls = {side.name: side.kernel(algorithm, source) for side in able}
    for _ in range(2):
        calls[Ours.name]()
    least = {name: _seconds(call) for name, call in calls.items()}
    often = {name: call for name, call in calls.items() if least[name] < LONG}
    least.update(dict.fromkeys(often, float("inf")))
    names = list(often)
    for turn in range(turns):
        for place in range(len(names)):
            name = names[(turn + place) % len(names)]
            least[name] = min(least[name], _seconds(often[name]))
    return {name: 1e3 * seconds for name, seconds in least.items()}


def turns_table(
    graphs: list[BenchmarkGraph], peers: list[type[Peer]], algorithms: list[str], turns: int
) -> Iterator[str]:
    """The lines of a table of `in_turns`, as they are measured."""
    names = [Ours.name, *(peer.name for peer in peers)]

    def rows() -> Iterator[list[str]]:
        for graph in graphs:
            for algorithm in algorithms:
                if algorithm in PATH_COUNTS and graph.name.startswith("grid"):
                    continue
                least = in_turns(graph, peers, algorithm, turns)
                mine, *others = least.values()
                ratio = f"{min(others) / mine:.1f}" if others else "-"
                yield [graph.name, algorithm, *(_time(least, name) for name in names), ratio]

    yield from _markdown(["graph", "algorithm", *names, "ratio to the best"], rows())


def meets(row: Row) -> tuple[str, str]:
    """Whether the kernel and the whole way are as fast as is required; "-" where nothing compares."""
    known = gap(row.graph, row.algorithm)
    beside = known is not None and row.kernel <= BESIDE_GAP * known
    if row.algorithm == "bfs" and row.graph.startswith(("grid", "git")):
        beside = beside and row.kernel <= min(row.kernels.values())
    kernel = beside or row.kernel * FASTER <= min(row.kernels.values(), default=0)
    whole = row.whole * FASTER <= min(row.wholes.values(), default=0)
    return (
        "yes" if kernel else "no" if row.kernels or known else "-",
        "yes" if whole else "no" if row.wholes else "-",
    )


def _beside(mine: float, theirs: dict[str, float]) -> tuple[str, str, str]:
    """Our time, the best of theirs with its name, and the ratio."""
    if not theirs:
        return f"{mine:.1f}", "-", "-"
    best = min(theirs, key=lambda name: theirs[name])
    return f"{mine:.1f}", f"{theirs[best]:.1f} {best}", f"{theirs[best] / mine:.1f}"


def table(rows: list[Row]) -> Iterator[str]:
    """The lines of the main table."""
    columns = ("ours", "best peer", "ratio", "met")
    kernel = [f"kernel: {name}" for name in (*columns[:3], "GAP", "met")]
    yield from _markdown(
        ["graph", "algorithm", *kernel, *(f"end to end: {name}" for name in columns)],
        (
            [
                row.graph,
                row.algorithm,
                *_beside(row.kernel, row.kernels),
                _shown(gap(row.graph, row.algorithm)),
                meets(row)[0],
                *_beside(row.whole, row.wholes),
                meets(row)[1],
            ]
            for row in rows
        ),
    )


def every_peer(rows: list[Row], peers: list[type[Peer]]) -> Iterator[str]:
    """Each peer's time, kernel / end to end."""
    names = [peer.name for peer in peers]
    yield from _markdown(
        ["graph", "algorithm", *names],
        (
            [
                row.graph,
                row.algorithm,
                *(f"{_time(row.kernels, name)} / {_time(row.wholes, name)}" for name in names),
            ]
            for row in rows
        ),
    )


def calls(peers: list[type[Peer]]) -> Iterator[str]:
    """The exact calls."""
    yield from _markdown(
        ["library", "algorithm", "call"],
        (
            [peer.name, algorithm, f"`{call}`"]
            for peer in peers
            for algorithm, call in peer.calls.items()
        ),
    )


def _time(times: dict[str, float], name: str) -> str:
    return f"{times[name]:.1f}" if name in times else "-"


def _shown(time: float | None) -> str:
    return "-" if time is None else f"{time:g}"


def _markdown(heads: list[str], rows: Any) -> Iterator[str]:
    yield "| " + " | ".join(heads) + " |"
    yield "|" + " --- |" * len(heads)
    for row in rows:
        yield "| " + " | ".join(row).replace("A | A.T", "A \\| A.T") + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scale", type=int, nargs="*", default=[], help="R-MAT scales")
    parser.add_argument("--grid", type=int, nargs="*", default=[], help="sides of square grids")
    parser.add_argument("--graphs", type=Path, help="folder with Parquet files of real graphs")
    parser.add_argument("--names", nargs="*", default=[], help="which of them")
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "graph-cache")
    parser.add_argument("--peers", nargs="*", default=list(PEERS), choices=list(PEERS))
    parser.add_argument("--algorithms", nargs="*", default=list(CALLS), choices=list(CALLS))
    parser.add_argument("--turns", type=int, help="kernels only, in so many turns")
    options = parser.parse_args()
    graphs = [
        real(
            options.graphs / f"{name}.parquet",
            directed=name not in UNDIRECTED,
            folder=options.cache,
        )
        for name in options.names
    ]
    graphs += [rmat(scale, 16, options.cache) for scale in options.scale]
    graphs += [grid(side, options.cache) for side in options.grid]
    versions = (f"{name} {importlib.metadata.version(name)}" for name in LIBRARIES)
    print(f"{platform.machine()}, Python {platform.python_version()}, {', '.join(versions)}")
    peers = [PEERS[name] for name in options.peers]
    if options.turns:
        for line in turns_table(graphs, peers, options.algorithms, options.turns):
            print(line, flush=True)
        return
    rows: list[Row] = []
    for graph in graphs:
        started = time.perf_counter()
        rows += compare(graph, peers, options.algorithms)
        print(f"{graph.name}: {time.perf_counter() - started:.0f} s", flush=True)
    for part in (table(rows), every_peer(rows, peers), calls(peers)):
        print("", *part, sep="\n")


if __name__ == "__main__":
    main()
