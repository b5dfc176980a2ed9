"""Transfer of edges of which the CPU may go along some, where they are."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from dask_graphgpu.engine.limits import BUFFERS
from dask_graphgpu.engine.page_dispatch import Page, Pages
from dask_graphgpu.engine.speeds import Speeds
from dask_graphgpu.engine.tiered.store import EdgeStore
from dask_graphgpu.engine.tiered.transfer import RowsPart, Transfer

# Pages before which the time from one to the next also has what comes before the first.
_STEADY = BUFFERS + 1


class Lending:
    """What is asked of the CPU about pages.

    Parameters
    ----------
    speeds : Speeds
    dispatch : str
        Of `limits.DISPATCH`; but for "auto" all segments are streamed, unless the way says otherwise.
    starting, ending : float
        As of `Pages`.

    Attributes
    ----------
    lend : callable
        Has the CPU begin to take pages, if it is to, and says whether it does.
    between : callable
        Is called before each page of the GPU's.
    page_by_page : bool
        Whether the device has the messages of each of the CPU's pages before the next one.
    """

    page_by_page = False

    def __init__(self, speeds: Speeds, dispatch: str, starting: float, ending: float) -> None:
        self.speeds, self.dispatch = speeds, dispatch
        self.beside = starting, ending
        self.end()

    def end(self) -> None:
        """Ask nobody: who is called refers to the transfer, and neither keeps the other any more."""
        self.lend: Callable[[Pages], bool] = lambda pages: False
        self.between: Callable[[], object] = lambda: None


class SharedTransfer(Transfer):
    """`Transfer` whose streamed segments are pages that either side may take.

    Segments that are read in place or gathered have few active edges, and are the GPU's.
    """

    def __init__(
        self, tier: EdgeStore, way: str, defines: dict[str, str], lending: Lending
    ) -> None:
        super().__init__(tier, way, defines)
        self._lending = lending

    def close(self) -> None:
        super().close()
        self._lending.end()

    @property
    def may_read(self) -> bool:
        """As of `Transfer`, where not all segments are pages."""
        return self._lending.dispatch not in ("cpu", "alternate") and super().may_read

    def choose(self, rows: int, active: np.ndarray) -> Sequence[str | None]:
        if self._lending.dispatch in ("cpu", "alternate"):
            return ["stream" if edges else None for edges in active]
        return super().choose(rows, active)

    def _streams(self, segments: Sequence[tuple[int, int, int]]) -> Iterator[RowsPart]:
        if not segments:  # as in short supersteps, of which there may be many
            return
        given, lending = [Page(*each) for each in segments], self._lending
        each = lending.page_by_page
        pages = Pages(
            given, lending.speeds, lending.dispatch, *lending.beside, each=each,
            offsets=self.tier.host.offsets if each else None,
        )  # fmt: skip
        if lending.dispatch in ("cpu", "alternate"):
            self._in_order = False
        shared = lending.lend(pages)
        sizes: list[int] = []
        before = 0.0
        while True:
            if shared:  # else the device is never waited for
                self._ring.ready()
                now = time.perf_counter()
                if len(sizes) >= _STEADY:
                    lending.speeds.page_of_gpu(sizes[-BUFFERS], now - before)
                before = now
            lending.between()
            page = pages.for_gpu()
            if page is None:
                return
            sizes.append(page.edges)
            yield RowsPart("stream", page.lo, page.hi, page.edges)
