"""Supersteps on the GPU over edges in host memory: pushed part by part, each at hand in its own way."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import cupy
import numpy as np

from dask_graphgpu.engine.gpu import launch
from dask_graphgpu.engine.gpu.structs import struct
from dask_graphgpu.engine.gpu.synchronous import Synchronous
from dask_graphgpu.engine.gpu.worklists import SEPARATORS
from dask_graphgpu.engine.tiered import link
from dask_graphgpu.engine.tiered.arrays import TieredArrays, num_chunks
from dask_graphgpu.engine.tiered.store import Ring, address, runs
from dask_graphgpu.engine.tiered.subgraph import Subgraph
from dask_graphgpu.report import Report

_THREADS = 256

# A row that is read over the link is a warp's, however short.
_READ = (1, SEPARATORS[1])

# Blocks on a multiprocessor that look for active vertices of a part.
_LISTING = 16


class Part(NamedTuple):
    """Some edges: ``lo`` to ``hi`` of all, or of the active subgraph where they are compacted.

    ``edges``: how many go over the link.
    """

    way: str
    lo: int
    hi: int
    edges: int


@dataclass
class Moved:
    """What one way of transfer has done: parts, supersteps that had one, and bytes over the link."""

    parts: int = 0
    supersteps: int = 0
    bytes: int = 0


class TieredSynchronous(Synchronous):
    """A run in supersteps that pushes.

    Parameters
    ----------
    arrays : TieredArrays
    report : Report
    way : str
        Of `limits.WAYS`.
    """

    arrays: TieredArrays

    def __init__(self, arrays: TieredArrays, report: Report, way: str) -> None:
        super().__init__(arrays, report)
        self.way, self.tier = way, arrays.tier
        self.moved: dict[str, Moved] = {}
        edges = self.binding.send
        self.lists = (
            *(cupy.empty(arrays.n, edges.neighbours.dtype) for _ in range(2)),
            cupy.empty(num_chunks(edges.offsets), edges.neighbours.dtype),
            cupy.empty(num_chunks(edges.offsets), np.uint32),
        )
        if self._has_rest:
            self._ring = Ring(self.tier)
            self._subgraph = Subgraph(self.tier, arrays.edge_view.defines, edges.neighbours.dtype)
            self._lengths = np.diff(self.tier.bounds)

    def _directions(self) -> tuple[str, str]:
        return "push", "push"

    @property
    def _has_rest(self) -> bool:
        """Whether there are edges that are not on the device."""
        return self.tier.cut.resident < self.tier.num_edges

    # -- the loop --------------------------------------------------------------------------------

    def _queue(self, step: Callable[[], None], limit: int | None) -> dict[str, int]:
        while True:
            step()
            control = self._looked()
            if control["done"]:
                return control

    def _steps(self, stops: bool) -> Callable[[], None]:
        arrays, run = self.arrays, self.arrays.run("send")
        vertices, none = -(-arrays.n // _THREADS), np.int64(0)
        before = self._next(run) if self.stages.next and not stops else []
        before += self._alone(run, self.stages.alone_before)
        if self._emits:
            before.append(self._launch("emit", vertices, run, arrays.active, self._emitted, none))
        into = (self.messages, self.received, arrays.reached, arrays.active, self.partials)
        after = [self._launch("apply", self.blocks, run, *into, none), *self._ending(run, stops)]
        columns = {m.what: m.name for m in self.glue.members if m.of == "column"}

        def step() -> None:
            for launched in before:
                launched()
            self._send(run, columns)
            for launched in after:
                launched()

        return step

    def run(self, limit: int | None, exact: bool) -> Any:
        try:
            return super().run(limit, exact)
        finally:
            if self._has_rest:
                self._ring.close()

    # -- a superstep -----------------------------------------------------------------------------

    def _send(self, run: Any, columns: Mapping[str, str]) -> None:
        """Push along all edges of the active vertices."""
        push = partial(self._push, run, columns)
        if self._has_rest:
            self._subgraph.find(self.arrays.active)
        if self.tier.cut.resident:
            push(self.tier.offsets, self.tier.on_device(), 0, self.tier.cut.resident)
        if self._has_rest:
            rows, before = self._subgraph.found()
            seen = set()
            for part in self._parts(rows, before):
                self._go(part, push)
                seen.add(part.way)
            for way in seen:
                self.moved[way].supersteps += 1

    def _parts(self, rows: int, before: np.ndarray) -> Iterator[Part]:
        """The parts of a superstep, by the way of each segment."""
        active, bounds = np.diff(before), self.tier.bounds
        ways = self._choose(rows, active)
        for i, way in enumerate(ways):
            if way == "stream":
                lo, hi = bounds[i : i + 2].tolist()
                yield Part(way, lo, hi, hi - lo)
        for lo, hi in runs([way == "zero-copy" for way in ways]):
            # Counted without what else is in the lines of the link that they are in.
            edges = int(before[hi] - before[lo])
            yield Part("zero-copy", int(bounds[lo]), int(bounds[hi]), edges)
        gathered = list(runs([way == "compact" for way in ways]))
        if gathered:
            self._note("compact", self._subgraph.bring_rows(rows), parts=0)
        for lo, hi in gathered:
            end = int(before[hi])
            for edge in range(int(before[lo]), end, self.tier.cut.segment):
                size = min(self.tier.cut.segment, end - edge)
                yield Part("compact", edge, edge + size, size)

    def _choose(self, rows: int, active: np.ndarray) -> list[str | None]:
        way = self.way
        if way == "auto":
            row = self.lists[0].dtype.itemsize + self.tier.offsets.dtype.itemsize
            edge, arrays = self.tier.bytes_of_edge, len(self.tier.arrays)
            return link.choose(self._lengths, active, rows, edge, row, arrays, self._rates)
        if way == "compact" and active.sum() > link.MOST_GATHERED * self._lengths.sum():
            way = "stream"
        return [way if edges else None for edges in active]

    @property
    def _rates(self) -> link.Rates:
        return link.rates(cupy.cuda.Device().id)

    def _go(self, part: Part, push: Callable[..., None]) -> None:
        """Have the edges of a part at hand, and push along them."""
        tier, (way, lo, hi, edges) = self.tier, part
        self._note(way, edges * tier.bytes_of_edge)
        if way == "zero-copy":
            push(tier.offsets, tier.on_host(), lo, hi, _READ)
            return
        slot = self._ring.next()
        if way == "stream":
            push(tier.offsets, self._ring.send(slot, tier.arrays, lo, hi), lo, hi)
        else:
            staged = self._subgraph.gather(slot, lo, hi, self._rates)
            push(self._subgraph.begin, self._ring.send(slot, staged, lo, hi, lo), lo, hi)
        self._ring.release(slot)

    def _note(self, way: str, size: int, parts: int = 1) -> None:
        moved = self.moved.setdefault(way, Moved())
        moved.parts += parts
        moved.bytes += size

    def _push(
        self,
        run: Any,
        columns: Mapping[str, str],
        offsets: Any,
        begins: Mapping[str, int],
        lo: int,
        hi: int,
        separators: tuple[int, int] = SEPARATORS,
    ) -> None:
        """Push along the edges lo to hi of active vertices; ``begins``: where edge 0 would be."""
        here = run.copy()
        for name, member in columns.items():
            here[member] = address(begins[name])
        neighbours = address(begins["neighbours"])
        lists = struct([offsets, neighbours, *self.lists, *separators, lo, hi])
        most = launch.num_multiprocessors()
        listing = min(-(-self.arrays.n // _THREADS), most * _LISTING)
        into = (self.emitted_or_none, self.messages, self.received)
        self._launch("begin_part", 1, here)()
        self._launch("list_part", listing, here, lists, self.arrays.active)()
        self._launch("push", most * 8, here, lists, *into)()

    def _nbytes(self) -> int:
        rest = self._ring.nbytes + self._subgraph.nbytes if self._has_rest else 0
        return super()._nbytes() + rest

    def _report(self, control: dict[str, int]) -> None:
        super()._report(control)
        self.report.moved = {
            way: {"parts": moved.parts, "supersteps": moved.supersteps, "bytes": moved.bytes}
            for way, moved in sorted(self.moved.items())
        }
