"""How many exchanges runs on ranks take, by how ids and partitioners keep neighbours together.

    python tests/benchmarks/locality.py [--grid 500] [--graphs osm-andorra.parquet] [--ranks 2 4]
        [--partitioners balanced random metis] [--repeats 3]

Prints a Markdown table, a row for each graph, under its own ids and under ids permuted at random, and
each partitioner and number of ranks, which are threads of this process. ``build`` is from a frame
to a persisted graph, ``border`` the remote vertices that ranks have edges to, over the vertices.
Of each method: its exchanges, and in brackets the milliseconds of the CPU engine, the least of the
repeats. All graphs are taken as undirected, so that searches come everywhere.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
from graphs import BenchmarkGraph, grid, real, shuffled

import dask_graphgpu  # noqa: F401  registers .graph
from dask_graphgpu.engine import ranks as engine
from dask_graphgpu.engine.known import DISTANCES
from dask_graphgpu.engine.options import RunOptions
from dask_graphgpu.exchange.local import run_local
from dask_graphgpu.report import Report

METHODS = ("bfs", "sssp", "components")
HEAD = ["graph", "ids", "partitioner", "ranks", "build s", "border", *METHODS]


def row(graph: BenchmarkGraph, partitioner: str, size: int, repeats: int) -> list[str]:
    """The cells from the partitioner on."""
    frame = pd.read_parquet(graph.path)
    start = time.perf_counter()
    kept = frame.graph(directed=False, ranks=size, partitioner=partitioner).persist()
    seconds = time.perf_counter() - start
    shares = kept.explain().shares
    border = sum(each.border for each in shares) / sum(each.vertices for each in shares)
    source, held = graph.source(), kept._input.held.shares

    def work(ranks: Any) -> list[tuple[int, float]]:
        with held[ranks.rank].over(ranks) as part:
            plain, weighted = part.view("one", False), part.view("min")
            number = int(part.ids.find([source])[0])
            search = partial(engine.bfs, plain, number, cutoff=None, targets=None)

            def paths(report: Report) -> Any:
                return engine.run(DISTANCES, weighted, RunOptions(report=report, sources=[number]))

            calls = search, paths, partial(engine.components, plain)
            return [counted(call, ranks, repeats) for call in calls]

    found = run_local(size, work)[0]
    cells = [f"{exchanges} ({1e3 * least:.0f})" for exchanges, least in found]
    return [partitioner, str(size), f"{seconds:.2f}", f"{border:.3f}", *cells]


def counted(call: Callable[..., Any], ranks: Any, repeats: int) -> tuple[int, float]:
    """Exchanges of a call, and the least seconds of several; the first one compiles."""
    exchanges, times = 0, []
    for _ in range(repeats + 1):
        ranks.barrier()
        before, start = ranks.steps, time.perf_counter()
        call(report=Report("measured"))
        times.append(time.perf_counter() - start)
        exchanges = ranks.steps - before
    return exchanges, min(times[1:])


def show(cells: list[str]) -> None:
    print("| " + " | ".join(cells) + " |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--grid", type=int, nargs="*", default=[])
    parser.add_argument("--graphs", type=Path, nargs="*", default=[], help="Parquet files")
    parser.add_argument("--ranks", type=int, nargs="+", default=[2, 4])
    parser.add_argument("--partitioners", nargs="+", default=["balanced", "random", "metis"])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "graphs")
    options = parser.parse_args()
    graphs = [grid(side, options.folder) for side in options.grid]
    graphs += [real(path, directed=False, folder=options.folder) for path in options.graphs]
    show(HEAD)
    show(["---"] * len(HEAD))
    for graph in graphs:
        for ids, each in (("own", graph), ("permuted", shuffled(graph, options.folder))):
            for size in options.ranks:
                for partitioner in options.partitioners:
                    show([graph.name, ids, *row(each, partitioner, size, options.repeats)])


if __name__ == "__main__":
    main()
