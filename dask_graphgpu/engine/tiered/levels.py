"""Levels of Louvain and Leiden whose edges do not fit the device: joined some rows at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import cupy
import numpy as np

from dask_graphgpu.engine.gpu.louvain import Level, joined_keys, totals
from dask_graphgpu.engine.gpu.row_sums import sums_before
from dask_graphgpu.engine.tiered.in_place import Elsewhere
from dask_graphgpu.partition.device import elements
from dask_graphgpu.partition.device.arrays import add_at, count, offset_type, segments
from dask_graphgpu.partition.device.memory import free_bytes, require

# Bytes of an entry on its way to a key, beside its weight, which is there three times.
_ENTRY, _WEIGHTS = 72, 3

_VERTEX = 40  # bytes of the order of vertices, ends of their rows, and rows of the result

_LEAST = 64  # entries that are joined at once

_SHARE = 4  # the part of what is left on the device that a level may take there


def aggregated(level: Level, labels: Any, number: int, elsewhere: Elsewhere) -> Level:
    """A vertex for each of ``number`` labels; as `engine.gpu.louvain.aggregated`.

    Notes
    -----
    Rows are read in the order of the communities of their vertices, some entries at a time. So those of a community
    come together, and are a row of the result as soon as another one's come.
    """
    joining, size = _Joining(level, labels, number), _ENTRY + _WEIGHTS * level.degree.itemsize
    edges, beside = len(level.neighbours), len(level) * _VERTEX
    require(beside + _LEAST * size, "joining vertices to communities")
    order = cupy.argsort(labels)
    ends = cupy.zeros(len(level) + 1, np.int64)
    ends[1:] = cupy.cumsum(cupy.diff(level.offsets)[order], dtype=np.int64)
    step = max((free_bytes() - beside) * 3 // 4 // size, _LEAST)
    for low in range(0, edges, step):
        span = low, min(low + step, edges)
        bounds = cupy.asarray(np.array(span))
        first = int(cupy.searchsorted(ends, bounds[:1], side="right")[0]) - 1
        last = int(cupy.searchsorted(ends, bounds[1:])[0])
        joining.add(order[first:last], ends[first : last + 1], *span)
    return joining.level(elsewhere)


class _Joining:
    """Rows of the result, made from those of vertices in the order of their labels."""

    def __init__(self, level: Level, labels: Any, number: int) -> None:
        self._level, self._labels, self._number = level, labels, number
        self._bits = np.uint64(max((number - 1).bit_length(), 1))
        self._lengths, self._sums = (cupy.zeros(number, np.uint64) for _ in range(2))
        self._neighbours: list[np.ndarray] = []
        self._weights: list[np.ndarray] = []
        kind = level.degree.dtype
        self._rest = cupy.empty(0, np.uint64), cupy.empty(0, kind)  # of the last community so far

    def add(self, rows: Any, ends: Any, low: int, high: int) -> None:
        """Take entries of the rows of some vertices, which end at ``ends`` one behind another: from low to high."""
        level, labels, kind = self._level, self._labels, self._level.degree.dtype
        edges = high - low
        row = segments(cupy.clip(ends, low, high) - low, edges, np.int64)
        place = cupy.arange(low, high, dtype=np.int64)
        place += (level.offsets[rows].astype(np.int64) - ends[:-1])[row]
        weight = cupy.ones(edges, kind) if level.weight is None else level.weight[place]
        source = labels[rows][row].astype(np.uint64)
        target = labels[level.neighbours[place]].astype(np.uint64)
        del place, row
        crosses = (source != target) & (weight > 0)
        keys = ((source << self._bits) | target)[crosses]
        del source, target
        keys = cupy.concatenate([self._rest[0], keys])
        weight = cupy.concatenate([self._rest[1], weight[crosses]])
        if not len(keys):
            return
        keys, joined = joined_keys(keys, weight)
        joined = elements.converted(joined, kind)
        last = keys >> self._bits == labels[rows[-1:]].astype(np.uint64)
        self._rest = keys[last], joined[last]
        self._put(keys[~last], joined[~last])

    def _put(self, keys: Any, weights: Any) -> None:
        """Keep rows that are complete."""
        if not len(keys):
            return
        source = (keys >> self._bits).astype(np.int64)
        self._lengths += count(source, self._number).astype(np.uint64)
        add_at(self._sums, source, weights.astype(np.uint64))
        target = keys & ((np.uint64(1) << self._bits) - np.uint64(1))
        self._neighbours.append(cupy.asnumpy(target.astype(np.uint32)))
        self._weights.append(cupy.asnumpy(weights))

    def level(self, elsewhere: Elsewhere) -> Level:
        """The result: on the device if that is not much, else in pinned memory."""
        self._put(*self._rest)
        edges, kind = sum(map(len, self._neighbours)), self._level.degree.dtype
        starts = cupy.zeros(self._number + 1, offset_type(edges))
        starts[1:] = cupy.cumsum(self._lengths, dtype=starts.dtype)
        put = elsewhere.of
        if edges * (4 + kind.itemsize) * _SHARE <= free_bytes():
            put = _on_device
        neighbours, weights = put(self._neighbours, np.uint32), put(self._weights, kind)
        degree = totals(self._level, self._labels, self._number)
        loops = degree - self._sums.astype(kind)
        return Level(starts, neighbours, weights, loops, degree, None)


def _on_device(parts: Sequence[np.ndarray], dtype: Any) -> Any:
    made = cupy.empty(sum(map(len, parts)), dtype)
    place = 0
    for part in parts:
        made[place : place + len(part)] = cupy.asarray(part)
        place += len(part)
    return made


def within(level: Level, labels: Any, chosen: Any, elsewhere: Elsewhere) -> Level:
    """The edges within communities whose label is among the ``chosen``; as `engine.gpu.louvain.within`."""
    neighbours: list[np.ndarray] = []
    weights: list[np.ndarray] = []
    offsets = level.offsets.astype(np.int64)

    def kept(low: int, high: int) -> Any:
        starts = cupy.clip(offsets, low, high) - low
        source = labels[segments(starts, high - low, np.int64)]
        found = chosen[source] & (source == labels[level.neighbours[low:high]])
        neighbours.append(cupy.asnumpy(level.neighbours[low:high][found]))
        if level.weight is not None:
            weights.append(cupy.asnumpy(level.weight[low:high][found]))
        return found

    before = sums_before(level.offsets, len(level.neighbours), kept)
    weight = None if level.weight is None else elsewhere.of(weights, level.weight.dtype)
    return replace(
        level,
        offsets=before.astype(level.offsets.dtype),
        neighbours=elsewhere.of(neighbours, level.neighbours.dtype),
        weight=weight,
    )
