"""Betweenness of vertices over edges in host memory: path counts and dependencies of several sources, level by level.

References
----------
.. [1] Brandes. A faster algorithm for betweenness centrality. J. Mathematical Sociology 25 (2001).
"""

from __future__ import annotations

import time
from typing import Any

import cupy
import numpy as np

from dask_graphgpu.engine.gpu.copies import to_device
from dask_graphgpu.engine.gpu.device import DeviceView
from dask_graphgpu.engine.path_failures import MANY_PATHS, check
from dask_graphgpu.engine.tiered.bfs import bfs
from dask_graphgpu.engine.tiered.disk import is_on_disk, limit_of
from dask_graphgpu.engine.tiered.level_rows import LevelRows
from dask_graphgpu.engine.tiered.path_sums import sums_in_place
from dask_graphgpu.engine.tiered.rows import TieredRows
from dask_graphgpu.errors import EngineUnavailable
from dask_graphgpu.partition.csr import Adjacency
from dask_graphgpu.partition.device.masks import count_true
from dask_graphgpu.partition.paged.sort import PagedAdjacency
from dask_graphgpu.partition.view import View
from dask_graphgpu.report import Report

# Sources whose rows are brought together, at most: as many levels of a vertex are a sector of memory.
AT_ONCE = 8

_SOURCE = 4 + 8 + 8  # bytes of a vertex: level, count, share

# The part of a limit of memory that all sources at once may take.
_SHARE = 4


def betweenness(
    view: View, sources: Any, *, weighted: bool, endpoints: bool, edges: bool, report: Report
) -> Any:
    """Sums of the sources' dependencies on every vertex, as `engine.gpu.betweenness`, up to rounding.

    Raises
    ------
    EngineUnavailable
        ``weighted`` and edges on disk: a search by weight takes one vertex after another, not levels.

    Notes
    -----
    With weights as of `path_sums`. Without, up to `AT_ONCE` sources share what is brought, as far as their 20 bytes a
    vertex take no more than a quarter of the limit. Of an undirected view the edges between two levels are brought
    with the rows of the level whose rows are fewer over the link. Each level takes the host's time, twice.
    """
    assert not edges  # these are `edge_betweenness`
    if weighted and not is_on_disk(view.out):
        return sums_in_place(
            view, sources, weighted=True, endpoints=endpoints, along=None, report=report
        )
    if weighted:
        raise EngineUnavailable(
            "betweenness with weighted=True takes one vertex after another, in the order of their distances, and "
            "the edges of this graph lie on disk, which needs more than graphgpu.host-memory-limit: raise the limit, "
            "or leave weighted out"
        )
    here, chosen = DeviceView.of(view), cupy.asnumpy(cupy.asarray(sources)).tolist()
    through, step = np.zeros(here.n), _at_once(view.out, here.n)
    for first in range(0, len(chosen), step):
        batch = chosen[first : first + step]
        levels = [bfs(view, s, cutoff=None, targets=None, report=report) for s in batch]

        def summed(rows: TieredRows, batch: list[int] = batch, levels: list[Any] = levels) -> Any:
            found = _Batch(rows, view, batch, levels, report)
            found.count()
            return found.accumulate(endpoints=endpoints)

        vertex, what = _SOURCE * len(batch) + 8, "betweenness"
        through += TieredRows.run(view, "tier_betweenness", {}, vertex, what, report, summed)
    return here.to_caller(cupy.asarray(through))


def _at_once(rows: Adjacency, n: int) -> int:
    """Sources of a batch."""
    room = limit_of(rows) // (_SHARE * _SOURCE * max(n, 1))
    if isinstance(rows, PagedAdjacency):  # levels go by way of the host
        room = min(room, rows.limits.memory // (_SHARE * 4 * max(n, 1)))
    return max(min(room, AT_ONCE), 1)


class _Batch:
    """Sources whose levels are known, on the device."""

    def __init__(
        self, rows: TieredRows, view: View, sources: list[int], levels: list[Any], report: Report
    ) -> None:
        self._rows, self._report, self._width = rows, report, len(sources)
        self._reached = np.zeros(len(sources))
        self._sources = np.array(sources)
        self._level = cupy.empty((rows.n, len(sources)), np.int32)
        for s, level in enumerate(levels):
            on_device = to_device(level, rows.tier.kept)
            self._reached[s] = count_true(on_device >= 0)
            self._level[:, s] = on_device
        self._depth = int(self._level.max())
        self._between = LevelRows(rows, self._level, self._depth, view)
        self._count = cupy.zeros(self._level.shape)
        self._count[self._sources, np.arange(len(sources))] = 1

    def count(self) -> None:
        """Count the shortest paths to every vertex."""
        self._along("count", range(self._depth), self._count)

    def accumulate(self, *, endpoints: bool) -> np.ndarray:
        """The dependencies on every vertex, in host memory."""
        rows, level, count = self._rows, self._level, self._count
        share, infinite = cupy.empty(level.shape), cupy.zeros(1, np.uint32)
        rows.over_vertices(
            "begin_shares", level, np.uint64(level.size), count, share, infinite, shared=True
        )
        if int(infinite[0]):
            check(MANY_PATHS, None)
        self._along("accumulate", range(self._depth - 1, -1, -1), share)
        through, ends = cupy.empty(rows.n), float(endpoints)
        size = np.uint64(rows.n), np.uint32(self._width)
        rows.over_vertices("add_up", level, *size, count, share, ends, through)
        found: np.ndarray = cupy.asnumpy(through)
        np.add.at(found, self._sources, (self._reached - 1) * ends)
        return found

    def _along(self, way: str, depths: range, values: Any) -> None:
        """Pass values between each level and the next."""
        rows, start, before = self._rows, time.perf_counter(), int(self._rows.read[0])
        width, back = np.uint32(self._width), np.uint32(depths.step < 0)
        for depth in depths:
            pulls = np.uint32(self._between.pulls[depth])
            given = self._level, width, np.int32(depth), pulls, back, values, rows.read
            self._between.over(depth, rows.along("along_part", *given))
        read = int(rows.read[0]) - before
        ids = rows.tier.host.neighbours.dtype.itemsize
        self._report.advance(
            way, supersteps=len(depths), frontier=self._width, edges=read,
            bytes=read * (ids + 12 * self._width) + rows.n * 28 * self._width,
            seconds=time.perf_counter() - start,
        )  # fmt: skip
