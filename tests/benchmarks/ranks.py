"""What more ranks bring: the same methods on a graph that is shared between more of them.

    python tests/benchmarks/ranks.py [--scale 20] [--weak] [--grid 1000] [--ranks 1 2 4]
        [--partitioners balanced random] [--engine cpu] [--processes] [--repeats 3]

Prints a Markdown table, a row for each graph, partitioner and number of ranks. ``build`` is from the
Parquet file to a persisted graph, ``border`` the remote vertices that ranks have edges to, over the
vertices, ``balance`` the most edges of a rank over the mean. Of each method: milliseconds of a call as
a user makes it, medians, and in brackets its supersteps and the microseconds that each of them takes.
PageRank runs 20 iterations in float32, without weights. ``--weak``: twice the ranks get twice the
graph, ``--scale`` being that of one. Ranks are threads of this process or, with ``--processes``,
workers of a cluster on this machine: of its GPUs where the engine is theirs. ``--engine gpu`` without
``--processes`` needs as many GPUs as ranks. One rank is the engine as it is without ranks.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import dask.dataframe as dd
from distributed import Client, LocalCluster, wait
from graphs import BenchmarkGraph, grid, rmat

import dask_graphgpu as dg
from dask_graphgpu.graphs import Graph

METHODS: dict[str, Callable[[Graph, int], Any]] = {
    "bfs": lambda graph, source: graph.bfs(source),
    "sssp": lambda graph, source: graph.sssp(source),
    "components": lambda graph, source: graph.weakly_connected_components(),
    "pagerank": lambda graph, source: graph.pagerank(
        tolerance=0, max_iterations=20, weighted=False, dtype="float32"
    ),
    "cores": lambda graph, source: graph.core_number(),
}
HEAD = ["graph", "partitioner", "ranks", "build s", "border", "balance"]
HEAD += [f"{name} ms" for name in METHODS]


@contextmanager
def cluster(ranks: int, options: argparse.Namespace) -> Iterator[None]:
    """Workers for the ranks, if they are to be processes."""
    if not options.processes:
        yield
        return
    if options.engine == "gpu":
        from dask_cuda import LocalCUDACluster

        made = LocalCUDACluster(n_workers=ranks, dashboard_address=":0")
    else:
        made = LocalCluster(n_workers=ranks, threads_per_worker=1, dashboard_address=":0")
    with made, Client(made):
        yield


def row(
    graph: BenchmarkGraph, partitioner: str, ranks: int, options: argparse.Namespace
) -> list[str]:
    """The cells of one row."""
    frame = dd.read_parquet(graph.path)
    lazy = frame.graph(
        directed=graph.directed, ranks=ranks, partitioner=partitioner, engine=options.engine
    )
    start = time.perf_counter()
    kept = lazy.persist()
    if options.processes:
        wait(kept._input.held)
    seconds = time.perf_counter() - start
    shares = kept.explain().shares
    border = balance = ""
    if shares:
        vertices, edges = (
            sum(getattr(each, of) for each in shares) for of in ("vertices", "edges")
        )
        border = f"{sum(each.border for each in shares) / vertices:.2f}"
        balance = f"{max(each.edges for each in shares) * len(shares) / edges:.3f}"
    cells = [graph.name, partitioner, str(ranks), f"{seconds:.2f}", border, balance]
    source = graph.source()
    for method in METHODS.values():
        cells.append(timed(partial(method, kept, source), options.repeats))
    return cells


def timed(lazy: Callable[[], Any], repeats: int) -> str:
    """Milliseconds of a call, supersteps, and microseconds of each."""
    lazy().compute()  # compiles
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        lazy().compute()
        times.append(time.perf_counter() - start)
    report = dg.last_report()
    steps = int(report["supersteps"].sum())
    each = 1e6 * report["seconds"].sum() / max(steps, 1)
    return f"{1e3 * statistics.median(times):.0f} ({steps}, {each:.0f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scale", type=int, nargs="*", default=[])
    parser.add_argument("--edge-factor", type=int, default=16)
    parser.add_argument("--weak", action="store_true")
    parser.add_argument("--grid", type=int, nargs="*", default=[])
    parser.add_argument("--ranks", type=int, nargs="*", default=[1, 2, 4])
    parser.add_argument("--partitioners", nargs="*", default=["balanced"])
    parser.add_argument("--engine", choices=("cpu", "gpu"), default="cpu")
    parser.add_argument("--processes", action="store_true")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "graphs")
    options = parser.parse_args()
    print("| " + " | ".join(HEAD) + " |")
    print("| --- " * len(HEAD) + "|")
    for ranks in options.ranks:
        more = ranks if options.weak else 1
        graphs = [
            rmat(scale + more.bit_length() - 1, options.edge_factor, options.folder)
            for scale in options.scale
        ]
        graphs += [grid(round(side * more**0.5), options.folder) for side in options.grid]
        with cluster(ranks, options):
            for graph in graphs:
                for partitioner in options.partitioners if ranks > 1 else ["balanced"]:
                    cells = row(graph, partitioner, ranks, options)
                    print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
