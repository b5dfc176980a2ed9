"""Pages of a superstep that come from disk, in their order: they go to whoever is free."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import Any

import numpy as np

from dask_graphgpu.engine.hybrid.transfer import Lending
from dask_graphgpu.engine.page_dispatch import AT_ONCE, Page, Pages
from dask_graphgpu.engine.tiered.disk import DiskTier, DiskTransfer
from dask_graphgpu.engine.tiered.transfer import RowsPart
from dask_graphgpu.partition.paged.window import Window

# Seconds between two looks of the CPU whether a page has come that the GPU is not there for.
_LOOK = 2e-4


class ArrivingPages(Pages):
    """As `Pages`, of a window's pass: whoever takes a page has it brought, and leaves it.

    The disk is what both wait for, and a page that the GPU waits for is the GPU's. The CPU takes a page
    that has been read while the GPU is still at work on others.
    """

    def __init__(self, window: Window, pages: Sequence[Page], *given: Any) -> None:
        super().__init__(pages, *given)
        self._window, self._over = window, False
        self._place = {page.lo: i for i, page in enumerate(pages)}

    def for_gpu(self) -> Page | None:
        return self._brought(super().for_gpu())

    def for_cpu(self) -> Page | None:
        if self._way != "auto":
            return self._brought(super().for_cpu())
        while True:
            with self._lock:
                if self._over or not self._left or self._is_late(self._left[0]):
                    return None
                if self._window.has(self._place[self._left[0].lo]):
                    page = self._left.popleft()
                    break
            time.sleep(_LOOK)
        self._starting = 0.0
        return self._brought(page)

    def leave(self, page: Page) -> None:
        self._window.leave(self._place[page.lo])

    def cancel(self, error: BaseException) -> None:
        with self._lock:
            self._over = True
        self._window.fail(error)

    def _brought(self, page: Page | None) -> Page | None:
        if page is None:
            return None
        return page.with_edges(self._window.bring(self._place[page.lo]))

    def _some(self) -> Page | None:
        first = self._left[0]
        return None if self._is_late(first) else first

    def _is_late(self, page: Page) -> bool:
        """Whether the GPU would be through with all that is left before the CPU is with this page."""
        speeds = self._speeds
        takes = self._starting + self._needs(page.active) + self._ending
        return takes >= self._rest / speeds.gpu_shared


class SharedDiskTransfer(DiskTransfer):
    """`DiskTransfer` whose pages are read ahead of a pass, for both sides."""

    def __init__(self, tier: DiskTier, way: str, defines: dict[str, str], lending: Lending) -> None:
        super().__init__(tier, way, defines)
        self._lending = lending
        self._pass = ExitStack()
        self._pages: ArrivingPages | None = None

    def _streams(self, segments: Sequence[tuple[int, int, int]]) -> Iterator[RowsPart]:
        if not segments:
            return
        self._end_pass()
        spans = np.array([(lo, hi) for lo, hi, _ in segments], np.int64)
        self._pass.enter_context(self._window.passing(spans, AT_ONCE, whole=True))
        given, lending = [Page(*each) for each in segments], self._lending
        speeds, way = lending.speeds, lending.dispatch
        pages = ArrivingPages(self._window, given, speeds, way, *lending.beside)
        self._pages, shared = pages, lending.lend(pages)
        began, edges = time.perf_counter(), 0
        while (page := pages.for_gpu()) is not None:
            self._held = dict(page.held or {})
            yield RowsPart("stream", page.lo, page.hi, page.edges)
            self._sending.copied.synchronize()  # other pages are read to where it was
            pages.leave(page)
            edges += page.edges
            if shared and way == "auto":
                now = time.perf_counter()
                speeds.page_of_gpu(page.edges, now - began)
                began = now

    def _end_pass(self) -> None:
        """End the last pass: whoever took pages of it is through."""
        self._pages = None
        self._pass.close()

    def rest(self) -> None:
        """As of `Transfer`: the memory for pages goes."""
        self._end_pass()
        self._held = {}
        self._window.release()

    def close(self) -> None:
        """As of `DiskTransfer`; where the CPU still waits for pages, it gets an error."""
        if self._pages is not None:
            self._pages.cancel(RuntimeError("the run has ended"))
        super().close()
        self._lending.end()
        self._end_pass()
