"""How edges that do not fit a GPU come to it in runs that are measured, and how long these may take."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from unittest.mock import patch

import cupy as cp
import dask
import numpy as np

from dask_graphgpu.engine import link_rates
from dask_graphgpu.engine.gpu.ring import Ring, Slot
from dask_graphgpu.engine.limits import BLOCK, BUFFERS, Cut
from dask_graphgpu.engine.tiered import disk
from dask_graphgpu.engine.tiered.transfer import Go, RowsPart, Transfer
from dask_graphgpu.kernels.device_streams import stream_of

cut_of = Cut.of  # as it is where it is patched

STREAMS = 32  # of Subway's PT-Opt


class TooLong(Exception):
    """A run was given up in a superstep."""


@dataclass
class Watch:
    """Where the time of a run goes, in seconds that may overlap, and what its rounds were.

    Attributes
    ----------
    generation : float
        To list the rows of active vertices, and for the host to gather their edges.
    over, oversized : int
        Rounds in which more than 80 % of the edges in host memory are active, and those that gather more
        than a buffer takes.
    """

    generation: float = 0.0
    over: int = 0
    oversized: int = 0
    _spans: dict[str, list[tuple[Any, Any]]] = field(default_factory=dict)

    def timed(self, what: str, call: Callable[..., Any], stream: Any = None) -> Callable[..., Any]:
        """The same call between two events in a stream, the current one at that time if none."""

        def between(*given: Any, **named: Any) -> Any:
            events = cp.cuda.Event(), cp.cuda.Event()
            events[0].record(stream)
            found = call(*given, **named)
            events[1].record(stream)
            self._spans.setdefault(what, []).append(events)
            return found

        return between

    def sent(self, ring: Any) -> Callable[..., Any]:
        """`Ring.send` between two events, the first one when the buffer is free."""
        send = ring.send

        def after(slot: Any, *given: Any) -> Any:
            stream = ring.of[slot] if isinstance(ring, Streams) else ring._stream
            stream.wait_event(slot.used)
            return self.timed("transfer", send, stream)(slot, *given)

        return after

    def on_host(self, call: Callable[..., Any]) -> Callable[..., Any]:
        """The same call of the host, which takes part in generation."""

        def between(*given: Any) -> Any:
            began = time.perf_counter()
            found = call(*given)
            self.generation += time.perf_counter() - began
            return found

        return between

    def seconds(self, what: str) -> float:
        """Of "find", "transfer" or "compute"."""
        cp.cuda.Device().synchronize()
        spans = self._spans.get(what, [])
        return sum(cp.cuda.get_elapsed_time(*events) for events in spans) / 1e3


class Limited(Transfer):
    """Gives a run up that takes longer than it may, and has it watched.

    The time begins with the second superstep: code is loaded in the first.
    """

    limit = math.inf  # seconds
    passed = 0  # supersteps of the run
    watch: Watch | None = None
    _until = math.inf

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        watch = Limited.watch
        if watch is not None and self._rest:
            ring, subgraph = self._ring, self._subgraph
            ring.send = watch.sent(ring)  # type: ignore[method-assign]
            subgraph.find = watch.timed("find", subgraph.find)  # type: ignore[method-assign]
            subgraph.bring_rows = watch.on_host(subgraph.bring_rows)  # type: ignore[method-assign]
            subgraph.gather = watch.on_host(subgraph.gather)  # type: ignore[method-assign]

    def superstep(self, active: Any, go: Go, **named: Any) -> None:
        """As of `Transfer`."""
        super().superstep(active, self._passing(go), **named)

    def from_host(self, go: Go, edges: int) -> None:
        """As of `Transfer`."""
        super().from_host(self._passing(go), edges)

    def pays_in_order(self, active: int, rows: int) -> bool:
        """As of `Transfer`."""
        self._active = active
        return super().pays_in_order(active, rows)

    def in_order(self, go: Go) -> None:
        """As of `Transfer`."""
        watch = Limited.watch
        if watch is not None:
            watch.over += self._active > link_rates.MOST_GATHERED * self.tier.num_edges
        super().in_order(self._passing(go))

    def _passing(self, go: Go) -> Go:
        """Count a superstep, or give it up; what is called in it, watched."""
        Limited.passed += 1
        if Limited.passed == 2:
            Limited._until = time.perf_counter() + Limited.limit
        if Limited.passed > 2 and time.perf_counter() > Limited._until:
            raise TooLong
        watch = Limited.watch
        return go if watch is None else watch.timed("compute", go)

    def whole(self, go: Go, *, ahead: bool) -> None:
        """As of `Transfer`: a superstep in which all edges are gone along."""
        Limited.passed += 1
        watch = Limited.watch
        if watch is not None:
            watch.over += 1
        super().whole(go if watch is None else watch.timed("compute", go), ahead=ahead)

    def _parts(self, rows: int, before: np.ndarray, first: int, last: int) -> Iterator[RowsPart]:
        watch = Limited.watch
        if watch is not None:
            edges = int(before[last] - before[first])
            watch.over += edges > link_rates.MOST_GATHERED * self._lengths[first:last].sum()
        gathered = 0
        for part in super()._parts(rows, before, first, last):
            gathered += part.edges * (part.way == "compact")
            yield part
        if watch is not None:
            watch.oversized += gathered > self.tier.cut.segment


class Streams(Ring):
    """Many buffers, each of which is filled on a stream of its own."""

    def __init__(self, tier: Any) -> None:
        super().__init__(tier)
        self._slots += [Slot(tier) for _ in range(STREAMS - BUFFERS)]
        self.of = {slot: stream_of(slot) for slot in self._slots}

    def send(self, slot: Slot, *given: Any) -> dict[str, int]:
        """As of `Ring`."""
        self._stream = self.of[slot]
        return super().send(slot, *given)

    def close(self) -> None:
        """As of `Ring`."""
        for stream in self.of.values():
            stream.synchronize()
        super().close()


class InStreams(Limited):
    """Segments with an active row, as many on their way as there are streams."""

    @cached_property
    def _ring(self) -> Ring:
        return Streams(self.tier)

    @staticmethod
    def cut(whole: Cut) -> Cut:
        """As much on the device, half of it buffers."""
        room = whole.resident + BUFFERS * whole.segment
        segment = max(min(whole.segment, room // (2 * STREAMS)) // BLOCK, 1) * BLOCK
        return Cut(max(room - STREAMS * segment, 0), segment, whole.num_edges)

    def _go_along(self, parts: Iterator[RowsPart], go: Go) -> set[str]:
        ahead: deque[tuple[RowsPart, Slot, dict[str, int]]] = deque()
        for part in parts:
            self._note(part.way, self.tier.bytes_of(part.edges))
            slot = self._ring.next()
            ahead.append((part, slot, self._send(slot, part)))
            if len(ahead) == STREAMS:
                self._streamed(*ahead.popleft(), go)
        seen = {"stream"} if ahead else set()
        while ahead:
            self._streamed(*ahead.popleft(), go)
        return seen


class Partitioned(Limited):
    """Every segment is streamed in every superstep."""

    def choose(self, rows: int, active: np.ndarray) -> list[str | None]:
        return ["stream"] * len(active)


@contextmanager
def on_device(share: float) -> Iterator[None]:
    """Have this share of the edges' bytes on the device, whatever of vertices is there beside them."""

    def cut(num_edges: int, edge: int, vertices: int, limit: int, what: str) -> Cut:
        return cut_of(num_edges, edge, 0, int(share * num_edges * edge), what)

    limit = dask.config.set({"graphgpu.device-memory-limit": "1TB"})
    with limit, patch.object(Cut, "of", cut), patch.object(disk, "Transfer", Limited):
        yield
