"""Asynchronous rounds that the GPU and the CPU share: page by page either sees what the other has sent."""

from __future__ import annotations

import time
from concurrent.futures import Future
from typing import Any, NamedTuple

import cupy
import numpy as np

from dask_graphgpu.engine.gpu.superstep import Superstep
from dask_graphgpu.engine.hybrid.cpu_side import CpuSide, Pushed
from dask_graphgpu.engine.hybrid.transfer import Lending
from dask_graphgpu.engine.keeping import Keeping
from dask_graphgpu.engine.page_dispatch import Page, Pages
from dask_graphgpu.engine.tiered.rounds import LOCAL, Asynchronous
from dask_graphgpu.engine.tiered.transfer import AtHand, Go, Transfer


class _Turn(NamedTuple):
    """What the CPU did with what it had of a page: the edges that it pushed along."""

    edges: int
    bad: bool


class SharedRounds(Asynchronous):
    """As `Asynchronous`, of which the CPU takes pages.

    A page of the CPU's is a part as those of the GPU's are, see `Asynchronous`. Its rows send what
    waits to be sent along it. Then those that have all their edges in it take what either side has
    sent to them so far and send again, until none is active. State and flags are on the device,
    where vertices take messages and say what they send; to push that along edges is the CPU's.
    Between two pages of its own the GPU gets what the CPU has sent, and the CPU the page or local
    round that is next. All kernels are in one stream, so that nobody takes messages while another
    one adds to them.
    """

    def __init__(
        self, superstep: Superstep, transfer: Transfer, lending: Lending, cpu: CpuSide
    ) -> None:
        super().__init__(superstep, transfer)
        self._cpu = cpu
        self._locally = cupy.zeros(len(LOCAL), np.int64)  # of the CPU's pages
        self._told = cpu.pinned(len(LOCAL), np.int64)  # the same on the host
        self._pages: Pages | None = None
        self._page: Page | None = None
        self._busy: Future[_Turn | None] | None = None
        self._ready = cupy.cuda.Event(disable_timing=True)
        self._measured = False
        lending.lend, lending.between, lending.page_by_page = self._lend, self._take_turn, True

    def bring(self, run: Any, push: Go) -> None:
        cpu = self._cpu
        self._struct, self._number, self._edges = run, 0, 0
        cpu.pushed = None
        cpu.note()
        super().bring(run, push)
        while self._take_turn(waits=True):
            pass
        if self._number:
            cpu.pushed = Pushed(self._number, self._edges, False, self._measured)

    def _lend(self, pages: Pages) -> bool:
        """Have the CPU begin to take pages, where it is worth it."""
        cpu, superstep = self._cpu, self.superstep
        if not cpu.is_worth(pages):
            return False
        self._pages, self._measured = pages, cpu.speeds.measured
        cpu.host.begin_superstep(superstep.completed + 1, self.arrays.last_aggregates)
        return True

    def pause(self, kept: Keeping) -> None:
        """As of `Asynchronous`, when the CPU is through with its page, which has whole rows."""
        while self._busy is not None:
            self._take_turn(waits=True, begins=False)
        super().pause(kept)

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
                self._cpu.give_messages(self._struct, bad=turn.bad)
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
        self.launch("begin_rounds", 1, here, self._locally)()
        self._bring_rows()  # before they are marked
        self._over_part("list_waiting", here, lists, self.arrays.active)
        self._number += 1
        self._busy = self._begun_turn(local=False)

    def _begin_local_round(self) -> None:
        """Have the vertices of the page take their messages, and the CPU push what they send."""
        here, lists = self._page_part
        self._apply(here, lists, self._locally)
        self.launch("settle_part", 1, here, self._locally)()
        self._emit(here, lists, self._locally)
        self._bring_rows()
        self._locally.get(out=self._told, blocking=False)
        self.launch("begin_part", 1, here)()
        self._over_part("list_whole", here, lists, self.arrays.active, self._locally)
        self._busy = self._begun_turn(local=True)

    def _bring_rows(self) -> None:
        """Begin to copy to the host what the CPU pushes along the page."""
        stream, host, superstep = cupy.cuda.get_current_stream(), self._cpu.host, self.superstep
        emitted = superstep.emitted if superstep.binding.source_only else None
        assert self._page is not None
        host.bring_rows(self._page, self.arrays, emitted, stream)
        host.bring_fields(self.arrays, stream)

    def _begun_turn(self, *, local: bool) -> Future[_Turn | None]:
        self._ready.record(cupy.cuda.get_current_stream())
        assert self._page is not None
        return self._cpu.helper.submit(self._push_turn, self._page, local)

    def _push_turn(self, page: Page, local: bool) -> _Turn | None:
        """In a thread of its own; None: no vertex of the page is active any more."""
        with self._cpu.at_work():
            self._ready.synchronize()
            if local and self._told[LOCAL.index("settled")]:
                return None
            host, began = self._cpu.host, time.perf_counter()
            host.clear()
            edges, bad = host.push_brought(page, whole=local)
            host.end_pages()
        if not local:
            self._edges += edges
            self._cpu.speeds.page_of_cpu(edges, time.perf_counter() - began)
        return _Turn(edges, bad)

    @property
    def _page_part(self) -> tuple[Any, Any]:
        """Structs Run and Push of the page, whose edges no kernel reads."""
        tier, page = self.arrays.tier, self._page
        assert page is not None
        edges = AtHand(tier.offsets, tier.on_host(), page.lo, page.hi, "stream")
        return self._part(self._struct, edges)

    def tell(self) -> None:
        self._local += self._locally  # rounds and edges are all that is read of them now
        super().tell()
