"""The rates of the link between host and GPU, as measured."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cache
from typing import Any

import cupy
import numpy as np

from dask_graphgpu.engine.gpu import launch, pinned
from dask_graphgpu.engine.gpu.copies import address, copy
from dask_graphgpu.engine.link_rates import Rates
from dask_graphgpu.kernels.compile import cuda
from dask_graphgpu.kernels.cpu.subgraph import gather_edges
from dask_graphgpu.kernels.cpu.threads import even_blocks, for_blocks

_SAMPLE = 16 << 20  # bytes that a rate is measured with
_DISTURBED = 0.8  # a copy's rate over a read's, below which it is measured again
_ROW = 16  # edges of a row, of which every other one is gathered for that


@cache
def rates(device: int) -> Rates:
    """Of the link to a device, measured once: some 20 ms."""
    host = _host()
    return Rates(*_measured(host), gathers=_host_rate(host))


def mend(rates: Rates) -> None:
    """Measure anew where others were at the link, a few times in all; the better is kept.

    A device copies about as fast as its kernels read, or faster: 53 and 49 GB/s. A copy that
    looked much slower would never be chosen, and so never be seen to be fast.
    """
    if rates.copies < _DISTURBED * rates.reads and rates.again:
        rates.again -= 1
        try:
            copies, reads = _measured(_host())
        except MemoryError:  # no room to measure in is no reason for a run to take less
            return
        rates.copies, rates.reads = max(rates.copies, copies), max(rates.reads, reads)


def _host() -> np.ndarray:
    """What is copied and read: as edges are, by all threads, which take pages that are next to them."""
    return pinned.copied(np.zeros(_SAMPLE // 4, np.uint32))


def _measured(host: np.ndarray) -> tuple[float, float]:
    into, found = cupy.empty(len(host), np.uint32), cupy.zeros(1, np.uint32)
    names = {"ID": "unsigned int", "OFFSET": "unsigned int"}
    kernel = cuda("tiers", defines=names).kernel("read_host")
    given = np.uint64(address(host.ctypes.data)), np.uint64(len(host)), found
    stream = cupy.cuda.get_current_stream()

    def copies() -> None:
        copy(int(into.data.ptr), host.ctypes.data, host.nbytes, stream)

    def reads() -> None:
        launch.flat(kernel, launch.num_multiprocessors() * 2048, given)

    # Twice: a link that was idle takes a while to be as fast as it can.
    found = [[_rate(work, host.nbytes, stream) for work in (copies, reads)] for _ in range(2)]
    best = np.max(found, axis=0).tolist()
    return best[0], best[1]


def _rate(work: Callable[[], None], size: int, stream: Any) -> float:
    """The best of some: the first loads the code, and others may be at the link too."""
    best = np.inf
    for _ in range(12):
        stream.synchronize()
        began = time.perf_counter()
        work()
        stream.synchronize()
        best = min(best, time.perf_counter() - began)
    return size / best


def _host_rate(host: np.ndarray) -> float:
    """Of all threads that gather short rows from one half to the other.

    Long rows are gathered faster: the rate follows what gathers take.
    """
    half = len(host) // 2
    vertex = np.arange(0, half // _ROW, 2, dtype=np.uint32)
    offsets = np.arange(0, half + 1, _ROW)
    start = np.arange(0, len(vertex) * _ROW + 1, _ROW, dtype=np.uint32)
    given = 0, vertex, start, offsets, 0, host[:half], host[half:]
    edges, best = len(vertex) * _ROW, np.inf
    for _ in range(3):  # the first one loads the code
        began = time.perf_counter()
        for_blocks(gather_edges, even_blocks(edges), *given)
        best = min(best, time.perf_counter() - began)
    return edges * host.itemsize / best
