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


def count_hubs(
    rows: Adjacency, up: Adjacency, ways: np.ndarray | None, counts: np.ndarray, report: Report
) -> np.ndarray:
    """Add the triangles of which the middle vertex is a hub, of symmetric rows that are oriented in `up`.

    With ``ways``, directions in which the ends of each edge of `up` are joined, what is added at a vertex is the edges
    between its neighbours, by direction.

    Returns
    -------
    array of intp
        The hubs, whose rows of `up` need not be looked at any more.

    Notes
    -----
    Hubs are the vertices of most neighbours, so the highest vertex of such a triangle is one too [1]_. Below each
    vertex u, for each hub above it, the bits that it has in common with all hubs above u are counted, a word at a time.
    A triangle is counted twice at u, and once at each of its hubs. Memory: a bit for each pair of hubs, at most four
    for each edge of `up`, and 4 V bytes.
    """
    start = time.perf_counter()
    kernel, n = kernels.hub_triangles, rows.num_vertices
    hubs = _hubs(rows.degrees, math.isqrt(BITS_AN_EDGE * up.num_edges))
    slot = np.full(n, -1, np.int32)
    slot[hubs] = np.arange(len(hubs))
    bits = np.zeros((len(hubs), -(-len(hubs) // 64)), np.uint64)
    blocks = edge_blocks(offsets_of(rows.degrees[hubs]))
    for_blocks(kernel.join, blocks, hubs, rows.offsets.view(np.uint64), rows.neighbours, slot, bits)
    offsets = up.offsets.view(np.uint64)
    given: tuple[np.ndarray, ...]
    if ways is None:
        kind, given = kernel.count, (offsets, up.neighbours, slot, bits)
    else:
        both_ways = np.zeros_like(bits)
        arrays = hubs, offsets, up.neighbours, ways, slot, bits.shape[1], both_ways.ravel()
        for_blocks(kernel.join_both_ways, blocks, *arrays)
        kind, given = kernel.count_arcs, (offsets, up.neighbours, ways, slot, bits, both_ways)
    spare: list[np.ndarray] = []

    def count(lo: int, hi: int) -> int:
        try:
            found = spare.pop()
        except IndexError:
            found = np.zeros(len(hubs), np.int64)
        words: int = kind(lo, hi, *given, found, counts)
        spare.append(found)
        return words

    steps = (up.num_edges + n) // (num_threads() * BLOCKS_PER_THREAD)
    words = sum(for_blocks(count, step_blocks(up.offsets, max(steps, LITTLE_WORK))))
    counts[hubs] += np.sum(spare, axis=0)
    report.advance(
        "intersect", supersteps=1, frontier=n, edges=up.num_edges,
        bytes=up.num_edges * (up.neighbours.itemsize + 4) + 8 * words, seconds=time.perf_counter() - start,
    )  # fmt: skip
    return hubs


def _hubs(degree: np.ndarray, number: int) -> np.ndarray:
    """About so many vertices of most neighbours, by falling degree; who has more neighbours than one of them is one."""
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
