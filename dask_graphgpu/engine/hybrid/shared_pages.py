"""Pages of a superstep that the CPU pushes for the GPU, in a thread of its own."""

from __future__ import annotations

from concurrent.futures import Future
from typing import Any

from dask_graphgpu.engine.gpu.superstep import Superstep
from dask_graphgpu.engine.hybrid.cpu_side import CpuSide, Pushed
from dask_graphgpu.engine.hybrid.host import HostSide
from dask_graphgpu.engine.hybrid.transfer import Lending
from dask_graphgpu.engine.page_dispatch import Pages
from dask_graphgpu.engine.tiered.supersteps import SegmentCarrier
from dask_graphgpu.engine.tiered.transfer import Go, Transfer


class SharedPages(SegmentCarrier):
    """As `SegmentCarrier`, of which the CPU takes pages.

    The state is on the device. For a page the CPU gets the flags and what is sent of the page's own
    rows, a stretch of each array, over the direction of the link that streamed edges leave free. It
    combines messages in an array of its own, which goes to the device once a superstep; there they
    are combined with the others, and all vertices take them. With the state on the host instead,
    each superstep would move the messages of the GPU's pages and what every vertex sends, and wait
    for the CPU to look at all vertices.
    """

    def __init__(
        self, superstep: Superstep, transfer: Transfer, lending: Lending, cpu: CpuSide
    ) -> None:
        super().__init__(superstep, transfer)
        self._cpu = cpu
        self._working: Future[Pushed] | None = None
        lending.lend = self._lend

    def bring(self, run: Any, push: Go) -> None:
        cpu = self._cpu
        cpu.pushed = None
        cpu.note()
        super().bring(run, push)
        working, self._working = self._working, None
        if working is not None:
            pushed = working.result()
            if pushed.pages:
                cpu.pushed = pushed
                cpu.give_messages(run, bad=pushed.bad)

    def _lend(self, pages: Pages) -> bool:
        """Have the CPU begin to take pages, where it is worth it."""
        cpu = self._cpu
        if not cpu.is_worth(pages):
            return False
        self._working = cpu.helper.submit(self._push_pages, cpu.host, pages)
        return True

    def _push_pages(self, host: HostSide, pages: Pages) -> Pushed:
        """In a thread of its own: the CPU's pages."""
        superstep, arrays, speeds = self.superstep, self.arrays, self._cpu.speeds
        number, edges, bad, measured = 0, 0, False, speeds.measured
        with self._cpu.at_work(), self._cpu.stream() as stream:
            emitted = superstep.emitted if superstep.binding.source_only else None
            while (page := pages.for_cpu()) is not None:
                if not number:
                    host.begin_pages(
                        arrays, superstep.completed + 1, arrays.last_aggregates, stream
                    )
                try:
                    found, wrong = host.push_page(page, arrays, emitted, stream, speeds)
                except BaseException as error:
                    pages.cancel(error)
                    raise
                pages.leave(page)
                number, edges, bad = number + 1, edges + found, bad or wrong
            if number:
                host.end_pages()
        return Pushed(number, edges, bad, measured)
