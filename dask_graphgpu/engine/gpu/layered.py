"""Monotone programs on the GPU over edges by layers: sweeps from the first layer to the last, until quiet.

Layers are the units of what is on the device and of what is streamed to it. Consecutive ones are
combined until they fill the device [1]_, and gone over as often as there are layers in them. Passes
are queued blind; the host looks at the device once a sweep.

References
----------
.. [1] Zhu et al., "WolfPath: accelerating iterative traversing-based graph processing algorithms on
   GPU", Int. J. Parallel Programming 2018.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import cupy
import numpy as np

from dask_graphgpu.engine import limits
from dask_graphgpu.engine.gpu import host, launch
from dask_graphgpu.engine.gpu.arrays import Arrays
from dask_graphgpu.engine.gpu.checkpoints import Beginning, in_place_kept
from dask_graphgpu.engine.gpu.copies import address, brought
from dask_graphgpu.engine.gpu.device import DeviceView
from dask_graphgpu.engine.gpu.fewer_edges import shrinking
from dask_graphgpu.engine.gpu.near_far import bounded, priorities
from dask_graphgpu.engine.gpu.ring import Ring
from dask_graphgpu.engine.gpu.run_cache import RunCache
from dask_graphgpu.engine.gpu.sizes import bytes_apart, bytes_of_vertices
from dask_graphgpu.engine.keeping import Keeper
from dask_graphgpu.engine.limits import Cut
from dask_graphgpu.engine.loop import overflow
from dask_graphgpu.engine.options import layer_edges, layer_repeats
from dask_graphgpu.engine.plan import Plan
from dask_graphgpu.engine.state import State
from dask_graphgpu.partition.csr import Adjacency
from dask_graphgpu.partition.device.masks import count_true
from dask_graphgpu.partition.distinct import distinct
from dask_graphgpu.partition.layered import Layered
from dask_graphgpu.report import Report

# Threads that a multiprocessor holds: warps of 32, an edge a thread.
_RESIDENT_THREADS = 2048

_THREADS, _BLOCKS = 256, 8  # of a block; blocks on a multiprocessor
_MEMBERS = (
    "sources", "neighbours", "level", "first", "last", "stamp", "stretch_stamp", "late", "control",
)  # fmt: skip


@dataclass(frozen=True)
class Stretch:
    """Edges ``lo`` to ``hi``, of so many layers: passes after which each has been gone over in turn."""

    lo: int
    hi: int
    passes: int


def stretches(starts: np.ndarray, least: int, cut: Cut) -> list[Stretch]:
    """Layers put together until they have ``least`` edges, and cut where a place in memory ends.

    Parameters
    ----------
    starts : int64, shape (num_layers + 1,)
        Where layers begin, and the end.
    least : int
    cut : Cut
        No stretch is across a bound of a segment.
    """
    bounds, begin = [], 0
    for end in starts[1:].tolist():
        if end - begin >= least:
            bounds.append(end)
            begin = end
    marks = distinct(np.array([0, *bounds, *cut.bounds.tolist(), int(starts[-1])]))
    first = np.searchsorted(starts, marks[:-1], side="right") - 1
    last = np.searchsorted(starts, marks[1:], side="left")
    held = zip(marks[:-1].tolist(), marks[1:].tolist(), (last - first).tolist(), strict=True)
    return [Stretch(*each) for each in held]


class LayeredTier:
    """Edges by layers, the first ones on the device and all in pinned memory, where they do not fit."""

    per_item = 1

    def __init__(
        self, view: DeviceView, rows: Adjacency, edges: Layered, names: tuple[str, ...], cut: Cut
    ) -> None:
        self.cut = cut
        given = {"sources": edges.sources, "neighbours": edges.neighbours}
        given |= {name: edges.columns[name] for name in names}
        whole = cut.resident == cut.num_edges
        self.kept = RunCache.of(view)
        self.kept.bound(host.room(rows))
        self.arrays: dict[str, np.ndarray] = given if whole else {
            name: self.kept.pinned(array) for name, array in given.items()
        }  # fmt: skip
        self.resident = self.kept.resident(
            self.arrays, cut.resident, lambda name, edges: brought(self.arrays[name][:edges])
        )


class LayeredArrays(Arrays):
    """`Arrays` of vertices; edges are in a `LayeredTier`."""

    def edges(self, kind: str) -> Adjacency:
        """Rows without columns, which stay on the host: nothing goes along them."""
        return Adjacency(self.binding.send.offsets, self.binding.send.neighbours)


class Sweeps:
    """One run.

    Parameters
    ----------
    cut : Cut
        What of the edges lies where.
    places : int64 array, optional
        Vertices that send first; None: all.
    cutoff : number, optional
        Messages of a higher priority are dropped.
    """

    def __init__(
        self,
        arrays: LayeredArrays,
        cut: Cut,
        places: np.ndarray | None,
        cutoff: Any,
        report: Report,
    ) -> None:
        self.arrays, self.binding, self.report = arrays, arrays.binding, report
        self.columns = {m.what: m.name for m in arrays.lowered.glue.members if m.of == "column"}
        edges = self.binding.layered
        rows = self.binding.send
        self.tier = LayeredTier(arrays.view, rows, edges, tuple(self.columns), cut)
        least = layer_edges(launch.num_multiprocessors() * _RESIDENT_THREADS)
        self.stretches, self.repeats = stretches(edges.starts, least, cut), layer_repeats()
        self.passed = np.ones(len(self.stretches), np.uint32)  # the last pass over each
        self.now, self.moved = 1, {"parts": 0, "supersteps": 0, "bytes": 0}
        begins = np.array([each.lo for each in self.stretches] + [edges.num_edges], np.int64)
        first = np.searchsorted(begins, edges.starts[:-1], side="right") - 1
        last = np.searchsorted(begins, edges.starts[1:], side="left") - 1
        last[edges.lengths == 0] = -1
        values = arrays.state[self.binding.program.first]
        stamp = cupy.zeros(arrays.n, np.uint32)
        stamp[cupy.asarray(np.arange(arrays.n) if places is None else np.asarray(places))] = 1
        self.held = {
            "level": cupy.asarray(edges.level),
            "first": cupy.asarray(first.astype(np.int32)),
            "last": cupy.asarray(last.astype(np.int32)),
            "stamp": stamp,
            # All are looked at once; where nothing is to be sent that takes little time.
            "stretch_stamp": cupy.full(len(self.stretches), 1, np.uint32),
            "late": arrays.reached,
            "control": cupy.zeros(3, np.uint64),
        }
        kind, lowest, highest = priorities(self.binding)
        members = [(name, np.uint64) for name in _MEMBERS]
        self.struct = np.zeros(1, np.dtype([*members, ("cutoff", kind)]))
        for name, array in self.held.items():
            self.struct[name] = array.data.ptr
        self.struct["cutoff"] = bounded(cutoff, lowest, highest)
        self.kernel = arrays.module("layers").kernel("pass_over")
        self.values, self.started = values, arrays.run("send")
        self.ring = Ring(self.tier) if cut.segment else None

    def run(self, keeper: Keeper | None = None) -> State:
        """Sweep until no value improves."""
        arrays, program = self.arrays, self.binding.program
        began, sweeps, size = time.perf_counter(), 0, count_true(self.held["stamp"] > 0)
        try:
            while (waiting := self._waiting()).any():
                self._sweep(waiting)
                sweeps += 1
                if keeper is not None and not self._failed and keeper.due(sweeps):
                    keeper.write(sweeps, in_place_kept(arrays), {})
        finally:
            if self.ring is not None:
                self.ring.close()
        failed, edges, passes = cupy.asnumpy(self.held["control"]).tolist()
        if failed:
            raise overflow(program, "compute")
        item = bytes_apart(self.binding) + self.tier.arrays["sources"].itemsize
        self.report.advance(
            "layers", supersteps=passes, frontier=size, edges=edges,
            bytes=edges * (item + self.values.dtype.itemsize),
            seconds=time.perf_counter() - began,
        )  # fmt: skip
        if self.moved["parts"]:
            self.report.moved["stream"] = self.moved
        if program.has_reached:
            none = arrays.lowered.glue.identity(self.binding.message)
            arrays.reached |= (self.values != none).view(np.uint8)
        return arrays.result(sweeps)

    @property
    def _failed(self) -> bool:
        return bool(self.held["control"][0])

    def _waiting(self) -> np.ndarray:
        """Stretches with sources that have to send, as the device knows them now."""
        if self._failed:
            return np.zeros(len(self.stretches), bool)
        found: np.ndarray = cupy.asnumpy(self.held["stretch_stamp"]) >= self.passed
        return found

    def _sweep(self, waiting: np.ndarray) -> None:
        """Go over the stretches on the device from the first that waits on, then stream the others.

        On the device all are gone over, as one may make the next wait; of the others those are sent
        that wait by then. In the first sweep these are all.
        """
        first, resident = int(np.argmax(waiting)), self.tier.cut.resident
        for i in range(first, len(self.stretches)):
            if self.stretches[i].hi > resident:
                break
            self._passes(i, {n: int(a.data.ptr) for n, a in self.tier.resident.items()})
        if self.ring is not None:
            self._stream(self.ring, self._waiting())

    def _stream(self, ring: Ring, waiting: np.ndarray) -> None:
        """Send segments with stretches that wait, one while the one before is gone over."""
        bounds = self.tier.cut.bounds
        ahead: tuple[list[int], Any, dict[str, int]] | None = None
        sent = 0
        for lo, hi in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
            inside = [i for i, each in enumerate(self.stretches) if lo <= each.lo and each.hi <= hi]
            if not waiting[inside].any():
                continue
            slot = ring.next()
            begins = ring.send(slot, self.tier.arrays, lo, hi)
            if ahead is not None:
                self._arrived(ring, *ahead)
            ahead, sent = (inside, slot, begins), sent + 1
            self.moved["bytes"] += (hi - lo) * sum(a.itemsize for a in self.tier.arrays.values())
        if ahead is not None:
            self._arrived(ring, *ahead)
        self.moved["parts"] += sent
        self.moved["supersteps"] += sent > 0

    def _arrived(self, ring: Ring, inside: list[int], slot: Any, begins: dict[str, int]) -> None:
        ring.arrive(slot)
        for i in inside:
            self._passes(i, begins)
        ring.release(slot)

    def _passes(self, i: int, begins: Mapping[str, int]) -> None:
        """Pass over each layer of a stretch, and over all of them again as often as the stretch is to be repeated."""
        each, run, layers = self.stretches[i], self.started.copy(), self.struct.copy()
        for name in ("sources", "neighbours"):
            layers[name] = address(begins[name])
        for name, member in self.columns.items():
            run[member] = address(begins[name])
        blocks = min(-(-(each.hi - each.lo) // _THREADS), launch.num_multiprocessors() * _BLOCKS)
        for _ in range(each.passes * (1 + self.repeats)):
            self.now += 1
            given = np.uint64(each.lo), np.uint64(each.hi), np.uint64(i)
            passes = np.uint32(self.now), self.passed[i]
            launch.flat(
                self.kernel, blocks * _THREADS, (run, layers[0], *given, *passes), threads=_THREADS
            )
            self.passed[i] = self.now


def run(how: Plan) -> State:
    """Run a monotone program on a view that has layers; ``supersteps`` of the state are sweeps.

    The report gets one row, and what was moved where the edges do not fit ``graphgpu.device-memory-limit``.

    Raises
    ------
    IntegerOverflow
        A message does not fit.
    LimitTooSmall
        What belongs to vertices needs more than the limit.
    """
    binding, options = how.binding, how.options
    edges, limit = binding.layered, limits.configured()
    cut = Cut(edges.num_edges, 0, edges.num_edges)
    if limit is not None:
        size = bytes_apart(binding) + edges.sources.itemsize
        what = f"the program on {binding.view.num_vertices:,} vertices"
        cut = host.cut_of(binding.send, size, bytes_of_vertices(binding), limit, what)

    beginning = Beginning(options.keeper, True, options.cutoff)

    def attempt(cut: Cut) -> State:
        arrays = LayeredArrays(binding, how.starts)
        first = beginning.places(arrays, how.starts)
        return Sweeps(arrays, cut, first, options.cutoff, options.report).run(options.keeper)

    return shrinking(cut, options.report, attempt)
