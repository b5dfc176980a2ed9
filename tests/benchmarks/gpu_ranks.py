"""How the GPU engine scales over several GPUs of one host, and what calls on them take.

    python tests/benchmarks/gpu_ranks.py --gpus 1 2 --rmat 24x32 26x16 [--weak] [--limited]
    python tests/benchmarks/gpu_ranks.py --gpus 1 2 --rmat 24x16 --calls [--no-peer]

Prints a Markdown table, a row for each graph and number of ranks.

Without ``--calls`` it is the engine alone: ranks are processes with a GPU each, as workers of a
cluster are, and each builds its share from its own part of the edges. A cell is the median of the
milliseconds from a call to its last superstep, on the slowest rank; of PageRank, float32 and without
weights, an iteration's. ``bfs`` pushes only, ``dobfs`` turns; ``betweenness`` is from four sources,
without weights. ``--methods`` names those to measure; without ``sssp`` edges have no weights. Answers
on different numbers of ranks are compared by sums. A row below says how many times as fast as the
first number of ranks the others are. ``--weak`` makes the graph grow with the GPUs: as many times the
edges of each vertex, and, where that is a power of two, as many times the vertices; so many times as
fast is 1 then, at best.

``--limited`` adds a row of one GPU that may take no more memory than a share on the largest number of
GPUs does, by `engine.limits`, with or without weights as the method needs: a graph that needs so
many GPUs. The edges that are left over are in pinned host memory, and the methods that run on such a
graph are measured.

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
from functools import partial
from typing import Any

import dask
import numpy as np
from gpu_rank_calls import ITERATIONS, call_rows
from rank_processes import run_processes

import dask_graphgpu  # noqa: F401  registers .graph

os.environ.setdefault("NCCL_NVLS_ENABLE", "0")

REPEATS = 5

SOURCES = 4  # of betweenness

METHODS = ("bfs", "dobfs", "sssp", "components", "pagerank", "betweenness")
_REACHED = 2.0**40  # distances that are there are below

LIMITED = METHODS[:-1]  # those that run on edges in host memory


# -- the engine alone -----------------------------------------------------------------------------


def engine_rows(
    scale: int, edge_factor: int, sizes: Sequence[int], methods: Sequence[str], *, limited: bool
) -> Iterator[list[str]]:
    """The rows of a graph on these numbers of ranks."""
    found: dict[str, Any] = {}
    shares = {}
    for size in sizes:
        told = run_processes(size, on_rank, scale, edge_factor, methods)
        shares[size] = [each["share"] for each in told]
        yield [str(size), *engine_row(told, methods, found)]
    if limited:
        vertices, edges = np.max(shares[max(sizes)], axis=0).tolist()
        told = run_processes(1, on_limited, scale, edge_factor, methods, vertices, edges)
        yield ["1, limited", *engine_row(told, methods, found)]


def engine_row(told: list[Any], methods: Sequence[str], found: dict[str, Any]) -> list[str]:
    """The cells of what ranks have told; answers have to be as those ``found`` on other numbers."""
    cells = [f"{max(each['build'] for each in told):.2f}"]
    for name in methods:
        if name not in told[0]["seconds"]:
            cells.append("")
            continue
        cells.append(f"{1e3 * max(each['seconds'][name] for each in told):.2f}")
        sums = sum(np.array(each["sums"][name]) for each in told)
        if not np.allclose(sums, found.setdefault(name, sums), rtol=1e-4):
            raise SystemExit(f"{name}: sums of the answer are {sums} and {found[name]}")
    return cells


def on_rank(ranks: Any, scale: int, edge_factor: int, methods: Sequence[str]) -> dict[str, Any]:
    """Build a share of an R-MAT graph, and measure the methods on it."""
    from gpu_graphs import chosen, rmat_part

    from dask_graphgpu.engine import device_ranks, gpu

    weights = "sssp" in methods
    frame = rmat_part(ranks.rank, ranks.size, scale, edge_factor, weights=weights)
    ids = chosen(frame, ranks, scale, SOURCES)
    build = time.perf_counter()
    held = on_one(frame) if ranks.size == 1 else share(frame, ranks)
    build = time.perf_counter() - build
    del frame
    if ranks.size == 1:
        views, numbers = views_of(held, weights=weights), held.ids.find(ids)
        return {"build": build, **measured(gpu, views, numbers, ranks, methods)}
    with held.over(ranks) as partition:
        views, numbers = views_of(partition, weights=weights), partition.ids.find(ids)
        return {"build": build, **measured(device_ranks, views, numbers, ranks, methods)}


def views_of(partition: Any, *, weights: bool) -> tuple[Any, Any]:
    """Those that `measured` takes."""
    return partition.view("one", False), partition.view("min") if weights else None


def on_limited(
    ranks: Any, scale: int, edge_factor: int, methods: Sequence[str], vertices: int, edges: int
) -> dict[str, Any]:
    """The same on one GPU that has memory for so many vertices and edges."""
    import cupy
    from gpu_graphs import chosen, rmat_part

    from dask_graphgpu.engine import tiered
    from dask_graphgpu.engine.limits import bytes_of_vertices

    weights = "sssp" in methods
    frame = rmat_part(0, 1, scale, edge_factor, weights=weights)
    ids = chosen(frame, ranks, scale, SOURCES)
    build = time.perf_counter()
    held = on_one(frame)
    numbers = held.ids.find(ids)
    views = [
        None if view is None else in_host_memory(view) for view in views_of(held, weights=weights)
    ]
    build = time.perf_counter() - build
    del frame, held
    cupy.get_default_memory_pool().free_all_blocks()

    def limit(view: Any) -> Any:
        edge = view.out.neighbours.itemsize + sum(
            each.itemsize for each in view.out.columns.values()
        )
        return {"graphgpu.device-memory-limit": bytes_of_vertices(vertices) + edges * edge}

    there = [name for name in methods if name in LIMITED]
    return {"build": build, **measured(tiered, views, numbers, ranks, there, limit)}


def on_one(frame: Any) -> Any:
    """A partition on the current GPU."""
    return frame.graph(directed=False).persist()._input.held


def share(frame: Any, ranks: Any) -> Any:
    """The share of a rank that has read this part of the edges; collective."""
    from dask_graphgpu.cluster.work import Recipe, build_share
    from dask_graphgpu.io.device_frames import read_edges_of_rank
    from dask_graphgpu.partition.layout import Layout

    schema = frame.graph(directed=False)._input.schema
    carried = ("weight",) if schema.weight else ()
    recipe = Recipe(schema, carried, Layout(directed=False), "balanced")
    chunk = read_edges_of_rank(frame, schema, carried, f"partition {ranks.rank}")
    return build_share(ranks, recipe, [chunk], [])


def in_host_memory(view: Any) -> Any:
    """The same view of an undirected graph, with rows in host memory."""
    from cupy import asnumpy

    from dask_graphgpu.partition.csr import Adjacency
    from dask_graphgpu.partition.view import View

    rows = view.out
    columns = {name: asnumpy(column) for name, column in rows.columns.items()}
    rank = None if view.user_rank is None else asnumpy(view.user_rank)
    here = Adjacency(asnumpy(rows.offsets).astype(np.int64), asnumpy(rows.neighbours), columns)
    return View.of(here, directed=False, user_rank=rank)


def measured(
    engine: Any,
    views: Sequence[Any],
    sources: Any,
    ranks: Any,
    methods: Sequence[str],
    settings: Callable[[Any], dict[str, Any]] = lambda view: {},
) -> dict[str, Any]:
    """Seconds of each method on this rank, and sums of its part of the answers.

    From the first of the sources, betweenness from the others. ``views``: without weights, and with
    them, or None where no method needs them.
    """
    from dask_graphgpu.algorithms.pagerank import power_program
    from dask_graphgpu.engine.known import DISTANCES
    from dask_graphgpu.engine.options import RunOptions

    plain, weighted = views
    power = power_program("float32", weighted=False, personal=False)
    source = int(sources[0])
    search = {"cutoff": None, "targets": None}
    through = {"weighted": False, "endpoints": False, "edges": False}
    iterate = {"constants": {"tolerance": 0.0}, "max_supersteps": ITERATIONS}

    def program(*ran: Any, report: Any, **given: Any) -> Any:
        return engine.run(*ran, RunOptions(report=report, **given))

    calls = {
        "bfs": partial(engine.bfs, plain, source, **search),
        "dobfs": partial(engine.bfs, plain, source, **search),
        "sssp": partial(program, DISTANCES, weighted, sources=[source]),
        "components": partial(engine.components, plain),
        "pagerank": partial(program, power, plain, **iterate, exact_supersteps=True),
    }
    if hasattr(engine, "betweenness"):
        calls["betweenness"] = partial(engine.betweenness, plain, sources[1:], **through)
    seconds, sums = {}, {}
    for name in methods:
        view = weighted if name == "sssp" else plain
        direction = {"graphgpu.direction": "push" if name == "bfs" else "auto"}
        with dask.config.set({**direction, **settings(view)}):
            took, answer = median(calls[name], ranks)
        seconds[name] = took / (ITERATIONS if name == "pagerank" else 1)
        sums[name] = summed(name, answer, view.num_owned, ranks)
    return {"seconds": seconds, "sums": sums, "share": (plain.num_vertices, plain.out.num_edges)}


def summed(name: str, answer: Any, owned: int, ranks: Any) -> list[float]:
    """What has to be the same in sum over all ranks, however vertices are dealt to them."""
    field = {"sssp": "distance", "pagerank": "rank"}.get(name)
    values = answer if field is None else answer[field]
    values = (values if isinstance(values, np.ndarray) else values.get())[:owned]
    if name != "components":
        values = values.astype(np.float64)
        values = values[(values >= 0) & (values < _REACHED)]
        return [float(len(values)), float(values.sum()), float((values * values).sum())]
    # Labels differ in numbering: how many there are, and the members of the largest.
    labels, members = np.unique(values, return_counts=True)
    every = ranks.all_gather(np.stack([labels.astype(np.int64), members.astype(np.int64)], axis=1))
    if ranks.rank > 0:
        return [0.0, 0.0]
    labels, members = np.concatenate(every).T
    _, place = np.unique(labels, return_inverse=True)
    sizes = np.bincount(place, weights=members)
    return [float(len(sizes)), float(sizes.max())]


def median(call: Callable[..., Any], ranks: Any) -> tuple[float, Any]:
    """Seconds from a call to the last superstep that it reports, and what it returns.

    The first call compiles, and is not counted.
    """
    from dask_graphgpu.report import Report

    found, answer = [], None
    for _ in range(REPEATS + 1):
        told: list[float] = []
        report = Report("measured", watch=lambda *_, told=told: told.append(time.perf_counter()))
        ranks.barrier()
        start = time.perf_counter()
        answer = call(report=report)
        found.append(told[-1] - start if told else 0.0)
    return statistics.median(found[1:]), answer


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


def times(first: list[str], row: list[str]) -> list[str]:
    """How many times as fast a row is as the first one, of cells that begin with ranks and a build."""
    numbers = zip(first[2:], row[2:], strict=True)
    made = [f"{float(one) / float(many):.2f}" if one and many else "" for one, many in numbers]
    return [f"{row[0]} / {first[0]}", "", *made]


def show(cells: list[str]) -> None:
    print("| " + " | ".join(cells) + " |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rmat", nargs="+", default=["24x16"], help="scale x edge factor")
    parser.add_argument("--gpus", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=METHODS)
    parser.add_argument("--weak", action="store_true")
    parser.add_argument("--limited", action="store_true")
    parser.add_argument("--calls", action="store_true")
    parser.add_argument("--no-peer", action="store_true")
    options = parser.parse_args()
    ranks = ["GPUs", "ranks"] if options.calls else ["ranks"]
    head = ["graph", *ranks, "build s", *(f"{name} ms" for name in options.methods)]
    show(head)
    show(["---"] * len(head))
    partitions = max(options.gpus)
    if not options.calls:
        # Of a graph that grows with the GPUs each number has its own.
        batches = [[gpus] for gpus in options.gpus] if options.weak else [options.gpus]
        firsts: list[list[str]] = []  # of each graph that is given
        for sizes in batches:
            for i, (scale, factor) in enumerate(graphs(options.rmat, sizes[0], weak=options.weak)):
                given = scale, factor, sizes, options.methods
                for row in engine_rows(*given, limited=options.limited):
                    show([f"R-MAT {scale} x {factor}", *row])
                    if len(firsts) == i % len(options.rmat) and sizes is batches[0]:
                        firsts.append(row)
                    else:
                        show(["", *times(firsts[i % len(options.rmat)], row)])
        return
    for gpus in options.gpus:
        for scale, factor in graphs(options.rmat, gpus, weak=options.weak):
            given = scale, factor, gpus, partitions, options.methods
            for row in call_rows(*given, peer=not options.no_peer):
                show([f"R-MAT {scale} x {factor}", str(gpus), *row])


if __name__ == "__main__":
    main()
