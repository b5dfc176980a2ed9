"""Leiden after 1.5 % of the edges have come, from the communities before and from nothing.

    python tests/benchmarks/warm_communities.py [--scales 20] [--graphs FILE ...] [--rounds 1 2]

A row for each number of rounds (``max_iterations``) from ``initial``. Each seed is a pair of runs, from nothing before
the edges have come and after; modularity is the mean of those after, with the least and the largest, and as a share of
their mean that of the runs from ``initial``. Seconds are of processors. *Ids kept* is of vertices that have no new
edge, as `match_ids` gives them. ``--graphs`` : Parquet files of edges beside R-MAT.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from graphs import rmat

import dask_graphgpu

_PART = 0.015


def timed(graph: Any, **given: Any) -> tuple[pd.DataFrame, float]:
    """Communities, and seconds of processors."""
    start = time.process_time()
    return graph.leiden(weighted=False, **given), time.process_time() - start


def compare(name: str, path: Path, rounds: list[int], seeds: int) -> Iterator[str]:
    """Rows of a graph."""
    edges = pd.read_parquet(path, columns=["src", "dst"])
    new = np.random.default_rng(5).random(len(edges)) < _PART
    whole = edges.graph(directed=False).persist()
    old = edges[~new].graph(directed=False).persist()
    ends = np.unique(edges[new].to_numpy())
    before = [timed(old, seed=seed)[0] for seed in range(seeds)]
    full = [timed(whole, seed=seed) for seed in range(seeds)]
    there = np.array([found["modularity"].iloc[0] for found, _ in full])
    seconds = min(taken for _, taken in full)
    spread = f"{there.mean():.4f} ({there.min():.4f} to {there.max():.4f})"
    for number in rounds:
        warm = [
            timed(whole, initial=each, max_iterations=number, seed=seed)
            for seed, each in enumerate(before)
        ]
        share = np.mean([found["modularity"].iloc[0] for found, _ in warm]) / there.mean()
        kept = np.mean([_kept(o, w, ends) for o, (w, _) in zip(before, warm, strict=True)])
        taken = min(taken for _, taken in warm)
        yield f"| {name} | {spread} | {seconds:.2f} | {number} | {share:.4f} | {taken:.2f} | {kept:.3f} |"


def _kept(before: pd.DataFrame, warm: pd.DataFrame, ends: np.ndarray) -> float:
    """The share of vertices without new edges that keep their community's id."""
    found, _ = dask_graphgpu.match_ids(before[["vertex", "community"]], warm)
    both = before.merge(found, on="vertex", suffixes=("_old", "_new"))
    still = both[~both["vertex"].isin(ends)]
    return float((still["community_old"] == still["community_new"]).mean())


def main() -> None:
    """Print Markdown."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scales", type=int, nargs="*", default=[20])
    parser.add_argument("--graphs", type=Path, nargs="*", default=[])
    parser.add_argument("--rounds", type=int, nargs="*", default=[1, 2])
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    print(
        "| graph | modularity | s | rounds from before | share of it | s | ids kept |\n"
        "| --- | --- | --- | --- | --- | --- | --- |"
    )
    with tempfile.TemporaryDirectory() as folder:
        made = [rmat(scale, 16, Path(folder)) for scale in options.scales]
        given = [(graph.name, graph.path) for graph in made]
        for name, path in [*given, *((path.stem, path) for path in options.graphs)]:
            for row in compare(name, path, options.rounds, options.seeds):
                print(row, flush=True)


if __name__ == "__main__":
    main()
