"""Levels of Louvain and Leiden whose edges do not fit the device: joined some rows at a time."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import cupy
import numpy as np

from dask_graphgpu.engine.gpu import launch
from dask_graphgpu.engine.gpu.community_levels import Level, joined_keys, totals
from dask_graphgpu.engine.gpu.community_levels import aggregated as aggregated_at_once
from dask_graphgpu.engine.tiered.in_place import Elsewhere
from dask_graphgpu.partition.device import building, elements
from dask_graphgpu.partition.device.arrays import offset_type
from dask_graphgpu.partition.device.memory import free_bytes, require

# Bytes of an entry while its key is sorted, beside its weight, which is there three times.
_ENTRY, _WEIGHTS = 72, 3

_VERTEX = 40  # bytes of the order of vertices, ends of their rows, and rows of the result

_LEAST = 64  # entries that are joined at once

_SHARE = 4  # the part of what is left on the device that a level may take there


def aggregated(level: Level, labels: Any, number: int, elsewhere: Elsewhere) -> Level:
    """A vertex for each of ``number`` labels; as `engine.gpu.community_levels.aggregated`.

    Notes
    -----
    Where not all entries fit the device at once, rows are read in the order of the communities of their vertices, some
    entries at a time. So those of a community come together, and are a row of the result as soon as another one's
    come.
    """
    kind, edges = level.degree.dtype, len(level.neighbours)
    size, beside = _ENTRY + _WEIGHTS * kind.itemsize, len(level) * _VERTEX
    room = max((free_bytes() - beside) * 3 // 4 // size, _LEAST)
    if edges <= room // 2:
        return aggregated_at_once(level, labels, number)
    require(beside + _LEAST * size, "joining vertices to communities")
    order = cupy.argsort(labels)
    ends = elements.offsets_of(elements.gathered(elements.lengths(level.offsets), order), np.uint64)
    cuts = np.append(np.arange(0, edges, room, dtype=np.uint64), np.uint64(edges))
    row = elements.first_not_below(ends[1:], cupy.asarray(cuts[1:]), np.int64)  # the last one
    communities = elements.gathered(elements.gathered(labels, order), row).tolist()
    rows = _Rows(number, edges, kind, elsewhere)
    rest = cupy.empty(0, np.uint64), cupy.empty(0, kind)  # of the last community so far
    for span, community in zip(pairwise(cuts.tolist()), communities, strict=True):
        keys, weights = _crossing(level, labels, (order, ends), span, rows.bits, rest)
        split = cupy.asarray(np.array([community << rows.bits], np.uint64))
        place = int(elements.first_not_below(keys, split, np.int64)[0])
        rows.add(level, keys[:place], weights[:place], community)
        rest = keys[place:], weights[place:]
    rows.add(level, *rest, number + 1)
    return rows.level(level, labels)


def _crossing(
    level: Level,
    labels: Any,
    rows: tuple[Any, Any],
    span: tuple[int, int],
    bits: int,
    rest: tuple[Any, Any],
) -> tuple[Any, Any]:
    """Sorted keys of pairs of communities, and what edges between them weigh, with the ``rest`` of those before.

    ``rows``: their order and ends. ``span``: from which edge to which.
    """
    (low, high), before, kind = span, len(rest[0]), level.degree.dtype
    most = before + high - low
    keys, weights = cupy.empty(most, np.uint64), cupy.empty(most, kind)
    keys[:before], weights[:before] = rest
    size = elements.filled(cupy, 1, before, np.uint64)
    launch.flat(
        level.kernel("crossing_of"), high - low,
        (
            *level.edges, *rows, np.uint64(len(level)), np.uint64(low), np.uint64(high), labels,
            np.uint32(bits), keys, weights, size,
        ),
        threads=launch.THREADS,
    )  # fmt: skip
    found = int(size[0])
    if not found:
        return keys[:0], weights[:0]
    keys, joined = joined_keys(keys[:found], weights[:found])
    return keys, elements.converted(joined, kind)


class _Rows:
    """Rows of a level, which come in their order, in pinned memory.

    Attributes
    ----------
    bits : int
        Of a community in a key.
    """

    def __init__(self, number: int, most: int, kind: Any, elsewhere: Elsewhere) -> None:
        self.bits = max((number - 1).bit_length(), 1)
        self._starts, self._known = cupy.empty(number + 1, np.uint64), 0
        self._most, self._size, self._elsewhere = most, 0, elsewhere
        self._columns = [elsewhere.lasting(most // 2, each) for each in (np.uint32, kind)]

    def add(self, level: Level, keys: Any, weights: Any, upto: int) -> None:
        """Add the rows of all communities below ``upto`` that are not there."""
        number, size = upto - self._known, len(keys)
        launch.flat(
            level.kernel("row_starts"), number,
            (
                keys, np.uint64(size), np.uint32(self.bits), np.uint64(self._known),
                np.uint64(number), np.uint64(self._size), self._starts,
            ),
            threads=launch.THREADS,
        )  # fmt: skip
        end = self._size + size
        if end > len(self._columns[0]):  # all edges of the level before, at most
            self._columns = [self._larger(column) for column in self._columns]
        neighbours, kept = (column[self._size : end] for column in self._columns)
        building.neighbours_of_keys(keys, self.bits, neighbours)
        kept[:] = weights
        self._known, self._size = upto, end

    def _larger(self, column: Any) -> Any:
        made = self._elsewhere.lasting(self._most, column.dtype)
        made[: self._size] = column[: self._size]
        return made

    def level(self, level: Level, labels: Any) -> Level:
        """The result: on the device if that is not much, else where it is."""
        neighbours, weights = (column[: self._size] for column in self._columns)
        if (neighbours.nbytes + weights.nbytes) * _SHARE <= free_bytes():
            neighbours, weights = neighbours.copy(), weights.copy()
        starts = elements.converted(self._starts, offset_type(self._size))
        degree = totals(level, labels, len(starts) - 1)
        loops = elements.less(degree, elements.sums(weights, starts))
        return Level(starts, neighbours, weights, loops, degree, None)
