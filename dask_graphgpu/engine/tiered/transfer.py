"""Edges of active vertices, brought within reach of kernels part by part, each in its own way."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import cycle, islice, pairwise
from typing import Any, NamedTuple

import cupy
import numpy as np

from dask_graphgpu.engine import link_rates
from dask_graphgpu.engine.gpu.host import bytes_of_row
from dask_graphgpu.engine.gpu.ring import Ring, Slot
from dask_graphgpu.engine.limits import BUFFERS
from dask_graphgpu.engine.tiered import link
from dask_graphgpu.engine.tiered.store import EdgeStore
from dask_graphgpu.engine.tiered.subgraph import Subgraph
from dask_graphgpu.report import Report


class AtHand(NamedTuple):
    """Some edges that kernels can reach.

    Attributes
    ----------
    offsets : device array
        Of rows.
    begins : mapping of str to int
        Where edge 0 of each array would be.
    lo, hi : int
    way : str
        How they are at hand: "resident", of `limits.WAYS`, or "in order", see `Transfer.in_order`.
    """

    offsets: Any
    begins: Mapping[str, int]
    lo: int
    hi: int
    way: str


Go = Callable[[AtHand], None]  # queues kernels that go along those of active vertices


class RowsPart(NamedTuple):
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
    tier : EdgeStore
    way : str
        Of `limits.WAYS`.
    defines : dict of str to str
        Types of ids and offsets.

    Attributes
    ----------
    is_due : callable
        Asked before each part of a superstep whose parts are all streamed, in their order: whether to
        ``pause`` where the first row in it begins. Of no row are only some edges behind then.
    pause : callable
    """

    def __init__(self, tier: EdgeStore, way: str, defines: dict[str, str]) -> None:
        self.tier, self.way = tier, way
        self.moved: dict[str, Moved] = {}
        self._defines = defines

        self.is_due: Callable[[], bool] = lambda: False
        self.pause: Callable[[], None] = lambda: None
        self._in_order = False
        self._rest = tier.cut.resident < tier.num_edges
        self._lengths = np.diff(tier.bounds)
        self._sent: deque[tuple[RowsPart, Slot, dict[str, int]]] = deque()  # by `whole`, ahead
        if self._rest and way == "auto":
            link.mend(self._rates)

    @cached_property
    def _ring(self) -> Ring:
        """Where segments are copied to."""
        return Ring(self.tier)

    @cached_property
    def _subgraph(self) -> Subgraph:
        """The rows of active vertices."""
        return Subgraph(self.tier, self._defines)

    @property
    def _made(self) -> list[Ring | Subgraph]:
        return [getattr(self, name) for name in ("_ring", "_subgraph") if name in vars(self)]

    @property
    def nbytes(self) -> int:
        """Of device memory that it holds beside the tier."""
        return sum(made.nbytes for made in self._made)

    def whole(self, go: Go, *, ahead: bool) -> None:
        """Have all edges gone along, whoever is active.

        ``go`` is called for each part that crosses the link, and takes the resident edges along with one of
        them; where nothing crosses, it is called once, for the resident edges. The host waits for nothing.
        ``ahead``: all edges are gone along once more after this, so its first segments are sent already.
        """
        tier = self.tier
        if not self._rest:
            go(AtHand(tier.offsets, tier.on_device(), 0, tier.num_edges, "resident"))
            return
        if self.way == "zero-copy":
            go(AtHand(tier.offsets, tier.on_host(), tier.cut.resident, tier.num_edges, self.way))
            return
        self._stream_all(go, ahead=ahead)
        self.moved["stream"].supersteps += 1

    def _stream_all(self, go: Go, *, ahead: bool) -> None:
        number = len(self._lengths)
        for i in range(number):
            self._send_ahead(BUFFERS if ahead else min(BUFFERS, number - i))
            self._streamed(*self._sent.popleft(), go)
        if ahead:
            self._send_ahead(BUFFERS)

    def _send_ahead(self, most: int) -> None:
        """Have so many of the segments that follow on their way."""
        for lo, hi in islice(self._segments, max(most - len(self._sent), 0)):
            part, slot = RowsPart("stream", lo, hi, hi - lo), self._ring.next()
            self._note(part.way, self.tier.bytes_of(part.edges))
            self._sent.append((part, slot, self._send(slot, part)))

    @cached_property
    def _segments(self) -> Iterator[tuple[int, int]]:
        """All segments, again and again."""
        return cycle(list(pairwise(self.tier.bounds.tolist())))

    @property
    def reads(self) -> bool:
        """Whether kernels may read edges where they lie."""
        return self.way in ("auto", "zero-copy")

    @property
    def may_read(self) -> bool:
        """Whether the run chooses which edges kernels read where they lie, and there are any that are not resident."""
        return self.way == "auto" and self._rest

    def in_place(self, go: Go, edges: int) -> None:
        """Have the edges of active vertices gone along where they lie, ``edges`` of them over the link.

        The host does not look in which segments these are.
        """
        tier, resident = self.tier, self.tier.cut.resident
        if resident:
            go(AtHand(tier.offsets, tier.on_device(), 0, resident, "resident"))
        if edges:
            go(AtHand(tier.offsets, tier.on_host(), resident, tier.num_edges, "zero-copy"))
            self.read(tier.bytes_of(edges))
            self.moved["zero-copy"].supersteps += 1

    def from_host(self, go: Go, edges: int) -> None:
        """Have the edges of active vertices, ``edges`` in all, gone along where they lie on the host."""
        tier = self.tier
        go(AtHand(tier.offsets, tier.on_host(), 0, tier.num_edges, "zero-copy"))
        self.read(tier.bytes_of(edges))
        self.moved["zero-copy"].supersteps += 1

    def in_order(self, go: Go) -> None:
        """Have the edges of active vertices gone along, and all read as they lie: for when most are theirs."""
        tier = self.tier
        go(AtHand(tier.offsets, tier.on_host(), 0, tier.num_edges, "in order"))
        self.read(tier.bytes_of(tier.num_edges - tier.cut.resident))
        self.moved["zero-copy"].supersteps += 1

    def pays_in_order(self, active: int, rows: int) -> bool:
        """Whether that is the fastest for so many active edges, of so many vertices."""
        tier = self.tier
        edge, beyond = tier.bytes_of_edge, tier.num_edges - tier.cut.resident
        by_rows = link_rates.reads_of_rows(
            tier.num_edges, active, rows, edge, len(tier.arrays), self._rates
        )
        by_rows *= beyond / tier.num_edges
        return bool(
            link_rates.reads_in_order(beyond, edge, self._rates) < min(by_rows, self._streamed_all)
        )

    @cached_property
    def _streamed_all(self) -> float:
        return link_rates.streams(self._lengths, self.tier.bytes_of_edge, self._rates)

    def superstep(
        self, active: Any, go: Go, *, lo: int = 0, hi: int | None = None, everything: bool = False
    ) -> None:
        """Have the edges of active vertices gone along: all, or ``lo`` to ``hi``.

        These do not divide a segment. ``everything``: whole segments are brought, also where no
        edge in them is of an active vertex, unless kernels are to read them where they are.
        """
        tier, end = self.tier, self.tier.num_edges if hi is None else hi
        here = min(end, tier.cut.resident)
        if end > here:
            self._subgraph.find(active)
        if lo < here:
            go(AtHand(tier.offsets, tier.on_device(), lo, here, "resident"))
        if end == here:
            return
        rows, before = self._subgraph.found()
        first, last = np.searchsorted(tier.bounds, (max(lo, here), end)).tolist()
        if everything and self.way != "zero-copy":
            self._in_order = True
            ends = tier.bounds[first : last + 1].tolist()
            parts = self._streams([(lo, hi, hi - lo) for lo, hi in pairwise(ends)])
        else:
            parts = self._parts(rows, before, first, last)
        for way in self._go_along(parts, go):
            self.moved[way].supersteps += 1

    def _go_along(self, parts: Iterator[RowsPart], go: Go) -> set[str]:
        """Have parts gone along, a streamed one on its way before that in front of it is; the ways."""
        seen: set[str] = set()
        ahead: tuple[RowsPart, Slot, dict[str, int]] | None = None
        for part in parts:
            seen.add(part.way)
            self._note(part.way, self.tier.bytes_of(part.edges))
            streamed, ahead = ahead, None
            if part.way == "stream":
                slot = self._ring.next()
                ahead = part, slot, self._send(slot, part)
            if streamed is not None:
                self._streamed(*streamed, go)
            if part.way == "zero-copy":
                go(AtHand(self.tier.offsets, self.tier.on_host(), part.lo, part.hi, part.way))
            elif part.way == "compact":
                self._gathered(part, go)
        if ahead is not None:
            self._streamed(*ahead, go)
        return seen

    def _send(self, slot: Slot, part: RowsPart) -> dict[str, int]:
        """Begin to copy a part into a buffer; where there edge 0 would be."""
        return self._ring.send(slot, self.tier.arrays, part.lo, part.hi)

    def _streamed(self, part: RowsPart, slot: Slot, begins: dict[str, int], go: Go) -> None:
        self._ring.arrive(slot)
        lo = part.lo
        if self._in_order and self.is_due():
            row = self._first_row(lo)
            if row < part.hi:
                if lo < row:
                    go(AtHand(self.tier.offsets, begins, lo, row, part.way))
                self.pause()
                lo = row
        go(AtHand(self.tier.offsets, begins, lo, part.hi, part.way))
        self._ring.release(slot)

    def _first_row(self, lo: int) -> int:
        """The edge at or behind ``lo`` that is the first of its row."""
        offsets = self.tier.host.offsets
        return int(offsets[np.searchsorted(offsets, lo)])

    def _gathered(self, part: RowsPart, go: Go) -> None:
        slot = self._ring.next()
        staged = self._subgraph.gather(slot, part.lo, part.hi, self._rates)
        begins = self._ring.send(slot, staged, part.lo, part.hi, part.lo)
        self._ring.arrive(slot)
        go(AtHand(self._subgraph.begin, begins, part.lo, part.hi, part.way))
        self._ring.release(slot)

    @property
    def waited(self) -> float:
        """Seconds in which edges were waited for on the host."""
        return 0.0

    def read(self, size: int) -> None:
        """Note bytes that kernels have read of host memory by themselves."""
        if size:
            self._note("zero-copy", size)

    def rest(self) -> None:
        """Nothing is brought until the next `superstep`, and others may want the memory of the host."""

    def close(self) -> None:
        """Wait for copies that are on their way, before what they go to is given back."""
        for made in self._made:
            made.close()

    def tell(self, report: Report) -> None:
        """Add what each way has done to a report."""
        tell(self.moved, report)

    def _parts(self, rows: int, before: np.ndarray, first: int, last: int) -> Iterator[RowsPart]:
        """The parts of a superstep, by the way of each segment of those from first to last."""
        bounds, segment = self.tier.bounds, self.tier.cut.segment
        active = np.diff(before)
        active[:first] = active[last:] = 0
        ways = self.choose(rows, active)
        self._in_order = not {"zero-copy", "compact"} & set(ways)
        streamed = [i for i, way in enumerate(ways) if way == "stream"]
        yield from self._streams([(*bounds[i : i + 2].tolist(), int(active[i])) for i in streamed])
        for lo, hi in link_rates.runs([way == "zero-copy" for way in ways]):
            # Counted without what else is in the lines of the link that they are in.
            edges = int(before[hi] - before[lo])
            yield RowsPart("zero-copy", int(bounds[lo]), int(bounds[hi]), edges)
        gathered = list(link_rates.runs([way == "compact" for way in ways]))
        if gathered:
            self._note("compact", self._subgraph.bring_rows(rows), parts=0)
        for lo, hi in gathered:
            end = int(before[hi])
            for edge in range(int(before[lo]), end, segment):
                size = min(segment, end - edge)
                yield RowsPart("compact", edge, edge + size, size)

    def _streams(self, segments: Sequence[tuple[int, int, int]]) -> Iterator[RowsPart]:
        """Parts of segments that are streamed: of each where it begins and ends, and active edges."""
        for lo, hi, _ in segments:
            yield RowsPart("stream", lo, hi, hi - lo)

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
            return link_rates.choose(
                self._lengths, active, rows, edge, row, arrays, self._rates, gathers=self._gathers
            )
        if way == "compact" and active.sum() > link_rates.MOST_GATHERED * self._lengths.sum():
            way = "stream"
        return [way if edges else None for edges in active]

    @cached_property
    def _gathers(self) -> bool:
        """Whether there is room on the host for what edges are gathered in."""
        tier = self.tier
        left, buffer = tier.kept.left(), tier.cut.segment * tier.bytes_of_edge
        rows = tier.num_vertices * bytes_of_row(tier.host)
        return left is None or BUFFERS * buffer + rows <= left

    @property
    def _rates(self) -> link_rates.Rates:
        return link.rates(cupy.cuda.Device().id)

    def _note(self, way: str, size: int, parts: int = 1) -> None:
        moved = self.moved.setdefault(way, Moved())
        moved.parts += parts
        moved.bytes += size


def tell(done: Mapping[str, Moved], report: Report) -> None:
    """Add what each way has done to a report."""
    for way, moved in sorted(done.items()):
        told = report.moved.setdefault(way, {})
        for name, number in asdict(moved).items():
            told[name] = told.get(name, 0) + number
