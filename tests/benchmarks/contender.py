"""One contender on one graph: milliseconds of each algorithm, measured in the process that calls this."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from graphs import BenchmarkGraph
from ours import TASKS, Ours
from peers import Peer

from dask_graphgpu.io.result_table import encoding_of

REPEATS = 9
SHORTEST = 1.0  # seconds of repeats at least
LONG = 1.0  # seconds from which a peer's first call is the only one

PATH_COUNTS = ("ssnsp", "betweenness", "edge betweenness")
HOPELESS = 2.0  # a peer whose parts take so many times the best is not run end to end

Cell = dict[str, float]


def can_count(graph: BenchmarkGraph, algorithm: str) -> bool:
    """Whether a graph has no more paths than int64 counts, where an algorithm counts them."""
    return not (algorithm in PATH_COUNTS and graph.name.startswith("grid"))


def our_cells(graph: BenchmarkGraph, algorithms: Sequence[str]) -> Iterator[tuple[str, Cell]]:
    """Of each algorithm our ``kernel`` and ``whole`` way, and what Arrow takes to ``read`` and ``write`` the same."""
    ours = Ours(graph)
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        for algorithm in algorithms:
            source = graph.starts_of(algorithm)
            kernel = median_ms(ours.kernel(algorithm, source))
            whole = median_ms(ours.end_to_end(algorithm, source, out))
            yield algorithm, {"kernel": kernel, "whole": whole, **arrows(graph, algorithm, out)}


def arrows(graph: BenchmarkGraph, algorithm: str, answer: Path) -> Cell:
    """What Arrow takes to read the columns that an algorithm needs, on all cores, and to write its answer."""
    weighted = algorithm in TASKS and TASKS[algorithm][1]
    columns = ["src", "dst", *(["weight"] if weighted else [])]
    table = pq.read_table(answer)
    encoding = encoding_of(table)
    made = answer.with_suffix(".parquet")
    return {
        "read": median_ms(lambda: pq.read_table(graph.path, columns=columns)),
        "write": median_ms(lambda: pq.write_table(table, made, **encoding)),
    }


def peer_cells(
    graph: BenchmarkGraph, kind: type[Peer], algorithms: Sequence[str], best: Mapping[str, float]
) -> Iterator[tuple[str, Cell]]:
    """Of each algorithm that it has a peer's ``kernel``, and its ``whole`` way.

    ``best`` : the least that other peers took for the whole way. One that is hopeless by its parts is left out:
    builds may take half a minute.
    """
    peer, built = kind(graph), 0.0
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out.parquet"
        for algorithm in algorithms:
            if not peer.does(algorithm):
                continue
            source = graph.starts_of(algorithm)
            start = time.perf_counter()
            call = peer.kernel(algorithm, source)
            built = built or 1e3 * (time.perf_counter() - start)
            cell = {"kernel": median_ms(call, LONG)}
            if built + cell["kernel"] < HOPELESS * best.get(algorithm, float("inf")):
                whole = kind.end_to_end(graph, algorithm, source, out)
                cell["whole"] = median_ms(whole, LONG)
            yield algorithm, cell


def median_ms(call: Callable[[], Any], long: float = float("inf")) -> float:
    """Median of at least three and at most ``REPEATS`` calls, after one that is not counted.

    A first call of more than ``long`` seconds is the only one.
    """
    seconds = [seconds_of(call)]
    if seconds[0] < long:
        seconds.clear()
    while len(seconds) < 3 and not (seconds and seconds[0] >= long):
        seconds.append(seconds_of(call))
    while 3 <= len(seconds) < REPEATS and sum(seconds) < SHORTEST:
        seconds.append(seconds_of(call))
    return 1e3 * statistics.median(seconds)


def seconds_of(call: Callable[[], Any]) -> float:
    """What a call takes."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start
