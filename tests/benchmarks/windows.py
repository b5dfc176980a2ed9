"""Windows of an R-MAT graph, on the CPU, a GPU or ranks, beside graphs that are built.

    python tests/benchmarks/windows.py [--engine cpu|gpu] [--scale 22] [--windows 30] [--ranks 1] [--undirected]
        [--limit 2GB]

Prints a Markdown table of seconds: the build of the graph with all rows; all windows by ``windows``; as many calls of
``where``; as many graphs of filtered frames; and the build as many times. Each graph says how many edges it has. With
``--engine gpu`` frames are cuDF's; ``--limit`` is graphgpu.host-memory-limit, beyond which edges go to disk.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from typing import Any

import dask
import numpy as np
import pandas as pd

import dask_graphgpu  # noqa: F401  puts .graph on frames

DEGREE = 16  # edges a vertex


def rmat(scale: int, windows: int) -> pd.DataFrame:
    """Source, destination and day of each edge, as Graph500 draws them; vertices are shuffled."""
    random = np.random.default_rng(1)
    edges = DEGREE << scale
    ends = np.zeros((2, edges), np.int64)
    for _ in range(scale):
        drawn = random.random(edges)
        ends <<= 1
        ends[0] |= drawn >= 0.76
        ends[1] |= ((drawn >= 0.57) & (drawn < 0.76)) | (drawn >= 0.95)
    ends = random.permutation(1 << scale)[ends]
    day = random.integers(0, windows, edges)
    return pd.DataFrame({"src": ends[0], "dst": ends[1], "day": day})


def seconds(work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--engine", default="cpu")
    parser.add_argument("--scale", type=int, default=22)
    parser.add_argument("--windows", type=int, default=30)
    parser.add_argument("--ranks", type=int, default=1)
    parser.add_argument("--undirected", action="store_true")
    parser.add_argument("--limit")
    asked = parser.parse_args(words)
    frame: Any = rmat(asked.scale, asked.windows)
    if asked.engine == "gpu":
        import cudf

        frame = cudf.from_pandas(frame)
    options = {"engine": asked.engine, "ranks": asked.ranks, "directed": not asked.undirected}
    days = range(asked.windows)

    def built(rows: Any) -> Any:
        return rows.graph(**options).persist(columns="day")

    def all_windows() -> None:
        for _, graph in whole.windows("day", 1).graphs():
            graph.num_edges()

    def by_where() -> None:
        for day in days:
            whole.where("day", day, day + 1).num_edges()

    def of_frames() -> None:
        for day in days:
            built(frame[frame["day"] == day]).num_edges()

    with dask.config.set({"graphgpu.host-memory-limit": asked.limit}):
        for _ in range(2):  # the first compiles
            one = seconds(lambda: built(frame))
            whole = built(frame)
            found = [seconds(work) for work in (all_windows, by_where, of_frames)]
    number = asked.windows
    print(
        f"| one build | windows | {number} x where | {number} filtered frames | {number} x the build |"
    )
    print("| --- | --- | --- | --- | --- |")
    print("| " + " | ".join(f"{each:.3f}" for each in (one, *found, one * number)) + " |")


if __name__ == "__main__":
    main()
