"""Methods that only stream edges on a graph that does not fit a GPU: seconds, and bytes over the link.

    python tests/benchmarks/tier_streams.py --scale 22 --share 0.25

prints a Markdown table: for HITS and label propagation (ten iterations), the minimum spanning forest, strongly
connected components (of directed edges), core numbers and betweenness (of the eight vertices of most edges) the best
seconds of some runs, host to host, with so large a share of the edges on the device beside what belongs to vertices;
in memory, without a limit; and of the CPU engine; then the bytes that crossed the link, over those of the edges.
Answers are compared with those in memory.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import cupy as cp
import dask
import numpy as np
from tier_graphs import rmat

from dask_graphgpu.engine import cpu, gpu, limits, tiered
from dask_graphgpu.partition.csr import Adjacency, from_edges
from dask_graphgpu.partition.view import View
from dask_graphgpu.report import Report

CASES: dict[str, tuple[str, str, tuple[Any, ...]]] = {
    "HITS": ("plain", "hits", (0, 10)),
    "weighted HITS": ("weighted", "hits", (0, 10)),
    "label propagation": ("plain", "label_propagation", (10,)),
    "directed label propagation": ("directed", "label_propagation", (10,)),
    "forest": ("weighted", "spanning_forest", ()),
    "strong components": ("directed", "strong_components", ()),
    "core numbers": ("plain", "core_numbers", ()),
    "betweenness": ("plain", "betweenness", (np.arange(8),)),
}
NAMED = {"betweenness": {"weighted": False, "endpoints": False, "edges": False}}


def directed(view: View) -> View:
    """One direction of each edge, by a hash of its ends."""
    rows = view.out
    u = np.repeat(np.arange(view.num_vertices, dtype=np.uint64), rows.degrees)
    v = rows.neighbours.astype(np.uint64)
    kept = (
        (u * np.uint64(0x9E3779B97F4A7C15) ^ v * np.uint64(0xC2B2AE3D27D4EB4F)) >> np.uint64(40)
    ) % np.uint64(2)
    kept = kept.astype(bool)
    made: Adjacency = from_edges(
        view.num_vertices, u[kept].astype(np.uint32), rows.neighbours[kept]
    )
    return View.of(made, directed=True)


def best(run: Callable[[], Any], runs: int) -> float:
    """Seconds of the fastest run after one that is not counted."""
    run()
    found = []
    for _ in range(runs):
        cp.cuda.Device().synchronize()
        began = time.perf_counter()
        run()
        found.append(time.perf_counter() - began)
    return min(found)


def same(name: str, found: Any, wanted: Any) -> bool:
    """Whether an answer is that in memory: sums up to rounding, edges in any order."""
    if name == "betweenness":
        return np.allclose(found, wanted, rtol=1e-6, atol=1e-6)
    if name == "hits":
        return all(np.allclose(a, b, rtol=1e-9) for a, b in zip(found, wanted, strict=True))
    if name == "spanning_forest":
        orders = [np.lexsort(each[:2]) for each in (found, wanted)]
        pairs = zip(found, wanted, strict=True)
        return all(np.array_equal(a[orders[0]], b[orders[1]]) for a, b in pairs)
    return bool(np.array_equal(found, wanted))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scale", type=int, default=20)
    parser.add_argument("--share", type=float, default=0.25)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--methods", nargs="*", choices=CASES, default=list(CASES))
    parser.add_argument("--cpu", action="store_true", help="the CPU engine as well")
    options = parser.parse_args()
    plain, weighted = rmat(options.scale)
    views = {"plain": plain, "weighted": weighted}
    if any(CASES[label][0] == "directed" for label in options.methods):
        views["directed"] = directed(plain)
    print(
        f"{plain.num_vertices:,} vertices, {plain.num_edges:,} rows' edges, share {options.share}"
    )
    print("| method | beyond, s | in memory, s | CPU, s | over the link / edges | same |")
    print("| --- | --- | --- | --- | --- | --- |", flush=True)
    cut_of = limits.Cut.of

    def cut(num_edges: int, edge: int, vertices: int, limit: int, what: str, **most: int) -> Any:
        room = int(options.share * num_edges * edge)
        return cut_of(num_edges, edge, vertices, vertices + room, what, **most)

    for label in options.methods:
        kind, name, given = CASES[label]
        view, report = views[kind], Report("benchmark")

        def beyond(view: View = view, name: str = name, given: Any = given) -> Any:
            nonlocal report
            report = Report("benchmark")
            with dask.config.set({"graphgpu.device-memory-limit": "1TB"}):
                return getattr(tiered, name)(view, *given, **NAMED.get(name, {}), report=report)

        with patch.object(limits.Cut, "of", cut):
            found, seconds = beyond(), best(beyond, options.runs)
        moved = sum(way["bytes"] for way in report.moved.values())
        weight = view.out.weight
        size = view.num_edges * (4 + (0 if weight is None else weight.itemsize))

        def within(engine: Any, view: View = view, name: str = name, given: Any = given) -> Any:
            given = (view, *given)
            return getattr(engine, name)(*given, **NAMED.get(name, {}), report=Report("benchmark"))

        wanted, inside = within(gpu), best(lambda: within(gpu), options.runs)
        host = f"{best(lambda: within(cpu), 1):.4f}" if options.cpu else ""
        print(
            f"| {label} | {seconds:.4f} | {inside:.4f} | {host} | {moved / size:.2f} "
            f"| {same(name, found, wanted)} |", flush=True,
        )  # fmt: skip
        for each in report.advances[:12]:
            print(f"    {each.direction} x{each.supersteps} {each.edges:,} {each.seconds:.4f}")


if __name__ == "__main__":
    main()
