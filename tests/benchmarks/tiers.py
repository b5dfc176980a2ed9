"""Measure a graph whose edges do not fit a GPU: Subway's comparison, on one machine in one run.

    python tests/benchmarks/tiers.py --scale 22 --share 0.25 --programs bfs sssp
    python tests/benchmarks/tiers.py --grid 2048
    python tests/benchmarks/tiers.py --graph cnr-2000.parquet

prints Markdown: for each program and way the best seconds of some runs by the engine (host to host,
after one that is not counted), rounds or supersteps, those with more than 80 % of the edges in host memory
active, those that gather more than a buffer takes, and bytes that went over the link; in another run the
milliseconds of generation (listing the rows of active vertices and gathering their edges), of copies of
edges, and between the first and the last kernel over each part: they overlap, and kernels that read host memory
compute and transfer at once. Then how long a program has to take at least, which is the larger of its time in
memory and of each edge that is not on the device over the link once, packed (in each iteration of PageRank), and
the geometric means of times over those of *ours*. The ways:

- PT: all edges in host memory, every segment streamed in every superstep;
- PT-Opt: the first edges, as many as fit, on the device; segments without an active row skipped;
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
    parser.add_argument("--edge-factor", type=int, default=16, help="its edges an id")
    parser.add_argument("--unweighted", action="store_true", help="no weights, which take time")
    parser.add_argument("--grid", type=int, help="instead: its side")
    parser.add_argument("--graph", type=Path, help="instead: a Parquet file of edges")
    parser.add_argument("--share", type=float, default=0.25, help="of the edges that fit")
    parser.add_argument("--limit", type=float, default=20.0, help="seconds of a run of a way")
    parser.add_argument("--programs", nargs="*", default=None)
    parser.add_argument(
        "--ways", nargs="*", help="beside ours and the time in memory; default: all"
    )
    parser.add_argument("--repeats", type=int, default=3, help="runs of a way; 0 loads the code")
    parser.add_argument("--orders", action="store_true", help="both orders of monotone programs")
    parser.add_argument("--hybrid", action="store_true", help="the GPU, the CPU and both instead")
    parser.add_argument("--dispatch", default="auto", help="graphgpu.dispatch of --hybrid")
    parser.add_argument("--seconds", type=float, default=2.5, help="of a program, with --hybrid")
    given = parser.parse_args()
    if given.graph is not None:
        name, (plain, weighted) = given.graph.stem, real(given.graph)
    elif given.grid is not None:
        name, (plain, weighted) = f"grid {given.grid}", grid(given.grid)
    else:
        name = f"R-MAT {given.scale}"
        plain, weighted = rmat(given.scale, given.edge_factor, weighted=not given.unweighted)
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
            compare_sides({name: made[name] for name in names}, given.share, given.seconds)
        return
    if given.programs:
        made = {name: case for name, case in made.items() if name in given.programs}
    compare(
        made, given.share, rates.copies, limit=given.limit, ways=given.ways or (),
        orders=given.orders, repeats=given.repeats,
    )  # fmt: skip


if __name__ == "__main__":
    main()
