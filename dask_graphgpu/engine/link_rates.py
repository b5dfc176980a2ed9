"""The link between host and GPU: what a way of transfer takes at its rates. No GPU is needed for it.

References
----------
.. [1] Sabet, Zhao, Gupta. Subway: minimizing data transfer during out-of-GPU-memory graph processing. EuroSys 2020.
.. [2] Min et al. EMOGI: efficient memory-access for out-of-memory graph-traversal in GPUs. VLDB 2020.
.. [3] Wang et al. HyTGraph: GPU-accelerated graph processing with hybrid transfer management. ICDE 2023.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

# The part of a kernel's rate that is left where it goes along rows: 33 to 37 of 48 GB/s on an H200.
OF_ROWS = 0.75

# The same of one that goes along all edges as they lie: 50.3 of 48.2 GB/s on an H200.
IN_ORDER = 1.04

# Bytes that a kernel reads of host memory at once, and how much of an active row's first and last
# of these is not the row's, taken together. It may be a neighbouring row's that is active as well.
LINE = 128

# Seconds that a part takes beside its transfer: launches, events.
_PART = 30e-6

# Seconds of the host for a segment of many that are streamed, a copy, four events and a launch; and of the
# link between two of them.
_STREAMED, _BETWEEN = 38e-6, 15e-6

# The same of a subgraph: its rows are read back before the host gathers their edges.
_SUBGRAPH = 150e-6

# Of all edges in host memory: more than this part active, and gathering them is not tried [1].
MOST_GATHERED = 0.8


@dataclass
class Rates:
    """Bytes a second.

    Attributes
    ----------
    copies : of a copy of pinned memory to the device
    reads : of a kernel that reads pinned memory
    gathers : of the host, when it puts active edges together; as it was the last time
    """

    copies: float
    reads: float
    gathers: float
    again: int = 5  # times that the first two may be measured anew

    def gathered(self, size: int, seconds: float) -> None:
        """Take a gather that was timed into account, unless it was too short to say anything."""
        if size >= 1 << 16 and seconds > 0:
            self.gathers += 0.5 * (size / seconds - self.gathers)


def choose(
    lengths: np.ndarray,
    active: np.ndarray,
    rows: int,
    edge: int,
    row: int,
    arrays: int,
    measured: Rates,
    *,
    gathers: bool = True,
) -> list[str | None]:
    """The way of each segment that takes the least time; None where no edge is active.

    Parameters
    ----------
    lengths, active : int64 arrays
        Edges of each segment, and those of active vertices.
    rows : int
        Active vertices that have edges in any segment.
    edge, row : int
        Bytes of an edge, and of a row of a subgraph on its way to the host.
    arrays : int
        That an edge is spread over: neighbours and columns.
    gathers : bool
        Whether the host may gather.
    """
    total, longest = int(active.sum()), int(lengths.max(initial=0)) * edge
    if total == lengths.sum() and (
        _PART + longest / measured.copies < longest / (OF_ROWS * measured.reads)
    ):
        return ["stream"] * len(active)  # at once: the link waits for this
    number = np.where(active > 0, rows * (active / max(total, 1)), 0.0)
    stream = _PART + lengths * edge / measured.copies
    # Neighbouring segments that are read are one launch: what that takes is not any segment's.
    read = reads_of_rows(lengths, active, number, edge, arrays, measured)
    gather = active * edge * (1 / measured.gathers + 1 / measured.copies)
    gather = gather + number * row / measured.copies
    alone = np.minimum(stream, read)
    gathered = (gather < alone) & (active > 0)
    if not gathers or total > MOST_GATHERED * lengths.sum():
        gathered[:] = False
    if float((alone - gather)[gathered].sum()) <= _SUBGRAPH:
        gathered[:] = False
    reading = (read < stream) & ~gathered & (active > 0)
    streaming = (read >= stream) & ~gathered & (active > 0)
    if streaming.any():
        for lo, hi in runs(reading.tolist()):
            # One more launch, which reads while nothing is copied. So the last segment, which may be short, is
            # not read where all others are streamed.
            if (stream - read)[lo:hi].sum() <= _PART:
                reading[lo:hi] = False
    return _named(active, gathered, reading)


def reads_of_rows(
    edges: Any, active: Any, rows: Any, edge: int, arrays: int, measured: Rates
) -> Any:
    """Seconds in which kernels read the edges of active vertices where they lie.

    What a row's lines have beside it is read for a neighbour where that is active too.

    Parameters
    ----------
    edges, active, rows : numbers, or arrays of as many
        Edges in all, those of active vertices, and how many these are.
    """
    unshared = 1 - active / np.maximum(edges, 1)
    return (active * edge + rows * unshared * arrays * LINE) / (OF_ROWS * measured.reads)


def reads_in_order(edges: int, edge: float, measured: Rates) -> float:
    """Seconds in which kernels read all of some edges as they lie."""
    return edges * edge / (IN_ORDER * measured.reads)


def streams(lengths: np.ndarray, edge: float, measured: Rates) -> float:
    """Seconds in which all of some segments are streamed, one after the other."""
    return float(np.maximum(lengths * edge / measured.copies + _BETWEEN, _STREAMED).sum())


def runs(chosen: Sequence[bool]) -> Iterator[tuple[int, int]]:
    """Stretches of neighbouring segments that are chosen."""
    begin = None
    for i, each in enumerate([*chosen, False]):
        if each and begin is None:
            begin = i
        if not each and begin is not None:
            yield begin, i
            begin = None


def _named(
    active: Sequence[int] | np.ndarray, gathered: np.ndarray, read: np.ndarray
) -> list[str | None]:
    ways: list[str | None] = []
    for edges, compact, zero_copy in zip(active, gathered, read, strict=True):
        way = "compact" if compact else "zero-copy" if zero_copy else "stream"
        ways.append(way if edges else None)
    return ways
