"""Strongly connected components over pages: colouring, until the edges that are left fit memory.

References
----------
.. [1] Orzan. On distributed verification and verified distribution. PhD thesis, Vrije Universiteit 2004.
.. [2] Slota, Rajamanickam, Madduri. BFS and coloring-based parallel algorithms for strongly connected components and
   related problems. IPDPS 2014.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from dask_graphgpu.engine.cpu.components import smallest_members
from dask_graphgpu.engine.cpu.edges import Paged, rows_on_disk
from dask_graphgpu.engine.cpu.induced import Chosen
from dask_graphgpu.engine.cpu.strong_components import depth_first
from dask_graphgpu.engine.paged.components import components
from dask_graphgpu.engine.random_order import Colours
from dask_graphgpu.kernels.cpu import strong_components as kernels
from dask_graphgpu.kernels.cpu.threads import even_blocks
from dask_graphgpu.partition.csr import Adjacency, offsets_of
from dask_graphgpu.partition.view import View
from dask_graphgpu.report import Report

# Bytes of a vertex: numbers of 8 bytes while colours are dealt, flags, and, of arrays of ids, as many.
_NUMBERS, _FLAGS, _IDS = 24, 6, 5

# Of what a depth-first search in memory takes: bytes of a vertex and arrays of ids, and of ids of an edge.
_SEARCH, _SEARCH_IDS, _EDGE_IDS = 24, 4, 5


def strong_components(view: View, report: Report) -> np.ndarray:
    """Strongly connected component of every vertex, as `engine.cpu.strong_components`.

    Notes
    -----
    Colours are dealt in an order of their own, the highest to the vertex with the most edges both ways. Each vertex
    takes the highest one that leads to it; whoever kept its own goes back through its colour, and that is a component
    [1]_. The first colouring is a search both ways from the pivot at the same time [2]_. So it goes on until the edges
    among the rest fit memory. Both directions lie on disk, and pages are read again only for rows from which something
    is new: as often as a graph is deep, but that rows of one page are gone along until they are quiet.
    """
    if not view.directed:
        return components(view, report)
    left = _Left(view, report)
    try:
        while left.count and not left.searched():
            left.colour()
    finally:
        left.release()
    return smallest_members(left.label, view.user_rank, even_blocks(left.n))


class _Left:
    """The vertices whose component is not known yet: ``label`` is, for the others, one of its members."""

    def __init__(self, view: View, report: Report) -> None:
        self._view, self._report, self.n, self._round = view, report, view.num_vertices, 0
        rows, into = rows_on_disk(view.out), rows_on_disk(view.into)
        self._into, self._out = Paged(into, report), Paged(rows, report)
        ids = rows.neighbours.dtype
        needed = (
            self._into.nbytes + self._out.nbytes + 2 * (rows.offsets.nbytes + rows.counts.nbytes)
        )
        needed += self.n * (_NUMBERS + _FLAGS + _IDS * ids.itemsize)
        rows.limits.require(needed, f"strongly_connected_components of {self.n:,} vertices")
        self._held, self._limits = needed, rows.limits
        self.done = np.zeros(self.n, np.uint8)
        self.label = np.arange(self.n, dtype=ids)
        self.count = self.n
        # Of which the colouring asks for the most.
        self._product = into.degrees * rows.degrees

    def colour(self) -> None:
        """Settle a component of every colour."""
        start, ids = time.perf_counter(), self.label.dtype
        pivot = int(np.where(self.done, -1, self._product).argmax())
        dealt = Colours(self.n, pivot, self._round)
        own = dealt.of(np.arange(self.n, dtype=np.uint64)).astype(ids)
        self._round += 1
        colours, told = own.copy(), np.where(self.done, own, ~own)

        passes, read = _spread(self._out, colours, told, kernels.colour, self.done, colours)
        self._note("colour", passes, read, start)
        start = time.perf_counter()
        del told
        reached = ((colours == own) & (self.done == 0)).view(np.uint8)
        passes, read = _spread(
            self._into, reached, np.zeros_like(reached), kernels.reach_within,
            colours, self.done, reached,
        )  # fmt: skip
        members = reached.view(bool)
        self.label[members] = dealt.holders(colours[members].astype(np.uint64))
        self.done |= reached
        self._note("back", passes, read, start)
        self.count -= int(members.sum())

    def searched(self) -> bool:
        """Settle all that is left by a search in memory; False: its edges do not fit."""
        start, ids, some = time.perf_counter(), self.label.itemsize, self.done == 0
        of_vertices = self.count * (_SEARCH + _SEARCH_IDS * ids)
        room = (self._limits.memory - self._held - of_vertices) // (_EDGE_IDS * ids)
        chosen = Chosen(self._out, some, None, once=False, most=room)
        if not chosen.fit:
            return False
        source, target, _ = chosen.joined()
        left = np.flatnonzero(some).astype(self.label.dtype)
        number = np.zeros_like(self.label)
        number[some] = np.arange(len(left), dtype=number.dtype)
        label = np.arange(len(left), dtype=number.dtype)
        offsets = offsets_of(np.bincount(number.take(source), minlength=len(left))).view(np.uint64)
        read = depth_first(
            offsets, number.take(target), label[:0], np.zeros(len(left), bool), len(left), label
        )
        self.label[some] = left.take(label)
        self._note("depth-first", 1, read, start)
        return True

    def release(self) -> None:
        """Give back the memory for pages."""
        self._into.release()
        self._out.release()

    def _note(self, way: str, passes: int, read: int, start: float) -> None:
        ids = self.label.itemsize
        self._report.advance(
            way, supersteps=passes, frontier=self.count, edges=read,
            bytes=read * 2 * ids + self.n * 2 * ids, seconds=time.perf_counter() - start,
        )  # fmt: skip


def _spread(
    passes: Paged, values: np.ndarray, told: np.ndarray, kernel: Callable[..., Any], *given: Any
) -> tuple[int, int]:
    """Have a kernel go along rows whose value is not the one that they told last; passes, and edges read."""

    def due(lo: int, hi: int) -> np.ndarray:
        found: np.ndarray = values[lo:hi] != told[lo:hi]
        return found

    def work(some: np.ndarray, rows: Adjacency) -> int:
        told[some.astype(np.intp)] = values.take(some)
        return sum(int(read) for _, read in passes.along(kernel, some, rows, *given))

    return passes.until_quiet(due, work)
