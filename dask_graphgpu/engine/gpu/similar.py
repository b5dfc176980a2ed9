"""The most similar vertices of each, by walks of two edges that are sorted."""

from __future__ import annotations

import time
from typing import Any

import cupy
import numpy as np

from dask_graphgpu.engine.gpu.device import DeviceView
from dask_graphgpu.engine.gpu.jaccard import WALKS, ends_of, walks_of
from dask_graphgpu.engine.similarity import Similarity
from dask_graphgpu.partition.device.memory import require
from dask_graphgpu.partition.view import View
from dask_graphgpu.report import Report

# Bytes of a walk while walks are sorted: its key and what it counts, both twice, and what sorts them.
_OF_WALK = 48


def similar(view: View, chosen: Any, asked: Similarity, report: Report) -> tuple[Any, Any, Any]:
    """The partners of each chosen vertex; see `contract_similarity.Similarities`.

    Notes
    -----
    Walks of two edges are sorted by their ends, those of some vertices at a time, and added up. Cost: O(sum of squared
    degrees) walks, 48 bytes a walk of those that are sorted at once, and the pairs.
    """
    begun = time.perf_counter()
    here = DeviceView.of(view)
    rows, n = here.symmetric, here.n
    ids, rank = rows.neighbours.dtype, here.user_rank
    require(rows.num_edges * 16 + n * 64, "looking for similar vertices")
    place = cupy.arange(n, dtype=ids)
    rank = place if rank is None else rank.astype(ids, copy=False)
    vertices = cupy.empty(n, ids)
    vertices[rank] = place
    degree = cupy.diff(rows.offsets).astype(np.int64)
    by_number = degree[vertices]
    # On the host: logarithms of a GPU may differ in the last bit, and ties would.
    on_host = cupy.asnumpy(degree)
    report.left_out = asked.left_out(on_host)
    found_amounts, scale = asked.amounts(on_host, int(on_host.max(initial=0)))
    amount = cupy.asarray(found_amounts.astype(np.uint64))
    order = vertices[cupy.asarray(chosen)[vertices]]
    starts, work = (cupy.zeros(len(order) + 1, np.uint64) for _ in range(2))
    starts[1:] = cupy.cumsum(degree[order], dtype=np.uint64)
    reads = cupy.zeros(rows.num_edges + 1, np.uint64)
    walked = cupy.where(amount > 0, degree, 0).astype(np.uint64)
    reads[1:] = cupy.cumsum(walked[rows.neighbours], dtype=np.uint64)
    work[1:] = cupy.cumsum(
        (reads[rows.offsets[1:]] - reads[rows.offsets[:-1]])[order], dtype=np.uint64
    )
    del reads
    found = [(cupy.empty(0, ids), cupy.empty(0, ids), cupy.empty(0, np.float64))]
    bits = np.uint64(max((n - 1).bit_length(), 1))
    for begin, end, walks in ends_of(work, WALKS):
        require(_OF_WALK * walks, f"sorting {walks:,} walks of two edges")
        keys, common = _summed(
            *walks_of(rows, order, rank, starts, (begin, end), walks, int(bits), amount)
        )
        first = rank[order[keys >> bits]]
        second = (keys & ((np.uint64(1) << bits) - np.uint64(1))).astype(ids)
        found.append(asked.best(first, second, common, by_number[first], by_number[second], scale))
    first, second, score = (cupy.concatenate(parts) for parts in zip(*found, strict=True))
    walked_edges = int(work[-1])
    report.advance(
        "intersect", supersteps=1, frontier=len(order), edges=walked_edges,
        bytes=walked_edges * (2 * ids.itemsize + 32), seconds=time.perf_counter() - begun,
    )  # fmt: skip
    return tuple(here.to_caller(each) for each in (vertices[first], vertices[second], score))


def _summed(keys: Any, sums: Any) -> tuple[Any, Any]:
    """Different keys, ascending, and what was counted of each: int64."""
    order = cupy.argsort(keys)
    keys, sums = keys[order], cupy.cumsum(sums[order].astype(np.int64))
    last = cupy.ones(len(keys), np.bool_)
    last[:-1] = keys[1:] != keys[:-1]
    last = cupy.flatnonzero(last)
    return keys[last], cupy.diff(sums[last], prepend=cupy.zeros(1, np.int64))
