"""Measure a graph whose edges do not fit a GPU: Subway's comparison, on one machine in one run.

    python tests/benchmarks/tiers.py --scale 22 --share 0.25 --programs bfs sssp
    python tests/benchmarks/tiers.py --grid 2048
    python tests/benchmarks/tiers.py --graph cnr-2000.parquet

prints Markdown: for each program and way the best seconds of some runs by the engine (host to host,
after one that is not counted), supersteps, parts of transfer, bytes that went over the link, and both
as a rate; then how long a program has to take at least, which is the larger of its time in memory and
of each edge that is not on the device over the link once, packed (in each iteration of PageRank), and the
geometric means of times over those of *auto*. The ways:

- PT: all edges in host memory, every segment streamed in every superstep;
- PT-Opt: the first edges, as many as fit, on the device; segments without an active row skipped;
- Subway-sync: all edges in host memory, those of active vertices gathered there;
- Subway-async: the same in asynchronous rounds, the first of them over the whole graph; of programs
  whose answers do not depend on the order;
- zero-copy: all edges in host memory, read by kernels;
- auto: the engine's own choice of way, in rounds that begin with the edges on the device where a
  program may have them, and as the methods do it: BFS in levels, components linked in one pass, path
  counts after BFS; of monotone programs also near-far, the edges read where they lie, and what the engine
  chooses of both;
- layered: edges by layers from vertex 0, sweeps over them until quiet, with as many bytes on the device
  as *auto* has; of monotone programs;
- in memory: the GPU engine without a limit, in its own directions and order of work.

A run of more than ``--limit`` seconds is given up, and its line says in which superstep; in means it counts as long as
that. One of more than six is not done again. Deep graphs have thousands of supersteps, in each of which PT streams all
edges.

With ``--hybrid`` instead: the GPU alone (as its engine chooses), the CPU alone and both (``engine="hybrid"``), with
the pages and edges of either side, seconds of the iteration in the middle, and hybrid's over the better
of the others', in all and, where these have the same supersteps, the worst of all iterations. *bfs method*
and *components method* are what the methods do, not the programs.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import cupy as cp
import dask
from tier_cases import cases
from tier_graphs import grid, real, rmat
from tier_sides import compare_sides, with_methods
from tier_table import compare

from dask_graphgpu.engine.tiered import limits, link


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=int, default=20, help="of an R-MAT graph")
    parser.add_argument("--grid", type=int, help="instead: its side")
    parser.add_argument("--graph", type=Path, help="instead: a Parquet file of edges")
    parser.add_argument("--share", type=float, default=0.25, help="of the edges that fit")
    parser.add_argument("--limit", type=float, default=20.0, help="seconds of a run of a way")
    parser.add_argument("--programs", nargs="*", default=None)
    parser.add_argument(
        "--ways", nargs="*", help="of PT to Subway-async above, beside auto; default: all"
    )
    parser.add_argument(
        "--layered", action="store_true", help="layers too, which take a while to build"
    )
    parser.add_argument("--hybrid", action="store_true", help="the GPU, the CPU and both instead")
    parser.add_argument("--dispatch", default="auto", help="graphgpu.dispatch of --hybrid")
    given = parser.parse_args()
    if given.graph is not None:
        name, (plain, weighted) = given.graph.stem, real(given.graph)
    elif given.grid is not None:
        name, (plain, weighted) = f"grid {given.grid}", grid(given.grid)
    else:
        name, (plain, weighted) = f"R-MAT {given.scale}", rmat(given.scale)
    print(f"{name}: {plain.num_vertices:,} vertices, {plain.num_edges:,} edges")
    rates = link.rates(cp.cuda.Device().id)
    print(
        f"link: copies {rates.copies / 1e9:.1f}, reads by a kernel {rates.reads / 1e9:.1f}, copies by "
        f"the host {rates.gathers / 1e9:.1f} GB/s; buffers {limits.BUFFERS}; share {given.share}\n"
    )
    made = cases(plain, weighted)
    if given.hybrid:
        made = with_methods(made)
        names = given.programs or [name for name in made if name != "paths"]
        with dask.config.set({"graphgpu.dispatch": given.dispatch}):
            compare_sides({name: made[name] for name in names}, given.share)
        return
    if given.programs:
        made = {name: case for name, case in made.items() if name in given.programs}
    compare(
        made, given.share, rates.copies, limit=given.limit,
        ways=given.ways or (), layered=given.layered,
    )  # fmt: skip


if __name__ == "__main__":
    main()
