"""Who goes along which edges, the GPU or the CPU: by what either was seen to take for them.

References
----------
.. [1] Ma et al. Garaph: efficient GPU-accelerated graph processing on a single machine with balanced
   replication. USENIX ATC 2017, section 5.
"""

from __future__ import annotations

import math
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from dask_graphgpu import config
from dask_graphgpu.engine.tiered.link import LINE, OF_ROWS, Rates
from dask_graphgpu.errors import InvalidArgument

WAYS = ("auto", "gpu", "cpu", "alternate", "supersteps")

# Seconds that a page of the CPU's is to take, about: long beside what it takes to hand it over,
# short beside a superstep that is worth sharing.
_PAGE = 2e-3

# Edges of which a page of the CPU's is a multiple, below which a time says nothing, and of a page
# before there is any.
BLOCK = 256
_LEAST = 1 << 16
_FIRST = 1 << 18

# Shared supersteps that took longer, less those that did not, after which no more are shared.
_SPOILED = 3

# Pages on disk that are brought at a time: one of either side.
AT_ONCE = 2

# The part of a superstep's time that has to be gained where the disk is what both sides wait for: rates
# are not known any better.
_GAIN = 0.1

# How much longer than expected a page of the CPU's may take and still end in time.
_LATE = 1.25

# How many times what it costs to set up a side, or to move the values of vertices there, has to have
# been saved in theory before it is done: should the run end right after, as much more was lost.
_PATIENCE = 2.0


def configured() -> str:
    """``graphgpu.dispatch``; InvalidArgument if there is no such way."""
    way = config.get("dispatch")
    if way not in WAYS:
        raise InvalidArgument(f"graphgpu.dispatch is {way!r}: allowed are {', '.join(WAYS)}.")
    return str(way)


def work(direction: str, f: float, rho: float = 1.0) -> float:
    """The part of a pull over the same edges that a superstep or a page of the CPU takes.

    Parameters
    ----------
    direction : {"pull", "notify-pull", "push"}
    f : float
        The share of these edges that active vertices send over.
    rho : float
        How many times as long a random read takes as one in order: 1 in memory.
    """
    if direction == "pull":
        return 1.0
    return min(2 * f * rho, 1.0) if direction == "notify-pull" else min(f, 1.0)


def alpha(f: float, rho: float, pull: float, gpu: float, beside: float = 0.0) -> float:
    """How many times as long as the GPU the CPU takes for a superstep: the GPU joins from 1 on [1]_.

    ``min(2 f rho, 1) T_pull / T_GPU``, with what the CPU takes ``beside`` its edges added above.

    Parameters
    ----------
    f : float
        Share of the edges that active vertices send over.
    rho : float
        As of `work`.
    pull : float
        Seconds in which the CPU pulls along all edges.
    gpu : float
        Seconds of the GPU for the superstep.
    """
    return (beside + work("notify-pull", f, rho) * pull) / gpu


def streams_of_disk(rows: float, rest: int, segment: int) -> float:
    """Edges of the segments, of so many each, that have rows in them, if these lie anywhere."""
    return float(min(rest, rows * segment))


def streams(
    edges: float, rows: float, rest: int, edge: int, arrays: int, rates: Rates, gpu: float
) -> float:
    """Streamed edges that take as long as what a superstep has to get over the link.

    As of `link.choose`, where the edges of few rows are read in place.

    Parameters
    ----------
    edges, rows : float
        Active ones that are not on the device.
    rest : int
        Edges that are not.
    edge, arrays : int
        Bytes of one, and arrays that it is spread over.
    gpu : float
        Edges that are streamed in a second.
    """
    read = (edges * edge + rows * arrays * LINE) / (OF_ROWS * rates.reads)
    return float(min(rest, read * gpu))


@dataclass
class Speeds:
    """What either side was seen to do; rates follow, by half of what they are off by.

    Attributes
    ----------
    pull : float
        Edges that the CPU goes along in a second, in a pull; of its supersteps.
    push : float
        Active edges that it goes along in a second in its pages, which are pushed.
    gpu : float
        Edges that are streamed to the GPU, and gone along there, in a second, while the CPU rests.
    cpu_beside, gpu_beside : float
        Seconds of a superstep beside its edges.
    measured : bool
        Whether `push` is what was seen; before that pages are short.
    could_save : float
        Seconds that the CPU could have saved with pages in runs that have not set it up.
    was_set_up : bool
        Whether a run has: the arrays that it pinned are kept for others.
    gpu_shared : float
        As ``gpu``, while the CPU is at work: both read host memory.
    disk : float
        Edges that the disk gives in a second, where they lie there.
    random : float
        How many times as long a page takes there by itself as in a pass: Garaph's rho and k.
    """

    pull: float
    push: float
    gpu: float
    cpu_beside: float
    gpu_beside: float
    measured: bool = False
    could_save: float = 0.0
    was_set_up: bool = False
    gpu_shared: float = 0.0
    disk: float = math.inf
    random: float = 1.0
    _worse: int = 0
    _loaded: set[str] = field(default_factory=set)
    _judged: tuple[tuple[Any, ...], bool] | None = None

    def __post_init__(self) -> None:
        self.gpu_shared = self.gpu_shared or self.gpu

    def judged(self, beside: tuple[Any, ...], judge: Callable[[], bool]) -> bool:
        """What ``judge`` says of these speeds and of ``beside``; it is asked once as long as both stay."""
        speeds = self.pull, self.push, self.gpu, self.gpu_shared, self.cpu_beside, self.gpu_beside
        given = (*beside, *speeds, self.measured)
        if self._judged is None or self._judged[0] != given:
            self._judged = given, judge()
        return self._judged[1]

    def page_of_cpu(self, active: int, seconds: float) -> None:
        """A page of the CPU's with so many active edges; the first of all loaded the code for it."""
        if not self._is_loaded("page") or active < _LEAST or seconds <= 0:
            return
        seen = active / seconds
        self.push = 0.5 * (self.push + seen) if self.measured else seen
        self.measured = True

    def page_of_gpu(self, edges: int, seconds: float) -> None:
        """``edges`` edges were streamed, and gone along, while the CPU was at work."""
        if edges >= _LEAST and seconds > 0:
            self.gpu_shared += 0.5 * (edges / seconds - self.gpu_shared)

    def step_of_cpu(self, seconds: float, direction: str, share: float, edges: int) -> None:
        """A superstep of the CPU alone, with this share of the edges active.

        The mode that it ran in is undone: the rate is that of a pull. The first in a mode loaded
        the code for it.
        """
        pulled = edges * work(direction, share, self.random)
        if not self._is_loaded(direction):
            return
        if pulled / self.pull <= 2 * self.cpu_beside:
            rest = max(seconds - pulled / self.pull, 0.0)
            self.cpu_beside += 0.5 * (rest - self.cpu_beside)
        elif seconds > self.cpu_beside and pulled >= _LEAST:
            self.pull += 0.5 * (pulled / (seconds - self.cpu_beside) - self.pull)

    def step_of_gpu(self, seconds: float, edges: float, waited: float = 0.0) -> None:
        """A superstep of the GPU alone, with as much to transfer as so many streamed edges.

        Of the disk the rate is not known before, but seen. While it was ``waited`` for, so many seconds, it
        gave no more than all of these edges; nor would it give more to the CPU.
        """
        if self.disk < math.inf and seconds > self.gpu_beside and edges > _LEAST:
            seen = edges / (seconds - self.gpu_beside)
            self.gpu = 0.5 * (self.gpu + seen) if self._is_loaded("disk") else seen
            if waited > 0:
                self.disk = min(self.disk, edges / waited)
            self.disk = max(self.disk, self.gpu)
            self.pull = min(self.pull, self.disk)
            return
        rest = max(seconds - edges / self.gpu, 0.0)
        self.gpu_beside += 0.5 * (rest - self.gpu_beside)

    def step_of_both(self, seconds: float, edges: float) -> None:
        """A superstep that was shared; ``edges`` as of `step_of_gpu`."""
        worse = seconds > self.gpu_beside + edges / self.gpu
        self._worse = max(self._worse + (1 if worse else -1), 0)

    @property
    def spoiled(self) -> bool:
        """Whether supersteps that were shared took longer than the GPU alone took for such."""
        return self._worse >= _SPOILED

    def _is_loaded(self, code: str) -> bool:
        """Whether code of this name has run before; it has then."""
        loaded = code in self._loaded
        self._loaded.add(code)
        return loaded


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
            least = _GAIN * alone if self._speeds.disk < math.inf else 0.0
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
