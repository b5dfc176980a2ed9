"""The most similar vertices of each, by walks of two edges: their ends in tables of blocks, or sorted."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import cupy
import numpy as np

from dask_graphgpu.engine.gpu.device import DeviceView
from dask_graphgpu.engine.gpu.jaccard import OF_WALK, ends_of, most_walks, walks_of
from dask_graphgpu.engine.gpu.row_sums import sums_of_neighbours
from dask_graphgpu.engine.gpu.similar_tables import best
from dask_graphgpu.engine.similarity import Similarity
from dask_graphgpu.partition.device import elements
from dask_graphgpu.partition.device.memory import require
from dask_graphgpu.partition.view import View
from dask_graphgpu.report import Report

_VERTEX = 64  # bytes of what belongs to vertices


def similar(view: View, chosen: Any, asked: Similarity, report: Report) -> tuple[Any, Any, Any]:
    """The partners of each chosen vertex; see `contract_similarity.Similarities`.

    Notes
    -----
    Where each vertex has so many rows at most, a block adds its walks of two edges up in a table, and writes the best;
    see kernels/cuda/similar.cu. Cost: O(sum of squared degrees) walks, half of the free memory
    for tables, 40 bytes a row. Otherwise
    walks are sorted by their ends, those of some vertices at a time: 48 bytes a walk of those that are sorted at once.
    """
    here = DeviceView.of(view)
    parts = zip(*partners(here, chosen, asked, report), strict=True)
    return tuple(here.to_caller(elements.concatenated(each)) for each in parts)


def partners(
    here: DeviceView, chosen: Any, asked: Similarity, report: Report
) -> Iterator[tuple[Any, Any, Any]]:
    """What `similar` gives, in parts, the first of which is empty."""
    begun = time.perf_counter()
    rows, n = here.symmetric, here.n
    ids, rank = rows.neighbours.dtype, here.user_rank
    yield cupy.empty(0, ids), cupy.empty(0, ids), cupy.empty(0, np.float64)
    require(n * _VERTEX, "looking for similar vertices")
    rank = elements.counted_up(cupy, n, ids) if rank is None else elements.converted(rank, ids)
    vertices = elements.places_in(rank, ids)
    degree = elements.converted(elements.lengths(rows.offsets), np.int64)
    by_number = elements.gathered(degree, vertices)
    # On the host: logarithms of a GPU may differ in the last bit, and ties would.
    on_host = cupy.asnumpy(degree)
    report.left_out = asked.left_out(on_host)
    found_amounts, scale = asked.amounts(on_host, int(on_host.max(initial=0)))
    amount = cupy.asarray(found_amounts.astype(np.uint64))
    wanted = elements.gathered(cupy.asarray(chosen), vertices)
    order = elements.gathered(vertices, elements.places_of(wanted))
    steps = cupy.asarray(np.where(found_amounts > 0, on_host, 0))
    work = elements.gathered(sums_of_neighbours(rows, steps), order)
    ends = elements.offsets_of(work, np.uint64)
    walked_edges = int(ends[-1])
    if asked.top_k is not None:
        rows_of_each = cupy.minimum(work, np.uint64(min(asked.top_k, n)))
        ends = elements.offsets_of(rows_of_each, np.uint64)
        for begin, end, most in ends_of(ends, most_walks(n * _VERTEX)):
            part = order[begin:end], work[begin:end]
            first, second, score = best(rows, rank, amount, asked, scale, *part, most)
            yield vertices[first], vertices[second], score
    else:
        starts = elements.offsets_of(elements.gathered(degree, order), np.uint64)
        bits = np.uint64(max((n - 1).bit_length(), 1))
        for begin, end, walks in ends_of(ends, most_walks(n * _VERTEX)):
            require(OF_WALK * walks, f"sorting {walks:,} walks of two edges")
            keys, common = _summed(
                *walks_of(rows, order, rank, starts, (begin, end), walks, int(bits), amount)
            )
            first = rank[order[keys >> bits]]
            second = (keys & ((np.uint64(1) << bits) - np.uint64(1))).astype(ids)
            own, other = by_number[first], by_number[second]
            first, second, score = asked.best(first, second, common, own, other, scale)
            yield vertices[first], vertices[second], score
    report.advance(
        "intersect", supersteps=1, frontier=len(order), edges=walked_edges,
        bytes=walked_edges * (2 * ids.itemsize + 32), seconds=time.perf_counter() - begun,
    )  # fmt: skip


def _summed(keys: Any, sums: Any) -> tuple[Any, Any]:
    """Different keys, ascending, and what was counted of each: int64."""
    order = cupy.argsort(keys)
    keys, sums = elements.gathered(keys, order), elements.gathered(sums, order)
    starts = elements.places_of(elements.changes(keys), behind=True)
    before = elements.offsets_of(sums, np.int64)
    return elements.gathered(keys, starts[:-1]), elements.lengths(elements.gathered(before, starts))
