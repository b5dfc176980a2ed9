"""Edges whose first ones are on the device, and all of them in pages on disk: each segment by way of pinned memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import cupy
import numpy as np

from dask_graphgpu.engine import limits
from dask_graphgpu.engine.cuda.packing import Packing
from dask_graphgpu.engine.gpu import host
from dask_graphgpu.engine.gpu.copies import copy
from dask_graphgpu.engine.gpu.ring import Slot
from dask_graphgpu.engine.limits import Cut
from dask_graphgpu.engine.tiered.store import EdgeStore, HostTier
from dask_graphgpu.engine.tiered.transfer import Go, RowsPart, Transfer
from dask_graphgpu.errors import InvalidArgument
from dask_graphgpu.partition.csr import Adjacency
from dask_graphgpu.partition.paged.limits import pages_asked
from dask_graphgpu.partition.paged.sort import PagedAdjacency
from dask_graphgpu.partition.paged.window import Window
from dask_graphgpu.report import Report

# Of the memory that a graph may take on the host, what a segment takes at most: it is there about three
# times, with what is read ahead. And its bytes at most: the less memory pages go round in, the faster disks
# were read (docs/measurements/out-of-core.md).
_SHARE, _MOST = 16, 4 << 20

# Of the device's free memory, what is taken where there is no limit.
_FREE = 0.8


class DiskTier(EdgeStore):
    """Edges beyond the device in pages on disk: ``arrays`` are `PagedArray`, and kernels read none where it lies."""

    host: PagedAdjacency
    read_bytes = 0  # of the disk, for the resident edges

    def on_host(self) -> dict[str, int]:
        """No addresses."""
        return dict.fromkeys(self.arrays, 0)

    def _at_hand(
        self, names: Sequence[str], packing: Packing | None, bits: int | None
    ) -> dict[str, Any]:
        self.kept.pages = self.host.folder.spare
        return {"neighbours": self.host.neighbours, **{n: self.host.columns[n] for n in names}}

    def _brought(self, name: str, edges: int) -> Any:
        array: Any = self.arrays[name]
        made, stream = cupy.empty(edges, array.dtype), cupy.cuda.get_current_stream()
        size = self.cut.segment or max(self.host.limits.page_bytes // array.itemsize, 1)
        begins = np.arange(0, edges, size)
        spans = np.stack([begins, np.minimum(begins + size, edges)], 1)
        window = Window({name: array}, memory=self.kept.registered)
        for (lo, hi), held in zip(spans.tolist(), window.over(spans), strict=True):
            part = held[name][lo:hi]
            copy(int(made[lo:hi].data.ptr), part.ctypes.data, part.nbytes, stream)
            stream.synchronize()  # other pages are read to where it was
        self.read_bytes += window.read_bytes
        return made


class DiskTransfer(Transfer):
    """As `Transfer`, where segments are read ahead of the pass, into memory that the device copies from."""

    tier: DiskTier

    def __init__(self, tier: DiskTier, way: str, defines: dict[str, str]) -> None:
        super().__init__(tier, way, defines)
        self._window = Window(tier.arrays, stays=True, memory=tier.kept.registered)
        self._held: dict[str, np.ndarray] = {}

    def _streams(self, segments: Sequence[tuple[int, int, int]]) -> Iterator[RowsPart]:
        spans = np.array([(lo, hi) for lo, hi, _ in segments], np.int64).reshape(-1, 2)
        for (lo, hi), held in zip(spans.tolist(), self._window.over(spans), strict=True):
            self._held = held  # until the next part is asked for
            yield RowsPart("stream", lo, hi, hi - lo)
            self._sending.copied.synchronize()  # other pages are read to where it was

    def _stream_all(self, go: Go, *, ahead: bool) -> None:
        bounds = self.tier.bounds.tolist()
        self._go_along(self._streams([(lo, hi, hi - lo) for lo, hi in pairwise(bounds)]), go)

    def _send(self, slot: Slot, part: RowsPart) -> dict[str, int]:
        self._sending = slot
        return self._ring.send(slot, self._held, part.lo, part.hi)

    def close(self) -> None:
        """As of `Transfer`; the memory for pages goes as well."""
        super().close()
        self._held = {}
        self._window.release()

    @property
    def waited(self) -> float:
        """As of `Transfer`: for the disk."""
        return self._window.waited

    def tell(self, report: Report) -> None:
        """As of `Transfer`, and what was read of the disk."""
        super().tell(report)
        report.disk_waited += self.waited
        report.disk_bytes += self._window.read_bytes + self.tier.read_bytes


def is_on_disk(rows: Adjacency) -> bool:
    """Whether the edges of rows lie in pages on disk."""
    return isinstance(rows, PagedAdjacency)


def kinds_of(rows: Adjacency) -> tuple[type[EdgeStore], type[Transfer]]:
    """What holds the edges of some rows, and what brings them."""
    return (DiskTier, DiskTransfer) if is_on_disk(rows) else (HostTier, Transfer)


def transfer_of(rows: Adjacency) -> str:
    """``graphgpu.transfer``; edges on disk can be streamed alone.

    Raises
    ------
    InvalidArgument
        Another way was asked for.
    """
    way = limits.configured_transfer()
    if not is_on_disk(rows):
        return way
    if way not in ("auto", "stream"):
        raise InvalidArgument(
            f"graphgpu.transfer is {way!r}, and the edges of this graph lie in pages on disk, which "
            "kernels cannot read and nobody gathers from: use 'auto' or 'stream'"
        )
    return "stream"


def limit_of(rows: Adjacency) -> int:
    """``graphgpu.device-memory-limit``; of edges on disk a part of what is free, where there is none."""
    limit = limits.configured()
    if limit is None:
        assert is_on_disk(rows)  # else the graph would be on the device
        return int(_FREE * cupy.cuda.runtime.memGetInfo()[0])
    return limit


def cut_of(rows: Adjacency, edge: float, vertices: int, what: str) -> Cut:
    """As of `Cut.of`, for the edges of some rows; of those on disk buffers are no larger than the host has room for.

    Raises
    ------
    LimitTooSmall
        Not even the least buffers fit, on the device or on the host.
    """
    limit = limit_of(rows)
    if not isinstance(rows, PagedAdjacency):
        return host.cut_of(
            rows, edge, vertices, limit, what, gathers=transfer_of(rows) == "compact"
        )
    cut = Cut.of(rows.num_edges, edge, vertices, limit, what, **most_of(rows))
    require_on_host([rows], cut, edge, what)
    return cut


def most_of(rows: Adjacency) -> dict[str, int]:
    """What a buffer takes at most, for `Cut.of`: of edges on disk no more than the host has room for."""
    if not isinstance(rows, PagedAdjacency):
        return {}
    return {"most": max(min(rows.limits.memory // _SHARE, _MOST), rows.limits.page_bytes)}


def require_on_host(sides: Sequence[Adjacency], cut: Cut, edge: float, what: str) -> None:
    """Raise LimitTooSmall where pages of edges on disk, of all of these rows, do not fit the host."""
    paged = [rows for rows in sides if isinstance(rows, PagedAdjacency)]
    needed = sum(_on_host(rows, cut, edge) for rows in paged)
    for rows in paged:
        rows.limits.require(needed, f"{what} with its edges on disk")


def _on_host(rows: PagedAdjacency, cut: Cut, edge: float) -> int:
    """Bytes of memory: rows without edges, an answer, and pages at hand, from which the device copies."""
    pages = bytes_ahead(rows) + int(2 * cut.segment * edge)
    vertices = rows.offsets.nbytes + rows.counts.nbytes + 8 * rows.num_vertices
    return vertices + pages


def bytes_ahead(rows: PagedAdjacency) -> int:
    """Bytes of pages that are read ahead of a pass over segments, and of those that these begin and end in."""
    ahead = pages_asked(len(rows.limits.directories), rows.limits.page_bytes)
    return len(rows.arrays) * (ahead + 4) * rows.limits.page_bytes
