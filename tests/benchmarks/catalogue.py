"""Similarity, walks, samples, embeddings, paths in time, neighbours' statistics, orders and sets, on the CPU or a GPU.

    python tests/benchmarks/catalogue.py [--engine cpu|gpu] [--scale 18] [--similar 2000000]

Prints a Markdown table: seconds of the first and of the second call, with the frame of the result, and its rows.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

import dask_graphgpu  # noqa: F401  registers .graph

_FANOUT = [15, 10]
_STATISTICS = ["mean", "sum", "min", "max", "count"]


def skewed(vertices: int, edges: int, power: int) -> pd.DataFrame:
    """Directed edges between vertices of permuted ids that are drawn by a power, 1: evenly."""
    random = np.random.default_rng(1)
    ids = random.permutation(vertices)
    ends = [ids[(vertices * random.random(edges) ** power).astype(np.int64)] for _ in range(2)]
    return pd.DataFrame({"src": ends[0], "dst": ends[1]})


def graphs(asked: argparse.Namespace) -> dict[str, Any]:
    """The graphs that calls are of, persisted."""
    n = 1 << asked.scale
    edges = skewed(n, 16 * n, 2)
    given = {"engine": asked.engine}
    timed = edges.assign(at=np.random.default_rng(3).integers(0, 10**9, len(edges)))
    return {
        "pairs": skewed(asked.similar, 4 * asked.similar, 2).graph(**given).persist(),
        "even": skewed(n // 5, 2 * n, 1).graph(directed=False, **given).persist(),
        "directed": edges.graph(**given).persist(),
        "undirected": edges.graph(directed=False, **given).persist(),
        "timed": timed.graph(**given).persist(columns="at"),
        "acyclic": edges[edges["src"] < edges["dst"]].graph(**given).persist(),
    }


def calls(made: dict[str, Any], scale: int) -> dict[str, Callable[[], Any]]:
    """Name -> a call."""
    n = 1 << scale
    random = np.random.default_rng(2)
    values = pd.DataFrame({"vertex": range(n), **{name: random.random(n) for name in "abcd"}})
    of = {name: _STATISTICS for name in "abcd"}
    pairs, even, directed = made["pairs"], made["even"], made["directed"]
    undirected, acyclic = made["undirected"], made["acyclic"]
    seeds = directed.vertices()["vertex"].iloc[:4096].tolist()
    timed = made["timed"]
    asked = pd.DataFrame({"vertex": seeds, "at": random.integers(0, 10**9, len(seeds))})
    return {
        "similar, jaccard": lambda: pairs.similar("jaccard"),
        "similar, adamic_adar": lambda: pairs.similar("adamic_adar"),
        "random_walks": lambda: even.random_walks(length=40),
        "random_walks, p=0.5, q=2": lambda: even.random_walks(length=40, p=0.5, q=2.0),
        "neighbor_sample": lambda: directed.neighbor_sample(seeds, fanout=_FANOUT, batch_size=1024),
        "neighbor_sample, by time": lambda: timed.neighbor_sample(
            asked, fanout=_FANOUT, batch_size=1024, time="at"
        ),
        "fastrp, 64 numbers": lambda: undirected.fastrp(64),
        "motifs of 4": lambda: even.motifs(),
        "vertex_motifs of 3": lambda: directed.vertex_motifs(),
        "earliest_arrival": lambda: timed.earliest_arrival(seeds[0], "at"),
        "neighbor_aggregate": lambda: directed.neighbor_aggregate(values, of),
        "closeness_centrality, of a sample": lambda: undirected.closeness_centrality(n >> 8),
        "harmonic_centrality, hyperball": lambda: undirected.harmonic_centrality(
            method="hyperball"
        ),
        "khop_count": lambda: directed.khop_count(2, sources=64),
        "eigenvector_centrality": lambda: directed.eigenvector_centrality(),
        "katz_centrality": lambda: directed.katz_centrality(alpha=1e-5),
        "maximal_independent_set": lambda: undirected.maximal_independent_set(),
        "coloring": lambda: undirected.coloring(),
        "topological_order": lambda: acyclic.topological_order(),
        "longest_path": lambda: acyclic.longest_path(),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--engine", choices=["cpu", "gpu"], default="cpu")
    parser.add_argument("--scale", type=int, default=18, help="2 to this power are the vertices")
    parser.add_argument("--similar", type=int, default=2_000_000, help="vertices of pairs")
    asked = parser.parse_args()
    print("| | first | second | rows |\n| --- | --- | --- | --- |")
    for name, call in calls(graphs(asked), asked.scale).items():
        seconds = []
        for _ in range(2):
            began = time.perf_counter()
            rows = len(call())
            seconds.append(f"{time.perf_counter() - began:.3f}")
        print(f"| {name} | {' | '.join(seconds)} | {rows:,} |", flush=True)


if __name__ == "__main__":
    main()
