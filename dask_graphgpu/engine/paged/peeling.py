"""Core numbers over pages: estimates come down to them, and pages of whom that concerns are read again.

References
----------
.. [1] Montresor, De Pellegrini, Miorandi. Distributed k-core decomposition. IEEE TPDS 24 (2013).
.. [2] Wen, Qin, Zhang, Lin, Yu. I/O efficient core graph decomposition at web scale. ICDE 2016.
.. [3] Cheng, Ke, Chu, Oezsu. Efficient core decomposition in massive networks. ICDE 2011.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from dask_graphgpu.engine.cpu.edges import Paged, rows_on_disk
from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.partition.csr import Adjacency, offsets_of
from dask_graphgpu.partition.paged.sort import give_back
from dask_graphgpu.partition.view import View
from dask_graphgpu.report import Report

# Bytes of a vertex here: its place and flags, while a layer is chosen, before there is any; and of one that is peeled.
VERTEX, _CHOOSING, _PEELED = 4 + 4, 44, 8 + 4 + 8 + 4 * 4

# The part of the room that layers take: allocators keep some of what is given back between them.
_SHARE = 2 / 3


class TopDown:
    """Finds core numbers of vertices of which it is known how large they are at most [3]_.

    Vertices that may be in the k-core, with the edges between them, have the same k-core as the graph. Those
    in it stay where lower cores are looked for, and their edges are only counted.

    Parameters
    ----------
    passes : Paged
        Over the symmetric rows.
    core, count : int arrays of shape (num_vertices,)
        As of `kernels.cpu.peeling`; what was found is written to the first.
    room : int
        Bytes of memory for layers.

    Attributes
    ----------
    unknown : array of bool, shape (num_vertices,)
        Whose core number may be lower.
    layers, read : int
        Passes so far, and edges read in them.
    """

    def __init__(self, passes: Paged, core: np.ndarray, count: np.ndarray, room: int) -> None:
        self._passes, self._rows = passes, passes.rows
        self._room = int(_SHARE * room) if room >= _CHOOSING * len(core) else 0
        self._core, self._count = core, count
        self.unknown = core > 0
        self._lowered = np.zeros(len(core), bool)  # here, and not counted since
        self.layers = self.read = 0

    def run(self) -> bool:
        """Peel layer by layer, as long as there is room for one. Return whether all are known."""
        self._lowered[:] = False
        while self.unknown.any():
            least, edges = self._chosen()
            if not least:
                return False
            self._layer(least, edges)
            give_back()  # else the next one's arrays come on top of what the allocator kept of these
        return True

    def _chosen(self) -> tuple[int, int]:
        """The lowest k for which those that may be in the k-core fit, and their edges at most; 0: there is none."""
        left = np.flatnonzero(self.unknown)
        core, degree = self._core[left], self._rows.degrees[left]
        # An edge between two is counted by who has no higher number than the other.
        counted = 2 * np.where(self._lowered[left], degree, np.minimum(self._count[left], degree))
        upto = [np.cumsum(np.bincount(core, each)[::-1])[::-1] for each in (degree, counted, None)]
        edges = np.minimum(*upto[:2])
        size = edges * self._rows.neighbours.itemsize + upto[2] * _PEELED
        fits = np.flatnonzero(size <= self._room)
        least = max(int(fits[0]), 1) if len(fits) else 0
        return (least, int(edges[least])) if least else (0, 0)

    def _layer(self, least: int, edges: int) -> None:
        """Find those that are in the k-core, for ``least``, and their numbers."""
        core, ids = self._core, self._rows.neighbours.dtype
        chosen = self.unknown & (core >= least)
        some: Any = np.flatnonzero(chosen).astype(ids)
        number = len(some)
        place = np.full(len(core), kernels.peeling.BELOW, core.dtype)
        place[~self.unknown & (core >= least)] = kernels.peeling.ABOVE
        place[chosen] = np.arange(number, dtype=core.dtype)
        degree, begins = np.empty(number, core.dtype), np.zeros(number + 1, np.int64)
        found, done = np.empty(edges, ids), 0
        for _, hi, here in self._passes.over(self._passes.holding(chosen)):
            end = int(np.searchsorted(some, hi))
            mine, inside = some[done:end], np.empty(end - done, np.int64)
            self.read += sum(self._passes.along(
                kernels.peeling.count_inside, mine, here, place, inside, degree[done:end]
            ))  # fmt: skip
            begins[done : end + 1] = begins[done] + offsets_of(inside)
            self._passes.along(
                kernels.peeling.list_inside, mine, here, place, begins[done:end], found
            )
            done = end
        kernels.peeling.peel(begins, found[: begins[-1]], degree, np.arange(number, dtype=ids))
        within = degree >= least
        core[chosen] = np.minimum(core[chosen], np.where(within, degree, least - 1))
        self._lowered |= chosen
        self.unknown[chosen] = ~within
        self.unknown &= core > 0
        self.layers += 1


def core_numbers(view: View, report: Report) -> np.ndarray:
    """Core number of every vertex in the simple undirected graph, as `engine.cpu.core_numbers`.

    Notes
    -----
    A core number is at most the degree, and at most the largest k for which k neighbours have k: estimates that begin
    with degrees end as the core numbers [1]_. Each vertex knows how many neighbours have as much; its row is looked at
    again when they are too few, and rows of a page until it is quiet [2]_.
    """
    return _lowered(view, view.num_vertices, report).astype(np.int64)


def k_core(view: View, k: int, report: Report) -> np.ndarray:
    """Whether each vertex is in the k-core: bool, shape (num_vertices,). As `core_numbers`, from ``k`` at most."""
    inside: np.ndarray = _lowered(view, max(int(k), 0), report) >= k
    return inside


def _lowered(view: View, most: int, report: Report) -> np.ndarray:
    """Core numbers, ``most`` for all that are higher."""
    start, rows, n = time.perf_counter(), rows_on_disk(view.symmetric), view.num_vertices
    passes = Paged(rows, report)
    small = np.dtype(np.int32 if n < 2**31 else np.int64)
    needed = passes.nbytes + 2 * rows.offsets.nbytes + rows.counts.nbytes
    rows.limits.require(needed + n * (4 * small.itemsize + 2), f"core numbers of {n:,} vertices")
    core: np.ndarray = np.minimum(rows.degrees, most).astype(small)
    count = np.zeros_like(core)
    due = (core > 0).view(np.uint8)

    def lower(some: np.ndarray, here: Adjacency) -> int:
        due[some.astype(np.intp)] = 0
        before, found = core.take(some), np.empty(len(some), small)
        read = sum(passes.along(kernels.peeling.estimate, some, here, core, count, found))
        core[some.astype(np.intp)] = found
        fell = found < before
        told = core, count, due
        return int(read + sum(
            passes.along(kernels.peeling.tell_lower, some[fell], here, before[fell], *told)
        ))  # fmt: skip

    room = rows.limits.memory - needed - n * (4 * small.itemsize + 2 + VERTEX)
    top, number, read, quiet = TopDown(passes, core, count, room), 0, 0, False
    try:
        while not quiet:
            passed, more = passes.until_quiet(lambda lo, hi: due[lo:hi].view(bool), lower, 1)
            number, read, before = number + passed, read + more, top.layers
            quiet = not due.any() or top.run()
            if top.layers > before:  # what neighbours have lower is counted anew
                due[:] = top.unknown
    finally:
        passes.release()
    number, read = number + top.layers, read + top.read
    report.advance(
        "lower", supersteps=number, frontier=n, edges=read,
        bytes=read * (rows.neighbours.itemsize + core.itemsize) + n * (16 + core.itemsize),
        seconds=time.perf_counter() - start,
    )  # fmt: skip
    return core
