"""Cycles of payments in time, on the CPU or a GPU.

    python tests/benchmarks/cycles.py [--engine cpu|gpu] [--edges 100000000] [--accounts 10000000] [--days 365]
        [--power 1.5] [--within 7] [--lengths 3 4 5]

Prints a Markdown table: for each length seconds of the first and of the second call, with the frame of the result, and
how many cycles there are; then what the last call has reported. Payments are between accounts that are drawn by a
power, 1: evenly, at times that are drawn evenly, in whole seconds. The graph is persisted before.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence

import numpy as np
import pandas as pd

import dask_graphgpu as dg


def payments(edges: int, accounts: int, days: float, power: float) -> pd.DataFrame:
    """Source, destination and second of each payment; who pays much is paid often, too."""
    random = np.random.default_rng(1)
    ids = random.permutation(accounts)
    ends = [ids[(accounts * random.random(edges) ** power).astype(np.int64)] for _ in range(2)]
    seconds = random.integers(0, int(days * 86_400), edges)
    return pd.DataFrame({"src": ends[0], "dst": ends[1], "second": seconds})


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--engine", default="cpu")
    parser.add_argument("--edges", type=int, default=100_000_000)
    parser.add_argument("--accounts", type=int, default=10_000_000)
    parser.add_argument("--days", type=float, default=365)
    parser.add_argument("--power", type=float, default=1.5)
    parser.add_argument("--within", type=float, default=7)
    parser.add_argument("--lengths", type=int, nargs="+", default=[3, 4, 5])
    asked = parser.parse_args(words)
    frame = payments(asked.edges, asked.accounts, asked.days, asked.power)
    start = time.perf_counter()
    graph = frame.graph(engine=asked.engine).persist(columns="second")
    print(f"built in {time.perf_counter() - start:.1f} s\n")
    print("| max_length | first call, s | second call, s | cycles |\n| --- | --- | --- | --- |")
    for length in asked.lengths:
        seconds = []
        for _ in range(2):
            start = time.perf_counter()
            found = graph.cycles(length, time="second", within=asked.within * 86_400)
            seconds.append(time.perf_counter() - start)
        number = found["cycle"].nunique()
        print(f"| {length} | {seconds[0]:.2f} | {seconds[1]:.2f} | {number:,} |", flush=True)
    print(f"\n{dg.last_report().to_string()}")


if __name__ == "__main__":
    main()
