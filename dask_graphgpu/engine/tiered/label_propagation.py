"""Communities by labels that spread along edges in host memory: a run of rows after the other, in each superstep.

References
----------
.. [1] Raghavan, Albert, Kumara. Near linear time algorithm to detect community structures in large-scale networks.
   Physical Review E 76 (2007).
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import cupy
import numpy as np

from dask_graphgpu.engine import limits
from dask_graphgpu.engine.gpu import launch
from dask_graphgpu.engine.gpu.copies import address
from dask_graphgpu.engine.gpu.device import DeviceView
from dask_graphgpu.engine.gpu.fewer_edges import shrinking
from dask_graphgpu.engine.gpu.label_propagation import first_labels
from dask_graphgpu.engine.gpu.ring import Ring, Slot
from dask_graphgpu.engine.gpu.runs import LaunchState
from dask_graphgpu.engine.limits import BUFFERS, Cut
from dask_graphgpu.engine.tiered.disk import (
    DiskTier,
    is_on_disk,
    kinds_of,
    limit_of,
    most_of,
    require_on_host,
)
from dask_graphgpu.engine.tiered.transfer import Moved, tell
from dask_graphgpu.errors import LimitTooSmall
from dask_graphgpu.kernels.compile import cuda
from dask_graphgpu.partition.paged.rows import PagedRows, PagedView
from dask_graphgpu.partition.paged.sort import PagedAdjacency
from dask_graphgpu.partition.paged.window import Window
from dask_graphgpu.partition.view import View
from dask_graphgpu.report import Report

# Arrays of ids a vertex: labels before and after, what is to be done, and names in the end.
_IDS = 5


def label_propagation(view: View, iterations: int, report: Report, start: Any = None) -> Any:
    """The label of every vertex after some supersteps; as `engine.gpu.label_propagation`.

    Raises
    ------
    LimitTooSmall
        What belongs to vertices and the longest row need more than ``graphgpu.device-memory-limit``, or of edges on
        disk pages, and the longest row, more than ``graphgpu.host-memory-limit``.

    Notes
    -----
    Rows are brought whole, those of a directed view from both sides: the first that fit stay on the device, and of the
    others some are on their way while the labels of those before are counted, by the kernel of graphs in memory.
    """
    here = DeviceView.of(view)
    n, ids = here.n, here.id_dtype
    if not n:
        return here.to_caller(cupy.empty(0, ids))
    views = [view]
    if view.directed:
        # A view of its own, which keeps what runs leave.
        views.append(here.made("rows of in-edges", lambda: _backwards(view)))
    vertex = _IDS * ids.itemsize + len(views) * here.offset_dtype.itemsize + 8
    cut = _cut(views, (n + 1) * vertex, limit_of(view.out))
    kind = _DiskSide if is_on_disk(view.out) else _Side

    def attempt(cut: Cut) -> Any:
        labels = cupy.empty((2, n), ids)
        labels[0] = first_labels(here, start)
        labels[1] = labels[0]
        sides: list[_Side] = []
        try:
            sides += (kind(each, cut) for each in views)
            voting = _Voting(here, sides)
            for step in range(iterations):
                begun = time.perf_counter()
                changed = voting.superstep(
                    labels[step % 2], labels[1 - step % 2], step == 0 and start is None
                )
                edges = sum(side.rows.num_edges for side in sides)
                report.advance(
                    "pull", supersteps=1, frontier=n, edges=edges,
                    bytes=edges * 2 * ids.itemsize + n * 4 * ids.itemsize,
                    seconds=time.perf_counter() - begun,
                )  # fmt: skip
                if not changed:
                    break
        finally:
            for side in sides:
                side.close(report)
        label = labels[(step + 1) % 2]
        return here.to_caller(here.in_dense_ids(label))

    return shrinking(cut, report, attempt)


def _backwards(view: View) -> View:
    """The in-edges of a view as out-edges of another."""
    rows = view.into
    if isinstance(rows, PagedAdjacency):
        return PagedView(PagedRows(rows.with_columns(())))
    return View.of(rows)


def _cut(views: list[View], vertices: int, limit: int) -> Cut:
    """What of each side is on the device, and a buffer for the longest row."""
    number, edge = views[0].num_edges, views[0].out.neighbours.itemsize
    what = f"the labels of {views[0].num_vertices:,} vertices"
    room = vertices + max(limit - vertices, 0) // len(views)
    cut = Cut.of(number, edge, vertices, room, what, **most_of(views[0].out))
    longest = max(int(view.out.degrees.max(initial=0)) for view in views)
    segment = cut.segment and max(cut.segment, -(-longest // limits.BLOCK) * limits.BLOCK)
    resident = cut.resident - BUFFERS * (segment - cut.segment)
    if resident < 0:
        needed = vertices + len(views) * BUFFERS * segment * edge
        raise LimitTooSmall(
            f"{what}, one of which has {longest:,} edges, need {needed:,} bytes of the GPU's memory, and "
            f"graphgpu.device-memory-limit is {limit:,}: set it to at least as much"
        )
    cut = cut._replace(resident=resident, segment=segment)
    require_on_host([view.out for view in views], cut, edge, what)
    return cut


class _Part(NamedTuple):
    """Rows, and for each side what their edges were sent to; None: they are on the device."""

    first: int
    last: int
    sent: list[tuple[Slot, dict[str, int]] | None]


class _Side:
    """Rows of one direction: ``whole`` of them are on the device with all of their edges."""

    def __init__(self, view: View, cut: Cut) -> None:
        self.rows = view.out
        if cut.segment:
            cut = cut._replace(segment=max(cut.segment, int(view.out.degrees.max(initial=0))))
        kind, _ = kinds_of(view.out)
        self.tier = kind(DeviceView.of(view), view.out, (), cut)
        self.whole = int(np.searchsorted(view.out.offsets, cut.resident, side="right")) - 1
        self.ring = Ring(self.tier) if self.whole < view.num_vertices else None
        self.moved = self.parts = 0

    def upto(self, first: int) -> int:
        """How far rows from ``first`` on are at hand together."""
        if first < self.whole:
            return self.whole
        offsets, most = self.rows.offsets, self.tier.cut.segment
        return int(np.searchsorted(offsets, offsets[first] + most, side="right")) - 1

    def begin(self, runs: list[tuple[int, int]]) -> None:
        """Go over these runs of rows, in each of which some are sent."""

    def send(self, first: int, last: int) -> tuple[Slot, dict[str, int]] | None:
        """Begin to copy the edges of some rows, unless they are on the device."""
        if last <= self.whole or self.ring is None:
            return None
        lo, hi = int(self.rows.offsets[first]), int(self.rows.offsets[last])
        slot = self.ring.next()
        self.moved += (hi - lo) * self.tier.bytes_of_edge
        self.parts += 1
        return slot, self._copied(slot, lo, hi)

    def _copied(self, slot: Slot, lo: int, hi: int) -> dict[str, int]:
        """Begin to copy edges to a buffer; where there edge 0 would be."""
        assert self.ring is not None
        return self.ring.send(slot, self.tier.arrays, lo, hi)

    def close(self, report: Report) -> None:
        """Wait for copies, and tell what was moved."""
        if self.ring is not None:
            self.ring.close()
            tell({"stream": Moved(self.parts, 0, self.moved)}, report)


class _DiskSide(_Side):
    """The same of rows on disk, which are read ahead, into memory that the device copies from."""

    def __init__(self, view: View, cut: Cut) -> None:
        super().__init__(view, cut)
        self._window = Window(self.tier.arrays, stays=True, memory=self.tier.kept.registered)
        self._held: Iterator[dict[str, np.ndarray]] = iter(())
        assert isinstance(self.tier, DiskTier)
        self._brought = self.tier.read_bytes  # which stay on the device

    def begin(self, runs: list[tuple[int, int]]) -> None:
        """As of `_Side`: read ahead."""
        spans = self.rows.offsets[np.array([run for run in runs if run[1] > self.whole], np.int64)]
        self._held = self._window.over(spans.reshape(-1, 2))

    def _copied(self, slot: Slot, lo: int, hi: int) -> dict[str, int]:
        assert self.ring is not None
        begins = self.ring.send(slot, next(self._held), lo, hi)
        slot.copied.synchronize()  # other pages are read to where it was, once more are asked for
        return begins

    def close(self, report: Report) -> None:
        """As of `_Side`, and what was read."""
        super().close(report)
        self._held = iter(())
        self._window.release()
        report.disk_waited += self._window.waited
        report.disk_bytes += self._window.read_bytes + self._brought


class _Voting:
    """Supersteps of the kernel over runs of rows."""

    def __init__(self, here: Any, sides: list[_Side]) -> None:
        self._n, self._sides = here.n, sides
        self._kernel = cuda("label_propagation", defines=here.defines).kernel("label_rows")
        self._state = LaunchState([], {}).memory
        self._changed = cupy.zeros(1, np.uint64)
        self._todo = cupy.empty(here.n, here.id_dtype)
        self._runs = list(self._cut())

    def _cut(self) -> Iterator[tuple[int, int]]:
        first = 0
        while first < self._n:
            last = min(self._n, *(side.upto(first) for side in self._sides))
            yield first, last
            first = last

    def superstep(self, before: Any, after: Any, distinct: bool) -> bool:
        """Write the labels that follow from those before. Return whether any has changed."""
        self._changed.fill(0)
        after[:] = before
        for side in self._sides:
            side.begin(self._runs)
        ahead: _Part | None = None
        for first, last in self._runs:
            part, ahead = ahead, _Part(first, last, [s.send(first, last) for s in self._sides])
            if part is not None:
                self._vote(part, before, after, distinct)
        if ahead is not None:
            self._vote(ahead, before, after, distinct)
        return bool(self._changed[0])

    def _vote(self, part: _Part, before: Any, after: Any, distinct: bool) -> None:
        rows: list[Any] = []
        for side, sent in zip(self._sides, part.sent, strict=True):
            begins = side.tier.on_device() if sent is None else sent[1]
            if side.ring is not None and sent is not None:
                side.ring.arrive(sent[0])
            rows += [side.tier.offsets, np.uint64(address(begins["neighbours"]))]
        if len(self._sides) == 1:
            rows += [np.uint64(0)] * 2  # null pointers
        self._state.fill(0)
        launch.cooperative(
            self._kernel,
            (
                *rows, np.uint64(part.first), np.uint64(part.last), self._todo, before, after,
                np.uint32(distinct), self._changed, self._state,
            ),
        )  # fmt: skip
        for side, sent in zip(self._sides, part.sent, strict=True):
            if side.ring is not None and sent is not None:
                side.ring.release(sent[0])
