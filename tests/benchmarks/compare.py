"""Measure our algorithms beside SciPy, polars, DuckDB, NetworKit, igraph and python-graphblas, in one run.

    python tests/benchmarks/compare.py --side-by-side 2 --scale 20 --grid 1000 --graphs FOLDER \
        --names git-v2.0.0 ego-twitter cnr-2000 osm-andorra

prints Markdown: the versions, medians of the kernel alone on a built graph (compiled before) and of
the way from Parquet file to Parquet file, each beside the fastest peer, the bound of that way, how many
cells are met, every peer's own time, and the exact calls. Each contender has a process of its own, and with
``--side-by-side 2`` two cores of its own. The bound is what Arrow takes to read the same columns and to write the
same answer, and our kernel. With ``--turns 12`` it prints kernels only, the least of so many calls that take turns:
for machines that have other work.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import platform
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

from compare_tables import calls, counts, every_peer, table
from compare_turns import turns_table
from graphs import BenchmarkGraph, grid, real, rmat
from ours import CALLS
from peers import PEERS, load
from side_by_side import Contest, Group, child, sets_of_cores, versions

UNDIRECTED = {"ego-twitter", "email-enron", "california-road", "luxembourg-osm"}
LIBRARIES = (
    "numba", "numpy", "dask", "pyarrow", "scipy", "polars", "duckdb", "python-graphblas", "networkit", "igraph",
)  # fmt: skip
ALGORITHMS = (
    "bfs", "sssp", "sswp", "ssnsp", "pagerank", "pagerank float32", "components", "core numbers",
)  # fmt: skip


def make(
    graphs: Path | None, names: list[str], scales: list[int], sides: list[int], cache: Path
) -> list[BenchmarkGraph]:
    """The graphs, whose files are made side by side where they are not in the cache."""
    tasks = [partial(rmat, scale, 16, cache) for scale in scales]
    for name in names:
        if graphs is None:
            raise SystemExit("--names are files of --graphs FOLDER: give that, too")
        given, directed = graphs / f"{name}.parquet", name not in UNDIRECTED
        tasks.append(partial(real, given, directed=directed, folder=cache))
    tasks += [partial(grid, side, cache) for side in sides]
    with ProcessPoolExecutor(mp_context=multiprocessing.get_context("spawn")) as pool:
        return [future.result() for future in [pool.submit(task) for task in tasks]]


def main() -> None:
    """Measure, and print."""
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2], json.loads(sys.argv[3]), partial(print, flush=True))
        return
    began = time.monotonic()
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scale", type=int, nargs="*", default=[], help="R-MAT scales")
    parser.add_argument("--grid", type=int, nargs="*", default=[], help="sides of square grids")
    parser.add_argument("--graphs", type=Path, help="folder with Parquet files of real graphs")
    parser.add_argument("--names", nargs="*", default=[], help="which of them")
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "graph-cache")
    parser.add_argument("--peers", nargs="*", default=[*PEERS], choices=[*PEERS])
    parser.add_argument("--algorithms", nargs="*", choices=[*CALLS], help="in turns: all")
    parser.add_argument("--side-by-side", type=int, metavar="CORES", help="of a contender")
    parser.add_argument("--seconds", type=float, default=float(10**6), help="that all may take")
    parser.add_argument("--turns", type=int, help="kernels only, in so many turns")
    options = parser.parse_args()
    algorithms = options.algorithms or [*(CALLS if options.turns else ALGORITHMS)]
    graphs = make(options.graphs, options.names, options.scale, options.grid, options.cache)
    machine = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    print(", ".join([machine, *versions(LIBRARIES)]))
    print(f"graphs are there after {time.monotonic() - began:.0f} s", flush=True)
    if options.turns:
        kinds = [load(name) for name in options.peers]
        for line in turns_table(graphs, kinds, algorithms, options.turns):
            print(line, flush=True)
        return
    groups = Group.of(graphs, algorithms)
    left = options.seconds - (time.monotonic() - began)
    contest = Contest(groups, options.peers, left)
    for line in contest.run(sets_of_cores(options.side_by_side, len(groups))):
        print(line, flush=True)
    print("", *contest.remarks, sep="\n")
    rows = contest.rows_of(graphs, algorithms)
    for part in (table(rows), counts(rows), every_peer(rows, options.peers)):
        print("", *part, sep="\n")
    there = {name: load(name) for name in options.peers if any(name in row.kernels for row in rows)}
    print("", *calls(there, algorithms), sep="\n")
    print(f"\n{time.monotonic() - began:.0f} s in all")


if __name__ == "__main__":
    main()
