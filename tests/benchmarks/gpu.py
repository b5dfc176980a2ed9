"""Measure the GPU engine beside cuGraph on the same GPU, in one process.

    python tests/benchmarks/gpu.py --scale 20 22 24 --grid 4096

prints Markdown: best and median milliseconds of a call as a user makes it (cuDF frame out) and of
the device alone (events before the first and after the last kernel of the engine), cuGraph's calls
beside them, and whether both found the same.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import cupy as cp
from gpu_graphs import DeviceGraph, grid, real, rmat
from quality import modularity

import dask_graphgpu  # noqa: F401  registers .graph

ITERATIONS = 20  # of PageRank and hits; their times are of one
REPEATS = 10
LONG = 2.0  # seconds from which a peer's first call is the only one


@dataclass
class Timing:
    """Milliseconds of some calls."""

    calls: list[float] = field(default_factory=list)

    def __str__(self) -> str:
        return f"{min(self.calls):.2f} / {statistics.median(self.calls):.2f}" if self.calls else "-"


def timed(
    call: Callable[[], Any],
    *,
    long: float = float("inf"),
    events: bool = False,
    repeats: int = REPEATS,
) -> Timing:
    """Time calls after one that is not counted, unless that takes ``long`` seconds."""
    timing = Timing()
    for i in range(repeats + 1):
        begin, end = cp.cuda.Event(), cp.cuda.Event()
        cp.cuda.Device().synchronize()
        start = time.perf_counter()
        begin.record()
        call()
        end.record()
        end.synchronize()
        wall = 1e3 * (time.perf_counter() - start)
        timing.calls.append(cp.cuda.get_elapsed_time(begin, end) if events else wall)
        if i == 0 and wall < 1e3 * long:
            timing.calls.clear()
        elif i == 0:
            break
    return timing


def ours(graph: DeviceGraph) -> dict[str, tuple[Callable[[], Any], Callable[[], Any] | None]]:
    """Calls of ours: as a user makes them, and of the engine alone."""
    from dask_graphgpu.algorithms.pagerank import power_program
    from dask_graphgpu.engine import gpu
    from dask_graphgpu.engine.options import RunOptions
    from dask_graphgpu.report import Report

    plain = graph.edges[["src", "dst"]].graph(directed=False).persist()
    weighted = graph.weighted("int32").graph(directed=False).persist()
    floats = graph.weighted("float32").graph(directed=False).persist()
    halved = graph.halved().graph().persist()
    held = plain._input.held
    source = int(held.ids.find([graph.source])[0])
    views = {
        "plain": held.view("one", False),
        "weighted": weighted._input.held.view("min"),
        "floats": floats._input.held.view("sum"),
        "sum": held.view("sum", False),
        "halved": halved._input.held.view("one", False),
    }
    s = graph.source
    many = held.ids.find(graph.sources(64))

    def sssp() -> Any:
        from dask_graphgpu.engine.known import DISTANCES

        return gpu.run(
            DISTANCES, views["weighted"], RunOptions(sources=[source], report=Report("sssp"))
        )

    def distances() -> Any:
        from dask_graphgpu.engine.known import DISTANCES

        options = RunOptions(report=Report("sssp"))
        return gpu.run_each(DISTANCES, views["weighted"], many[:16], options)

    reached = plain.bfs(s).dropna().sort_values(["distance", "vertex"])["vertex"]
    target = int(reached.iloc[len(reached) // 2])

    def ego() -> Any:
        how = {"cutoff": 2, "targets": None, "report": Report("ego")}
        return gpu.edges_among(views["plain"], gpu.bfs(views["plain"], source, **how) >= 0)

    def bfs() -> Any:
        return gpu.bfs(views["plain"], source, cutoff=None, targets=None, report=Report("bfs"))

    def searches() -> Any:
        return gpu.multi_bfs(views["plain"], many, cutoff=None, targets=None, report=Report("bfs"))

    def bfs_with_predecessors() -> Any:
        level = bfs()
        return gpu.predecessors(
            views["plain"], source, level, level >= 0, hops=True, report=Report("bfs")
        )

    def components() -> Any:
        return gpu.components(views["plain"], report=Report("components"))

    def strong_components() -> Any:
        return gpu.strong_components(views["halved"], report=Report("strong_components"))

    def cores() -> Any:
        return gpu.core_numbers(views["plain"], report=Report("core_number"))

    def pagerank(made: Any, dtype: str) -> Callable[[], Any]:
        return lambda: made.pagerank(max_iterations=ITERATIONS, tolerance=0, dtype=dtype)

    def power(view: Any, dtype: str, *, weighted: bool) -> Callable[[], Any]:
        program = power_program(dtype, weighted=weighted, personal=False)
        limits = {"max_supersteps": ITERATIONS, "exact_supersteps": True}
        none = {"tolerance": 0.0}
        return lambda: gpu.run(
            program, view, RunOptions(constants=none, **limits, report=Report("pagerank"))
        )

    def k_core() -> Any:
        return gpu.edges_among(views["plain"], gpu.k_core(views["plain"], 16, Report("k_core")))

    def triangles() -> Any:
        return gpu.triangles(views["plain"], report=Report("triangles"))

    def labels() -> Any:
        return gpu.label_propagation(views["plain"], 10, report=Report("label_propagation"))

    def louvain() -> Any:
        return gpu.louvain(views["sum"], 1.0, 0, report=Report("louvain"))

    def leiden() -> Any:
        return gpu.leiden(views["sum"], 1.0, 0, 2, report=Report("leiden"))

    some = graph.pairs()
    ends = [held.ids.find_rows([some[end].values])[0] for end in ("src", "dst")]

    def jaccard() -> Any:
        return gpu.jaccard_of_pairs(views["plain"], *ends, report=Report("jaccard"))

    def hits() -> Any:
        return gpu.hits(views["plain"], 0.0, ITERATIONS, report=Report("hits"))

    def forest() -> Any:
        return gpu.spanning_forest(views["weighted"], report=Report("spanning_forest"))

    def betweenness_of_edges() -> Any:
        how = {"weighted": False, "endpoints": False, "edges": True}
        return gpu.betweenness(views["plain"], many[:4], **how, report=Report("betweenness"))

    def betweenness(number: int) -> tuple[Callable[[], Any], Callable[[], Any]]:
        sources = graph.sources(number)
        dense = held.ids.find(sources)
        how = {"weighted": False, "endpoints": True, "edges": False}
        return (
            lambda: plain.betweenness_centrality(sources, endpoints=True),
            lambda: gpu.betweenness(views["plain"], dense, **how, report=Report("betweenness")),
        )

    return {
        "bfs": (lambda: plain.bfs(s), bfs),
        "bfs, predecessors": (lambda: plain.bfs(s, predecessor=True), bfs_with_predecessors),
        "searches, 64 sources": (lambda: plain.bfs(graph.sources(64)), searches),
        "sssp": (lambda: weighted.sssp(s), sssp),
        "sssp, 16 sources": (lambda: weighted.sssp(graph.sources(64)[:16]), distances),
        "shortest path": (lambda: weighted.shortest_path(s, target), None),
        "pagerank float32": (
            pagerank(plain, "float32"),
            power(views["plain"], "float32", weighted=False),
        ),
        "pagerank float64": (
            pagerank(plain, "float64"),
            power(views["plain"], "float64", weighted=False),
        ),
        "pagerank float32, weighted": (
            pagerank(floats, "float32"),
            power(views["floats"], "float32", weighted=True),
        ),
        "components": (lambda: plain.weakly_connected_components(), components),
        "strong components": (
            lambda: halved.strongly_connected_components(),
            strong_components,
        ),
        "core number": (lambda: plain.core_number(), cores),
        "k-core, k = 16": (lambda: plain.k_core(16), k_core),
        "ego, radius 2": (lambda: plain.ego(s, 2), ego),
        "triangles": (lambda: plain.triangle_count(), triangles),
        "clustering": (lambda: plain.clustering_coefficient(), None),
        "label propagation": (lambda: plain.label_propagation(10), labels),
        "hits": (lambda: plain.hits(tolerance=0, max_iterations=ITERATIONS), hits),
        "louvain": (lambda: plain.louvain(), louvain),
        "leiden": (lambda: plain.leiden(), leiden),
        "jaccard, 1 M pairs": (lambda: plain.jaccard(some), jaccard),
        "spanning forest": (lambda: weighted.minimum_spanning_forest(), forest),
        "betweenness, 4 sources": betweenness(4),
        "betweenness, 64 sources": betweenness(64),
        "edge betweenness, 4 sources": (
            lambda: plain.edge_betweenness_centrality(graph.sources(64)[:4]),
            betweenness_of_edges,
        ),
        "build": (lambda: graph.edges[["src", "dst"]].graph(directed=False).persist(), None),
        "build, weighted": (lambda: graph.weighted("int32").graph(directed=False).persist(), None),
    }


def peers(graph: DeviceGraph) -> dict[str, Callable[[], Any]]:
    """Calls of cuGraph for the same."""
    import cugraph

    def build(weight: str | None) -> Any:
        edges = graph.weighted("float32") if weight else graph.edges[["src", "dst"]]
        made = cugraph.Graph(directed=False)
        made.from_cudf_edgelist(
            edges, source="src", destination="dst", weight=weight, symmetrize=False
        )
        made._plc_graph  # noqa: B018  built when it is first asked for in some versions
        return made

    plain, weighted = build(None), build("weight")
    halved = cugraph.Graph(directed=True)
    halved.from_cudf_edgelist(graph.halved(), source="src", destination="dst")
    s = graph.source
    some = graph.pairs().rename(columns={"src": "first", "dst": "second"})

    def betweenness(number: int) -> Callable[[], Any]:
        sources = graph.sources(number)
        return lambda: cugraph.betweenness_centrality(plain, k=sources, endpoints=True)

    def pagerank(made: Any) -> Callable[[], Any]:
        return lambda: cugraph.pagerank(
            made, tol=1e-30, max_iter=ITERATIONS, fail_on_nonconvergence=False
        )

    return {
        "bfs, predecessors": lambda: cugraph.bfs(plain, start=s),
        "sssp": lambda: cugraph.sssp(weighted, source=s),
        "pagerank float32": pagerank(plain),
        "pagerank float32, weighted": pagerank(weighted),
        "components": lambda: cugraph.weakly_connected_components(plain),
        "strong components": lambda: cugraph.strongly_connected_components(halved),
        "core number": lambda: cugraph.core_number(plain),
        "k-core, k = 16": lambda: cugraph.k_core(plain, k=16),
        "ego, radius 2": lambda: cugraph.ego_graph(plain, s, radius=2),
        "triangles": lambda: cugraph.triangle_count(plain),
        "louvain": lambda: cugraph.louvain(plain),
        "leiden": lambda: cugraph.leiden(plain, max_iter=2),
        "jaccard, 1 M pairs": lambda: cugraph.jaccard(plain, some),
        "spanning forest": lambda: cugraph.minimum_spanning_tree(weighted),
        "betweenness, 4 sources": betweenness(4),
        "betweenness, 64 sources": betweenness(64),
        "edge betweenness, 4 sources": lambda: cugraph.edge_betweenness_centrality(
            plain, k=graph.sources(64)[:4]
        ),
        "build": lambda: build(None),
        "build, weighted": lambda: build("weight"),
    }


def measure(graph: DeviceGraph, *, peer: bool, only: list[str]) -> None:
    """Print the table of a graph, or ``only`` some rows."""
    calls = {
        name: of
        for name, of in ours(graph).items()
        if not only or name.split(",")[0].split()[0] in only
    }
    theirs = peers(graph) if peer else {}
    print(f"\n### {graph.name}: {graph.num_vertices:,} ids, {len(graph.edges):,} directed edges\n")
    print("| | ours, user call | ours, device | cuGraph |\n| --- | --- | --- | --- |")
    for name, (user, device) in calls.items():
        per = ITERATIONS if name.startswith(("pagerank", "hits")) else 1
        try:
            cells = [timed(user), timed(device, events=True) if device else Timing()]
        except Exception as error:
            print(f"| {name} | {type(error).__name__}: {str(error)[:300]} |", flush=True)
            continue
        try:
            cells.append(timed(theirs[name], long=LONG) if name in theirs else Timing())
        except Exception as error:
            print(f"cuGraph, {name}: {type(error).__name__}: {str(error)[:300]}", flush=True)
            cells.append(Timing())
        for cell in cells:
            cell.calls = [value / per for value in cell.calls]
        print(f"| {name} | " + " | ".join(map(str, cells)) + " |", flush=True)
    if peer:
        print("\n" + compare(graph, calls, theirs), flush=True)


# Columns that both have to find the same, how near floats have to be, and by what rows are ordered.
COMPARED = (
    ("sssp", "distance", 0.0, ["vertex"]),
    ("core number", "core_number", 0.0, ["vertex"]),
    ("triangles", "counts", 0.0, ["vertex"]),
    ("betweenness, 4 sources", "betweenness_centrality", 1e-3, ["vertex"]),
    ("jaccard, 1 M pairs", "jaccard_coeff", 1e-5, ["first", "second"]),
)


def compare(graph: DeviceGraph, calls: dict[str, Any], theirs: dict[str, Any]) -> str:
    """Say whether distances, cores, triangles and the like are those of cuGraph, and both modularities."""
    said = []
    for name in ("louvain", "leiden"):
        if name in calls:
            own, (parts, other) = calls[name][0](), theirs[name]()
            found = [
                _modularity(graph, *each) for each in ((own, "community"), (parts, "partition"))
            ]
            said.append(
                f"{name}: modularity {found[0]:.5f} (said {own['modularity'].iloc[0]:.5f}), "
                f"cuGraph's {found[1]:.5f} (said {other:.5f})"
            )
    for name, column, tolerance, order in COMPARED:
        if name not in calls:
            continue
        mine, other = calls[name][0](), theirs[name]().sort_values(order)
        a = cp.asarray(mine[mine.columns[-1]].fillna(-1)).astype("float64")
        b = cp.asarray(_unreached(other[column])).astype("float64")
        if name.startswith("betweenness"):  # scaled in different ways, all vertices alike
            b *= a.max() / b.max()
        same = bool((cp.abs(a - b) <= tolerance * cp.maximum(cp.abs(a), 1)).all())
        said.append(f"{name}: {'same' if same else 'DIFFERENT'}")
    return ", ".join(said)


def _modularity(graph: DeviceGraph, table: Any, column: str) -> float:
    """Of the communities that a frame has."""
    label = cp.zeros(graph.num_vertices, "int64")
    label[cp.asarray(table["vertex"])] = cp.asarray(table[column])
    return modularity(*(cp.asarray(graph.edges[name]) for name in ("src", "dst")), label)


def _unreached(column: Any) -> Any:
    """Distances with -1 where the peer writes the largest float."""
    return column.mask(column > 1e30, -1)


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scale", type=int, nargs="*", default=[])
    parser.add_argument("--grid", type=int, nargs="*", default=[])
    parser.add_argument("--graphs", type=Path, nargs="*", default=[], help="Parquet files")
    parser.add_argument("--no-peer", action="store_true")
    parser.add_argument(
        "--only", nargs="*", default=[], help="rows of the table, by their first word"
    )
    given = parser.parse_args()
    names = ["cupy-cuda13x", "numba-cuda", *([] if given.no_peer else ["cugraph-cu13"])]
    print(", ".join(f"{name} {importlib.metadata.version(name)}" for name in names))
    for scale in given.scale:
        measure(rmat(scale), peer=not given.no_peer, only=given.only)
    for side in given.grid:
        measure(grid(side), peer=not given.no_peer, only=given.only)
    for path in given.graphs:
        measure(real(path), peer=not given.no_peer, only=given.only)


if __name__ == "__main__":
    main()
