"""Every method on one and on several GPUs of one host, of graphs that fit each of them.

    python tests/benchmarks/gpu_rank_methods.py --scales 20 22 [--ranks 1 2] [--methods louvain triangle_count]

Prints a Markdown table: seconds of the first and of the second call, with the frame of the result. Edges are an
undirected R-MAT graph with 16 edges a vertex, in a pandas frame; ranks are threads of this process, a GPU each.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import cupy
import numpy as np
import pandas as pd

import dask_graphgpu  # noqa: F401  registers .graph

_SOURCES = 32


def rmat(scale: int) -> pd.DataFrame:
    """Undirected edges without repeats and loops, and weights."""
    random = cupy.random.default_rng(scale)
    source, destination = (cupy.zeros(16 << scale, np.int64) for _ in range(2))
    for _ in range(scale):
        drawn = random.random(len(source), dtype=np.float32)
        source = source * 2 + (drawn >= 0.76)
        destination = destination * 2 + (((drawn >= 0.57) & (drawn < 0.76)) | (drawn >= 0.95))
    keys = cupy.minimum(source, destination) << 32 | cupy.maximum(source, destination)
    keys = cupy.unique(keys[source != destination])
    source, destination = keys >> 32, keys & 0xFFFFFFFF
    weight = (source * 2654435761 + destination * 40503) % 64 + 1
    ends = {"src": source, "dst": destination, "weight": weight}
    frame = pd.DataFrame({name: values.astype(np.int32).get() for name, values in ends.items()})
    del source, destination, keys, weight, drawn, ends
    cupy.get_default_memory_pool().free_all_blocks()
    return frame


def calls(edges: pd.DataFrame) -> dict[str, tuple[str, dict[str, Any]]]:
    """Name -> a method and its arguments."""
    random = np.random.default_rng(5)
    some = edges["src"].sample(_SOURCES, random_state=5).unique().tolist()
    pairs = edges[["src", "dst"]].sample(min(100_000, len(edges)), random_state=5)
    pairs["dst"] = random.permutation(pairs["dst"])
    hub = int(edges["src"].mode().iloc[0])
    plain = (
        "pagerank", "triangle_count", "clustering_coefficient", "core_number", "label_propagation",
        "louvain", "leiden", "strongly_connected_components", "minimum_spanning_forest", "bridges",
        "articulation_points", "biconnected_components", "k_truss", "weakly_connected_components",
    )  # fmt: skip
    return {
        "bfs": ("bfs", {"source": hub}),
        "sssp": ("sssp", {"source": hub}),
        f"bfs, {len(some)} sources": ("bfs", {"source": some}),
        "ssnsp": ("ssnsp", {"source": hub, "dtype": "float64"}),
        **{name: (name, {}) for name in plain},
        "hits": ("hits", {"max_iterations": 200}),
        "k_core": ("k_core", {"k": 32}),
        "jaccard, pairs": ("jaccard", {"pairs": pairs}),
        "betweenness, weighted": (
            "betweenness_centrality",
            {"sources": some[:8], "weighted": True},
        ),
        "edge betweenness": ("edge_betweenness_centrality", {"sources": some[:8]}),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scales", type=int, nargs="+", default=[20])
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--methods", nargs="+", help="names in the table; default: all")
    asked = parser.parse_args()
    heads = " | ".join(f"{ranks} first | {ranks} second" for ranks in asked.ranks)
    print(f"| | {heads} |\n{'| --- ' * (1 + 2 * len(asked.ranks))}|", flush=True)
    for scale in asked.scales:
        edges = rmat(scale)
        chosen = calls(edges)
        if asked.methods:
            chosen = {name: chosen[name] for name in asked.methods}
        cells: dict[str, list[str]] = {name: [] for name in chosen}
        for ranks in asked.ranks:
            graph = edges.graph(directed=False, engine="gpu", ranks=ranks).persist()
            for name, (method, arguments) in chosen.items():
                for _ in range(2):
                    began = time.perf_counter()
                    getattr(graph, method)(**arguments)
                    cells[name].append(f"{time.perf_counter() - began:.3f}")
            del graph
        for name, row in cells.items():
            print(f"| R-MAT {scale}, {name} | {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    main()
