"""Strongly connected components by colours, over edges in host memory.

References
----------
.. [1] Orzan. On distributed verification and verified distribution. PhD thesis, Vrije Universiteit 2004.
.. [2] Slota, Rajamanickam, Madduri. BFS and coloring-based parallel algorithms for strongly connected components and
   related problems. IPDPS 2014.
"""

from __future__ import annotations

import time
from typing import Any

import cupy
import numpy as np

from dask_graphgpu.engine.gpu.device import DeviceView
from dask_graphgpu.engine.random_order import Colours
from dask_graphgpu.engine.tiered.components import components
from dask_graphgpu.engine.tiered.rows import TieredRows
from dask_graphgpu.partition.device.masks import any_true, count_true
from dask_graphgpu.partition.view import View
from dask_graphgpu.report import Report

_VERTEX, _IDS = 32, 3  # bytes of a vertex: flags, degrees and numbers on the way; arrays of ids


def strong_components(view: View, report: Report) -> Any:
    """Strongly connected component of every vertex; as `engine.gpu.strong_components`.

    Notes
    -----
    Who is led to by nobody goes first, one after another. Colours are then dealt, the highest to the vertex with the
    most edges both ways: each vertex takes the highest one that leads to it, and whoever kept its own goes back
    through its colour [1]_ [2]_. Only rows of vertices that tell something new, or wait, are brought. All that goes
    along rows by source: in-edges are not made.
    """
    here = DeviceView.of(view)
    if not view.directed or not here.n:
        return components(view, report)
    ids = here.id_dtype

    def found(rows: TieredRows) -> Any:
        left = _Left(rows, ids, report)
        left.trim()
        rounds = 0
        while left.count:
            left.colour(rounds)
            rounds += 1
        label = left.label
        rank = here.user_rank
        order = cupy.arange(here.n, dtype=ids) if rank is None else rank.astype(ids)
        first = cupy.full(here.n, here.n - 1, ids)
        cupy.minimum.at(first, label, order)
        return rows.to_caller(here.in_dense_ids(first[label]))

    vertex, what = _VERTEX + _IDS * ids.itemsize, "strongly connected components"
    return TieredRows.run(view, "tier_strong_components", {}, vertex, what, report, found)


class _Left:
    """The vertices whose component is not known yet: ``label`` is, for the others, one of its members."""

    def __init__(self, rows: TieredRows, ids: np.dtype[Any], report: Report) -> None:
        self._rows, self._report, self.n = rows, report, rows.n
        self._seen = 0
        self.done, self._due = cupy.zeros(self.n, np.uint8), cupy.zeros(self.n, np.uint8)
        self.label = cupy.arange(self.n, dtype=ids)
        self.count = self.n
        degree, start = cupy.zeros(self.n, rows.tier.offsets.dtype), time.perf_counter()
        rows.active.fill(1)
        rows.transfer.superstep(
            rows.active, rows.along("degree_part", degree, rows.read), everything=True
        )
        self._degree = degree
        out = cupy.diff(rows.tier.offsets)
        self._product = degree.astype(np.float32) * out  # of which the most will do
        self._note("count", 1, start)

    def trim(self) -> None:
        """Take away what nothing leads to, one after another."""
        start = time.perf_counter()
        self._due[:] = self._degree == 0
        steps = self._spread("trim_part", self._degree, self._due, gone=True)
        self._note("trim", steps, start)
        del self._degree

    def colour(self, turn: int) -> None:
        """Settle a component of every colour."""
        rows, ids, start = self._rows, self.label.dtype, time.perf_counter()
        pivot = int(cupy.where(self.done == 1, np.float32(-1), self._product).argmax())
        colours = Colours(self.n, pivot, turn)
        own = colours.of(cupy.arange(self.n, dtype=np.uint64)).astype(ids)
        colour = own.copy()
        self._due[:] = self.done == 0
        steps = self._spread("colour_part", self.done, colour, self._due)
        self._note("colour", steps, start)
        start, steps = time.perf_counter(), 0
        found = ((colour == own) & (self.done == 0)).astype(np.uint8)
        del own
        came = cupy.ones(1, np.uint32)
        go = rows.along("back_part", self.done, colour, found, came, rows.read)
        while int(came[0]):
            came.fill(0)
            rows.active[:] = (self.done == 0) & (found == 0)
            rows.transfer.superstep(rows.active, go)
            steps += 1
        members = cupy.flatnonzero(found)
        self.label[members] = colours.holders(colour[members].astype(np.uint64)).astype(ids)
        self.done |= found
        self._note("back", steps, start)
        self.count = self.n - count_true(self.done)

    def _spread(self, kernel: str, *given: Any, gone: bool = False) -> int:
        """Go along rows that are due until none is; ``gone``: they are done. The number of supersteps."""
        rows, steps = self._rows, 0
        go = rows.along(kernel, *given, rows.read)
        while any_true(self._due):
            if gone:
                self._due &= 1 - self.done
                self.done |= self._due
            rows.active[:] = self._due
            self._due.fill(0)
            rows.transfer.superstep(rows.active, go)
            steps += 1
        if gone:
            self.count = self.n - count_true(self.done)
        return steps

    def _note(self, way: str, steps: int, start: float) -> None:
        now, ids = int(self._rows.read[0]), self.label.itemsize
        read, self._seen = now - self._seen, now
        self._report.advance(
            way, supersteps=steps, frontier=self.count, edges=read,
            bytes=read * 2 * ids + self.n * 2 * ids, seconds=time.perf_counter() - start,
        )  # fmt: skip
