"""Samples of neighbours, hop by hop, on the device: the same as `engine.cpu.neighbor_sample` makes."""

from __future__ import annotations

import time
from typing import Any

import cupy
import numpy as np

from dask_graphgpu.engine.gpu import launch
from dask_graphgpu.engine.gpu.device import DeviceView
from dask_graphgpu.engine.gpu.rows_by_id import DeviceRowsById
from dask_graphgpu.engine.walking import SampleRule, edges_up_to
from dask_graphgpu.kernels.compile import cuda
from dask_graphgpu.partition.device.memory import require
from dask_graphgpu.partition.view import View
from dask_graphgpu.report import Report


def neighbor_sample(
    view: View, batches: Any, seeds: Any, rule: SampleRule, report: Report, until: Any = None
) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
    """Edges that lead to some vertices, and to where these come from, and so on; see the contract.

    Notes
    -----
    A batch and a vertex are one key. One launch a hop draws the edges of all keys that are new, a thread each.
    """
    here = DeviceView.of(view)
    limits = None
    if until is None:
        rows = DeviceRowsById.of(here, here.into, "into")
        weighted = view.is_weighted
        columns = {"weight": rows.weights(here.into.weight, here, "into")} if weighted else {}
    else:
        assert rule.time is not None
        rows = DeviceRowsById.by_time(here, here.into, rule.time)
        columns = rows.rows.columns
        limits = cupy.empty(int(batches.max()) + 1 if len(batches) else 0, until.dtype)
        limits[cupy.asarray(batches)] = cupy.asarray(until)
    n = here.n
    new = cupy.unique(cupy.asarray(batches) * n + cupy.asarray(seeds))
    seen, found = new, []
    for hop in range(len(rule.fanout)):
        begun = time.perf_counter()
        keys, edges = _drawn(here, rows, rule, hop, new, limits)
        sources = rows.rows.neighbours[edges]
        found.append((keys, cupy.full(len(keys), hop + 1, np.int32), sources, edges))
        report.advance(
            "sample", supersteps=1, frontier=len(new), edges=len(keys),
            bytes=len(keys) * sources.itemsize, seconds=time.perf_counter() - begun,
        )  # fmt: skip
        came = cupy.unique(keys - keys % n + sources.astype(np.int64))
        place = cupy.searchsorted(seen, came)
        new = came[seen[cupy.minimum(place, max(len(seen) - 1, 0))] != came] if len(seen) else came
        seen = cupy.sort(cupy.concatenate([seen, new]))
    keys, hops, source, edges = (cupy.concatenate(each) for each in zip(*found, strict=True))
    order = cupy.argsort(keys // n, kind="stable")
    keys = keys[order]
    destination = (keys % n).astype(source.dtype)
    drawn = keys // n, hops[order], source[order], destination
    batch, hop, source, destination = (here.to_caller(each) for each in drawn)
    carried = {name: here.to_caller(column[edges[order]]) for name, column in columns.items()}
    return batch, hop, source, destination, carried


def _drawn(
    here: DeviceView, rows: DeviceRowsById, rule: SampleRule, hop: int, keys: Any, limits: Any
) -> tuple[Any, Any]:
    """The key of each edge drawn, and its place in the rows, ordered by key and neighbour."""
    batch, vertex = keys // here.n, keys % here.n
    row = vertex if rows.place is None else rows.place[vertex]
    begin = rows.rows.offsets[row].astype(np.int64)
    degree = rows.rows.offsets[row.astype(np.int64) + 1].astype(np.int64) - begin
    if limits is not None:
        assert rule.time is not None
        degree = edges_up_to(rows.rows.columns[rule.time], begin, degree, limits[batch])
    ends = cupy.cumsum(rule.lengths(degree, hop))
    total = int(ends[-1]) if len(ends) else 0
    require(60 * total, f"{total:,} sampled edges")
    starts = cupy.concatenate([cupy.zeros(1, np.int64), ends])
    edges = cupy.empty(total, np.int64)
    launch.flat(
        cuda("neighbor_sample").kernel("sample"), len(keys),
        (
            batch, vertex, begin, degree, starts, np.uint64(len(keys)), np.uint64(hop),
            np.uint64(rule.replaces(hop)), np.uint64(rule.seed), edges,
        ),
    )  # fmt: skip
    drawn_of = cupy.searchsorted(ends, cupy.arange(total, dtype=ends.dtype), side="right")
    if limits is None:
        order = cupy.lexsort(cupy.stack([edges, drawn_of]))
    else:
        neighbour = rows.rows.neighbours[edges].astype(edges.dtype)
        order = cupy.lexsort(cupy.stack([edges, neighbour, drawn_of]))
    return keys[drawn_of], edges[order]
