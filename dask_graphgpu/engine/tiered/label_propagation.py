"""Communities by labels that spread along edges in host memory: a run of rows after the other, in each superstep.

References
----------
.. [1] Raghavan, Albert, Kumara. Near linear time algorithm to detect community structures in large-scale networks.
   Physical Review E 76 (2007).
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dask_graphgpu.errors import EngineUnavailable, LimitTooSmall

if TYPE_CHECKING:
    from dask_graphgpu.engine.tiered.limits import Cut
    from dask_graphgpu.engine.tiered.store import Slot
    from dask_graphgpu.partition.view import View
    from dask_graphgpu.report import Report

_IDS = (
    5  # arrays of ids a vertex: labels before and after, what is to be done, and names in the end
)


def label_propagation(view: View, iterations: int, report: Report) -> Any:
    """The label of every vertex after some supersteps; as `engine.gpu.label_propagation`.

    Parameters
    ----------
    view : View
        Rows without repeats. Of a directed view out- and in-edges count.
    iterations : int
        Supersteps; fewer when one changes nothing.
    report : Report
        Gets a row a superstep, "pull", and what was moved.

    Returns
    -------
    array of the type of the neighbours, shape (num_vertices,)
        Dense id of the vertex whose label it was at first.

    Raises
    ------
    EngineUnavailable
        The edges lie on disk.
    LimitTooSmall
        What belongs to vertices and the longest row need more than ``graphgpu.device-memory-limit``.

    Notes
    -----
    Rows are brought whole, those of a directed view from both sides: the first that fit stay on the device, and of the
    others some are on their way while the labels of those before are counted, by the kernel of graphs in memory.
    """
    import cupy

    from dask_graphgpu.engine.gpu.device import DeviceView
    from dask_graphgpu.engine.tiered.disk import is_on_disk
    from dask_graphgpu.engine.tiered.limits import configured
    from dask_graphgpu.engine.tiered.shrinking import shrinking
    from dask_graphgpu.partition.view import View

    if is_on_disk(view.out):
        raise EngineUnavailable(
            "label_propagation does not run on edges in pages on disk with engine='gpu', but with "
            "engine='cpu': use that, or raise graphgpu.host-memory-limit"
        )
    here = DeviceView.of(view)
    n, ids, rank = here.n, here.id_dtype, here.user_rank
    if not n:
        return here.to_caller(cupy.empty(0, ids))
    views = [view]
    if view.directed:
        # A view of its own, which keeps what runs leave.
        views.append(here.made("rows of in-edges", lambda: View.of(view.into)))
    vertex = _IDS * ids.itemsize + len(views) * here.offset_dtype.itemsize + 8
    limit = configured()
    assert limit is not None  # else the graph would be on the device
    cut = _cut(views, (n + 1) * vertex, limit)

    def attempt(cut: Cut) -> Any:
        labels = cupy.empty((2, n), ids)
        labels[0] = cupy.arange(n, dtype=ids) if rank is None else rank
        labels[1] = labels[0]
        sides = [_Side(each, cut) for each in views]
        try:
            voting = _Voting(here, sides)
            for step in range(iterations):
                start = time.perf_counter()
                changed = voting.superstep(labels[step % 2], labels[1 - step % 2], step == 0)
                edges = sum(side.rows.num_edges for side in sides)
                report.advance(
                    "pull", supersteps=1, frontier=n, edges=edges,
                    bytes=edges * 2 * ids.itemsize + n * 4 * ids.itemsize,
                    seconds=time.perf_counter() - start,
                )  # fmt: skip
                if not changed:
                    break
        finally:
            for side in sides:
                side.close(report)
        label = labels[(step + 1) % 2]
        if rank is None:
            return here.to_caller(label)
        holder = cupy.empty(n, ids)
        holder[rank] = cupy.arange(n, dtype=ids)
        return here.to_caller(holder[label])

    return shrinking(cut, report, attempt)


def _cut(views: list[View], vertices: int, limit: int) -> Cut:
    """What of each side is on the device, and a buffer for the longest row."""
    from dask_graphgpu.engine.tiered.limits import BLOCK, BUFFERS, Cut

    number, edge = views[0].num_edges, views[0].out.neighbours.itemsize
    what = f"the labels of {views[0].num_vertices:,} vertices"
    room = vertices + max(limit - vertices, 0) // len(views)
    cut = Cut.of(number, edge, vertices, room, what)
    longest = max(int(view.out.degrees.max(initial=0)) for view in views)
    if not cut.segment or longest <= cut.segment:
        return cut
    segment = -(-longest // BLOCK) * BLOCK
    resident = cut.resident - BUFFERS * (segment - cut.segment)
    if resident < 0:
        needed = vertices + len(views) * BUFFERS * segment * edge
        raise LimitTooSmall(
            f"{what}, one of which has {longest:,} edges, need {needed:,} bytes of the GPU's memory, and "
            f"graphgpu.device-memory-limit is {limit:,}: set it to at least as much"
        )
    return replace(cut, resident=resident, segment=segment)


class _Part(NamedTuple):
    """Rows, and for each side what their edges were sent to; None: they are on the device."""

    first: int
    last: int
    sent: list[tuple[Slot, dict[str, int]] | None]


class _Side:
    """Rows of one direction: ``whole`` of them are on the device with all of their edges."""

    def __init__(self, view: View, cut: Cut) -> None:
        from dask_graphgpu.engine.gpu.device import DeviceView
        from dask_graphgpu.engine.tiered.store import HostTier, Ring

        self.rows = view.out
        if cut.segment:
            cut = replace(cut, segment=max(cut.segment, int(view.out.degrees.max(initial=0))))
        self.tier = HostTier(DeviceView.of(view), view.out, (), cut)
        self.whole = int(np.searchsorted(view.out.offsets, cut.resident, side="right")) - 1
        self.ring = Ring(self.tier) if self.whole < view.num_vertices else None
        self.moved = self.parts = 0

    def upto(self, first: int) -> int:
        """How far rows from ``first`` on are at hand together."""
        if first < self.whole:
            return self.whole
        offsets, most = self.rows.offsets, self.tier.cut.segment
        return int(np.searchsorted(offsets, offsets[first] + most, side="right")) - 1

    def send(self, first: int, last: int) -> tuple[Slot, dict[str, int]] | None:
        """Begin to copy the edges of some rows, unless they are on the device."""
        if last <= self.whole or self.ring is None:
            return None
        lo, hi = int(self.rows.offsets[first]), int(self.rows.offsets[last])
        slot = self.ring.next()
        self.moved += (hi - lo) * self.tier.bytes_of_edge
        self.parts += 1
        return slot, self.ring.send(slot, self.tier.arrays, lo, hi)

    def close(self, report: Report) -> None:
        """Wait for copies, and tell what was moved."""
        from dask_graphgpu.engine.tiered.transfer import Moved, tell

        if self.ring is not None:
            self.ring.close()
            tell({"stream": Moved(self.parts, 0, self.moved)}, report)


class _Voting:
    """Supersteps of the kernel over runs of rows."""

    def __init__(self, here: Any, sides: list[_Side]) -> None:
        import cupy

        from dask_graphgpu.engine.gpu.runs import State
        from dask_graphgpu.kernels.compile import cuda

        self._n, self._sides = here.n, sides
        self._kernel = cuda("label_propagation", defines=here.defines).kernel("label_rows")
        self._state = State([], {}).memory
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
        """Write the labels after those before; whether any is another."""
        self._changed.fill(0)
        after[:] = before
        ahead: _Part | None = None
        for first, last in self._runs:
            part, ahead = ahead, _Part(first, last, [s.send(first, last) for s in self._sides])
            if part is not None:
                self._vote(part, before, after, distinct)
        if ahead is not None:
            self._vote(ahead, before, after, distinct)
        return bool(self._changed[0])

    def _vote(self, part: _Part, before: Any, after: Any, distinct: bool) -> None:
        from dask_graphgpu.engine.gpu import launch
        from dask_graphgpu.engine.tiered.copies import address

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
