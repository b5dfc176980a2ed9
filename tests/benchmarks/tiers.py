"""Measure a graph whose edges do not fit a GPU: Subway's comparison, on one machine in one run.

    python tests/benchmarks/tiers.py --scale 22 --share 0.25 --programs bfs sssp
    python tests/benchmarks/tiers.py --grid 2048
    python tests/benchmarks/tiers.py --graph cnr-2000.parquet

prints Markdown: for each program and way the best seconds of some runs by the engine (host to host,
after one that is not counted), supersteps, parts of transfer, bytes that went over the link, and both
as a rate; then how long a program has to take at least, which is the larger of its time in memory and
of each edge that is not on the device over the link once (in each iteration of PageRank), and the
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
import math
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import cupy as cp
import dask
import numpy as np
import pandas as pd
from gpu import timed

from dask_graphgpu.algorithms import pagerank
from dask_graphgpu.algorithms.sssp import PROGRAM as SSSP
from dask_graphgpu.algorithms.sswp import program as widest
from dask_graphgpu.engine import cpu, gpu, hops, hybrid, tiered
from dask_graphgpu.engine.gpu.device import DeviceView
from dask_graphgpu.engine.hops import LEVELS as BFS
from dask_graphgpu.engine.hybrid import programs
from dask_graphgpu.engine.hybrid.dispatch import Speeds
from dask_graphgpu.engine.state import Binding, State
from dask_graphgpu.engine.tiered import limits, link, near_far, rows
from dask_graphgpu.engine.tiered.arrays import TieredArrays, bytes_of_edge
from dask_graphgpu.engine.tiered.layered import LayeredArrays, Sweeps
from dask_graphgpu.engine.tiered.limits import Cut
from dask_graphgpu.engine.tiered.rounds import Asynchronous, ResidentFirst
from dask_graphgpu.engine.tiered.supersteps import TieredSynchronous
from dask_graphgpu.engine.tiered.transfer import Transfer
from dask_graphgpu.partition.csr import Adjacency
from dask_graphgpu.partition.layered import find_levels
from dask_graphgpu.partition.view import View
from dask_graphgpu.program import Field, VertexProgram
from dask_graphgpu.report import Report

REPEATS = 3
LONG = 2.0  # seconds from which a run is done twice more at most
COMPILED = 6.0  # or not at all: up to here it may be kernels that were compiled
_cut = Cut.of
COMPONENTS = VertexProgram(
    state={"label": Field("id", initial=lambda id: id)},  # noqa: A006
    compute=lambda source_label: source_label, combine="min", edges="both",
)  # fmt: skip


class TooLong(Exception):
    """A run was given up in a superstep."""


class Limited(Transfer):
    """Gives a run up that takes longer than it may."""

    until = math.inf  # time.perf_counter()
    passed = 0  # supersteps of the run

    def superstep(self, *given: Any, **named: Any) -> None:
        """As of `Transfer`."""
        Limited.passed += 1
        if time.perf_counter() > Limited.until:
            raise TooLong
        super().superstep(*given, **named)


class Partitioned(Limited):
    """Every segment is streamed in every superstep."""

    def choose(self, rows: int, active: np.ndarray) -> list[str | None]:
        return ["stream"] * len(active)


@dataclass
class Case:
    """A program on a graph with what a run of it is given."""

    program: VertexProgram
    view: View
    given: dict[str, Any]
    free: VertexProgram | None  # the same in asynchronous rounds, if it can be
    speeds: Speeds | None = None  # of both sides, after a run that they shared

    def tiered(
        self, way: str, share: float, kind: type[Transfer], *, asynchronous: bool = False
    ) -> Report:
        """Run it with this share of the edges' bytes on the device; the rest of that are buffers."""
        program = self.free if asynchronous else self.program
        assert program is not None
        binding = Binding(program, self.view, self.given.get("constants", {}))
        edge, number = bytes_of_edge(binding), binding.send.num_edges
        cut = Cut.of(number, edge, 0, int(share * number * edge), "the program")
        if kind is Partitioned or way in ("compact", "zero-copy"):
            cut = Cut(0, cut.segment, number)
        report = Report(way)
        arrays = TieredArrays(binding, self.given.get("sources"), cut)
        transfer = kind(arrays.tier, way, arrays.edge_view.defines)
        made = (Asynchronous if asynchronous else self.rounds(way))(arrays, report, transfer)
        state = made.run(
            self.given.get("max_supersteps"), self.given.get("exact_supersteps", False)
        )
        return answered(state, self.program, report)

    def near_far(self, share: float) -> Report:
        """Run it in near-far order, with this share of the edges' bytes on the device."""
        binding = Binding(self.program, self.view, {})
        edge, number = bytes_of_edge(binding), binding.send.num_edges
        cut = Cut.of(number, edge, 0, int(share * number * edge), "the program")
        report = Report("near-far")
        run = near_far.prepared(binding, self.given.get("sources"), None, None, report, None)
        return answered(run(cut), self.program, report)

    def chosen(self, share: float) -> Report:
        """Run it in the order that the engine chooses."""
        binding = Binding(self.program, self.view, self.given.get("constants", {}))
        edge, number = bytes_of_edge(binding), binding.send.num_edges
        cut = Cut.of(number, edge, 0, int(share * number * edge), "the program")
        if self.rounds("auto") is ResidentFirst and near_far.pays(binding, cut):
            return self.near_far(share)
        return self.tiered("auto", share, Limited)

    def layered(self, share: float) -> Report:
        """Run it over edges by layers; the first one builds these, and prints what that takes."""
        binding = Binding(self.program, self.layers, self.given.get("constants", {}))
        edges, report, sources = binding.layered, Report("layered"), self.given.get("sources")
        size = bytes_of_edge(binding) + edges.sources.itemsize
        room = int(share * edges.num_edges * bytes_of_edge(binding))
        cut = Cut.of(edges.num_edges, size, 0, room, "the program")
        arrays = LayeredArrays(binding, sources)
        return answered(Sweeps(arrays, cut, sources, None, report).run(), self.program, report)

    @cached_property
    def layers(self) -> View:
        """The view with layers."""
        view, began = copy(self.view), time.perf_counter()
        view.levels = find_levels(view.out, view.num_vertices, None, 0, None)
        made = view.layered("source")
        took, size = time.perf_counter() - began, sum(array.nbytes for array in made.arrays())
        rows = view.out
        of_rows = sum(
            array.nbytes for array in (rows.offsets, rows.neighbours, *rows.columns.values())
        )
        print(f"| built in {took:.2f} s, {size / 1e9:.2f} GB, rows {of_rows / 1e9:.2f} GB |")
        return view

    def rounds(self, way: str) -> type[TieredSynchronous]:
        """Those that the engine takes, where it may choose."""
        chosen = way == "auto" and self.program.in_place and "max_supersteps" not in self.given
        return ResidentFirst if chosen else TieredSynchronous

    def least(self, share: float, rate: float) -> float:
        """Seconds in which the edges beyond a share cross the link as often as they have to."""
        binding = Binding(self.program, self.view, self.given.get("constants", {}))
        size = binding.send.num_edges * bytes_of_edge(binding)
        return (1 - share) * size * self.given.get("max_supersteps", 1) / rate

    def by(self, engine: Any, share: float) -> Report:
        """Run it as an engine does, with as much on the device as `tiered`."""
        report = Report("program")
        with on_device(share):
            state = engine.run(self.program, self.view, report=report, **self.given)
        binding = Binding(self.program, self.view, self.given.get("constants", {}))
        self.speeds = programs.speeds_of(binding)
        return answered(state, self.program, report)

    def on_host(self) -> Report:
        """Run it on the CPU engine."""
        report = Report("cpu")
        cpu.run(self.program, self.view, report=report, **self.given)
        return report

    def in_memory(self) -> Report:
        """Run it with all edges on the device."""
        report = Report("in memory")
        state = gpu.run(self.program, self.view, report=report, **self.given)
        _ = state[self.program.first]
        return report


def answered(state: State, program: VertexProgram, report: Report) -> Report:
    """Bring the answer to the host, which fields are when they are asked for."""
    _ = state[program.first]
    report.limit = state.supersteps
    return report


@dataclass
class Paths(Case):
    """Numbers of shortest paths: BFS, then a pass over the levels' edges."""

    def tiered(
        self, way: str, share: float, kind: type[Transfer], *, asynchronous: bool = False
    ) -> Report:
        """As of `Case`."""
        level = self.level
        if way == "auto":
            report = Report("searched")
            level = search(tiered, self.view, share, report)
        else:
            report = super().tiered(way, share, kind)
        size = int(share * self.view.num_edges * self.view.out.neighbours.itemsize)

        def cut(num_edges: int, edge: int, vertices: int, limit: int, what: str) -> Cut:
            made = _cut(num_edges, edge, 0, size, what)
            everything = kind is Partitioned or way in ("compact", "zero-copy")
            return Cut(0, made.segment, num_edges) if everything else made

        settings = {"device-memory-limit": "1TB", "transfer": way}
        with (
            dask.config.set({"graphgpu": settings}),
            patch.object(Cut, "of", cut),
            patch.object(rows, "Transfer", kind),
        ):
            tiered.path_counts(self.view, 0, level, dtype="float64", report=report)
        return report

    @cached_property
    def level(self) -> np.ndarray:
        """Of each vertex."""
        report = Report("levels")
        found: np.ndarray = gpu.bfs(self.view, 0, cutoff=None, targets=None, report=report)
        return found

    def least(self, share: float, rate: float) -> float:
        """As of `Case`: twice."""
        return 2 * super().least(share, rate)

    def in_memory(self) -> Report:
        """As of `Case`."""
        report = super().in_memory()
        gpu.path_counts(self.view, 0, self.level, dtype="float64", report=report)
        return report


@dataclass
class Method(Case):
    """What methods do in another way than by the program: ``own`` takes an engine, a view and a share."""

    own: Callable[[Any, View, float], Report] | None = None

    def by(self, engine: Any, share: float) -> Report:
        """As of `Case`."""
        assert self.own is not None
        return self.own(engine, self.view, share)

    def on_host(self) -> Report:
        """As of `Case`."""
        return self.by(cpu, 1.0)


@contextmanager
def on_device(share: float) -> Iterator[None]:
    """Have this share of the edges' bytes on the device, whatever of vertices is there beside them."""

    def cut(num_edges: int, edge: int, vertices: int, limit: int, what: str) -> Cut:
        return _cut(num_edges, edge, 0, int(share * num_edges * edge), what)

    limit = dask.config.set({"graphgpu.device-memory-limit": "1TB"})
    with limit, patch.object(Cut, "of", cut):
        yield


def linked(engine: Any, view: View, share: float) -> Report:
    """Components by an engine's own method, which links trees in one pass over the edges."""
    report = Report("linked")
    with on_device(share):
        engine.components(view, report=report)
    return report


def searched(engine: Any, view: View, share: float) -> Report:
    """Levels by an engine's own method, which takes the rows of either side of a level."""
    report = Report("searched")
    search(engine, view, share, report)
    return report


def search(engine: Any, view: View, share: float, report: Report) -> Any:
    """The levels from vertex 0."""
    with on_device(share):
        return engine.bfs(view, 0, cutoff=None, targets=None, report=report)


def rmat(scale: int, edge_factor: int = 16) -> tuple[View, View]:
    """R-MAT (.57, .19, .19)."""
    cp.random.seed(1)
    n, number = 1 << scale, edge_factor << scale
    ends = [cp.zeros(number, np.uint32) for _ in range(2)]
    for _ in range(scale):
        r = cp.random.random(number, dtype=np.float32)
        for end, bit in zip(
            ends, (r >= 0.76, ((r >= 0.57) & (r < 0.76)) | (r >= 0.95)), strict=True
        ):
            end *= 2
            end += bit
    return views(ends, n)


def grid(side: int) -> tuple[View, View]:
    """Square grid."""
    ids = cp.arange(side * side, dtype=np.uint32).reshape(side, side)
    a = cp.concatenate([ids[:, :-1].ravel(), ids[:-1].ravel()])
    b = cp.concatenate([ids[:, 1:].ravel(), ids[1:].ravel()])
    return views([a, b], side * side)


def real(path: Path) -> tuple[View, View]:
    """Edges of a Parquet file with whole numbers ``src`` and ``dst``, each looked at both ways."""
    frame = pd.read_parquet(path)
    codes, ids = pd.factorize(np.concatenate([frame["src"], frame["dst"]]))
    ends = np.split(codes.astype(np.uint32), 2)
    return views([cp.asarray(end) for end in ends], len(ids))


def views(ends: list[Any], n: int) -> tuple[View, View]:
    """Undirected edges, by falling degree: in host memory, and with weights 1 to 64."""
    degree = sum(cp.bincount(end, minlength=n) for end in ends)
    place = cp.empty(n, np.uint64)
    place[cp.argsort(-degree)] = cp.arange(n)
    a, b = (place[end] for end in ends)
    ends.clear()
    keys = cp.concatenate([a << np.uint64(32) | b, b << np.uint64(32) | a])
    del a, b, degree, place
    keys = keys[keys >> np.uint64(32) != keys & np.uint64(0xFFFFFFFF)]
    keys.sort()
    first = cp.ones(len(keys), bool)
    first[1:] = keys[1:] != keys[:-1]
    keys = keys[first]
    offsets = cp.searchsorted(keys, cp.arange(n + 1, dtype=np.uint64) << np.uint64(32))
    u, v = keys >> np.uint64(32), keys & np.uint64(0xFFFFFFFF)
    mixed = (cp.minimum(u, v) << np.uint64(32) | cp.maximum(u, v)) * np.uint64(0x9E3779B97F4A7C15)
    weight = cp.asnumpy(((mixed >> np.uint64(40)) % np.uint64(64)).astype(np.int32) + 1)
    rows = cp.asnumpy(offsets).astype(np.int64), cp.asnumpy(v.astype(np.uint32))
    del keys, first, u, v, mixed, offsets
    cp.get_default_memory_pool().free_all_blocks()
    return (
        View.of(Adjacency(*rows), directed=False),
        View.of(Adjacency(*rows, {"weight": weight}), directed=False),
    )


def cases(plain: View, weighted: View) -> dict[str, Case]:
    """Subway's programs."""
    source = {"sources": np.array([0])}
    power = pagerank.power_program("float32", weighted=False, personal=False)
    delta = pagerank.delta_program("float64", weighted=False)
    n = plain.num_vertices
    residual = plain.with_columns({"residual": np.full(n, 1 / n)})
    return {
        "bfs": Case(BFS, plain, source, hops.PROGRAM),
        "components": Case(COMPONENTS, plain, {}, COMPONENTS),
        "paths": Paths(BFS, plain, source, None),
        "sssp": Case(SSSP, weighted, source, SSSP),
        "sswp": Case(widest(2**63 - 1), weighted, source, widest(2**63 - 1)),
        "pagerank": Case(
            power, plain,
            {"constants": {"tolerance": 0.0}, "max_supersteps": 10, "exact_supersteps": True}, None,
        ),
        "pagerank, delta": Case(delta, residual, {"constants": {"threshold": 1e-9}}, delta),
    }  # fmt: skip


def row(name: str, way: str, run: Callable[[], Report], limit: float = math.inf) -> float:
    """Print a line of the table; its seconds. A run of more than ``limit`` is given up: that is told instead."""
    reports: list[Report] = []

    def once() -> None:
        Limited.until, Limited.passed = time.perf_counter() + limit, 0
        reports.append(run())

    try:
        began = time.perf_counter()
        once()
        cp.cuda.Device().synchronize()
        seconds = time.perf_counter() - began
        if seconds < LONG:
            seconds = min(timed(once, repeats=REPEATS).calls) / 1e3
        elif seconds < COMPILED:
            seconds = min(timed(once, repeats=1).calls) / 1e3
    except TooLong:
        print(
            f"| {name} | {way} | > {limit:.0f} | {Limited.passed} so far | - | - | - |", flush=True
        )
        return limit
    finally:
        Limited.until = math.inf
    last = reports[-1]
    moved = sum(each["bytes"] for each in last.moved.values())
    parts = ", ".join(f"{each['parts']} {way}" for way, each in last.moved.items()) or "-"
    supersteps = last.limit or sum(each.supersteps for each in last.advances)
    print(
        f"| {name} | {way} | {seconds:.4f} | {supersteps} | {parts} | {moved / 1e9:.3f} | "
        f"{moved / 1e9 / seconds:.1f} |",
        flush=True,
    )
    return seconds


def compare_hybrid(cases: dict[str, Case], share: float) -> None:
    """Print the table of the GPU alone, the CPU alone and both."""
    print(
        "| program | engine | s | supersteps | GPU pages, edges | CPU pages, edges | s an iteration |"
    )
    print("| --- | --- | ---: | ---: | --- | --- | ---: |")
    worst: list[str] = []
    for name, case in cases.items():
        runs = {
            "GPU": partial(case.by, tiered, share),
            "hybrid": partial(case.by, hybrid, share),
            "CPU": case.on_host,
        }
        reported: dict[str, list[Report]] = {label: [] for label in runs}
        seconds = dict.fromkeys(runs, math.inf)
        for label in [*["GPU", "hybrid"] * (REPEATS + 1), *["CPU"] * REPEATS]:  # in turn
            took = timed(
                lambda run=runs[label], into=reported[label]: into.append(run()),  # type: ignore[misc]
                repeats=1,
            )
            seconds[label] = min(seconds[label], took.calls[0] / 1e3)
        steps: dict[str, list[float]] = {}
        for label, reports in reported.items():
            each = [[a.seconds / a.supersteps for a in report.advances] for report in reports]
            same = all(len(one) == len(each[-1]) for one in each)
            steps[label] = [min(some) for some in zip(*each, strict=True)] if same else each[-1]
            sides = reports[-1].sides
            shares = [
                f"{sides[side]['pages']}, {sides[side]['edges']:,}" if sides else "-"
                for side in ("gpu", "cpu")
            ]
            number = sum(a.supersteps for a in reports[-1].advances)
            middle = statistics.median(steps[label] or [math.nan])
            print(
                f"| {name} | {label} | {seconds[label]:.4f} | {number} | {shares[0]} | {shares[1]} | "
                f"{middle:.5f} |",
                flush=True,
            )
        over = f"{name} {seconds['hybrid'] / min(seconds['GPU'], seconds['CPU']):.3f}"
        lengths = {len(some) for some in steps.values()}
        if len(lengths) == 1 and steps["GPU"]:
            better = map(min, steps["GPU"], steps["CPU"])
            ratios = [a / b for a, b in zip(steps["hybrid"], better, strict=True) if b > 1e-4]
            over += f" (an iteration at most {max(ratios, default=0.0):.3f})"
        worst.append(over)
        if case.speeds is None:
            continue
        rates = {each: getattr(case.speeds, each) / 1e9 for each in ("pull", "push", "gpu")}
        beside = case.speeds.cpu_beside * 1e3, case.speeds.gpu_beside * 1e3
        print(
            f"rates of {name}: CPU {rates['pull']:.2f}, its pages {rates['push']:.2f}, GPU "
            f"{rates['gpu']:.2f} G edges/s; beside edges {beside[0]:.2f}, {beside[1]:.2f} ms",
            flush=True,
        )
    print(f"hybrid over the better: {', '.join(worst)}")


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
    if given.hybrid:
        chosen = cases(plain, weighted)
        again = chosen["pagerank"].given | {"max_supersteps": 100}
        chosen["pagerank 100"] = replace(chosen["pagerank"], given=again)
        for name, own in (("bfs", searched), ("components", linked)):
            case = chosen[name]
            chosen[f"{name} method"] = Method(case.program, case.view, {}, None, own=own)
        names = given.programs or [name for name in chosen if name != "paths"]
        with dask.config.set({"graphgpu.dispatch": given.dispatch}):
            compare_hybrid({name: chosen[name] for name in names}, given.share)
        return
    print("| program | way | s | supersteps | parts | GB moved | GB/s |")
    print("| --- | --- | ---: | ---: | --- | ---: | ---: |")
    over: dict[str, list[float]] = {}
    least = []
    for name, case in cases(plain, weighted).items():
        if given.programs and name not in given.programs:
            continue
        seconds = {}
        for label, way, kind in (
            ("PT", "stream", Partitioned),
            ("PT-Opt", "stream", Limited),
            ("Subway-sync", "compact", Limited),
            ("zero-copy", "zero-copy", Limited),
            ("auto", "auto", Limited),
        ):
            run = partial(case.tiered, way, given.share, kind)
            if not given.ways or label in (*given.ways, "auto"):
                seconds[label] = row(name, label, run, given.limit)
        if case.free is not None and (not given.ways or "Subway-async" in given.ways):
            seconds["Subway-async"] = row(
                name,
                "Subway-async",
                partial(case.tiered, "compact", given.share, Limited, asynchronous=True),
                given.limit,
            )
        if case.program.in_place and "max_supersteps" not in case.given:
            row(name, "near-far", partial(case.near_far, given.share), given.limit)
            label = "auto, as chosen"
            seconds["auto"] = row(name, label, partial(case.chosen, given.share), given.limit)
        if name == "components":
            seconds["auto"] = row(
                name, "auto, linked", partial(linked, tiered, case.view, given.share)
            )
        if name == "bfs":
            seconds["auto"] = row(
                name, "auto, search", partial(searched, tiered, case.view, given.share)
            )
        if given.layered and case.program.in_place and "max_supersteps" not in case.given:
            case.layered(given.share)  # builds the layers
            seconds["layered"] = row(name, "layered", partial(case.layered, given.share))
        _ = DeviceView.of(case.view).out  # else its first run brings the edges over, and is long
        memory = row(name, "in memory", case.in_memory)
        bound = max(memory, case.least(given.share, rates.copies))
        least.append(f"{name} {bound:.4f} ({seconds['auto'] / bound:.2f})")
        for label, each in seconds.items():
            over.setdefault(label, []).append(each / seconds["auto"])
    print(f"\nat least (auto over that): {', '.join(least)}")
    means = (f"{label} {statistics.geometric_mean(each):.2f}" for label, each in over.items())
    print(f"geometric means over auto: {', '.join(means)}")


if __name__ == "__main__":
    main()
