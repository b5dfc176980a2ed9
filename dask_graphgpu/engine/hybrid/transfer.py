"""Transfer of edges of which the CPU may go along some, where they are."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from dask_graphgpu.engine.limits import BUFFERS
from dask_graphgpu.engine.page_dispatch import Page, Pages
from dask_graphgpu.engine.speeds import Speeds
from dask_graphgpu.engine.tiered.store import EdgeStore
from dask_graphgpu.engine.tiered.transfer import Part, Transfer

# Pages before which the time from one to the next also has what comes before the first.
_STEADY = BUFFERS + 1


class SharedTransfer(Transfer):
    """`Transfer` whose streamed segments are pages that either side may take.

    Segments that are read in place or gathered have few active edges, and are the GPU's.

    Parameters
    ----------
    dispatch : str
        Of `limits.DISPATCH`; but for "auto" all segments are streamed, unless ``way`` says otherwise.
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

    def __init__(
        self,
        tier: EdgeStore,
        way: str,
        defines: dict[str, str],
        speeds: Speeds,
        dispatch: str,
        starting: float,
        ending: float,
    ) -> None:
        super().__init__(tier, way, defines)
        self._speeds, self._dispatch = speeds, dispatch
        self._beside = starting, ending
        self._ask_nobody()

    def _ask_nobody(self) -> None:
        self.lend: Callable[[Pages], bool] = lambda pages: False
        self.between: Callable[[], object] = lambda: None

    def close(self) -> None:
        """As of `Transfer`; who is called refers to this, and neither keeps the other any more."""
        super().close()
        self._ask_nobody()

    def rest(self) -> None:
        """The CPU runs whole supersteps, until the next `superstep`."""

    def choose(self, rows: int, active: np.ndarray) -> Sequence[str | None]:
        """As of `Transfer`."""
        if self._dispatch in ("cpu", "alternate"):
            return ["stream" if edges else None for edges in active]
        return super().choose(rows, active)

    def _streams(self, segments: Sequence[tuple[int, int, int]]) -> Iterator[Part]:
        if not segments:  # as in short supersteps, of which there may be many
            return
        given = [Page(*each) for each in segments]
        each = self.page_by_page
        pages = Pages(
            given, self._speeds, self._dispatch, *self._beside, each=each,
            offsets=self.tier.host.offsets if each else None,
        )  # fmt: skip
        if self._dispatch in ("cpu", "alternate"):
            self._in_order = False
        shared = self.lend(pages)
        sizes: list[int] = []
        before = 0.0
        while True:
            if shared:  # else the device is never waited for
                self._ring.ready()
                now = time.perf_counter()
                if len(sizes) >= _STEADY:
                    self._speeds.page_of_gpu(sizes[-BUFFERS], now - before)
                before = now
            self.between()
            page = pages.for_gpu()
            if page is None:
                return
            sizes.append(page.edges)
            yield Part("stream", page.lo, page.hi, page.edges)
