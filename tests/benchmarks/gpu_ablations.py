"""Measure the ways of SIMD-X and Garaph on a GPU: filters, bins, worklists, fusion, direction,
atomics, shards and their copies; and blocks of sources, the width of ids, what reports cost.

    python tests/benchmarks/gpu_ablations.py --scale 18 --grid 512 --graphs cnr-2000.parquet

prints Markdown, tables of best and median milliseconds of a run by the engine (host to host, after
one that is not counted), and the registers of its kernels. `--tables` prints some only; programs are
compiled at their first run.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import cupy as cp
import dask
import numpy as np
from gpu import Timing, timed
from gpu_graphs import DeviceGraph, grid, real, rmat

import dask_graphgpu  # noqa: F401  registers .graph
from dask_graphgpu.algorithms import pagerank
from dask_graphgpu.algorithms.linear_beliefs import System
from dask_graphgpu.engine import gpu
from dask_graphgpu.engine.gpu import launch
from dask_graphgpu.engine.gpu.arrays import Arrays
from dask_graphgpu.engine.gpu.settings import every_sends
from dask_graphgpu.engine.gpu.shards import THREADS, shared_bytes
from dask_graphgpu.engine.gpu.superstep import Superstep
from dask_graphgpu.engine.gpu.synchronous import Synchronous
from dask_graphgpu.engine.known import DISTANCES as SSSP
from dask_graphgpu.engine.options import RunOptions
from dask_graphgpu.engine.schedule import ALLOCATIONS, COMBINES, FILTERS, FUSIONS, REPLICATIONS
from dask_graphgpu.engine.state import Binding
from dask_graphgpu.errors import GraphError
from dask_graphgpu.fields import Field
from dask_graphgpu.kernels import cuda_build
from dask_graphgpu.program import VertexProgram
from dask_graphgpu.report import Report

LIMIT = 1_000_000  # supersteps: more than any run has
REPEATS = 3  # of every cell
ROUNDS = 6  # with and without reports, and repeats in each
SEPARATORS = [(4, 128), (32, 128), (128, 128), (32, 512), (4, 2048), (32, 2048), (128, 2048)]
BINS = (16, 64, 256, 1024)
PAGES = 32  # of Garaph's table
SLOW = 500.0  # milliseconds of a grid's run from which a setting is not run again

BFS = VertexProgram(
    state={"hops": Field("int64", at_source=0)}, compute=lambda source_hops: source_hops + 1,
    combine="min", bound=lambda num_vertices: num_vertices,
)  # fmt: skip
COMPONENTS = VertexProgram(
    state={"label": Field("id", initial=lambda id: id)},  # noqa: A006
    compute=lambda source_label: source_label, combine="min", edges="both",
)  # fmt: skip


def k_core(k: int) -> VertexProgram:
    """Vertices tell their neighbours when they go."""
    return VertexProgram(
        state={"left": Field("int64", initial=lambda degree: degree),
               "gone": Field("bool", initial=lambda degree, k: degree < k)},
        compute=lambda source_gone: 1 if source_gone else 0, combine="sum", message="int64",
        apply=lambda left, message, k: {"left": left - message, "gone": left - message < k},
        active=lambda gone, new_gone: new_gone and not gone, constants={"k": k},
    )  # fmt: skip


class Case:
    """A program on a graph, run by the engine with its settings as they are."""

    def __init__(self, name: str, program: VertexProgram, view: Any, **given: Any) -> None:
        self.name, self.program = name, program
        self.binding = Binding(program, view, given.get("constants", {}))
        self.sources = given.get("sources")
        self.limit, self.exact = given.get("limit", LIMIT), given.get("exact", False)

    def run(self) -> tuple[int, int]:
        """Once; supersteps, and those in which a bin overflowed."""
        every = every_sends(self.binding, self.sources)
        report = Report(self.name)
        arrays = Arrays(self.binding, self.sources, every=every)
        made = Synchronous(Superstep(arrays, report))
        limits = {"max_supersteps": self.limit, "exact_supersteps": self.exact}
        state = made.run(RunOptions(report=report, **limits))
        self.memory = report.memory or 0
        return state.supersteps, made.overflows


def cases(view: Any, weighted: Any, first: int) -> dict[str, Case]:
    """The programs of the paper on a graph, from a dense id where they need one."""
    source, n = {"sources": np.array([first])}, view.num_vertices
    residual = view.with_columns({"residual": cp.full(n, 1 / n)})
    few = {"limit": 10, "exact": True}
    power = pagerank.power_program("float32", weighted=False, personal=False)
    delta = pagerank.delta_program("float64", weighted=False)
    beliefs = System(kind="uniform", coupling=0.001, echo=1e-6).program()
    explicit = {"explicit": cp.full(n, 0.01)}
    named = [
        Case("bfs", BFS, view, **source),
        Case("sssp", SSSP, weighted, **source),
        Case("components", COMPONENTS, view),
        Case("k-core, 16", k_core(16), view),
        Case("k-core, 32", k_core(32), view),
        Case("pagerank", power, view, constants={"tolerance": 0.0}, **few),
        Case("pagerank, delta", delta, residual, constants={"threshold": 1e-9}, limit=300),
        Case("beliefs", beliefs, view.with_columns(explicit), **few),
    ]
    return {case.name: case for case in named}


class On:
    """A graph on the device, and what is run on it."""

    def __init__(self, graph: DeviceGraph) -> None:
        self.graph = graph
        plain = graph.edges[["src", "dst"]].graph(directed=False).persist()._input.held
        weighted = graph.weighted("int32").graph(directed=False).persist()._input.held
        self.view, self.weighted = plain.view("one", False), weighted.view("min")
        self.source = int(plain.ids.find([graph.source])[0])
        self.cases = cases(self.view, self.weighted, self.source)

    def bfs(self) -> Any:
        """The engine's own search."""
        given = {"cutoff": None, "targets": None, "report": Report("bfs")}
        return gpu.bfs(self.view, self.source, **given)

    def own(self) -> dict[str, Callable[[], Any]]:
        """What the engine runs by default."""
        view, sources = self.view, [self.source]
        return {
            "bfs": self.bfs,
            "sssp": lambda: gpu.run(
                SSSP, self.weighted, RunOptions(sources=sources, report=Report("sssp"))
            ),
            "components": lambda: gpu.components(view, report=Report("components")),
            "core number": lambda: gpu.core_numbers(view, report=Report("core_number")),
            "pagerank, 10 iterations": self.cases["pagerank"].run,
        }


def cell(run: Callable[[], Any], settings: dict[str, Any]) -> str:
    """Best and median milliseconds with settings, or why there are none."""
    with dask.config.set({f"graphgpu.{name}": value for name, value in settings.items()}):
        try:
            run()  # compiles
            first = timed(run, long=SLOW / 1e3, repeats=REPEATS)
        except GraphError as error:
            return _reason(error)
    return str(first)


def _reason(error: Exception) -> str:
    text = str(error)
    return "n/a" if "cannot be used" in text else f"{type(error).__name__}: {text[:60]}"


def table(title: str, rows: dict[str, Callable[[], Any]], settings: dict[str, Any]) -> None:
    """A row a program, a column a setting."""
    print(f"\n{title}\n\n| | " + " | ".join(settings) + " |\n|" + " --- |" * (1 + len(settings)))
    for name, run in rows.items():
        cells = [cell(run, given) for given in settings.values()]
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


def overflows(case: Case) -> None:
    """Supersteps, and in how many of them the controller took a ballot."""
    print(f"\nSupersteps of {case.name} by ballot, by slots of a bin: ", end="")
    told = []
    for slots in BINS:
        with dask.config.set({"graphgpu.filter": "jit", "graphgpu.filter-bins": slots}):
            supersteps, full = case.run()
        told.append(f"{slots}: {full} of {supersteps}")
    print(", ".join(told))


def registers(case: Case) -> None:
    """Registers of a thread, by kernel."""
    print(f"\n| {case.name}, fusion | registers of a thread |\n| --- | --- |")
    with dask.config.set({"graphgpu.filter": "jit"}):
        arrays = Arrays(case.binding, case.sources)
    phases = ("push", "push_filtered", "apply_filtered", "pull_all", "pull_some", "apply")
    for fusion, source, defines, names in (
        ("none", "program", {}, phases),
        ("selective", "program_fused", {"ALL": "0"}, ("push_run", "pull_run")),
        ("all", "program_fused", {"ALL": "1"}, ("everything",)),
    ):
        module = arrays.module(source, defines)
        told = [f"{name} {module.kernel(name).function(cooperative=False).num_regs}" for name in names]  # fmt: skip
        print(f"| {fusion} | {', '.join(told)} |")


def filters(on: On) -> None:
    """All filters, where a program may have one, and the bins of those that record."""
    names = ("bfs", "sssp", "components", "k-core, 16", "k-core, 32", "pagerank, delta")
    runs = {name: on.cases[name].run for name in names}
    phases = {kind: {"filter": kind, "fusion": "none"} for kind in FILTERS}
    table("Filters, a kernel a phase", runs, phases)
    fused = {kind: {"filter": kind, "fusion": "all"} for kind in FILTERS}
    table("Filters, all fused", runs, fused)
    del runs["components"]
    bins = {str(slots): {"filter": "jit", "fusion": "all", "filter-bins": slots} for slots in BINS}
    table("Slots of a bin, jit, all fused", runs, bins)
    overflows(on.cases["bfs"])


def fusion(on: On) -> None:
    """Kernels a phase, a direction, a run."""
    runs = {name: case.run for name, case in on.cases.items()}
    table("Fusion", runs, {fusion: {"fusion": fusion} for fusion in FUSIONS[1:]})
    jit = {fusion: {"fusion": fusion, "filter": "jit"} for fusion in FUSIONS[1:]}
    table("Fusion, jit", {name: runs[name] for name in ("bfs", "sssp", "components")}, jit)
    registers(on.cases["sssp"])


def worklists(on: On) -> None:
    """Separators."""
    separators = {f"{a}, {b}": {"worklists": [a, b], "direction": "push"} for a, b in SEPARATORS}
    separators["off"] = {"worklists": "off", "direction": "push"}
    rows = {
        "bfs": on.cases["bfs"].run,
        "sssp": on.cases["sssp"].run,
        "bfs, the engine's own": on.bfs,
    }
    table("Separators of worklists, push", rows, separators)


def direction(on: On) -> None:
    """Directions forced."""
    directions = ("auto", "push", "pull", "notify-pull")
    runs = {name: case.run for name, case in on.cases.items()}
    table("Direction", runs, {direction: {"direction": direction} for direction in directions})


def atomics(on: On) -> None:
    """Messages put together by those that own a vertex, or by an atomic for every edge."""
    ways = {
        f"{direction}, {combine}": {"combine": combine, "direction": direction}
        for direction in ("auto", "pull", "push")
        for combine in COMBINES
    }
    runs = {name: case.run for name, case in on.cases.items()}
    table("Combining without atomics, and by one an edge", runs, ways)


def allocation(on: On) -> None:
    """The list of edges that filter batch writes: its memory, and what looking costs."""
    runs = {name: on.cases[name].run for name in ("bfs", "sssp", "components")}
    ways = {kind: {"filter": "batch", "allocation": kind} for kind in ALLOCATIONS}
    table("Allocation, filter batch", runs, ways)
    print("\n| MB beside the graph | " + " | ".join(ways) + " |\n|" + " --- |" * (1 + len(ways)))
    for name, run in runs.items():
        held = []
        for given in ways.values():
            with dask.config.set({f"graphgpu.{key}": value for key, value in given.items()}):
                run()
            held.append(f"{on.cases[name].memory / 1e6:,.1f}")
        print(f"| {name} | " + " | ".join(held) + " |", flush=True)


def tail(on: On) -> None:
    """Changes that wait, and supersteps that push them, of a long run of PageRank."""
    case = on.cases["pagerank"]
    case.limit = 100
    ways = {str(part): {"tail": part} for part in (None, 0.0, 1e-9, 1e-7, 1e-5, 1e-3)}
    table("Tail of PageRank, 100 supersteps", {"pagerank": case.run}, ways)
    case.limit = 10


def gathers(on: On) -> None:
    """Sums in registers by rows, and in shared memory by shards with copies."""
    copies = ("auto", *REPLICATIONS)
    ways = {"rows": {"gather": "rows", "direction": "pull"}}
    ways |= {f"shards, {r}": {"gather": "shards", "replication": r} for r in copies}
    ways["blocks"] = {"gather": "blocks", "direction": "pull"}
    names = ("pagerank", "pagerank, delta", "beliefs")
    table("Gather, and copies of a sum", {name: on.cases[name].run for name in names}, ways)
    print("\n| copies | all pages, ms | fastest | slowest |\n| --- | --- | --- | --- |")
    for given in copies:
        with dask.config.set({"graphgpu.gather": "shards", "graphgpu.replication": given}):
            times = pages(on.cases["pagerank"])
        print(f"| {given} | {sum(times):.3f} | {min(times):.3f} | {max(times):.3f} |", flush=True)


def ids(on: On) -> None:
    """Dense ids, and so offsets of rows, in 32 and in 64 bits."""
    with dask.config.set({"graphgpu.dense-id-bits": 64}):
        wide = On(on.graph)
    print("\n| dense ids | 32 bits | 64 bits |\n| --- | --- | --- |")
    for name, run in on.own().items():
        narrow, other = (timed(each, repeats=REPEATS) for each in (run, wide.own()[name]))
        print(f"| {name} | {narrow} | {other} |", flush=True)


def reports(on: On) -> None:
    """Device milliseconds with and without what kernels note for the report, in turns."""
    told = cuda_build.joined

    def untold(source: str, defines: Mapping[str, str], text: str) -> str:
        return told(source, {**defines, "REPORTS": "0"}, text)

    modules: dict[Any, dict[Any, Any]] = {told: {}, untold: {}}
    times: dict[Any, dict[str, list[float]]] = {told: {}, untold: {}}
    held = cuda_build._modules
    for _ in range(ROUNDS):
        for way in (told, untold):
            cuda_build.joined, cuda_build._modules = way, modules[way]
            for name, run in on.own().items():
                calls = timed(run, repeats=ROUNDS, events=True).calls
                times[way].setdefault(name, []).extend(calls)
    cuda_build.joined, cuda_build._modules = told, held
    print("\n| | with report | without | best over best |\n| --- | --- | --- | --- |")
    for name in on.own():
        with_it, without = Timing(times[told][name]), Timing(times[untold][name])
        ratio = min(with_it.calls) / min(without.calls)
        print(f"| {name} | {with_it} | {without} | {ratio:.3f} |", flush=True)


def pages(case: Case) -> list[float]:
    """Milliseconds of the gather of each page alone: consecutive shards with as many edges."""
    every = every_sends(case.binding, case.sources)
    made = Superstep(Arrays(case.binding, case.sources, every=every), Report(case.name))
    arrays, shards = made.arrays, made.shards
    made.begin(1, 0)
    run, kernel = arrays.run("gather"), arrays.module("program").kernel("pull_shards")
    last = int(shards.item_begin.size)
    steps = np.arange(1, PAGES) * (shards.edges.num_edges // PAGES)
    cuts = cp.searchsorted(shards.item_begin, cp.asarray(steps, shards.item_begin.dtype))
    ends = [0, *cuts.get().tolist(), last]
    times = []
    for begin, end in pairwise(ends):
        if begin == end:
            continue
        given = (run, shards.struct(begin, end), made.emitted_or_none, arrays.active)
        given = (*given, made.messages, made.received)
        size = {"threads": THREADS, "shared": shared_bytes()}
        taken = []
        for _ in range(REPEATS + 1):
            start, stop = cp.cuda.Event(), cp.cuda.Event()
            start.record()
            launch.flat(kernel, (end - begin) * THREADS, given, **size)
            stop.record()
            stop.synchronize()
            taken.append(cp.cuda.get_elapsed_time(start, stop))
        times.append(min(taken[1:]))
    return times


TABLES = {
    made.__name__: made
    for made in (
        filters,
        fusion,
        worklists,
        direction,
        atomics,
        allocation,
        tail,
        gathers,
        ids,
        reports,
    )
}


def measure(graph: DeviceGraph, tables: list[str]) -> None:
    """Print the tables of a graph."""
    on = On(graph)
    print(f"\n### {graph.name}: {graph.num_vertices:,} ids, {len(graph.edges):,} directed edges")
    for name in tables:
        TABLES[name](on)


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scale", type=int, nargs="*", default=[])
    parser.add_argument("--grid", type=int, nargs="*", default=[])
    parser.add_argument("--graphs", type=Path, nargs="*", default=[], help="Parquet files")
    parser.add_argument("--tables", nargs="*", default=list(TABLES), choices=TABLES)
    given = parser.parse_args()
    for scale in given.scale:
        measure(rmat(scale), given.tables)
    for side in given.grid:
        measure(grid(side), given.tables)
    for path in given.graphs:
        measure(real(path), given.tables)


if __name__ == "__main__":
    main()
