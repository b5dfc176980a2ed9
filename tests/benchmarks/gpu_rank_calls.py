"""What calls on a cluster with a worker for each GPU take: `gpu_ranks.py --calls`."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import dask_graphgpu  # noqa: F401  registers .graph

ITERATIONS = 20
CALLS = 15
APART = 0.05  # seconds between calls


def call_rows(
    scale: int, edge_factor: int, gpus: int, partitions: int, methods: Sequence[str], *, peer: bool
) -> Iterator[list[str]]:
    """The rows of a graph on a cluster: as planned, with a rank for each GPU, and of cuGraph."""
    import dask_cudf  # noqa: F401  of whose kind the frame is to be
    from dask_cuda import LocalCUDACluster
    from distributed import Client

    with LocalCUDACluster(n_workers=gpus, dashboard_address=":0") as made, Client(made) as client:
        frame, source = spread(client, scale, edge_factor, partitions)
        yield ["planned", *own_calls(frame, source, "auto", methods)]
        if gpus > 1:
            yield [str(gpus), *own_calls(frame, source, gpus, methods)]
        if peer:
            yield ["cuGraph", *peer_calls(frame, source, methods)]


def spread(client: Any, scale: int, edge_factor: int, partitions: int) -> tuple[Any, int]:
    """A frame whose partitions are dealt to the workers, and the vertex with most edges in the first."""
    import dask.dataframe as dd
    from distributed import wait
    from gpu_graphs import busiest, rmat_part

    workers = sorted(client.sync(client.scheduler.identity, n_workers=-1)["workers"])
    parts = [
        client.submit(
            rmat_part, i, partitions, scale, edge_factor, workers=[workers[i % len(workers)]]
        )
        for i in range(partitions)
    ]
    wait(parts)
    source = client.submit(busiest, parts[0]).result()
    meta = client.submit(lambda part: part.iloc[:0], parts[0]).result()
    return dd.from_delayed(parts, meta=meta, verify_meta=False), source


def own_calls(frame: Any, source: int, ranks: int | str, methods: Sequence[str]) -> list[str]:
    from distributed import wait

    start = time.perf_counter()
    graph = frame.graph(directed=False, ranks=ranks).persist()
    wait(graph._input.held)
    build = time.perf_counter() - start
    iterate = {"tolerance": 0, "max_iterations": ITERATIONS, "dtype": "float32"}
    calls = {
        "dobfs": lambda: graph.bfs(source),
        "sssp": lambda: graph.sssp(source),
        "components": lambda: graph.weakly_connected_components(),
        "pagerank": lambda: graph.pagerank(weighted=False, **iterate),
    }
    return cells(build, calls, methods)


def peer_calls(frame: Any, source: int, methods: Sequence[str]) -> list[str]:
    import cugraph
    import cugraph.dask as dcg
    from cugraph.dask.comms import comms

    comms.initialize(p2p=True)
    try:
        start = time.perf_counter()
        weighted, plain = cugraph.Graph(directed=False), cugraph.Graph(directed=False)
        ends = {"source": "src", "destination": "dst"}
        plain.from_dask_cudf_edgelist(frame[["src", "dst"]], **ends)
        build = time.perf_counter() - start
        typed = frame.assign(weight=frame["weight"].astype("float32"))
        weighted.from_dask_cudf_edgelist(typed, **ends, weight="weight")
        iterate = {"tol": 1e-30, "max_iter": ITERATIONS, "fail_on_nonconvergence": False}
        calls = {
            "bfs": lambda: dcg.bfs(plain, start=source),
            "sssp": lambda: dcg.sssp(weighted, source=source),
            "components": lambda: dcg.weakly_connected_components(plain),
            "pagerank": lambda: dcg.pagerank(plain, **iterate)[0],
        }
        return cells(build, calls, methods)
    finally:
        comms.destroy()


def cells(build: float, calls: dict[str, Callable[[], Any]], methods: Sequence[str]) -> list[str]:
    """Medians of the milliseconds of calls; what there is no call for stays empty."""
    from distributed import futures_of, wait

    made = [f"{build:.2f}"]
    for name in methods:
        if name not in calls:
            made.append("")
            continue
        times = []
        for _ in range(CALLS + 1):
            time.sleep(APART)
            start = time.perf_counter()
            result = calls[name]().persist()
            wait(result)
            times.append(time.perf_counter() - start)
            for future in futures_of(result):
                if future.status == "error":
                    future.result()  # raises
            del result, future
        each = ITERATIONS if name == "pagerank" else 1
        made.append(f"{1e3 * statistics.median(times[1:]) / each:.2f}")
    return made
