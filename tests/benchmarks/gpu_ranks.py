"""How the GPU engine scales over several GPUs of one host, and what calls on them take.

    NCCL_NVLS_ENABLE=0 python tests/benchmarks/gpu_ranks.py --gpus 1 2 --rmat 24x32 26x16 [--weak]
    NCCL_NVLS_ENABLE=0 python tests/benchmarks/gpu_ranks.py --gpus 1 2 --rmat 24x16 --calls [--no-peer]

Prints a Markdown table, a row for each graph and number of ranks.

Without ``--calls`` it is the engine alone: ranks are threads of this process with a GPU each, and a
cell is the median of the milliseconds from its call to its last superstep, on the slowest rank; of
PageRank, float32 and without weights, an iteration's. ``bfs`` pushes only, ``dobfs`` turns;
``betweenness`` is from four sources, without weights. ``--methods`` names those to measure.
``--weak`` makes the graph grow with the GPUs: as many times the edges of each vertex, and, where
that is a power of two, as many times the vertices.

``--calls``: graphs of Dask-cuDF frames on a `LocalCUDACluster`, a worker for each GPU. A cell is the
median of a call until its result lies on the workers: as the plan has it, with ranks forced, and of
`cugraph.dask` on the same workers and frame. On any number of GPUs the frame has as many partitions
as the largest of ``--gpus``, for a result has as many, and each takes time. Calls are 50 ms apart, so
that none waits for Dask to send what the one before it has left behind: a client sends every 10 ms
at most.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import dask

import dask_graphgpu  # noqa: F401  registers .graph

os.environ.setdefault("NCCL_NVLS_ENABLE", "0")

ITERATIONS = 20
REPEATS = 5
CALLS = 15
APART = 0.05  # seconds between calls on a cluster

SOURCES = 4  # of betweenness

METHODS = ("bfs", "dobfs", "sssp", "components", "pagerank", "betweenness")


# -- the engine alone -----------------------------------------------------------------------------


def engine_row(frame: Any, size: int, methods: Sequence[str]) -> list[str]:
    """The cells of a frame of edges on ``size`` ranks, each a thread with a GPU."""
    import cupy
    from gpu_graphs import busiest, drawn

    from dask_graphgpu.exchange.local import run_local

    sources = [busiest(frame), *drawn(frame, SOURCES)]
    start = time.perf_counter()
    held = on_one(frame) if size == 1 else shares(frame, size)
    build = time.perf_counter() - start

    def work(ranks: Any) -> dict[str, float]:
        from dask_graphgpu.engine import device_ranks, gpu

        if size == 1:
            return measured(gpu, held.view, held.ids.find(sources), ranks, methods)
        share = held[ranks.rank]
        with cupy.cuda.Device(ranks.rank), share.over(ranks) as partition:
            numbers = partition.ids.find(sources)
            return measured(device_ranks, partition.view, numbers, ranks, methods)

    times = run_local(size, work)
    slowest = [max(each[name] for each in times) for name in methods]
    return [f"{build:.2f}", *(f"{1e3 * seconds:.2f}" for seconds in slowest)]


def on_one(frame: Any) -> Any:
    """A partition on the current GPU."""
    return frame.graph(directed=False).persist()._input.held


def shares(frame: Any, size: int) -> list[Any]:
    """The shares of ranks, each of which reads a part of the frame."""
    from dask_graphgpu.cluster.work import Recipe, build_share
    from dask_graphgpu.exchange.local import run_local
    from dask_graphgpu.io.device_frames import read_edges_of_rank
    from dask_graphgpu.partition.layout import Layout

    made = frame.graph(directed=False)._input
    recipe = Recipe(made.schema, ("weight",), Layout(directed=False), "balanced")
    cuts = [len(frame) * rank // size for rank in range(size + 1)]

    def work(ranks: Any) -> Any:
        part = frame.iloc[cuts[ranks.rank] : cuts[ranks.rank + 1]]
        chunk = read_edges_of_rank(part, made.schema, ("weight",), f"partition {ranks.rank}")
        return build_share(ranks, recipe, [chunk], [], device=ranks.rank)

    return run_local(size, work)


def measured(
    engine: Any, view: Callable[..., Any], sources: Any, ranks: Any, methods: Sequence[str]
) -> dict[str, float]:
    """Seconds of each method on this rank, from the first of the sources, betweenness from the others."""
    from dask_graphgpu.algorithms.pagerank import power_program
    from dask_graphgpu.algorithms.sssp import PROGRAM

    plain, weighted = view("one", False), view("min")
    power = power_program("float32", weighted=False, personal=False)
    source = int(sources[0])
    search = {"cutoff": None, "targets": None}
    through = {"weighted": False, "endpoints": False, "edges": False}
    iterate = {"constants": {"tolerance": 0.0}, "max_supersteps": ITERATIONS}
    calls = {
        "bfs": partial(engine.bfs, plain, source, **search),
        "dobfs": partial(engine.bfs, plain, source, **search),
        "sssp": partial(engine.run, PROGRAM, weighted, sources=[source]),
        "components": partial(engine.components, plain),
        "pagerank": partial(engine.run, power, plain, **iterate, exact_supersteps=True),
        "betweenness": partial(engine.betweenness, plain, sources[1:], **through),
    }
    found = {}
    for name in methods:
        with direction("push" if name == "bfs" else "auto", ranks):
            found[name] = median(calls[name], ranks) / (ITERATIONS if name == "pagerank" else 1)
    return found


@contextmanager
def direction(name: str, ranks: Any) -> Iterator[None]:
    """Have all ranks, which share the settings, push or choose by themselves."""
    ranks.barrier()
    if ranks.rank == 0:
        dask.config.set({"graphgpu.direction": name})
    ranks.barrier()
    yield
    ranks.barrier()
    if ranks.rank == 0:
        dask.config.set({"graphgpu.direction": "auto"})


def median(call: Callable[..., Any], ranks: Any) -> float:
    """Seconds from a call to the last superstep that it reports; the first call compiles."""
    from dask_graphgpu.report import Report

    found = []
    for _ in range(REPEATS + 1):
        told: list[float] = []
        report = Report("measured", watch=lambda *_, told=told: told.append(time.perf_counter()))
        ranks.barrier()
        start = time.perf_counter()
        call(report=report)
        found.append(told[-1] - start if told else 0.0)
    return statistics.median(found[1:])


# -- calls on a cluster ---------------------------------------------------------------------------


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

    workers = sorted(client.scheduler_info(n_workers=-1)["workers"])
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


# -- what is asked for ----------------------------------------------------------------------------


def graphs(given: list[str], gpus: int, *, weak: bool) -> list[tuple[int, int]]:
    """Scale and edge factor of each graph on so many GPUs."""
    made = [tuple(map(int, each.split("x"))) for each in given]
    if not weak or gpus == 1:
        return made
    grown = [(scale, factor * gpus) for scale, factor in made]
    if gpus & (gpus - 1) == 0:
        grown += [(scale + gpus.bit_length() - 1, factor) for scale, factor in made]
    return grown


def show(cells: list[str]) -> None:
    print("| " + " | ".join(cells) + " |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rmat", nargs="+", default=["24x16"], help="scale x edge factor")
    parser.add_argument("--gpus", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=METHODS)
    parser.add_argument("--weak", action="store_true")
    parser.add_argument("--calls", action="store_true")
    parser.add_argument("--no-peer", action="store_true")
    options = parser.parse_args()
    head = ["graph", "GPUs", "ranks", "build s", *(f"{name} ms" for name in options.methods)]
    show(head)
    show(["---"] * len(head))
    partitions = max(options.gpus)
    for gpus in options.gpus:
        for scale, factor in graphs(options.rmat, gpus, weak=options.weak):
            name = [f"R-MAT {scale} x {factor}", str(gpus)]
            if options.calls:
                given = scale, factor, gpus, partitions, options.methods
                for row in call_rows(*given, peer=not options.no_peer):
                    show([*name, *row])
                continue
            from gpu_graphs import rmat_part

            frame = rmat_part(0, 1, scale, factor)
            show([*name, str(gpus), *engine_row(frame, gpus, options.methods)])


if __name__ == "__main__":
    main()
