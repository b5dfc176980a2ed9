"""Who goes along which edges, the GPU or the CPU: by what either was seen to take for them.

References
----------
.. [1] Ma et al. Garaph: efficient GPU-accelerated graph processing on a single machine with balanced
   replication. USENIX ATC 2017, section 5.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dask_graphgpu.engine.speeds import Speeds

# Seconds that a page of the CPU's is to take, about: long beside what it takes to hand it over,
# short beside a superstep that is worth sharing.
_PAGE = 2e-3

# Edges of which a page of the CPU's is a multiple, and of a page before there is any rate.
BLOCK = 256
_FIRST = 1 << 18

# Pages on disk that are brought at a time: one of either side.
AT_ONCE = 2

# How much longer than expected a page of the CPU's may take and still end in time.
_LATE = 1.25

# How many times what it costs to set up a side, or to move the values of vertices there, has to have
# been saved in theory before it is done: should the run end right after, as much more was lost.
_PATIENCE = 2.0


class Sides:
    """Whether the CPU runs whole supersteps alone, or the GPU is in.

    To move the values of vertices takes a while. Where they are is where they stay, until the other
    side would have saved `_PATIENCE` times that since.

    Attributes
    ----------
    on_host : bool
        Where the values are.
    """

    def __init__(self) -> None:
        self.on_host, self._missed = False, 0.0

    def stays_on_device(self, cpu_at_least: float, gpu: float) -> bool:
        """Whether `alone` would say no, and note nothing, by what the CPU takes at least."""
        return not self.on_host and not self._missed and gpu <= cpu_at_least

    def alone(self, cpu: float, gpu: float, move: float) -> bool:
        """Whether the CPU is to run the next superstep alone.

        Parameters
        ----------
        cpu, gpu : float
            Seconds that either side takes for it: `alpha` is their ratio.
        move : float
            Seconds in which the values move.
        """
        here, there = (cpu, gpu) if self.on_host else (gpu, cpu)
        self._missed = max(self._missed + here - there, 0.0)
        # A superstep that is far longer here than it takes to move pays for that by itself.
        if here - there > move or self._missed > _PATIENCE * move:
            self.on_host, self._missed = not self.on_host, 0.0
        return self.on_host


@dataclass(frozen=True)
class Page:
    """Edges ``lo`` to ``hi``, of which about ``active`` are of active vertices.

    ``held``: their arrays, where they were brought from disk, see `Window.over`.
    """

    lo: int
    hi: int
    active: int
    held: Mapping[str, np.ndarray] | None = None

    @property
    def edges(self) -> int:
        return self.hi - self.lo

    def with_edges(self, held: Mapping[str, np.ndarray]) -> Page:
        """The same, brought from disk."""
        return replace(self, held=held)


class Pages:
    """Pages of a superstep: the GPU takes the first one that is left, the CPU some of the last.

    The CPU takes none that the GPU would be through with first, the whole rest included. So it may
    be far slower and still do what it can. Both sides may ask at a time.

    Parameters
    ----------
    pages : sequence of Page
    speeds : Speeds
    way : str
        Of `WAYS`.
    starting, ending : float
        Seconds before the CPU's first page, and after its last until the device has its messages.
    each : bool
        Whether it is so of each page of the CPU's.
    offsets : int64 array, optional
        Of rows: those of the CPU's pages that are cut from others begin with a row. Where none begins in
        the last page, the CPU takes nothing.
    """

    def __init__(
        self,
        pages: Sequence[Page],
        speeds: Speeds,
        way: str,
        starting: float = 0.0,
        ending: float = 0.0,
        *,
        each: bool = False,
        offsets: np.ndarray | None = None,
    ) -> None:
        self._offsets = offsets
        self._speeds, self._way, self._each = speeds, way, each
        self._starting, self._ending = starting, ending
        self._lock = threading.Lock()
        self._left = deque(pages)
        self._turn = deque(pages[1::2])  # of the CPU
        if way == "alternate":
            self._left = deque(pages[::2])
        elif way == "cpu":
            self._left, self._turn = deque(), deque(pages)

    def for_gpu(self) -> Page | None:
        """The first page that is left; None: there is none."""
        with self._lock:
            return self._left.popleft() if self._left else None

    def for_cpu(self) -> Page | None:
        """Some edges, or a page; None: there is none, or it is better left to the GPU."""
        with self._lock:
            if self._way in ("cpu", "alternate"):
                return self._turn.popleft() if self._turn else None
            if self._way != "auto" or not self._left:
                return None
            page = self._some()
            if page is None:
                return None
            last = self._left.pop()
            if not self._each:
                self._starting = 0.0  # they are over
            if last.lo < page.lo:
                self._left.append(Page(last.lo, page.lo, last.active - page.active))
            return page

    def leave(self, page: Page) -> None:
        """Whoever took a page is through with its edges."""

    def cancel(self, error: BaseException) -> None:
        """Have nobody wait for pages: one side has failed."""

    @property
    def worth(self) -> float:
        """Seconds that the CPU is about to save by taking part; 0 where it would take none."""
        with self._lock:
            if self._way != "auto" or not self._left or self._some() is None:
                return 0.0
            active = sum(page.active for page in self._left)
            of_gpu, of_cpu = self._rest / self._speeds.gpu_shared, active / self._speeds.push
            # The two together, the CPU as much shorter as it takes to begin and to send messages.
            beside = self._starting + self._ending
            together = (of_cpu + beside) * of_gpu / (of_cpu + of_gpu)
            together = max(together, self._rest / self._speeds.disk)
            alone = self._rest / self._speeds.gpu
            least = self._speeds.least_gain * alone
            return alone - together if alone - together > least else 0.0

    @property
    def _rest(self) -> int:
        return sum(page.edges for page in self._left)

    def _needs(self, active: int) -> float:
        """Seconds that the CPU may take for so many active edges."""
        return _LATE * active / self._speeds.push

    def _some(self) -> Page | None:
        """What the CPU would take of the last page; None: the GPU is through with all before it is."""
        last, speeds = self._left[-1], self._speeds
        share = last.active / last.edges
        size = speeds.push * _PAGE if speeds.measured else _FIRST
        size = int(size / max(share, 1e-9)) // BLOCK * BLOCK
        lo = max((last.hi - max(size, BLOCK)) // BLOCK * BLOCK, last.lo)
        if self._offsets is not None:
            lo = int(self._offsets[np.searchsorted(self._offsets, lo)])
            if lo >= last.hi:
                return None
        active = round(share * (last.hi - lo))
        takes = self._starting + self._needs(active) + self._ending
        return Page(lo, last.hi, active) if takes < self._rest / speeds.gpu_shared else None
