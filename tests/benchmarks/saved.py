"""Loading a saved graph and one BFS on it, beside building it from Parquet.

    python tests/benchmarks/saved.py [--scale 18 20] [--graphs FOLDER] [--cache FOLDER]

Each figure is the best of several runs in one process, after a first run that compiles, with files
in the page cache. ``build`` reads Parquet and builds the partition (`Graph.persist`), ``load + BFS``
goes from `dask_graphgpu.load` to the computed frame of a BFS. Updates are of `updates.py`.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dask.dataframe as dd
from graphs import BenchmarkGraph, real, rmat  # beside this file

import dask_graphgpu


def best(function: Callable[[], Any], runs: int) -> float:
    """The least seconds of some runs, the first of which does not count."""
    seconds = []
    for _ in range(runs + 1):
        start = time.perf_counter()
        function()
        seconds.append(time.perf_counter() - start)
    return min(seconds[1:])


def measure(graph: BenchmarkGraph, folder: Path, runs: int) -> dict[str, Any]:
    """Seconds and bytes of one graph."""
    source, path = graph.source(), folder / graph.name.replace(" ", "-")

    def build() -> dask_graphgpu.Graph:
        frame = dd.read_parquet(graph.path)
        return frame.graph(directed=graph.directed).persist()

    def load_and_search() -> Any:
        return dask_graphgpu.load(path).bfs(source).compute()

    built = build()
    expected = built.bfs(source).compute()
    row = {
        "graph": graph.name,
        "build": best(build, runs),
        "save": best(lambda: built.save(path), 1),
        "load": best(lambda: dask_graphgpu.load(path), runs),
        "load + BFS": best(load_and_search, runs),
        "verify": best(lambda: dask_graphgpu.load(path, verify=True), 1),
        "Parquet bytes": graph.path.stat().st_size,
        "saved bytes": sum(file.stat().st_size for file in path.iterdir()),
    }
    assert load_and_search().equals(expected)
    row["share of build"] = row["load + BFS"] / row["build"]
    return row


def main() -> None:
    """Print a table row a graph."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scale", type=int, nargs="*", default=[18, 20], help="R-MAT scales")
    parser.add_argument("--graphs", type=Path, help="folder with osm-andorra.parquet")
    parser.add_argument("--cache", type=Path, help="folder that keeps generated graphs")
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        cache = options.cache or Path(temporary)
        graphs = [rmat(scale, 16, cache) for scale in options.scale]
        if options.graphs:
            file = options.graphs / "osm-andorra.parquet"
            graphs.insert(0, real(file, directed=True, folder=cache))
        for i, graph in enumerate(graphs):
            row = measure(graph, Path(temporary), options.runs)
            if i == 0:
                print("| " + " | ".join(row) + " |")
                print("| " + " | ".join("---" for _ in row) + " |")
            cells = [
                f"{v:.4f}" if isinstance(v, float) else f"{v:,}" if isinstance(v, int) else v
                for v in row.values()
            ]
            print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
