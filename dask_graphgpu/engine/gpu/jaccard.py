"""Jaccard coefficients of pairs of vertices: rows looked up in rows, or walks of two edges sorted."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import cupy
import numpy as np

from dask_graphgpu.engine.gpu import launch
from dask_graphgpu.engine.gpu.device import DeviceView, integer_types
from dask_graphgpu.engine.gpu.row_sums import sums_of_neighbours
from dask_graphgpu.engine.gpu.runs import LaunchState
from dask_graphgpu.kernels.compile import cuda
from dask_graphgpu.partition.csr import Adjacency
from dask_graphgpu.partition.device import elements
from dask_graphgpu.partition.device.memory import free_bytes, require
from dask_graphgpu.partition.view import View
from dask_graphgpu.report import Report

# The most walks that are sorted at once, and bytes of one meanwhile: its key and what it counts, both twice, and what
# the sort takes.
WALKS = 1 << 27
OF_WALK = 48

_VERTEX = 48  # bytes of what belongs to vertices

_FIELDS = [("barrier", np.uint64), ("read", np.uint64)]


def jaccard_of_pairs(view: View, first: Any, second: Any, report: Report) -> Any:
    """Part of the neighbours of either of two vertices that are those of both; as `engine.cpu.jaccard_of_pairs`.

    Notes
    -----
    The neighbours of the vertex that has fewer are looked up among those of the other by bisection. Cost: as many
    looks, of the logarithm of the longer row each; 24 bytes a pair. See kernels/cuda/jaccard.cu.
    """
    here = DeviceView.of(view)
    rows, number = here.symmetric, len(first)
    ids = rows.neighbours.dtype
    require(number * (16 + 2 * ids.itemsize), "comparing pairs of vertices")
    values = cupy.empty(number, np.float64)
    if not number:
        return here.to_caller(values)
    state = LaunchState(_FIELDS, {0: "intersect"})
    launch.cooperative(
        _kernel(rows, "of_pairs"),
        (
            rows.offsets, rows.neighbours, elements.converted(cupy.asarray(first), ids),
            elements.converted(cupy.asarray(second), ids), np.uint64(number),
            cupy.empty(number, np.uint64),
            values, state.memory,
        ),
    )  # fmt: skip
    (run,) = state.read()[1]
    run.note(
        report, run.edges * 2 * ids.itemsize + number * (8 + 2 * ids.itemsize), frontier=number
    )
    return here.to_caller(values)


def jaccard_two_hop(view: View, report: Report) -> tuple[Any, Any, Any]:
    """As `jaccard_of_pairs`, of all pairs with a neighbour in common; as `engine.cpu.jaccard_two_hop`.

    Notes
    -----
    Walks of two edges are sorted by their ends, those of some vertices at a time, and counted. Cost: O(sum of squared
    degrees) walks, 8 bytes a walk of those that are sorted at once, twice, and the pairs.
    """
    here = DeviceView.of(view)
    first, second, values = map(elements.concatenated, zip(*two_hop(here, report), strict=True))
    return here.to_caller(first), here.to_caller(second), here.to_caller(values)


def two_hop(here: DeviceView, report: Report) -> Iterator[tuple[Any, Any, Any]]:
    """What `jaccard_two_hop` gives, in parts, the first of which is empty."""
    begun = time.perf_counter()
    rows, n = here.symmetric, here.n
    ids, rank = rows.neighbours.dtype, here.user_rank
    yield cupy.empty(0, ids), cupy.empty(0, ids), cupy.empty(0, np.float64)
    require(n * _VERTEX, "looking for pairs with a neighbour in common")
    rank = elements.counted_up(cupy, n, ids) if rank is None else elements.converted(rank, ids)
    order = elements.places_in(rank, ids)
    degree = elements.lengths(rows.offsets)
    starts = elements.offsets_of(elements.gathered(degree, order), np.uint64)
    walked = sums_of_neighbours(rows, degree)
    work = elements.offsets_of(elements.gathered(walked, order), np.uint64)
    bits = max((n - 1).bit_length(), 1)
    for begin, end, walks in ends_of(work, most_walks(n * _VERTEX)):
        require(2 * 8 * walks, f"sorting {walks:,} walks of two edges")
        keys, _ = walks_of(rows, order, rank, starts, (begin, end), walks, bits)
        yield _counted(rows, keys, bits, order)
    walked = int(work[-1]) if n else 0
    report.advance(
        "intersect", supersteps=1, frontier=n, edges=walked, bytes=walked * (2 * ids.itemsize + 16),
        seconds=time.perf_counter() - begun,
    )  # fmt: skip


def most_walks(beside: int) -> int:
    """Walks that are sorted at once, ``beside`` so many bytes, if those of one vertex are not more."""
    return max(min(WALKS, (free_bytes() - beside) // OF_WALK), 1)


def walks_of(
    rows: Adjacency, order: Any, rank: Any, starts: Any, span: tuple[int, int], walks: int, bits: int,
    amount: Any = None,
) -> tuple[Any, Any]:  # fmt: skip
    """Keys of the walks of two edges from a span of vertices, and what those count; see kernels/cuda/jaccard.cu.

    ``amount`` : uint64, of every vertex; with it, walks to any vertex. None: to those of later ranks, and no sums.
    """
    begin, end = span
    keys, size = cupy.empty(walks, np.uint64), cupy.zeros(1, np.uint64)
    every = amount is not None
    sums = cupy.empty(walks if every else 1, np.uint64)
    edges = int(starts[end]) - int(starts[begin])
    launch.flat(
        _kernel(rows, "walks"), edges * 32,
        (
            rows.offsets, rows.neighbours, order, rank, starts, np.uint64(begin), np.uint64(end),
            np.uint32(bits), np.uint32(every), amount if every else np.uint64(0), keys, sums, size,
        ),
        threads=launch.THREADS,
    )  # fmt: skip
    number = int(size[0])
    return keys[:number], sums[:number]


def ends_of(work: Any, most: int) -> list[tuple[int, int, int]]:
    """Ranges of vertices of no more walks than `most`, or of one vertex, and how many they are, if there are."""
    ranges, begin, before, n = [], 0, 0, len(work) - 1
    while begin < n:
        above = cupy.asarray(np.array([before + most + 1], work.dtype))
        end = int(elements.first_not_below(work, above, np.uint64)[0]) - 1
        end = min(max(end, begin + 1), n)
        walks = int(work[end]) - before
        if walks:
            ranges.append((begin, end, walks))
        begin, before = end, before + walks
    return ranges


def _counted(rows: Adjacency, keys: Any, bits: int, order: Any) -> tuple[Any, Any, Any]:
    """The pairs of such keys, which are sorted, and their coefficients."""
    keys.sort()
    starts = elements.places_of(elements.changes(keys), behind=True)
    pairs, ids = len(starts) - 1, rows.neighbours.dtype
    first, second, values = (cupy.empty(pairs, kind) for kind in (ids, ids, np.float64))
    launch.flat(
        _kernel(rows, "coefficients"), pairs,
        (
            keys, starts, np.uint64(pairs), np.uint32(bits), order, rows.offsets,
            first, second, values,
        ),
    )  # fmt: skip
    return first, second, values


def _kernel(rows: Adjacency, name: str) -> Any:
    return cuda("jaccard", defines=integer_types(rows.neighbours.dtype, rows.offsets.dtype)).kernel(
        name
    )
