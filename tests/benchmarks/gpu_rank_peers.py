"""Every method of `cugraph.dask` beside ours, with ranks forced, on one and on two GPUs of a cluster.

    python tests/benchmarks/gpu_rank_peers.py --scale 24 [--seconds 150] [--sides 1 2 peer]

A graph is an undirected R-MAT graph with 16 edges a vertex in a Dask-cuDF frame of as many partitions
as there are workers of a `LocalCUDACluster`. Each side has a process and a cluster of its own, so that
what fails or takes long costs its own cells only; after ``--seconds`` a side ends. Prints a Markdown
table: seconds of the faster of two calls until the result lies on the workers; the first call where it
takes longer than twenty seconds. ``2 / 1`` is our time on two GPUs over that on one, ``peer / 2`` how many
times ours the time of `cugraph.dask` is on the same two GPUs. Methods that it does not have are ours alone.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import cudf
import numpy as np

import dask_graphgpu as dg

GPUS = 2
APART = 0.2  # seconds between calls
LONG = 20.0  # seconds from which a first call is the only one
ITERATIONS = 20
CORE = 32
MANY, SOME = 32, 8  # sources of searches, and of betweenness
PAIRS, WALKS, STEPS = 100_000, 100_000, 20


def own_calls(frame: Any, source: int, drawn: dict[str, Any], ranks: int) -> dict[str, Any]:
    """Name -> a call of ours; "build" comes first."""
    import dask.dataframe as dd

    graph: Any = None

    def build() -> Any:
        nonlocal graph
        graph = frame.graph(directed=False, engine="gpu", ranks=ranks).persist()
        return graph._input.held

    pairs = dd.from_pandas(drawn["pairs"], npartitions=GPUS).to_backend("cudf")
    some = drawn["sources"][:SOME]
    plain = (
        "weakly_connected_components", "strongly_connected_components", "core_number", "triangle_count",
        "clustering_coefficient", "eigenvector_centrality", "louvain", "leiden",
    )  # fmt: skip
    rows_of_edges = "minimum_spanning_forest", "biconnected_components", "k_truss"
    return {
        "build": build,
        "bfs": lambda: graph.bfs(source),
        "sssp": lambda: graph.sssp(source),
        "pagerank": lambda: graph.pagerank(
            tolerance=0, max_iterations=ITERATIONS, dtype="float32", weighted=False
        ),
        **{name: lambda name=name: getattr(graph, name)() for name in plain},
        "hits": lambda: graph.hits(max_iterations=200),
        "katz_centrality": lambda: graph.katz_centrality(alpha=1e-6),
        "label_propagation": lambda: graph.label_propagation(max_iterations=10),
        "jaccard": lambda: graph.jaccard(pairs=pairs),
        "random_walks": lambda: graph.random_walks(drawn["starts"], length=STEPS),
        "ego": lambda: graph.ego(drawn["sources"][0], radius=2),
        "shortest_path": lambda: graph.shortest_path(source, drawn["sources"][0]),
        "ssnsp": lambda: graph.ssnsp(source, dtype="float64"),
        "betweenness_centrality": lambda: graph.betweenness_centrality(sources=some),
        "betweenness, weights": lambda: graph.betweenness_centrality(sources=some, weighted=True),
        "k_core": lambda: graph.k_core(k=CORE),
        "edge_betweenness_centrality": lambda: graph.edge_betweenness_centrality(sources=some),
        **{name: lambda name=name: getattr(graph, name)() for name in rows_of_edges},
        f"bfs of {MANY}": lambda: graph.bfs(drawn["sources"]),
    }


def peer_calls(frame: Any, source: int, drawn: dict[str, Any]) -> dict[str, Any]:
    """Name -> a call of `cugraph.dask`; "build" comes first."""
    import cugraph
    import cugraph.dask as dcg
    import dask.dataframe as dd

    weighted, plain = cugraph.Graph(directed=False), cugraph.Graph(directed=False)
    ends, built = {"source": "src", "destination": "dst"}, []

    def build() -> Any:
        plain.from_dask_cudf_edgelist(frame[["src", "dst"]], **ends)
        return plain.edgelist.edgelist_df

    def searched() -> Any:
        if not built:
            typed = frame.assign(weight=frame["weight"].astype("float32"))
            weighted.from_dask_cudf_edgelist(typed, **ends, weight="weight")
            built.append(weighted)
        return dcg.sssp(weighted, source=source)

    some = cudf.Series(drawn["sources"][:SOME], dtype="int32")
    pairs = dd.from_pandas(drawn["pairs"].set_axis(["first", "second"], axis=1), npartitions=GPUS)
    iterate = {"tol": 1e-30, "max_iter": ITERATIONS}
    return {
        "build": build,
        "bfs": lambda: dcg.bfs(plain, start=source),
        "sssp": searched,
        "pagerank": lambda: dcg.pagerank(plain, **iterate, fail_on_nonconvergence=False)[0],
        "weakly_connected_components": lambda: dcg.weakly_connected_components(plain),
        "core_number": lambda: dcg.core_number(plain),
        "k_core": lambda: dcg.k_core(plain, k=CORE),
        "triangle_count": lambda: dcg.triangle_count(plain),
        "louvain": lambda: dcg.louvain(plain)[0],
        "leiden": lambda: dcg.leiden(plain)[0],
        "hits": lambda: dcg.hits(plain, tol=1e-8, max_iter=200),
        "eigenvector_centrality": lambda: dcg.eigenvector_centrality(plain, max_iter=1000),
        "katz_centrality": lambda: dcg.katz_centrality(plain, alpha=1e-6),
        "jaccard": lambda: dcg.jaccard(plain, pairs.to_backend("cudf")),
        "ego": lambda: dcg.ego_graph(plain, drawn["sources"][0], radius=2)[0],
        "random_walks": lambda: dcg.uniform_random_walks(
            plain, cudf.Series(drawn["starts"], dtype="int32"), max_depth=STEPS
        ),
        "betweenness_centrality": lambda: dcg.betweenness_centrality(plain, k=some),
        "edge_betweenness_centrality": lambda: dcg.edge_betweenness_centrality(plain, k=some),
        "k_truss": lambda: dcg.ktruss_subgraph(plain, k=CORE),
    }


def finished(result: Any) -> None:
    """Wait until the result lies on the workers; raises what failed there."""
    import dask
    from distributed import futures_of, wait

    kept = dask.persist(*result) if isinstance(result, tuple) else (result,)
    kept = tuple(each.persist() if hasattr(each, "persist") else each for each in kept)
    for each in kept:
        futures = futures_of(each)
        wait(futures)
        for future in futures:
            if future.status == "error":
                future.result()


def on_side(side: str, scale: int, seconds: float) -> None:
    """Print a line of JSON for each call of a side."""
    from dask_cuda import LocalCUDACluster
    from distributed import Client
    from gpu_rank_calls import spread

    ends = time.perf_counter() + seconds
    with LocalCUDACluster(n_workers=GPUS, dashboard_address=":0") as made, Client(made) as client:
        frame, source = spread(client, scale, 16, GPUS)
        rows = frame.partitions[0].head(2_000_000, compute=True).to_pandas()
        random = np.random.default_rng(5)
        rows = rows.iloc[random.choice(len(rows), PAIRS + WALKS, replace=False)]
        pairs = rows[["src", "dst"]].iloc[:PAIRS].reset_index(drop=True)
        drawn = {
            "pairs": pairs.assign(dst=random.permutation(pairs["dst"])),
            "sources": rows["src"].unique()[:MANY].tolist(),
            "starts": rows["dst"].iloc[:WALKS].tolist(),
        }
        if side == "peer":
            from cugraph.dask.comms import comms

            comms.initialize(p2p=True)
            calls = peer_calls(frame, source, drawn)
        else:
            calls = own_calls(frame, source, drawn, int(side))
        for name, call in calls.items():
            told: dict[str, Any] = {"name": name}
            try:
                told["seconds"], told["first"] = fastest(call, 1 if name == "build" else 2, ends)
            except Exception as error:  # the other cells are to be measured
                told["failed"] = f"{type(error).__name__}: {str(error)[:300]}"
            if side != "peer" and name != "build" and (report := dg.last_report()) is not None:
                told["engine"] = round(float(report["seconds"].sum()), 4)
            print(json.dumps(told), flush=True)


def fastest(call: Callable[[], Any], repeats: int, ends: float) -> tuple[float, float]:
    """Seconds of the fastest of some calls, and of the first."""
    taken: list[float] = []
    while len(taken) < repeats:
        if time.perf_counter() > ends:
            raise TimeoutError("no time left")
        began = time.perf_counter()
        finished(call())
        taken.append(time.perf_counter() - began)
        if taken[0] > LONG:
            break
        time.sleep(APART)  # until the cluster has forgotten the result: the next call has its keys
    return min(taken), taken[0]


def measured(side: str, scale: int, seconds: float) -> dict[str, float]:
    """Seconds of each call of a side, by a process of its own."""
    command = [sys.executable, __file__, "--side", side, "--scale", str(scale), "--seconds"]
    found: dict[str, float] = {}
    with subprocess.Popen([*command, str(seconds)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if not line.startswith('{"name"'):
                continue
            told = json.loads(line)
            print(f"{side}: {line.strip()}", file=sys.stderr, flush=True)
            if "seconds" in told:
                found[told["name"]] = told["seconds"]
    return found


def cell(value: float | None, form: str = ".3f") -> str:
    return "" if value is None else format(value, form)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scale", type=int, default=24)
    parser.add_argument("--seconds", type=float, default=150.0, help="of a side, at most")
    parser.add_argument("--sides", nargs="+", default=["1", "2", "peer"])
    parser.add_argument("--side", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.side:
        on_side(asked.side, asked.scale, asked.seconds)
        return
    found = {side: measured(side, asked.scale, asked.seconds) for side in asked.sides}
    one, two, peer = (found.get(side, {}) for side in ("1", "2", "peer"))
    print(f"| R-MAT {asked.scale} | one GPU | two GPUs | 2 / 1 | cugraph.dask | peer / 2 |")
    print("| --- " * 6 + "|")
    for name in dict.fromkeys([*one, *two, *peer]):
        a, b, c = one.get(name), two.get(name), peer.get(name)
        more = cell(b / a if a and b else None, ".2f")
        times = cell(c / b if b and c else None, ".1f")
        print(f"| {name} | {cell(a)} | {cell(b)} | {more} | {cell(c)} | {times} |")


if __name__ == "__main__":
    main()
