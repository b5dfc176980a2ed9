"""Subway's programs on graphs whose edges do not fit a GPU, and what runs them in each way."""

from __future__ import annotations

import time
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from unittest.mock import patch

import dask
import numpy as np
from tier_ways import InStreams, Limited, Partitioned, cut_of, on_device

from dask_graphgpu.algorithms import pagerank
from dask_graphgpu.algorithms.sswp import program as widest
from dask_graphgpu.engine import cpu, gpu, hops, tiered
from dask_graphgpu.engine.gpu.layered import LayeredArrays, Sweeps
from dask_graphgpu.engine.gpu.settings import every_sends
from dask_graphgpu.engine.gpu.sizes import bytes_apart
from dask_graphgpu.engine.gpu.superstep import Superstep
from dask_graphgpu.engine.gpu.synchronous import Synchronous
from dask_graphgpu.engine.hops import LEVELS as BFS
from dask_graphgpu.engine.hybrid import programs
from dask_graphgpu.engine.known import DISTANCES as SSSP
from dask_graphgpu.engine.limits import Cut
from dask_graphgpu.engine.options import RunOptions
from dask_graphgpu.engine.plan import plan
from dask_graphgpu.engine.speeds import Speeds
from dask_graphgpu.engine.state import Binding, State
from dask_graphgpu.engine.tiered import dense, disk, near_far
from dask_graphgpu.engine.tiered.arrays import TieredArrays
from dask_graphgpu.engine.tiered.packed import bytes_of_edge
from dask_graphgpu.engine.tiered.rounds import Asynchronous, ResidentFirst
from dask_graphgpu.engine.tiered.supersteps import SegmentCarrier
from dask_graphgpu.engine.tiered.transfer import Transfer
from dask_graphgpu.fields import Field
from dask_graphgpu.partition.layered import find_levels
from dask_graphgpu.partition.view import View
from dask_graphgpu.program import VertexProgram
from dask_graphgpu.report import Report

COMPONENTS = VertexProgram(
    state={"label": Field("id", initial=lambda id: id)},  # noqa: A006
    compute=lambda source_label: source_label, combine="min", edges="both",
)  # fmt: skip


@dataclass
class Case:
    """A program on a graph with what a run of it is given."""

    program: VertexProgram
    view: View
    given: dict[str, Any]
    free: VertexProgram | None  # the same in asynchronous rounds, if it can be
    own: Callable[[Any, View, float], Report] | None = (
        None  # as a method does it: engine, view, share
    )
    speeds: Speeds | None = None  # of both sides, after a run that they shared

    def tiered(
        self, way: str, share: float, kind: type[Transfer], *, asynchronous: bool = False
    ) -> Report:
        """Run it with this share of the edges' bytes on the device; the rest of that are buffers."""
        program = self.free if asynchronous else self.program
        assert program is not None
        binding = Binding(program, self.view, self.given.get("constants", {}))
        cut = cut_for(kind, way, share_of(binding, share))
        report = Report(way)
        arrays = TieredArrays(binding, self.given.get("sources"), cut)
        transfer = kind(arrays.tier, way, arrays.edge_view.defines)
        superstep = Superstep(arrays, report, in_parts=True)
        carrier = (Asynchronous if asynchronous else self.rounds(way))(superstep, transfer)
        made = Synchronous(superstep, carrier)
        state = made.run(RunOptions(report=report, **self.given))
        return answered(state, self.program, report)

    def near_far(self, share: float) -> Report:
        """Run it in near-far order, with this share of the edges' bytes on the device."""
        binding = Binding(self.program, self.view, {})
        cut = share_of(binding, share)
        report = Report("near-far")
        options = RunOptions(report=report, sources=self.given.get("sources"))
        run = near_far.prepared(plan(binding, options))
        return answered(run(cut), self.program, report)

    def ours(self, share: float) -> Report:
        """Run it as a method does, or a program in the order that the engine chooses."""
        if self.own is not None:
            return self.own(tiered, self.view, share)
        binding = Binding(self.program, self.view, self.given.get("constants", {}))
        cut = share_of(binding, share)
        if self.rounds("auto") is ResidentFirst and near_far.pays(binding, cut):
            return self.near_far(share)
        if every_sends(binding, self.given.get("sources")):
            return self.dense(share)
        return self.tiered("auto", share, Limited)

    def dense(self, share: float, way: str = "auto") -> Report:
        """Run it with all edges gone along as they lie, in each superstep."""
        binding = Binding(self.program, self.view, self.given.get("constants", {}))
        report, edge = Report(way), dense.bytes_of_edge(binding)
        with patch.object(disk, "Transfer", Limited):
            run = dense.prepared(plan(binding, RunOptions(report=report, **self.given)), way)
            return answered(run(share_of(binding, share, edge)), self.program, report)

    def layered(self, share: float) -> Report:
        """Run it over edges by layers, which are built before the first run."""
        program = self.free or self.program
        view = layers(self.view)
        binding = Binding(program, view, self.given.get("constants", {}))
        edges, report, sources = binding.layered, Report("layered"), self.given.get("sources")
        size = bytes_apart(binding) + edges.sources.itemsize
        room = int(share * edges.num_edges * bytes_apart(binding))
        cut = cut_of(edges.num_edges, size, 0, room, "sweeps over layers")
        arrays = LayeredArrays(binding, sources)
        return answered(Sweeps(arrays, cut, sources, None, report).run(), program, report)

    def rounds(self, way: str) -> type[SegmentCarrier]:
        """Those that the engine takes, where it may choose."""
        chosen = way == "auto" and self.program.in_place and "max_supersteps" not in self.given
        return ResidentFirst if chosen else SegmentCarrier

    def least(self, share: float, rate: float) -> float:
        """Seconds in which the edges beyond a share cross the link as often as they have to."""
        binding = Binding(self.program, self.view, self.given.get("constants", {}))
        cut = share_of(binding, share).without_buffers()
        size = (cut.num_edges - cut.resident) * bytes_of_edge(binding)
        return size * self.given.get("max_supersteps", 1) / rate

    def by(self, engine: Any, share: float) -> Report:
        """Run it as an engine does, with as much on the device as `tiered`."""
        report = Report("program")
        with on_device(share):
            state = engine.run(self.program, self.view, RunOptions(report=report, **self.given))
        binding = Binding(self.program, self.view, self.given.get("constants", {}))
        self.speeds = programs.speeds_of(binding)
        return answered(state, self.program, report)

    def on_host(self) -> Report:
        """Run it on the CPU engine."""
        report = Report("cpu")
        cpu.run(self.program, self.view, RunOptions(report=report, **self.given))
        return report

    def in_memory(self) -> Report:
        """Run it with all edges on the device."""
        report = Report("in memory")
        state = gpu.run(self.program, self.view, RunOptions(report=report, **self.given))
        _ = state[self.program.first]
        return report


def cut_for(kind: type[Transfer], way: str, cut: Cut) -> Cut:
    """What lies where in a way: edges stay on the device in PT-Opt and ours."""
    if issubclass(kind, InStreams):
        return kind.cut(cut)
    if kind is Partitioned or way in ("compact", "zero-copy"):
        return Cut(0, cut.segment, cut.num_edges)
    return cut


_layers: dict[int, tuple[View, View]] = {}


def layers(view: View) -> View:
    """The view with layers from vertex 0; the first one builds these, and prints what that takes."""
    if id(view) not in _layers:
        made, began = copy(view), time.perf_counter()
        made.levels = find_levels(made.out, made.num_vertices, None, 0, None)
        edges = made.layered("source")
        took, size = time.perf_counter() - began, sum(array.nbytes for array in edges.arrays())
        rows = made.out
        given = (rows.offsets, rows.neighbours, *rows.columns.values())
        of_rows = sum(array.nbytes for array in given)
        print(f"layers built in {took:.2f} s, {size / 1e9:.2f} GB, rows {of_rows / 1e9:.2f} GB")
        _layers[id(view)] = view, made
    return _layers[id(view)][1]


def forget() -> None:
    """Let the layers of all views go, and with them what is kept of these."""
    _layers.clear()


def share_of(binding: Binding, share: float, edge: int | None = None) -> Cut:
    """What lies where if this share of the edges' bytes, as they are given, is on the device.

    ``edge``: bytes of one there; None: of `bytes_of_edge`.
    """
    number = binding.send.num_edges
    room = int(share * number * bytes_apart(binding))
    return cut_of(number, edge or bytes_of_edge(binding), 0, room, "the program")


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
            return cut_for(kind, way, cut_of(num_edges, edge, 0, size, what))

        settings = {"device-memory-limit": "1TB", "transfer": way}
        with (
            dask.config.set({"graphgpu": settings}),
            patch.object(Cut, "of", cut),
            patch.object(disk, "Transfer", kind),
        ):
            tiered.path_counts(self.view, 0, level, dtype="float64", report=report)
        return report

    def ours(self, share: float) -> Report:
        """As of `Case`."""
        return self.tiered("auto", share, Limited)

    def on_host(self) -> Report:
        """As of `Case`."""
        report = Report("cpu")
        level = cpu.bfs(self.view, 0, cutoff=None, targets=None, report=report)
        cpu.path_counts(self.view, 0, level, dtype="float64", report=report)
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
    """What methods do in another way than by the program."""

    def by(self, engine: Any, share: float) -> Report:
        """As of `Case`."""
        assert self.own is not None
        return self.own(engine, self.view, share)

    def on_host(self) -> Report:
        """As of `Case`."""
        return self.by(cpu, 1.0)


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


def cases(plain: View, weighted: View) -> dict[str, Case]:
    """Subway's programs."""
    source = {"sources": np.array([0])}
    power = pagerank.power_program("float32", weighted=False, personal=False)
    delta = pagerank.delta_program("float64", weighted=False)
    n = plain.num_vertices
    residual = plain.with_columns({"residual": np.full(n, 1 / n)})
    return {
        "bfs": Case(BFS, plain, source, hops.PROGRAM, searched),
        "components": Case(COMPONENTS, plain, {}, COMPONENTS, linked),
        "paths": Paths(BFS, plain, source, None),
        "sssp": Case(SSSP, weighted, source, SSSP),
        "sswp": Case(widest(2**63 - 1), weighted, source, widest(2**63 - 1)),
        "pagerank": Case(
            power, plain,
            {"constants": {"tolerance": 0.0}, "max_supersteps": 10, "exact_supersteps": True}, None,
        ),
        "pagerank, delta": Case(delta, residual, {"constants": {"threshold": 1e-9}}, delta),
    }  # fmt: skip
