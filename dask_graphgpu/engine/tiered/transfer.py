"""Edges of active vertices, brought within reach of kernels part by part, each in its own way."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple, Protocol

import cupy
import numpy as np

from dask_graphgpu.engine.gpu.worklists import SEPARATORS
from dask_graphgpu.engine.tiered import link
from dask_graphgpu.engine.tiered.store import HostTier, Ring
from dask_graphgpu.engine.tiered.subgraph import Subgraph
from dask_graphgpu.report import Report

# A row that is read over the link is a warp's, however short.
_READ = (1, SEPARATORS[1])


class Go(Protocol):
    """Queues kernels that go along the edges ``lo`` to ``hi`` of active vertices.

    ``offsets`` are of rows, on the device; ``begins`` says for each array where edge 0 would be.
    """

    def __call__(
        self,
        offsets: Any,
        begins: Mapping[str, int],
        lo: int,
        hi: int,
        separators: tuple[int, int] = SEPARATORS,
    ) -> None: ...


class Part(NamedTuple):
    """Some edges: ``lo`` to ``hi`` of all, or of the active subgraph where they are compacted.

    ``edges``: how many go over the link.
    """

    way: str
    lo: int
    hi: int
    edges: int


@dataclass
class Moved:
    """What one way of transfer has done: parts, supersteps that had one, and bytes over the link."""

    parts: int = 0
    supersteps: int = 0
    bytes: int = 0


class Transfer:
    """The way of a run's edges to its kernels.

    Parameters
    ----------
    tier : HostTier
    way : str
        Of `limits.WAYS`.
    defines : dict of str to str
        Types of ids and offsets.
    """

    def __init__(self, tier: HostTier, way: str, defines: dict[str, str]) -> None:
        self.tier, self.way = tier, way
        self.moved: dict[str, Moved] = {}
        self._rest = tier.cut.resident < tier.num_edges
        if self._rest:
            self._ring = Ring(tier)
            self._subgraph = Subgraph(tier, defines)
            self._lengths = np.diff(tier.bounds)

    @property
    def nbytes(self) -> int:
        """Of device memory that it holds beside the tier."""
        return self._ring.nbytes + self._subgraph.nbytes if self._rest else 0

    def superstep(self, active: Any, go: Go, *, lo: int = 0, hi: int | None = None) -> None:
        """Have the edges of active vertices gone along: all, or ``lo`` to ``hi``.

        These do not divide a segment.
        """
        tier, end = self.tier, self.tier.num_edges if hi is None else hi
        here = min(end, tier.cut.resident)
        if end > here:
            self._subgraph.find(active)
        if lo < here:
            go(tier.offsets, tier.on_device(), lo, here)
        if end == here:
            return
        rows, before = self._subgraph.found()
        first, last = np.searchsorted(tier.bounds, (max(lo, here), end)).tolist()
        seen = set()
        for part in self._parts(rows, before, first, last):
            self._bring(part, go)
            seen.add(part.way)
        for way in seen:
            self.moved[way].supersteps += 1

    def close(self) -> None:
        """Wait for copies that are on their way, before what they go to is given back."""
        if self._rest:
            self._ring.close()

    def tell(self, report: Report) -> None:
        """Add what each way has done to a report."""
        for way, moved in sorted(self.moved.items()):
            told = report.moved.setdefault(way, {})
            for name, number in asdict(moved).items():
                told[name] = told.get(name, 0) + number

    def _parts(self, rows: int, before: np.ndarray, first: int, last: int) -> Iterator[Part]:
        """The parts of a superstep, by the way of each segment of those from first to last."""
        bounds, segment = self.tier.bounds, self.tier.cut.segment
        active = np.diff(before)
        active[:first] = active[last:] = 0
        ways = self.choose(rows, active)
        for i, way in enumerate(ways):
            if way == "stream":
                lo, hi = bounds[i : i + 2].tolist()
                yield Part(way, lo, hi, hi - lo)
        for lo, hi in runs([way == "zero-copy" for way in ways]):
            # Counted without what else is in the lines of the link that they are in.
            edges = int(before[hi] - before[lo])
            yield Part("zero-copy", int(bounds[lo]), int(bounds[hi]), edges)
        gathered = list(runs([way == "compact" for way in ways]))
        if gathered:
            self._note("compact", self._subgraph.bring_rows(rows), parts=0)
        for lo, hi in gathered:
            end = int(before[hi])
            for edge in range(int(before[lo]), end, segment):
                size = min(segment, end - edge)
                yield Part("compact", edge, edge + size, size)

    def choose(self, rows: int, active: np.ndarray) -> Sequence[str | None]:
        """The way of each segment, None where none of its edges is active.

        Parameters
        ----------
        rows : int
            Active vertices that have edges in any.
        active : int64 array
            Edges of active vertices in each.
        """
        way = self.way
        if way == "auto":
            edge, arrays = self.tier.bytes_of_edge, len(self.tier.arrays)
            row = self._subgraph.bytes_of_row
            return link.choose(self._lengths, active, rows, edge, row, arrays, self._rates)
        if way == "compact" and active.sum() > link.MOST_GATHERED * self._lengths.sum():
            way = "stream"
        return [way if edges else None for edges in active]

    @property
    def _rates(self) -> link.Rates:
        return link.rates(cupy.cuda.Device().id)

    def _bring(self, part: Part, go: Go) -> None:
        """Have the edges of a part at hand, and gone along."""
        tier, (way, lo, hi, edges) = self.tier, part
        self._note(way, edges * tier.bytes_of_edge)
        if way == "zero-copy":
            go(tier.offsets, tier.on_host(), lo, hi, _READ)
            return
        slot = self._ring.next()
        if way == "stream":
            go(tier.offsets, self._ring.send(slot, tier.arrays, lo, hi), lo, hi)
        else:
            staged = self._subgraph.gather(slot, lo, hi, self._rates)
            go(self._subgraph.begin, self._ring.send(slot, staged, lo, hi, lo), lo, hi)
        self._ring.release(slot)

    def _note(self, way: str, size: int, parts: int = 1) -> None:
        moved = self.moved.setdefault(way, Moved())
        moved.parts += parts
        moved.bytes += size


def runs(chosen: Sequence[bool]) -> Iterator[tuple[int, int]]:
    """Stretches of neighbouring segments that are chosen."""
    begin = None
    for i, each in enumerate([*chosen, False]):
        if each and begin is None:
            begin = i
        if not each and begin is not None:
            yield begin, i
            begin = None
