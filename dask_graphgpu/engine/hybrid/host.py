"""The CPU's side: pages that are pushed for the GPU, and whole supersteps."""

from __future__ import annotations

import time
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import cupy
import numpy as np

from dask_graphgpu.engine.cpu.arrays import Arrays
from dask_graphgpu.engine.cpu.synchronous import Synchronous
from dask_graphgpu.engine.gpu.copies import bring, copy
from dask_graphgpu.engine.gpu.run_cache import RunCache
from dask_graphgpu.engine.lower import lower
from dask_graphgpu.engine.page_dispatch import Page
from dask_graphgpu.engine.paged.synchronous import EdgesOnDisk
from dask_graphgpu.engine.speeds import Speeds
from dask_graphgpu.engine.state import Binding
from dask_graphgpu.kernels.cpu.threads import even_blocks, for_blocks, num_threads
from dask_graphgpu.partition.csr import Adjacency
from dask_graphgpu.partition.paged.sort import PagedAdjacency
from dask_graphgpu.report import Report

# Vertices of which threads have sums of their own, in all: the hubs are among them where rows are by
# falling degree, and putting them together is short beside a superstep.
_OWN = 1 << 24


class HostArrays(Arrays):
    """`Arrays` that get their values from the device, which has those at the start."""

    def __init__(self, binding: Binding, kept: RunCache) -> None:
        self._kept, self._taken = kept, []  # type: tuple[RunCache, list[np.ndarray]]
        super().__init__(binding, lower(binding), None)

    def _start(self, sources: np.ndarray | None) -> None:
        self.state = {
            name: self.pinned(self.n, dtype) for name, dtype in self.binding.dtypes.items()
        }
        flags = np.dtype(np.uint8)
        self.active = self.pinned(self.n, flags)
        self.reached = self.pinned(self.n if self.binding.program.has_reached else 0, flags)

    def pinned(self, size: int, dtype: np.dtype[Any]) -> np.ndarray:
        """An array to which the GPU copies, until `close`."""
        stored = dtype if dtype.kind != "b" else np.dtype(np.uint8)
        self._taken.append(self._kept.take(size, stored))
        made: np.ndarray = self._taken[-1][:size].view(dtype)
        return made

    def close(self) -> None:
        """Leave what is pinned to other runs."""
        for array in self._taken:
            self._kept.give_back(array)
        self._taken = []


class HostSide(Synchronous):
    """`Synchronous` of the CPU engine, of which the GPU reads and writes the arrays.

    Of a superstep that the sides share, ``arrays.active`` and what vertices send are right for the
    rows of pages that were brought, nothing else is.

    Attributes
    ----------
    moved : int
        Bytes of vertices that went over the link.
    """

    arrays: HostArrays

    def __init__(self, binding: Binding, report: Report, kept: RunCache, device: Any) -> None:
        self.moved = 0
        arrays, rows = HostArrays(binding, kept), binding.send
        on_disk = isinstance(rows, PagedAdjacency)
        super().__init__(arrays, report, EdgesOnDisk(arrays, report) if on_disk else None)
        stream = cupy.cuda.get_current_stream()
        for name in set(binding.dtypes) - set(binding.program.changing):
            self._bring_field(name, device, stream)
        stream.synchronize()
        if binding.source_only or not binding.program.aggregates:  # else it takes their values
            given = {"neighbours": rows.neighbours, **rows.columns}
            none = {name: np.empty(0, array.dtype) for name, array in given.items()}
            self._push_along(Page(0, 0, 0, none if on_disk else None))  # loads the code

    def _array(self, size: int, dtype: np.dtype[Any]) -> np.ndarray:
        return self.arrays.pinned(size, dtype)

    def _count(self) -> None:
        """Nothing: nobody is active here yet."""

    # -- pages -----------------------------------------------------------------------------------

    def begin_pages(self, device: Any, superstep: int, aggregates: Any, stream: Any) -> None:
        """No messages yet, and whatever else of the vertices has to be here for any page.

        ``aggregates`` gives their values when called.
        """
        self.clear()
        self.begin_superstep(superstep, aggregates)
        self.bring_fields(device, stream)
        stream.synchronize()

    def begin_superstep(self, superstep: int, aggregates: Any) -> None:
        """Note what messages may depend on beside vertices; ``aggregates`` as of `begin_pages`."""
        self.arrays.superstep = superstep
        if not self.binding.source_only:
            self.arrays.aggregates.update(aggregates())

    def clear(self) -> None:
        """No messages yet."""

        def clear(lo: int, hi: int) -> None:
            self.messages[lo:hi] = self.identity
            self.received[lo:hi] = 0

        for_blocks(clear, even_blocks(self.arrays.n))

    def bring_fields(self, device: Any, stream: Any) -> None:
        """Begin to copy what messages read of either end, if they do."""
        if not self.binding.source_only:
            for name in self.program.changing:
                self._bring_field(name, device, stream)

    def bring_rows(self, page: Page, device: Any, emitted: Any, stream: Any) -> None:
        """Begin to copy the flags, and what is sent, of the rows that have edges in a page."""
        first, last = self._rows(page)
        self._bring(device.active[first:last], self.arrays.active[first:last], stream)
        if self.binding.source_only:
            with stream:  # what is made for the copy, and its memory
                sent = device.wide(emitted[first:last], self.binding.message)
                self._bring(sent, self.emitted[first:last], stream)

    def _rows(self, page: Page) -> tuple[int, int]:
        """The first row that has edges in a page, and behind the last."""
        offsets = self.binding.send.offsets
        first = int(np.searchsorted(offsets, page.lo, side="right")) - 1
        return first, int(np.searchsorted(offsets, page.hi, side="left"))

    def push_page(self, page: Page, device: Any, emitted: Any, stream: Any, speeds: Speeds) -> Any:
        """Push along the edges of active vertices in a page, which are on the device.

        Returns
        -------
        edges : int
        bad : bool
            Whether a message does not fit its type.
        """
        began = time.perf_counter()
        self.bring_rows(page, device, emitted, stream)
        stream.synchronize()
        total, bad = self._push_along(page)
        speeds.page_of_cpu(total, time.perf_counter() - began)
        return total, bad

    def push_brought(self, page: Page, *, whole: bool) -> tuple[int, bool]:
        """The same of flags that were brought; ``whole``: of rows that have all their edges in the page."""
        if whole:
            (first, last), offsets = self._rows(page), self.binding.send.offsets
            flags = self.arrays.active[first:last]
            if offsets[first] < page.lo:
                flags[:1] = 0
            if offsets[last] > page.hi:
                flags[-1:] = 0
        return self._push_along(page)

    def _along(self, page: Page) -> Adjacency:
        """The rows, with the edges of a page where they are: in memory, or where they were brought to."""
        rows = self.binding.send
        if page.held is None:
            return rows
        held = dict(page.held)
        return Adjacency(rows.offsets, held.pop("neighbours"), held)

    def _push_along(self, page: Page) -> tuple[int, bool]:
        """Push along the active edges of a page: how many, and whether a message does not fit its type."""
        edges, lo, hi = self._along(page), page.lo, page.hi
        parts = self._own.shape[0] if self._own.size else len(even_blocks(hi - lo)) - 1
        cuts = np.linspace(lo, hi, parts + 1).astype(np.int64)
        found = self.arrays.run(
            "push_rows", np.arange(parts + 1), edges, cuts, edges.offsets.view(np.uint64),
            edges.neighbours, self.arrays.active, self.emitted, self._own, self.messages,
            self.received,
        )  # fmt: skip
        return sum(int(read) for _, read in found), any(bad for bad, _ in found)

    @cached_property
    def _own(self) -> np.ndarray:
        """Sums over the first vertices, of each thread."""
        threads, sums = num_threads(), self.program.combine == "sum"
        size = min(self.arrays.n, _OWN // threads) * sums
        # Which threads touch first themselves.
        return np.zeros((threads, size), self.messages.dtype)

    def end_pages(self) -> None:
        """Put the sums of all threads together, and have these be none again."""
        own, messages = self._own, self.messages

        def fold(lo: int, hi: int) -> None:
            messages[lo:hi] += own[:, lo:hi].sum(axis=0, dtype=messages.dtype)
            own[:, lo:hi] = 0

        if own.size:
            for_blocks(fold, even_blocks(own.shape[1], work=len(own)))

    def send(self, messages: Any, received: Any, stream: Any) -> None:
        """Copy the messages of all pages to the device."""
        self._send(messages, self.messages, stream)
        self._send(received, self.received, stream)

    # -- whole supersteps ------------------------------------------------------------------------

    def end_stretch(self) -> None:
        """The state goes to the device, and may come back; the GPU's side has memory for pages of its own."""
        self.edges.release()

    def take_over(
        self, device: Any, control: Mapping[str, int], aggregates: Any, stream: Any
    ) -> None:
        """Have the state that is on the device here."""
        arrays = self.arrays
        for name in self.program.changing:
            self._bring_field(name, device, stream)
        self._bring(device.active, arrays.active, stream)
        self._bring(device.reached, arrays.reached, stream)
        stream.synchronize()
        arrays.aggregates.clear()
        arrays.aggregates.update(aggregates)
        self._start(control["num_active"], control["active_edges"])

    def hand_over(self, device: Any, stream: Any) -> None:
        """Have the state that is here on the device."""
        arrays = self.arrays
        for name in self.program.changing:
            column, dtype = device.state[name], self.binding.dtypes[name]
            stored = column.dtype.itemsize == dtype.itemsize
            into = column if stored else cupy.empty(len(column), dtype)
            self._send(into, arrays.state[name], stream)
            if not stored:
                column[:] = device.stored(into, dtype)
        self._send(device.active, arrays.active, stream)
        self._send(device.reached, arrays.reached, stream)
        stream.synchronize()  # the arrays here are written again

    def _bring_field(self, name: str, device: Any, stream: Any) -> None:
        with stream:  # what is made for the copy, and its memory
            column = device.wide(device.state[name], self.binding.dtypes[name])
            self._bring(column, self.arrays.state[name], stream)

    def _bring(self, array: Any, into: np.ndarray, stream: Any) -> None:
        self.moved += into.nbytes
        bring(array, into, stream)

    def _send(self, into: Any, array: np.ndarray, stream: Any) -> None:
        self.moved += array.nbytes
        copy(int(into.data.ptr), array.ctypes.data, array.nbytes, stream)
