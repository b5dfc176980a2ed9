"""The CPU alone, the GPU alone and both (``engine="hybrid"``) on one graph whose edges lie in pages on disk.

    python tests/benchmarks/page_sides.py [--rows 8000000] [--on-device 40MB] [--directories A [B C]]

An undirected graph of skewed degrees, built once; the engines take turns, after two runs of each that are
not counted, the GPU twice. The edges take four times the limit of memory on disk, and the page cache is passed by.
Times are of whole calls, and of each superstep; ``over better`` is the median of both sides over that of the better one
alone, ``worst step`` the same of the superstep where it is largest, where all have the same supersteps. What the GPU
has so against itself, ``gpu again``, such a comparison cannot tell apart.
"""

from __future__ import annotations

import argparse
import copy
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import dask
import dask.dataframe as dd
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import dask_graphgpu
from dask_graphgpu.engine.hops import LEVELS

_SIDES = {"cpu": "cpu", "gpu": "gpu", "hybrid": "hybrid", "gpu again": "gpu"}


def write_edges(path: Path, rows: int, degree: int) -> int:
    """Random edges from skewed ends, with weights, in small row groups; how many vertices."""
    rng, vertices = np.random.default_rng(1), rows // degree
    schema = pa.schema({"src": pa.int64(), "dst": pa.int64(), "weight": pa.int32()})
    with pq.ParquetWriter(path, schema) as writer:
        for lo in range(0, rows, 1 << 20):
            number = min(1 << 20, rows - lo)
            source = (vertices * rng.random(number) ** 1.6).astype(np.int64)
            ends = source, rng.integers(0, vertices, number)
            weight = rng.integers(1, 64, number, dtype=np.int32)
            table = pa.table([*map(pa.array, (*ends, weight))], schema=schema)
            writer.write_table(table, row_group_size=max(rows // 512, 1))
    return vertices


def measured(graph: Any, call: Any, seconds: float) -> dict[str, list[Any]]:
    """Seconds and reports of the runs of each engine."""
    found: dict[str, list[Any]] = {side: [] for side in _SIDES}
    sides = [*_SIDES]
    began, turn = time.perf_counter(), 0
    while turn < 5 or time.perf_counter() - began < seconds:
        for side in (*sides[turn % len(sides) :], *sides[: turn % len(sides)]):
            graph._engine = _SIDES[side]
            start = time.perf_counter()
            call(graph).compute()
            taken = time.perf_counter() - start
            if turn > 1:  # the first one loads code, and rates are what it has shown
                found[side].append((taken, dask_graphgpu.last_report()))
        turn += 1
    return found


def told(name: str, found: dict[str, list[Any]]) -> list[str]:
    """Rows of the table of a method."""
    medians, steps, lines = {}, {}, []
    for engine, runs in found.items():
        medians[engine] = statistics.median(seconds for seconds, _ in runs)
        report = runs[-1][1]
        each = [run["seconds"][run["seconds"] > 0].to_numpy() for _, run in runs]
        same = len({len(one) for one in each}) == 1
        steps[engine] = np.median(each, axis=0) if same else np.empty(0)
        sides = report.attrs.get("sides") or {}
        pages = " and ".join(
            f"{side} {of['pages']} ({of['alone']} alone)" for side, of in sides.items()
        )
        lines.append(
            f"| {name} | {engine} | {len(runs)} | {min(s for s, _ in runs):.4f} | {medians[engine]:.4f} | "
            f"{int(report['supersteps'].sum())} | {1e3 * np.median(each[-1]):.2f} | "
            f"{report.attrs['disk_bytes'] / 1e6:.0f} | {pages or '-'} |"
        )
    for side in ("hybrid", "gpu again"):
        better = min(medians["cpu"], medians["gpu"]) if side == "hybrid" else medians["gpu"]
        worst = "-"
        alone = ("cpu", "gpu") if side == "hybrid" else ("gpu",)
        same = [steps[each] for each in alone if len(steps[each]) == len(steps[side])]
        if same and len(steps[side]):
            ratio = steps[side] / np.min(same, axis=0)
            worst = f"{ratio.max():.3f} (no. {ratio.argmax() + 1} of {len(ratio)})"
        lines.append(
            f"| {name} | {side} over better | {medians[side] / better:.3f} | worst step {worst} |"
        )
    return lines


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=8_000_000)
    parser.add_argument("--degree", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=4.0, help="for each method")
    parser.add_argument("--on-device", default="40MB", help="graphgpu.device-memory-limit")
    parser.add_argument("--directories", type=Path, nargs="*", help="default: three on one disk")
    parser.add_argument("--methods", nargs="*")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folders = options.directories or [Path(temporary) / str(i) for i in range(3)]
        path = Path(temporary) / "edges.parquet"
        write_edges(path, options.rows, options.degree)
        settings = {
            "graphgpu.host-memory-limit": 2 * options.rows * (4 + 4) // 4,
            "graphgpu.page-bytes": 1 << (options.rows // 12).bit_length() - 1,
            "graphgpu.spill-directories": [str(folder) for folder in folders],
            "graphgpu.device-memory-limit": options.on_device,
        }
        calls = {
            "pagerank": lambda graph: graph.pagerank(tolerance=0, max_iterations=10),
            "delta": lambda graph: graph.pagerank(tolerance=1e-6, method="delta"),
            "components": lambda graph: graph.weakly_connected_components(),
            "bfs": lambda graph: graph.bfs(source=1),
            "bfs, as a program": lambda graph: graph.run(LEVELS, source=1),
            "sssp": lambda graph: graph.sssp(source=1),
        }
        with dask.config.set(settings):
            began = time.perf_counter()
            made = dd.read_parquet(path).graph(directed=False, duplicates="keep").persist()
            print(
                f"{2 * options.rows:,} edges, built in {time.perf_counter() - began:.1f} s",
                flush=True,
            )
            print(
                "| method | engine | runs | s, least | median | supersteps | median ms each | MB read | pages |"
            )
            print("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |")
            for name in options.methods or calls:
                found = measured(copy.copy(made), calls[name], options.seconds)
                print("\n".join(told(name, found)), flush=True)


if __name__ == "__main__":
    main()
