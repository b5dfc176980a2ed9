"""Asynchronous rounds that the GPU and the CPU share: page by page either sees what the other has sent.

References
----------
.. [1] Ma et al. Garaph: efficient GPU-accelerated graph processing on a single machine with balanced
   replication. USENIX ATC 2017, section 5.
"""

from __future__ import annotations

import time
from concurrent.futures import Future
from typing import Any, NamedTuple

import cupy
import numpy as np

from dask_graphgpu.engine.hybrid.sharing import Pushed
from dask_graphgpu.engine.hybrid.supersteps import HybridSupersteps
from dask_graphgpu.engine.keeping import Keeping
from dask_graphgpu.engine.options import RunOptions
from dask_graphgpu.engine.page_dispatch import Page, Pages
from dask_graphgpu.engine.state import State
from dask_graphgpu.engine.tiered.rounds import LOCAL, Asynchronous
from dask_graphgpu.engine.tiered.transfer import AtHand, Go
from dask_graphgpu.kernels.cpu.threads import at_most


class _Turn(NamedTuple):
    """What the CPU did with what it had of a page: the edges that it pushed along."""

    edges: int
    bad: bool


class HybridAsynchronous(HybridSupersteps, Asynchronous):
    """A run of asynchronous rounds of which the CPU takes pages [1]_.

    A page of the CPU's is a part as those of the GPU's are, see `Asynchronous`: its rows send what
    waits to be sent along it, then those that have all their edges in it take what was sent to them
    by then, by either side, and send again, until none is active. State and flags are on the device,
    where vertices take messages and say what they send; to push that along edges is the CPU's.
    Between two pages of its own the GPU gets what the CPU has sent, and the CPU the page or local
    round that is next. All kernels are in one stream, so that nobody takes messages while another
    one adds to them.
    """

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._locally = cupy.zeros(len(LOCAL), np.int64)  # of the CPU's pages
        self._buffer_told = self.arrays.tier.kept.take(len(LOCAL), np.int64)
        self._told = self._buffer_told[: len(LOCAL)]  # the same on the host
        self._pages: Pages | None = None
        self._page: Page | None = None
        self._busy: Future[_Turn | None] | None = None
        self._ready = cupy.cuda.Event(disable_timing=True)
        self._measured = False
        self.transfer.between = self._take_turn
        self.transfer.page_by_page = True

    def run(self, options: RunOptions, kept: Keeping | None = None) -> State:
        """As of `Synchronous`."""
        try:
            return super().run(options, kept)
        finally:
            self.arrays.tier.kept.give_back(self._buffer_told)

    def _bring(self, run: Any, push: Go) -> None:
        self._struct, self._number, self._edges = run, 0, 0
        super()._bring(run, push)
        while self._take_turn(waits=True):
            pass
        if self._number:
            self._pushed = Pushed(self._number, self._edges, False, self._measured)

    def _lend(self, pages: Pages) -> bool:
        if not self._is_worth(pages):
            return False
        self._pages, self._measured = pages, self.speeds.measured
        self._host.begin_superstep(self.completed + 1, self.arrays.last_aggregates)
        return True

    def _pause(self, kept: Keeping) -> None:
        """As of `Asynchronous`, when the CPU is through with its page, which has whole rows."""
        while self._busy is not None:
            self._take_turn(waits=True, begins=False)
        super()._pause(kept)

    def _take_turn(self, *, waits: bool = False, begins: bool = True) -> bool:
        """Take what the CPU has sent, if it is through, and have it go on; False: there is no more to do.

        ``begins``: with the next page, if there is nothing left to do of this one.
        """
        if self._pages is None:
            return False
        if self._busy is not None:
            if not waits and not self._busy.done():
                return True
            turn, self._busy = self._busy.result(), None
            if turn is not None:
                self._take_messages(self._struct, bad=turn.bad)
                self._begin_local_round()
                return True
        if not begins:
            return False
        self._page = self._pages.for_cpu()
        if self._page is None:
            self._pages = None
            return False
        self._begin_page()
        return True

    def _begin_page(self) -> None:
        """Have the CPU push what waits to be sent along a page."""
        here, lists = self._page_part
        self._launch("begin_rounds", 1, here, self._locally)()
        self._bring_rows()  # before they are marked
        part = (here, lists, self.arrays.tier.offsets, self.arrays.active)
        self._launch("list_waiting", self._listing, *part)()
        self._number += 1
        self._busy = self._begun_turn(local=False)

    def _begin_local_round(self) -> None:
        """Have the vertices of the page take their messages, and the CPU push what they send."""
        arrays, (here, lists) = self.arrays, self._page_part
        part = (here, lists, arrays.tier.offsets)
        taken = (self.messages, self.received, arrays.reached, arrays.active, self._locally)
        self._launch("apply_whole", self._listing, *part, *taken)()
        self._launch("settle_part", 1, here, self._locally)()
        if self._emits:
            given = (*part, arrays.active, self._locally, self._emitted)
            self._launch("emit_whole", self._listing, *given)()
        self._bring_rows()
        self._locally.get(out=self._told, blocking=False)
        self._launch("begin_part", 1, here)()
        self._launch("list_whole", self._listing, *part, arrays.active, self._locally)()
        self._busy = self._begun_turn(local=True)

    def _bring_rows(self) -> None:
        """Begin to copy to the host what the CPU pushes along the page."""
        stream = cupy.cuda.get_current_stream()
        emitted = self.emitted if self.binding.source_only else None
        assert self._page is not None
        self._host.bring_rows(self._page, self.arrays, emitted, stream)
        self._host.bring_fields(self.arrays, stream)

    def _begun_turn(self, *, local: bool) -> Future[_Turn | None]:
        self._ready.record(cupy.cuda.get_current_stream())
        assert self._page is not None
        return self._helper.submit(self._push_turn, self._page, local)

    def _push_turn(self, page: Page, local: bool) -> _Turn | None:
        """In a thread of its own; None: no vertex of the page is active any more."""
        with cupy.cuda.Device(self._device), at_most(self._threads):
            self._ready.synchronize()
            if local and self._told[LOCAL.index("settled")]:
                return None
            host, began = self._host, time.perf_counter()
            host.clear()
            edges, bad = host.push_brought(page, whole=local)
            host.end_pages()
        if not local:
            self._edges += edges
            self.speeds.page_of_cpu(edges, time.perf_counter() - began)
        return _Turn(edges, bad)

    @property
    def _page_part(self) -> tuple[Any, Any]:
        """Structs Run and Push of the page, whose edges no kernel reads."""
        tier, page = self.arrays.tier, self._page
        assert page is not None
        edges = AtHand(tier.offsets, tier.on_host(), page.lo, page.hi, "stream")
        return self._part(self._struct, edges)

    def _report(self, control: dict[str, int]) -> None:
        self._local += self._locally  # rounds and edges are all that is read of them now
        super()._report(control)
