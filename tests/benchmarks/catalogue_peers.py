"""Centralities, paths and patterns beside igraph and, where it is installed, NetworKit, on the CPU.

    python tests/benchmarks/catalogue_peers.py [--scale 13] [--large 18] [--side 40] [--repeats 3]

Prints a Markdown table: medians of seconds, ours after a first call, with the answer in the library's own form.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

import igraph
import numpy as np
import pandas as pd

import dask_graphgpu  # noqa: F401  registers .graph

try:
    import networkit
except ImportError:
    networkit = None


def skewed(scale: int) -> pd.DataFrame:
    """Eight undirected edges a vertex, drawn by a power, each once."""
    random, n = np.random.default_rng(1), 1 << scale
    ends = [(n * random.random(8 * n) ** 2).astype(np.int64) for _ in range(2)]
    ends = np.unique(np.sort(random.permutation(n)[np.stack(ends)], axis=0), axis=1)
    return pd.DataFrame(ends[:, ends[0] != ends[1]].T, columns=["src", "dst"])


def grid(side: int) -> pd.DataFrame:
    """A square grid with weights between 0 and 1."""
    v = np.arange(side * side).reshape(side, side)
    across, down = (v[:, :-1].ravel(), v[:, 1:].ravel()), (v[:-1].ravel(), v[1:].ravel())
    made = pd.DataFrame(np.concatenate([across, down], axis=1).T, columns=["src", "dst"])
    return made.assign(weight=np.random.default_rng(0).random(len(made)))


def sparse(scale: int) -> pd.DataFrame:
    """Five directed edges a vertex, evenly drawn, each once."""
    ends = np.random.default_rng(1).integers(0, 1 << scale, (5 << scale, 2))
    return pd.DataFrame(ends, columns=["src", "dst"]).drop_duplicates()


def in_igraph(frame: pd.DataFrame, *, directed: bool = False) -> igraph.Graph:
    ends = frame[["src", "dst"]]
    made = igraph.Graph(int(ends.max(axis=None)) + 1, ends.values.tolist(), directed=directed)
    if "weight" in frame:
        made.es["weight"] = frame["weight"].tolist()
    return made


def in_networkit(frame: pd.DataFrame) -> Any:
    made = networkit.Graph(int(frame.max(axis=None)) + 1)
    for source, destination in frame.itertuples(index=False):
        made.addEdge(source, destination)
    return made


def scores(algorithm: Any) -> list[float]:
    algorithm.run()
    found: list[float] = algorithm.scores()
    return found


def rows(asked: argparse.Namespace) -> dict[str, dict[str, Callable[[], Any]]]:
    """Name -> library -> a call."""
    small, large, roads, pairs = (
        skewed(asked.scale),
        skewed(asked.large),
        grid(asked.side),
        sparse(asked.scale + 1),
    )
    ours = {"small": small, "large": large, "roads": roads}
    kept = {name: frame.graph(directed=False).persist() for name, frame in ours.items()}
    directed = pairs.graph().persist()
    theirs = {name: in_igraph(frame) for name, frame in ours.items()}
    of_pairs = in_igraph(pairs, directed=True)
    ends = np.random.default_rng(2).choice(len(theirs["roads"].vs), 100).tolist()
    ends = list(dict.fromkeys(ends))
    last = len(theirs["roads"].vs) - 1
    found: dict[str, dict[str, Callable[[], Any]]] = {
        "closeness_centrality, exact": {
            "ours": lambda: kept["small"].closeness_centrality(),
            "igraph": lambda: theirs["small"].closeness(),
        },
        "closeness_centrality, 256 sources": {
            "ours": lambda: kept["large"].closeness_centrality(256),
        },
        "eigenvector_centrality": {
            "ours": lambda: kept["large"].eigenvector_centrality(),
            "igraph": lambda: theirs["large"].eigenvector_centrality(),
        },
        "katz_centrality": {"ours": lambda: kept["large"].katz_centrality(alpha=1e-4)},
        "coloring": {
            "ours": lambda: kept["large"].coloring(),
            "igraph": lambda: theirs["large"].vertex_coloring_greedy(),
        },
        "distances, 100 x 100": {
            "ours": lambda: kept["roads"].distances(ends, ends),
            "igraph": lambda: theirs["roads"].distances(ends, ends, weights="weight"),
        },
        "k_shortest_paths, 10": {
            "ours": lambda: kept["roads"].k_shortest_paths(0, last, 10),
            "igraph": lambda: theirs["roads"].get_k_shortest_paths(
                0, to=last, k=10, weights="weight"
            ),
        },
        "cycles of up to 6 edges": {
            "ours": lambda: directed.cycles(6),
            "igraph": lambda: of_pairs.simple_cycles(max=6),
        },
        "triad_census": {
            "ours": lambda: directed.triad_census(),
            "igraph": lambda: of_pairs.triad_census(),
        },
    }
    if networkit is not None:
        central = networkit.centrality
        first, second = in_networkit(small), in_networkit(large)
        kind = central.ClosenessVariant.GENERALIZED
        more = {
            "closeness_centrality, exact": lambda: scores(central.Closeness(first, True, kind)),
            "closeness_centrality, 256 sources": lambda: scores(
                central.ApproxCloseness(second, 256)
            ),
            "eigenvector_centrality": lambda: scores(central.EigenvectorCentrality(second, 1e-6)),
            "katz_centrality": lambda: scores(central.KatzCentrality(second, 1e-4, 1.0, 1e-6)),
        }
        for name, call in more.items():
            found[name]["NetworKit"] = call
    return found


def seconds(call: Callable[[], Any], repeats: int, *, warm: bool) -> float:
    if warm:
        call()
    taken = []
    for _ in range(repeats):
        begun = time.perf_counter()
        call()
        taken.append(time.perf_counter() - begun)
    return statistics.median(taken)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, default in (("scale", 13), ("large", 18), ("side", 40), ("repeats", 3)):
        parser.add_argument(f"--{name}", type=int, default=default)
    asked = parser.parse_args()
    print("| | ours | igraph | NetworKit |\n| --- | --- | --- | --- |")
    for name, calls in rows(asked).items():
        cells = [
            f"{seconds(calls[library], asked.repeats, warm=library == 'ours'):.3f}"
            if library in calls
            else "-"
            for library in ("ours", "igraph", "NetworKit")
        ]
        print(f"| {' | '.join([name, *cells])} |", flush=True)


if __name__ == "__main__":
    main()
