"""Yesterday's answer and the edges that are new since, beside the whole run: components, ranks, and cores.

    python tests/benchmarks/new_edges.py [--scales 20 22] [--pairs 5] [--parts ranks] [--turns 3]

Components are from Parquet to Parquet, in this process: of all edges; and of a hundredth of them, drawn at random,
with ``labels`` of the others. Pairs are strings, as `entities.py` makes them. Of ranks it is iterations to a tolerance,
and the edges that they read, from nothing and from the ranks without the new edges. Core numbers are of a saved graph
that takes 100, 1,000 and a hundredth of its edges, loaded and to a frame: of the whole, and ``since`` the update.
``--graphs`` : Parquet files of directed edges beside R-MAT; ``--grid`` : so many vertices on each side of a grid of
which two thirds of the edges are there, as a road network. Seconds are the least of ``--turns``, and those of
processors, which other work on the machine lengthens less. `gpu_new_edges.py` has components, ranks and communities on
a GPU.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from entities import write_pairs
from graphs import BenchmarkGraph, rmat

import dask_graphgpu
from dask_graphgpu.io.output import write_parquet

_PART = 100  # one in so many edges is new
_PARTS = ("components", "ranks", "cores")


def components(edges: Path, output: Path, **given: str | Path) -> None:
    """One call, from files to files."""
    labels = given.pop("labels", None)
    more = {} if labels is None else {"labels": dd.read_parquet(labels)}
    found = dd.read_parquet(edges).graph(**given).weakly_connected_components(**more)
    write_parquet(found, output)


def measured(call: Callable[[], None], turns: int) -> tuple[float, float]:
    """Least seconds of some calls, and least seconds of processors."""
    taken = []
    for _ in range(turns):
        start = time.perf_counter(), time.process_time()
        call()
        taken.append((time.perf_counter() - start[0], time.process_time() - start[1]))
    wall, processor = zip(*taken, strict=True)
    return min(wall), min(processor)


def drawn(rows: int) -> np.ndarray:
    """Which edges are new."""
    return np.random.default_rng(5).random(rows) < 1 / _PART


def split(edges: Path, folder: Path) -> tuple[Path, Path]:
    """Files of the edges without the new ones, and of these."""
    table = pq.read_table(edges)
    new = drawn(len(table))
    paths = folder / "old.parquet", folder / "new.parquet"
    for path, chosen in zip(paths, (~new, new), strict=True):
        pq.write_table(table.filter(pa.array(chosen)), path)
    return paths


def compare(name: str, edges: Path, folder: Path, turns: int, **ids: str) -> str:
    """A row: seconds of all edges, and of the new ones with labels; the answers are the same."""
    folder.mkdir()
    old, new = split(edges, folder)
    components(old, folder / "labels", **ids)
    every = measured(lambda: components(edges, folder / "every", **ids), turns)
    given = {"labels": folder / "labels", **ids}
    added = measured(lambda: components(new, folder / "added", **given), turns)
    answers = [pq.read_table(folder / each) for each in ("every", "added")]
    assert answers[0].equals(answers[1])
    shown = (f"{seconds:.2f}" for both in zip(every, added, strict=True) for seconds in both)
    return f"| {name} | {' | '.join(shown)} | {every[1] / added[1]:.1f} |"


def compare_ranks(graph: BenchmarkGraph, tolerance: float) -> Iterator[str]:
    """Rows: iterations and millions of edges of each method, from nothing and from old ranks."""
    edges = pd.read_parquet(graph.path, columns=["src", "dst"])
    old = edges[~drawn(len(edges))].graph(directed=graph.directed)
    whole = edges.graph(directed=graph.directed).persist()
    asked = {"tolerance": tolerance, "max_iterations": 500}
    before = old.pagerank(**asked)
    for method in ("power", "delta"):
        cells = [graph.name, f"{tolerance:g}", method]
        for start in (None, before):
            whole.pagerank(method=method, start=start, **asked)
            report = dask_graphgpu.last_report()
            cells += [f"{report['supersteps'].sum()}", f"{report['edges'].sum() / 1e6:.0f}"]
        yield f"| {' | '.join(cells)} |"


def compare_cores(name: str, edges: pd.DataFrame, folder: Path, turns: int) -> Iterator[str]:
    """Rows: seconds, and those of processors, of all and from the numbers before; the answers are the same."""
    order = np.random.default_rng(5).permutation(len(edges))
    for number in (100, 1000, len(edges) // _PART):
        new = np.zeros(len(edges), bool)
        new[order[:number]] = True
        path = folder / f"cores {name} {number}"
        edges[~new].graph(directed=False).save(path)
        old = dask_graphgpu.load(path).core_number().compute()
        dask_graphgpu.load(path).append(edges[new])
        frames: list[pd.DataFrame] = []

        def found(path: Path = path, frames: list[pd.DataFrame] = frames, **given: Any) -> None:
            frames.append(dask_graphgpu.load(path).core_number(**given).compute())

        taken = []
        for given in ({}, {"start": old, "since": 0}):
            found(**given)
            taken.append(measured(lambda given=given, found=found: found(**given), turns))
        assert frames[0].equals(frames[-1])
        cells = [f"{wall:.2f} ({processor:.2f})" for wall, processor in taken]
        times = taken[0][1] / taken[1][1]
        yield f"| {name} | {number:,} | {' | '.join(cells)} | {times:.1f} |"


def grid_edges(side: int) -> pd.DataFrame:
    """Edges of a grid, of which a third is missing, in any order."""
    place = np.arange(side * side).reshape(side, side)
    ends = [
        np.concatenate([place[:, a].ravel(), place[b].ravel()])
        for a, b in ((np.s_[:-1], np.s_[:-1]), (np.s_[1:], np.s_[1:]))
    ]
    edges = pd.DataFrame({"src": ends[0], "dst": ends[1]})
    return edges.sample(frac=2 / 3, random_state=1, ignore_index=True)


def main() -> None:
    """Print Markdown."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scales", type=int, nargs="*", default=[20])
    parser.add_argument("--pairs", type=float, nargs="*", default=[5], help="millions")
    parser.add_argument("--graphs", type=Path, nargs="*", default=[])
    parser.add_argument("--grid", type=int, nargs="*", default=[])
    parser.add_argument("--parts", nargs="*", default=_PARTS, choices=_PARTS)
    parser.add_argument("--tolerances", type=float, nargs="*", default=[1e-6, 1e-9])
    parser.add_argument("--turns", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        graphs = [rmat(scale, 16, folder) for scale in options.scales]
        more = [BenchmarkGraph(path.stem, path, directed=True) for path in options.graphs]
        if "components" in options.parts:
            print_components(graphs, options.pairs, folder, options.turns)
        if "ranks" in options.parts:
            print(
                "\n| ranks of | tolerance | method | iterations | M edges | from old ranks | M edges |\n"
                "| --- | --- | --- | --- | --- | --- | --- |"
            )
            for graph in [*graphs, *more]:
                for tolerance in options.tolerances:
                    for row in compare_ranks(graph, tolerance):
                        print(row, flush=True)
        if "cores" in options.parts:
            print(
                "\n| cores of | new edges | all, s | since, s | times |\n| --- | --- | --- | --- | --- |"
            )
            for graph in [*graphs, *more]:
                edges = pd.read_parquet(graph.path, columns=["src", "dst"])
                for row in compare_cores(graph.name, edges, folder, options.turns):
                    print(row, flush=True)
            for side in options.grid:
                name, edges = f"grid of {side} x {side}", grid_edges(side)
                for row in compare_cores(name, edges, folder, options.turns):
                    print(row, flush=True)


def print_components(
    graphs: list[BenchmarkGraph], pairs: list[float], folder: Path, turns: int
) -> None:
    """A row for each graph and each number of millions of pairs."""
    print(
        "| components of | all edges, s | 1 % and labels, s | all, processor s | 1 %, processor s | times |\n"
        "| --- | --- | --- | --- | --- | --- |"
    )
    for graph in graphs:
        work = folder / f"{graph.path.stem} labels"
        print(compare(graph.name, graph.path, work, turns), flush=True)
    ids = {"source": "left", "destination": "right"}
    for millions in pairs:
        rows, work = folder / f"pairs {millions}", folder / f"labels {millions}"
        write_pairs(rows, int(millions * 1e6))
        name = f"{millions:g} M pairs of strings"
        print(compare(name, rows, work, turns, **ids), flush=True)


if __name__ == "__main__":
    main()
