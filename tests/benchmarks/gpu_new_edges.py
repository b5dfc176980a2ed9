"""The answer before and the edges that are new since on a GPU, beside the whole run: components, ranks, communities.

    python tests/benchmarks/gpu_new_edges.py [--scales 20 22] [--turns 5] [--rounds 1 2]

Edges are cuDF frames. Of components and ranks a hundredth is new, drawn at random, of communities 1.5 %. Milliseconds
are the least of ``--turns`` calls after a first one: of components from frame to frame, with the build of all edges or
of the new ones; of ranks (to 1e-6) and of Leiden on a graph that is persisted. Answers are compared: components are the
same, ranks within the tolerance, modularity and *ids kept* as in `warm_communities.py`, of one seed.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from typing import Any

import cupy as cp
import gpu_graphs
import numpy as np

import dask_graphgpu

_NEW, _NEW_OF_COMMUNITIES = 0.01, 0.015
_TOLERANCE = 1e-6


def measured(call: Callable[[], Any], turns: int) -> tuple[Any, float]:
    """What a call gives, and the least milliseconds."""
    found, taken = call(), []
    for _ in range(turns):
        cp.cuda.Device().synchronize()
        start = time.perf_counter()
        found = call()
        cp.cuda.Device().synchronize()
        taken.append(1e3 * (time.perf_counter() - start))
    return found, min(taken)


def drawn(edges: Any, part: float) -> Any:
    """Which rows are new: both directions of an edge, or none."""
    source, destination = (cp.asarray(edges[name]).astype(np.uint64) for name in ("src", "dst"))
    low, high = cp.minimum(source, destination), cp.maximum(source, destination)
    key = (low * np.uint64(0x9E3779B97F4A7C15) + high) * np.uint64(0xBF58476D1CE4E5B9)
    key = (key ^ (key >> np.uint64(31))) * np.uint64(0x94D049BB133111EB)
    return (key >> np.uint64(40)) < int(part * (1 << 24))


def graph_of(edges: Any) -> Any:
    return edges.graph(directed=False, engine="gpu")


def steps() -> str:
    """Supersteps of the last run, and millions of edges that it read."""
    report = dask_graphgpu.last_report()
    return f"{report['supersteps'].sum()} / {report['edges'].sum() / 1e6:.0f}"


def components(edges: Any, turns: int) -> Iterator[str]:
    """A row: all edges, and the new ones with labels."""
    new = drawn(edges, _NEW)
    added = edges[new].reset_index(drop=True)
    labels = graph_of(edges[~new].reset_index(drop=True)).weakly_connected_components()
    whole, every = measured(lambda: graph_of(edges).weakly_connected_components(), turns)
    found, some = measured(
        lambda: graph_of(added).weakly_connected_components(labels=labels), turns
    )
    same = all((whole[name] == found[name]).all() for name in ("vertex", "component"))
    yield f"components | {every:.1f} | {some:.1f} | {every / some:.1f} | {'same' if same else 'OTHERS'}"


def ranks(edges: Any, turns: int) -> Iterator[str]:
    """A row for each method: from nothing, and from the ranks before."""
    new = drawn(edges, _NEW)
    before = graph_of(edges[~new].reset_index(drop=True)).pagerank(tolerance=_TOLERANCE)
    graph = graph_of(edges).persist()
    for method in ("power", "delta"):
        asked = {"tolerance": _TOLERANCE, "max_iterations": 500, "method": method}
        whole, every = measured(lambda asked=asked: graph.pagerank(**asked), turns)
        read = [steps()]
        found, some = measured(lambda asked=asked: graph.pagerank(start=before, **asked), turns)
        read.append(steps())
        apart = float(abs(whole["rank"] - found["rank"]).sum())
        yield (
            f"pagerank, {method} | {every:.1f} | {some:.1f} | {every / some:.1f} | iterations / M edges "
            f"{read[0]} and {read[1]}; {apart:.1e} apart in sum"
        )


def communities(edges: Any, turns: int, rounds: list[int]) -> Iterator[str]:
    """A row for each number of rounds from the communities before."""
    new = drawn(edges, _NEW_OF_COMMUNITIES)
    before = graph_of(edges[~new].reset_index(drop=True)).leiden(weighted=False)
    before = before[["vertex", "community"]]
    ends = edges[new]["src"].unique()
    graph = graph_of(edges).persist()
    whole, every = measured(lambda: graph.leiden(weighted=False), turns)
    for number in rounds:
        found, some = measured(
            lambda number=number: graph.leiden(
                weighted=False, initial=before, max_iterations=number
            ),
            turns,
        )
        share = float(found["modularity"].iloc[0]) / float(whole["modularity"].iloc[0])
        kept, _ = dask_graphgpu.match_ids(before, found[["vertex", "community"]])
        both = before.merge(kept, on="vertex", suffixes=("_old", "_new"))
        still = both[~both["vertex"].isin(ends)]
        same = float((still["community_old"] == still["community_new"]).mean())
        yield (
            f"leiden, {number} rounds | {every:.1f} | {some:.1f} | {every / some:.1f} | modularity "
            f"{share:.4f} of a run from nothing; ids kept {same:.3f}"
        )


def main() -> None:
    """Print Markdown."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scales", type=int, nargs="*", default=[20])
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--rounds", type=int, nargs="*", default=[1, 2])
    options = parser.parse_args()
    print("| graph | method | whole, ms | from before, ms | times | answers |")
    print("| --- | --- | --- | --- | --- | --- |")
    for scale in options.scales:
        graph = gpu_graphs.rmat(scale)
        edges = graph.edges[["src", "dst"]]
        for rows in (
            components(edges, options.turns),
            ranks(edges, options.turns),
            communities(edges, options.turns, options.rounds),
        ):
            for row in rows:
                print(f"| {graph.name} | {row} |", flush=True)


if __name__ == "__main__":
    main()
