"""Measure a graph whose edges do not fit a GPU: Subway's comparison, on one machine in one run.

    python tests/benchmarks/tiers.py --scale 22 --share 0.25 --programs bfs sssp
    python tests/benchmarks/tiers.py --graph cnr-2000.parquet --grid 2048 --scale 24

prints Markdown: for each program and way the best seconds of some runs by the engine (host to host,
after one that is not counted), rounds or supersteps, those with more than 80 % of the edges in host memory
active, those that gather more than a buffer takes, and bytes that went over the link; in another run the
milliseconds of generation (listing the rows of active vertices and gathering their edges), of copies of
edges, and between the first and the last kernel over each part: they overlap, and kernels that read host memory
compute and transfer at once. At the end all seconds, what *ours* takes over the least that a program has to take,
which is the larger of its time in memory and of each edge that is not on the device over a link of 55 GB/s once,
packed (in each iteration of PageRank), the geometric means of times over those of *ours*, and what of the
comparison's requirements is not met. Several graphs are measured one after the other. The ways:

- PT: all edges in host memory, every segment streamed in every superstep;
- PT-Opt: the first edges, as many as fit, on the device; segments without an active row skipped; two buffers;
- PT-Opt 32: the same with 32 buffers and streams, which take half of what edges have on the device;
- Subway-sync: all edges in host memory, those of active vertices gathered there;
- Subway-async: the same in asynchronous rounds, the first of them over the whole graph; of programs
  whose answers do not depend on the order;
- zero-copy: all edges in host memory, read by kernels;
- layered: edges by layers from vertex 0, sweeps over them until quiet, with as many bytes on the device
  as *ours* has; of monotone programs;
- ours: what methods do: BFS in levels, components linked in one pass, path counts after BFS, and of programs
  the order that the engine chooses, each with its own choice of way for each segment of each superstep;
- CPU: the CPU engine, by the methods where there are any;
- in memory: the GPU engine without a limit, in its own directions and order of work.

With ``--orders`` also both orders of monotone programs that the engine chooses from: rounds that begin with the
edges on the device, and near-far order with the others read where they lie.

A run of more than ``--limit`` seconds after its first superstep is given up, and its line says in which; in means it
counts as long as that. One of more than twelve is not done again. Deep graphs have thousands of supersteps, in each of
which PT streams all edges.

With ``--hybrid`` instead: the GPU alone (as its engine chooses), the CPU alone and both (``engine="hybrid"``), see
`tier_sides`. *bfs method* and *components method* are what the methods do, not the programs.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import cupy as cp
import dask
from tier_cases import cases, forget
from tier_graphs import grid, real, rmat
from tier_sides import compare_sides, with_methods
from tier_table import Comparison

from dask_graphgpu.engine import limits
from dask_graphgpu.engine.tiered import link
from dask_graphgpu.partition.view import View


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=int, nargs="*", default=[], help="of R-MAT graphs")
    parser.add_argument("--edge-factor", type=int, default=16, help="its edges an id")
    parser.add_argument("--unweighted", action="store_true", help="no weights, which take time")
    parser.add_argument("--grid", type=int, nargs="*", default=[], help="sides of grids")
    parser.add_argument("--graph", type=Path, nargs="*", default=[], help="Parquet files of edges")
    parser.add_argument("--share", type=float, default=0.25, help="of the edges that fit")
    parser.add_argument("--limit", type=float, default=20.0, help="seconds of a run of a way")
    parser.add_argument("--programs", nargs="*", default=None)
    parser.add_argument(
        "--ways", nargs="*", help="beside ours and the time in memory; default: all"
    )
    parser.add_argument(
        "--repeats", type=int, default=3, help="runs of a way, more of short ones; 0 loads the code"
    )
    parser.add_argument("--orders", action="store_true", help="both orders of monotone programs")
    parser.add_argument("--hybrid", action="store_true", help="the GPU, the CPU and both instead")
    parser.add_argument("--dispatch", default="auto", help="graphgpu.dispatch of --hybrid")
    parser.add_argument("--seconds", type=float, default=2.5, help="of a program, with --hybrid")
    given = parser.parse_args()
    rates = link.rates(cp.cuda.Device().id)
    print(
        f"link: copies {rates.copies / 1e9:.1f}, reads by a kernel {rates.reads / 1e9:.1f}, copies by "
        f"the host {rates.gathers / 1e9:.1f} GB/s; buffers {limits.BUFFERS}; share {given.share}\n"
    )
    comparison = Comparison(
        given.share,
        limit=given.limit,
        ways=given.ways or (),
        orders=given.orders,
        repeats=given.repeats,
    )
    try:
        for name, make in graphs(given):
            plain, weighted = make()
            print(f"{name}: {plain.num_vertices:,} vertices, {plain.num_edges:,} edges", flush=True)
            made = cases(plain, weighted)
            if given.hybrid:
                made = with_methods(made)
                names = given.programs or [each for each in made if each != "paths"]
                with dask.config.set({"graphgpu.dispatch": given.dispatch}):
                    compare_sides({each: made[each] for each in names}, given.share, given.seconds)
                continue
            chosen = given.programs or list(made)
            comparison.add(name, {each: made[each] for each in chosen})
            del plain, weighted, made
            forget()
    finally:
        if not given.hybrid:
            comparison.conclude()


def graphs(given: argparse.Namespace) -> Iterator[tuple[str, Callable[[], tuple[View, View]]]]:
    """Names of the graphs that are asked for, or of R-MAT 20, and what makes them."""
    for path in given.graph:
        yield path.stem, partial(real, path)
    for side in given.grid:
        yield f"grid {side}", partial(grid, side)
    for scale in given.scale or ([] if given.graph or given.grid else [20]):
        yield (
            f"R-MAT {scale}",
            partial(rmat, scale, given.edge_factor, weighted=not given.unweighted),
        )


if __name__ == "__main__":
    main()
