"""Triangles of which two vertices are hubs: their rows as bitmaps.

References
----------
.. [1] Latapy. Main-memory triangle computations for very large (sparse (power-law)) graphs. TCS 407 (2008).
"""

from __future__ import annotations

import math
import time

import numpy as np

from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.kernels.cpu.threads import (
    LITTLE_WORK,
    edge_blocks,
    even_blocks,
    for_blocks,
    num_threads,
    step_blocks,
)
from dask_graphgpu.partition.csr import Adjacency, offsets_of
from dask_graphgpu.report import Report

# Reads of edges that all triangles take, in all and for each edge, from which bitmaps of hubs are worth it.
MUCH = 1 << 25
OFTEN = 16

# Hubs at most, whose bitmaps take 32 MiB. Bitmaps also take no more than so many bits for each oriented edge.
HUBS = 1 << 14
BITS_AN_EDGE = 4

SAMPLED = 1 << 16  # degrees from which the least one of a hub is found

BLOCKS_PER_THREAD = 16


def pays(reads: int, up: Adjacency) -> bool:
    """Whether hubs are to be counted by themselves, if all triangles take so many reads of edges."""
    return reads >= max(MUCH, OFTEN * up.num_edges)


class Hubs:
    """Vertices of most neighbours, and triangles of which the middle vertex is one.

    Parameters
    ----------
    degree : array, shape (vertices,)
    edges : int
        Of oriented rows.
    arcs : bool
        Whether what is counted at a vertex is the edges between its neighbours, by direction, not triangles: `ways`,
        directions in which the ends of each edge are joined, are then given with rows.
    memory : int, optional
        Bytes that bitmaps may take.

    Attributes
    ----------
    ids : array of intp
        The hubs, whose oriented rows need not be looked at for a middle vertex any more.

    Notes
    -----
    The highest vertex of such a triangle is a hub, too [1]_. Below each vertex u, for each hub above it, the bits that
    it has in common with all hubs above u are counted, a word at a time. A triangle is counted twice at u, and once at
    each of its hubs. Memory: a bit for each pair of hubs, or two, at most four for each edge, and 4 V bytes.
    """

    def __init__(
        self, degree: np.ndarray, edges: int, *, arcs: bool, memory: int | None = None
    ) -> None:
        bits = BITS_AN_EDGE * edges if memory is None else min(BITS_AN_EDGE * edges, 4 * memory)
        self.ids = _hubs(degree, math.isqrt(bits))
        self._slot = np.full(len(degree), -1, np.int32)
        self._slot[self.ids] = np.arange(len(self.ids))
        shape = len(self.ids), -(-len(self.ids) // 64)
        self._bits = [np.zeros(shape, np.uint64) for _ in range(1 + arcs)]
        self._found: list[np.ndarray] = []  # at hubs, by threads

    def join(self, up: Adjacency, ways: np.ndarray | None, lo: int, hi: int) -> None:
        """Set the bits of oriented edges from hubs between two vertices: first of all rows."""
        some = self.ids[(self.ids >= lo) & (self.ids < hi)]
        blocks = edge_blocks(offsets_of(up.offsets[some + 1] - up.offsets[some]))
        none = np.empty(0, np.uint8)
        for bits, given in zip(self._bits, (none, ways), strict=False):
            arrays = some, up.offsets.view(np.uint64), up.neighbours, given, self._slot
            for_blocks(kernels.hub_triangles.join, blocks, *arrays, bits.shape[1], bits.ravel())

    def count(
        self, up: Adjacency, ways: np.ndarray | None, lo: int, hi: int, counts: np.ndarray
    ) -> int:
        """Add what is found below hubs from the vertices between two; gives the words of bitmaps read."""
        rows = up.offsets.view(np.uint64), up.neighbours, *(() if ways is None else (ways,))
        kernel = kernels.hub_triangles.count if ways is None else kernels.hub_triangles.count_arcs

        def count(first: int, last: int) -> int:
            try:
                found = self._found.pop()
            except IndexError:
                found = np.zeros(len(self.ids), np.int64)
            words: int = kernel(first, last, *rows, self._slot, *self._bits, found, counts)
            self._found.append(found)
            return words

        offsets = up.offsets[lo : hi + 1]
        steps = (int(offsets[-1] - offsets[0]) + hi - lo) // (num_threads() * BLOCKS_PER_THREAD)
        return sum(for_blocks(count, lo + step_blocks(offsets, max(steps, LITTLE_WORK))))

    def add_to(self, counts: np.ndarray) -> None:
        """Add what was found at the hubs."""
        for found in self._found:
            counts[self.ids] += found


def count_hubs(
    degree: np.ndarray, up: Adjacency, ways: np.ndarray | None, counts: np.ndarray, report: Report
) -> np.ndarray:
    """Add the triangles of oriented rows of which the middle vertex is a hub; gives the hubs, see `Hubs`."""
    start, n = time.perf_counter(), up.num_vertices
    hubs = Hubs(degree, up.num_edges, arcs=ways is not None)
    hubs.join(up, ways, 0, n)
    words = hubs.count(up, ways, 0, n, counts)
    hubs.add_to(counts)
    report.advance(
        "intersect", supersteps=1, frontier=n, edges=up.num_edges,
        bytes=up.num_edges * (up.neighbours.itemsize + 4) + 8 * words, seconds=time.perf_counter() - start,
    )  # fmt: skip
    return hubs.ids


def _hubs(degree: np.ndarray, number: int) -> np.ndarray:
    """About so many of the vertices with most neighbours, by falling degree: all from some degree on."""
    sample = degree[:: max(len(degree) // SAMPLED, 1)]
    number = min(number, HUBS, len(degree) - 1) * len(sample) // len(degree)
    least = np.partition(sample, -number - 1)[-number - 1]

    def find(lo: int, hi: int) -> np.ndarray:
        found: np.ndarray = lo + np.flatnonzero(degree[lo:hi] > least)
        return found

    hubs = np.concatenate(for_blocks(find, even_blocks(len(degree))))
    return hubs[np.argsort(-degree[hubs], kind="stable")]


def without(
    hubs: np.ndarray, up: Adjacency, ways: np.ndarray | None
) -> tuple[Adjacency, np.ndarray | None]:
    """Rows but for those of hubs, which are empty; and what goes along with their edges."""
    lengths = up.degrees.copy()
    lengths[hubs] = 0
    offsets = offsets_of(lengths)

    def keep(of_edges: np.ndarray) -> np.ndarray:
        kept = np.empty(offsets[-1], of_edges.dtype)
        places = up.offsets.view(np.uint64), of_edges, offsets.view(np.uint64)
        for_blocks(kernels.triangles.up_rows, edge_blocks(up.offsets), *places, kept)
        return kept

    return Adjacency(offsets, keep(up.neighbours)), None if ways is None else keep(ways)
