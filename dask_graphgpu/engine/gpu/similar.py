"""The most similar vertices of each, by walks of two edges: their ends in tables of blocks, or sorted."""

from __future__ import annotations

import time
from typing import Any

import cupy
import numpy as np

from dask_graphgpu.engine.gpu.device import DeviceView
from dask_graphgpu.engine.gpu.jaccard import WALKS, ends_of, walks_before, walks_of
from dask_graphgpu.engine.gpu.similar_tables import best
from dask_graphgpu.engine.similarity import Similarity
from dask_graphgpu.partition.device import elements
from dask_graphgpu.partition.device.memory import require
from dask_graphgpu.partition.view import View
from dask_graphgpu.report import Report

# Bytes of a walk while walks are sorted: its key and what it counts, both twice, and what sorts them.
_OF_WALK = 48


def similar(view: View, chosen: Any, asked: Similarity, report: Report) -> tuple[Any, Any, Any]:
    """The partners of each chosen vertex; see `contract_similarity.Similarities`.

    Notes
    -----
    Where each vertex has so many rows at most, a block adds its walks of two edges up in a table, and writes the best;
    see kernels/cuda/similar.cu. Cost: O(sum of squared degrees) walks, half of the free memory
    for tables, 40 bytes a row. Otherwise
    walks are sorted by their ends, those of some vertices at a time: 48 bytes a walk of those that are sorted at once.
    """
    begun = time.perf_counter()
    here = DeviceView.of(view)
    rows, n = here.symmetric, here.n
    ids, rank = rows.neighbours.dtype, here.user_rank
    require(rows.num_edges * 16 + n * 64, "looking for similar vertices")
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
    ends = walks_before(rows, steps, order)
    work, walked_edges = elements.lengths(ends), int(ends[-1])
    found = []
    if asked.top_k is not None:
        rows_of_each = cupy.minimum(work, np.uint64(min(asked.top_k, n)))
        ends = elements.offsets_of(rows_of_each, np.uint64)
        for begin, end, most in ends_of(ends, WALKS):
            part = order[begin:end], work[begin:end]
            found.append(best(rows, rank, amount, asked, scale, *part, most))
    else:
        starts = elements.offsets_of(elements.gathered(degree, order), np.uint64)
        bits = np.uint64(max((n - 1).bit_length(), 1))
        for begin, end, walks in ends_of(ends, WALKS):
            require(_OF_WALK * walks, f"sorting {walks:,} walks of two edges")
            keys, common = _summed(
                *walks_of(rows, order, rank, starts, (begin, end), walks, int(bits), amount)
            )
            first = rank[order[keys >> bits]]
            second = (keys & ((np.uint64(1) << bits) - np.uint64(1))).astype(ids)
            own, other = by_number[first], by_number[second]
            found.append(asked.best(first, second, common, own, other, scale))
    none = cupy.empty(0, ids), cupy.empty(0, ids), cupy.empty(0, np.float64)
    first, second, score = (
        elements.concatenated(parts) for parts in zip(*(found or [none]), strict=True)
    )
    report.advance(
        "intersect", supersteps=1, frontier=len(order), edges=walked_edges,
        bytes=walked_edges * (2 * ids.itemsize + 32), seconds=time.perf_counter() - begun,
    )  # fmt: skip
    ends_of_pairs = (elements.gathered(vertices, each) for each in (first, second))
    return tuple(here.to_caller(each) for each in (*ends_of_pairs, score))


def _summed(keys: Any, sums: Any) -> tuple[Any, Any]:
    """Different keys, ascending, and what was counted of each: int64."""
    order = cupy.argsort(keys)
    keys, sums = elements.gathered(keys, order), elements.gathered(sums, order)
    starts = elements.places_of(elements.changes(keys), behind=True)
    before = elements.offsets_of(sums, np.int64)
    return elements.gathered(keys, starts[:-1]), elements.lengths(elements.gathered(before, starts))
