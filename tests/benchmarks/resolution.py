"""Entity resolution on pairs with scores: one threshold and twenty, metrics of clusters, bridges.

    python tests/benchmarks/resolution.py [--pairs 2] [--path 1] [--turns 2]

Pairs are strings in clusters, as `entities.py` makes them, with scores at random, of a graph that is persisted, to
frames of pandas. ``--path`` : millions of vertices of a path of integers, of which every edge is a bridge. Seconds are
the least of ``--turns`` calls after a first one, and in brackets those of processors. ``--no-levels`` : twenty columns
of so many strings would not fit memory.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from entities import names
from new_edges import measured

import dask_graphgpu  # noqa: F401


def pairs_of(number: int) -> pd.DataFrame:
    """Pairs of strings, each of a record with the next one of its cluster, in any order."""
    drawn = np.random.default_rng(1)
    left = drawn.permutation(number)
    alone = (left * np.int64(2654435761) >> np.int64(7)) % 10 == 0
    right = np.where(alone, left, left + 1)
    table = pa.table({"left": names(left), "right": names(right), "score": drawn.random(number)})
    return table.to_pandas()


def rows(pairs: float, path: float, turns: int, *, levels: bool = True) -> Iterator[str]:
    """A row for each call."""

    def row(name: str, call: Callable[[], Any]) -> str:
        call()
        wall, processor = measured(call, turns)
        return f"| {name} | {wall:.2f} ({processor:.2f}) |"

    if pairs:
        ends = {"source": "left", "destination": "right", "weight": "score", "directed": False}
        frame = pairs_of(int(pairs * 1e6))
        graph = frame.graph(**ends).persist()
        del frame
        few, many = [0.5], [k / 20 for k in range(20)]
        of = f"{pairs:g} M pairs"
        components = graph.weakly_connected_components
        if levels:
            yield row(f"one threshold, {of}", lambda: components(thresholds=few))
            yield row(f"twenty thresholds, {of}", lambda: components(thresholds=many))
        yield row(f"cluster_metrics, {of}", graph.cluster_metrics)
        yield row(f"bridges, {of}", graph.bridges)
    if path:
        ids = np.arange(int(path * 1e6))
        line = pd.DataFrame({"src": ids[:-1], "dst": ids[1:]}).graph(directed=False).persist()
        yield row(f"bridges, a path of {path:g} M", line.bridges)
        yield row(f"articulation_points, a path of {path:g} M", line.articulation_points)


def main() -> None:
    """Print Markdown."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=float, default=2, help="millions")
    parser.add_argument("--path", type=float, default=1, help="millions of vertices")
    parser.add_argument("--turns", type=int, default=2)
    parser.add_argument("--no-levels", action="store_true")
    options = parser.parse_args()
    print("| call | s |\n| --- | --- |")
    asked = options.pairs, options.path, options.turns
    for row in rows(*asked, levels=not options.no_levels):
        print(row, flush=True)


if __name__ == "__main__":
    main()
