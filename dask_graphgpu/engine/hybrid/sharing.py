"""Pages of a superstep that the CPU pushes for the GPU, in a thread of its own.

References
----------
.. [1] Ma et al. Garaph: efficient GPU-accelerated graph processing on a single machine with balanced
   replication. USENIX ATC 2017.
"""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from functools import cached_property
from typing import Any, NamedTuple

import cupy

from dask_graphgpu.engine.gpu.arrays import CONTROL
from dask_graphgpu.engine.hybrid.disk_host import DiskHostSide
from dask_graphgpu.engine.hybrid.host import HostSide
from dask_graphgpu.engine.hybrid.transfer import SharedTransfer
from dask_graphgpu.engine.keeping import Keeping
from dask_graphgpu.engine.options import RunOptions
from dask_graphgpu.engine.page_dispatch import Pages
from dask_graphgpu.engine.speeds import Speeds
from dask_graphgpu.engine.state import State
from dask_graphgpu.engine.tiered.arrays import TieredArrays
from dask_graphgpu.engine.tiered.disk import is_on_disk
from dask_graphgpu.engine.tiered.supersteps import THREADS, TieredSynchronous
from dask_graphgpu.engine.tiered.transfer import Go
from dask_graphgpu.kernels.cpu.threads import at_most, num_threads
from dask_graphgpu.kernels.device_streams import stream_of
from dask_graphgpu.report import Report

_BAD_COMPUTE = 1  # of program.cuh

# Bytes a second in which host memory is pinned, about.
_PINNING = 4e9


class Pushed(NamedTuple):
    """What the CPU did of a superstep."""

    pages: int
    edges: int
    bad: bool
    measured: bool  # whether its rate was known before


class SharingSupersteps(TieredSynchronous):
    """A run in supersteps of the GPU, of which the CPU takes pages of edges [1]_.

    The state is on the device. For a page the CPU gets the flags and what is sent of the page's own
    rows, a stretch of each array, over the direction of the link that streamed edges leave free. It
    combines messages in an array of its own, which goes to the device once a superstep; there they
    are combined with the others, and all vertices take them. The other way around, state on the
    host and messages of the GPU's pages brought there, each superstep would move the messages and
    what every vertex sends, and wait for the CPU to look at all vertices.
    """

    arrays: TieredArrays
    transfer: SharedTransfer
    shares = True  # whether pages may be the CPU's

    def __init__(
        self,
        arrays: TieredArrays,
        report: Report,
        transfer: SharedTransfer,
        speeds: Speeds,
        dispatch: str,
    ) -> None:
        super().__init__(arrays, report, transfer)
        self.speeds, self.dispatch = speeds, dispatch
        self._device = cupy.cuda.Device().id
        self._threads = max(num_threads() - 1, 1)  # of the helper: this one keeps the GPU at work
        self._stream = stream_of(self)
        self._known = cupy.cuda.Event(disable_timing=True)
        self._helper = ThreadPoolExecutor(1, thread_name_prefix="graphgpu-hybrid")
        self._working: Future[Pushed] | None = None
        self._making: Future[HostSide] | None = None
        transfer.lend = self._lend

    def run(self, options: RunOptions, kept: Keeping | None = None) -> State:
        """As of `Synchronous`."""
        try:
            return super().run(options, kept)
        finally:
            self._helper.shutdown()
            cupy.cuda.get_current_stream().synchronize()  # copies to what is given back
            if self._making is not None and self._making.exception() is None:
                self._making.result().arrays.close()

    @property
    def _setting_up(self) -> float:
        """Seconds in which the CPU's arrays are made, about; 0 once they are."""
        if "_host" in self.__dict__:
            return 0.0
        return 2e-3 if self.speeds.was_set_up else 5e-3 + self._state / _PINNING

    @cached_property
    def _state(self) -> int:
        """Bytes of what changes of the vertices, with their flags."""
        arrays = self.arrays
        columns = (arrays.state[name] for name in self.program.changing)
        return sum(int(each.nbytes) for each in (*columns, arrays.active, arrays.reached))

    def _bring(self, run: Any, push: Go) -> None:
        self._pushed: Pushed | None = None
        self._known.record(cupy.cuda.get_current_stream())
        super()._bring(run, push)
        working, self._working = self._working, None
        if working is not None:
            self._take(run, working.result())

    @property
    def _may_read(self) -> bool:
        return self.dispatch not in ("cpu", "alternate") and super()._may_read

    def _lend(self, pages: Pages) -> bool:
        """Have the CPU begin to take pages, where it is worth it."""
        if not self._is_worth(pages):
            return False
        self._working = self._helper.submit(self._push_pages, self._host, pages)
        return True

    def _is_worth(self, pages: Pages) -> bool:
        """Whether the CPU is to take pages, and may begin."""
        if not self.shares or self.dispatch in ("gpu", "supersteps"):
            return False
        if self.dispatch == "auto":
            worth, speeds = pages.worth, self.speeds
            speeds.could_save += worth
            if not worth or speeds.spoiled or speeds.could_save < 2 * self._setting_up:
                return False
            if not self._begun().done():
                return False  # the GPU goes on meanwhile
        return True

    def _push_pages(self, host: HostSide, pages: Pages) -> Pushed:
        """In a thread of its own: the CPU's pages."""
        number, edges, bad, measured = 0, 0, False, self.speeds.measured
        with cupy.cuda.Device(self._device), self._stream, at_most(self._threads):
            stream, arrays = self._after(), self.arrays
            emitted = self.emitted if self.binding.source_only else None
            while (page := pages.for_cpu()) is not None:
                if not number:
                    superstep = self.completed + 1
                    host.begin_pages(arrays, superstep, arrays.last_aggregates, stream)
                try:
                    found, wrong = host.push_page(page, arrays, emitted, stream, self.speeds)
                except BaseException as error:
                    pages.cancel(error)
                    raise
                pages.leave(page)
                number, edges, bad = number + 1, edges + found, bad or wrong
            if number:
                host.end_pages()
        return Pushed(number, edges, bad, measured)

    def _take(self, run: Any, pushed: Pushed) -> None:
        """Have the device take the messages of the CPU's pages."""
        if not pushed.pages:
            return
        self._pushed = pushed
        self._take_messages(run, bad=pushed.bad)

    def _take_messages(self, run: Any, *, bad: bool) -> None:
        """The same of those that the CPU has now; ``bad``: one did not fit its type."""
        messages, received = self._sent
        self._host.send(messages, received, cupy.cuda.get_current_stream())
        sent = self.arrays.stored(messages, self.binding.message), received
        into = (*sent, self.messages, self.received)
        self._launch("take_sent", -(-self.arrays.n // THREADS), run, *into)()
        if bad:
            place = CONTROL.index("bad")
            self.arrays.control[place : place + 1] |= _BAD_COMPUTE

    def _after(self) -> Any:
        """The stream of copies from the device, after what is known of the superstep by now."""
        self._stream.wait_event(self._known)
        return self._stream

    @cached_property
    def _host(self) -> HostSide:
        return self._begun().result()

    def _begun(self) -> Future[HostSide]:
        """The CPU's side, which is set up in the other thread."""
        if self._making is None:
            self.speeds.was_set_up = True
            self._making = self._helper.submit(self._make)
        return self._making

    def _make(self) -> HostSide:
        with cupy.cuda.Device(self._device), self._after(), at_most(self._threads):
            return self._kind(self.binding, self.report, self.arrays.tier.kept, self.arrays)

    @property
    def _kind(self) -> type[HostSide]:
        return DiskHostSide if self._on_disk else HostSide

    @cached_property
    def _on_disk(self) -> bool:
        return is_on_disk(self.binding.send)

    @cached_property
    def _sent(self) -> tuple[Any, Any]:
        """Where messages of the CPU come to, and whether there is one."""
        return cupy.empty(self.arrays.n, self._host.messages.dtype), cupy.empty_like(self.received)

    def _nbytes(self) -> int:
        held = self.__dict__.get("_sent", ())
        return super()._nbytes() + sum(int(array.nbytes) for array in held)
