"""At what rates the GPU and the CPU go along edges, as either was seen to.

References
----------
.. [1] Ma et al. Garaph: efficient GPU-accelerated graph processing on a single machine with balanced
   replication. USENIX ATC 2017, section 5.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from dask_graphgpu.engine.link_rates import LINE, OF_ROWS, Rates

# Edges below which a time says nothing.
_LEAST = 1 << 16

# The part of a superstep's time that has to be gained where the disk is what both sides wait for: rates
# are not known any better.
_GAIN = 0.1

# Shared supersteps that took longer, less those that did not, after which no more are shared.
_SPOILED = 3


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


def alpha(
    f: float, rho: float, pull: float, gpu: float, beside: float = 0.0, least: float = 0.0
) -> float:
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
    least : float
        Seconds in which the disk gives what the CPU has to read: few rows are in many pages.
    """
    return (beside + max(work("notify-pull", f, rho) * pull, least)) / gpu


def streams_of_disk(rows: float, rest: int, segment: int) -> float:
    """Edges of the segments, of so many each, that have rows in them, if these lie anywhere."""
    return float(min(rest, rows * segment))


def read_alone(f: float, rho: float, rows: float, edges: int, segment: int) -> float:
    """Edges that the CPU reads from disk for a superstep of its own, if rows lie anywhere.

    All in a pull; in a notify-pull the segments of active rows, and those of all rows that these notify.
    The GPU, which pushes, reads the former only.

    Parameters
    ----------
    f, rho : float
        As of `alpha`.
    rows : float
        Active ones.
    edges : int
        All there are.
    segment : int
        Edges of one.
    """
    if work("notify-pull", f, rho) == 1.0:
        return float(edges)
    return streams_of_disk(rows, edges, segment) + streams_of_disk(f * edges, edges, segment)


def streams(
    edges: float, rows: float, rest: int, edge: int, arrays: int, rates: Rates, gpu: float
) -> float:
    """Streamed edges that take as long as what a superstep has to get over the link.

    As of `link_rates.choose`, where the edges of few rows are read in place.

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
        self._read = self.disk  # with nobody at work

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
        gave no more than all of these edges; nor would it give more to the CPU. Both rates follow the same
        supersteps: what varies with the disk is not taken for what the CPU could save.
        """
        if self.disk < math.inf and seconds > self.gpu_beside and edges > _LEAST:
            seen = edges / (seconds - self.gpu_beside)
            given = min(edges / waited, self._read) if waited > 0 else self._read
            if self._is_loaded("disk"):
                self.gpu, self.disk = 0.5 * (self.gpu + seen), 0.5 * (self.disk + given)
            else:
                self.gpu, self.disk = seen, given
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

    @property
    def least_gain(self) -> float:
        """The part of a superstep's time that the CPU has to save before it takes part."""
        return _GAIN if self.disk < math.inf else 0.0

    def _is_loaded(self, code: str) -> bool:
        """Whether code of this name has run before; it has then."""
        loaded = code in self._loaded
        self._loaded.add(code)
        return loaded
