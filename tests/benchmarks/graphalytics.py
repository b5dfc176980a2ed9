"""Measure the algorithms of LDBC Graphalytics beside the best entries of its 2023 competition.

    python tests/benchmarks/graphalytics.py --scale 24 --engine gpu cpu

makes an R-MAT graph with the parameters of LDBC's graph500-24 (another seed, so another graph of the
same kind), checks the answers of each engine on a small one, and prints a Markdown table last. Its
clocks: *algorithm* is from a built graph to the answer in memory, as LDBC's processing time; *call* is what
a user waits for on a persisted graph, with the frame of the result. Both are the least of some runs.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import graphalytics_oracles as oracles
import numpy as np
import pandas as pd
from graphalytics_published import COLUMNS, PUBLISHED

import dask_graphgpu  # noqa: F401  registers .graph
from dask_graphgpu import algorithms
from dask_graphgpu.algorithms.run import Run
from dask_graphgpu.engine import load
from dask_graphgpu.report import Report

EDGE_FACTOR = 16
SMALL = 8  # scale of the graph that answers are checked on
ROUNDS = 10  # of PageRank and label propagation, as LDBC sets for graph500
LONG = 5.0  # seconds from which a first run is the only one
TOLERANCE = 1e-4  # relative, of ranks and coefficients, as LDBC sets

# What is asked, how a user asks it, and whether it reads weights.
TASKS: dict[str, tuple[Callable[[Any], Any], Callable[[Any, Any], Any], bool]] = {
    "BFS": (algorithms.BFS, lambda g, s: g.bfs(s), False),
    "WCC": (
        lambda _: algorithms.WeaklyConnectedComponents(),
        lambda g, s: g.weakly_connected_components(),
        False,
    ),
    "PR": (
        lambda _: algorithms.PageRank(tolerance=0, max_iterations=ROUNDS),
        lambda g, s: g.pagerank(tolerance=0, max_iterations=ROUNDS),
        False,
    ),
    "CDLP": (
        lambda _: algorithms.LabelPropagation(ROUNDS),
        lambda g, s: g.label_propagation(ROUNDS),
        False,
    ),
    "LCC": (
        lambda _: algorithms.ClusteringCoefficient(),
        lambda g, s: g.clustering_coefficient(),
        False,
    ),
    "SSSP": (algorithms.SSSP, lambda g, s: g.sssp(s), True),
}


def made(scale: int, engine: str) -> Any:
    """A frame of edges, each once, with int32 ids and weights 1 to 64: of cuDF where a GPU is asked for."""
    if engine == "gpu":
        from gpu_graphs import rmat_part

        return rmat_part(0, 1, scale, EDGE_FACTOR)
    import graphs  # needs SciPy

    with tempfile.TemporaryDirectory() as folder:
        ends = graphs.rmat(scale, EDGE_FACTOR, Path(folder)).arrays("src", "dst", "weight")
    names = ("src", "dst", "weight")
    return pd.DataFrame({name: end.astype(np.int32) for name, end in zip(names, ends, strict=True)})


def on_host(frame: Any) -> pd.DataFrame:
    """A frame of pandas with the rows of one of pandas or cuDF."""
    return frame if isinstance(frame, pd.DataFrame) else frame.to_pandas()


def finish(engine: str) -> None:
    """Wait for the GPU, if there is one."""
    if engine == "gpu":
        import cupy

        cupy.cuda.Device().synchronize()


class Side:
    """One engine on one graph, which is built anew for algorithms that read weights and those that do not."""

    def __init__(self, engine: str, edges: Any) -> None:
        self.engine = engine
        self._edges = edges
        self._weighted: bool | None = None

    def _build(self, weighted: bool) -> None:
        if self._weighted is weighted:
            return
        self._graph = self._held = None  # first: there may be no room for two
        columns = ["src", "dst", "weight"] if weighted else ["src", "dst"]
        lazy = self._edges[columns].graph(directed=False, engine=self.engine)
        self._schema = lazy._input.schema
        self._graph = lazy.persist()
        self._held = self._graph._input.held
        self._weighted = weighted

    def call(self, name: str, source: int) -> Any:
        """The frame of an answer."""
        _, ask, weighted = TASKS[name]
        self._build(weighted)
        return ask(self._graph, source)

    def algorithm(self, name: str, source: int) -> Callable[[], Any]:
        """A run of the engine on the built graph, without frames."""
        make, _, weighted = TASKS[name]
        self._build(weighted)
        task = make(source)
        view = self._held.view(task.rule, weighted)
        engine = load(self.engine)
        return lambda: task.run(Run(engine, view, self._held.ids, self._schema, Report(name)))

    def least(self, work: Callable[[], Any], repeats: int) -> float:
        """Seconds of the fastest of some runs after one that is not counted, or of a long first one."""
        taken = []
        for _ in range(repeats + 1):
            finish(self.engine)
            start = time.perf_counter()
            work()
            finish(self.engine)
            taken.append(time.perf_counter() - start)
            if len(taken) == 1 and taken[0] > LONG:
                return taken[0]
        return min(taken[1:])


def check(engine: str, names: list[str]) -> None:
    """Compare answers on a small graph with those worked out in other ways; raises where they differ."""
    edges = made(SMALL, engine)
    host = on_host(edges)
    side = Side(engine, edges)
    source = int(host["src"].iloc[0])
    for name in names:
        answer = on_host(side.call(name, source)).set_index("vertex")
        right = oracles.ANSWERS[name](host, source, ROUNDS)
        found = answer.iloc[:, 0].reindex(right.index)
        if name == "WCC":
            same = oracles.as_partition(found) == oracles.as_partition(right)
        elif name in ("PR", "LCC"):
            same = np.allclose(found, right, rtol=TOLERANCE, atol=1e-12)
        else:
            same = np.array_equal(found.fillna(-1).to_numpy(np.int64), right.to_numpy(np.int64))
        if not (same and len(answer) == len(right)):
            raise AssertionError(f"{name} on the engine {engine!r} is wrong at scale {SMALL}")


def hardware(engine: str) -> str:
    """What an engine runs on, in words."""
    if engine == "gpu":
        import cupy

        return f"1 x {cupy.cuda.runtime.getDeviceProperties(0)['name'].decode()}"
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    model = next((line.split(":")[1].strip() for line in lines if "model name" in line), "CPU")
    return f"{len(os.sched_getaffinity(0))} cores of {model}"


def measure(scale: int, engines: list[str], given: argparse.Namespace, start: float) -> list[dict]:
    """A record for each engine and algorithm of one graph, for as long as there is time."""
    edges = made(scale, "gpu" if "gpu" in engines else "cpu")
    source = int(edges["src"].iloc[len(edges) // 2])  # an end of an edge among many: where most are
    found = []
    for engine in engines:
        side = Side(engine, edges if engine == "gpu" else on_host(edges))
        for name in given.algorithms:
            row = {"scale": scale, "edges": len(edges), "engine": engine, "name": name}
            row["hardware"] = hardware(engine)
            if time.perf_counter() - start < given.seconds:
                work = side.algorithm(name, source)
                row["algorithm_s"] = side.least(work, given.repeats)
                ask = lambda: side.call(name, source)  # noqa: B023, E731  called before the next
                row["call_s"] = side.least(ask, given.repeats)
                row["answer"] = squares(ask())
            found.append(row)
            print(json.dumps(row), flush=True)
    return found


def squares(answer: Any) -> float:
    """The sum of the squares of an answer, by which two engines can be compared; nulls left out."""
    return float((answer.iloc[:, 1].astype("float64") ** 2).sum())


def compare(rows: list[dict]) -> None:
    """Raise where engines have found different answers on one graph."""
    for name in {row["name"] for row in rows}:
        found = [row["answer"] for row in rows if row["name"] == name and "answer" in row]
        if not np.allclose(found, found[:1], rtol=TOLERANCE, atol=0):
            raise AssertionError(f"{name}: the engines differ: sums of squares {found}")


def shown(seconds: float | None) -> str:
    """Seconds with three digits."""
    return "-" if seconds is None else f"{seconds:.3g}"


def table(scale: int, rows: list[dict]) -> str:
    """What was measured at a scale, and what is published for LDBC's graph of that scale."""
    lines = [f"| graph500-{scale}, seconds | hardware | " + " | ".join(COLUMNS) + " |"]
    lines.append("| --- | --- |" + " --- |" * len(COLUMNS))
    for entry in PUBLISHED:
        if scale in entry.seconds:
            cells = entry.seconds[scale] + (None,) * (len(COLUMNS) - len(entry.seconds[scale]))
            lines.append(f"| {entry.system} | {entry.hardware} | {' | '.join(map(shown, cells))} |")
    for engine in dict.fromkeys(row["engine"] for row in rows):
        own = {row["name"]: row for row in rows if row["engine"] == engine}
        where = next(iter(own.values()))["hardware"]
        for clock in ("algorithm", "call"):
            cells = [shown(own.get(name, {}).get(f"{clock}_s")) for name in COLUMNS]
            lines.append(f"| dask_graphgpu, {engine}, {clock} | {where} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scale", type=int, nargs="+", default=[22])
    parser.add_argument("--engine", nargs="+", choices=("gpu", "cpu"), default=["cpu"])
    parser.add_argument("--algorithms", nargs="+", choices=list(TASKS), default=list(TASKS))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument(
        "--seconds", type=float, default=200, help="what has not begun by then is left out: '-'"
    )
    parser.add_argument("--json", type=Path, help="write all figures here, too")
    given = parser.parse_args()
    start = time.perf_counter()
    for engine in given.engine:
        check(engine, given.algorithms)
        print(f"answers of the engine {engine!r} are right at scale {SMALL}", flush=True)
    found = {scale: measure(scale, given.engine, given, start) for scale in given.scale}
    for rows in found.values():
        compare(rows)
    if given.json:
        given.json.write_text(
            json.dumps([row for rows in found.values() for row in rows], indent=1)
        )
    for scale, rows in found.items():
        print(f"\n{rows[0]['edges']:,} undirected edges:\n\n{table(scale, rows)}")


if __name__ == "__main__":
    main()
