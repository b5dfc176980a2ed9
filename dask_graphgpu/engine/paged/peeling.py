"""Core numbers over pages: estimates come down to them, and pages of whom that concerns are read again.

References
----------
.. [1] Montresor, De Pellegrini, Miorandi. Distributed k-core decomposition. IEEE TPDS 24 (2013).
.. [2] Wen, Qin, Zhang, Lin, Yu. I/O efficient core graph decomposition at web scale. ICDE 2016.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from dask_graphgpu.engine.cpu.edges import Paged, rows_on_disk
from dask_graphgpu.engine.paged.cores import VERTEX, TopDown
from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.partition.csr import Adjacency

if TYPE_CHECKING:
    from dask_graphgpu.partition.view import View
    from dask_graphgpu.report import Report


def core_numbers(view: View, report: Report) -> np.ndarray:
    """Core number of every vertex in the simple undirected graph, as `engine.cpu.core_numbers`.

    Raises
    ------
    LimitTooSmall, SpillError

    Notes
    -----
    A core number is at most the degree, and at most the largest k for which k neighbours have k: estimates that begin
    with degrees end as the core numbers [1]_. Each vertex knows how many neighbours have as much; its row is looked at
    again when they are too few, and rows of a page until it is quiet [2]_.
    """
    return _lowered(view, view.num_vertices, report).astype(np.int64)


def k_core(view: View, k: int, report: Report) -> np.ndarray:
    """Whether each vertex is in the k-core: bool, shape (num_vertices,). As `core_numbers`, from ``k`` at most."""
    inside: np.ndarray = _lowered(view, max(int(k), 0), report) >= k
    return inside


def _lowered(view: View, most: int, report: Report) -> np.ndarray:
    """Core numbers, ``most`` for all that are higher."""
    start, rows, n = time.perf_counter(), rows_on_disk(view.symmetric), view.num_vertices
    passes = Paged(rows, report)
    small = np.dtype(np.int32 if n < 2**31 else np.int64)
    needed = passes.nbytes + 2 * rows.offsets.nbytes + rows.counts.nbytes
    rows.limits.require(needed + n * (4 * small.itemsize + 2), f"core numbers of {n:,} vertices")
    core: np.ndarray = np.minimum(rows.degrees, most).astype(small)
    count = np.zeros_like(core)
    due = (core > 0).view(np.uint8)

    def lower(some: np.ndarray, here: Adjacency) -> int:
        due[some.astype(np.intp)] = 0
        before, found = core.take(some), np.empty(len(some), small)
        read = sum(passes.along(kernels.peeling.estimate, some, here, core, count, found))
        core[some.astype(np.intp)] = found
        fell = found < before
        told = core, count, due
        return int(read + sum(
            passes.along(kernels.peeling.tell_lower, some[fell], here, before[fell], *told)
        ))  # fmt: skip

    room = rows.limits.memory - needed - n * (4 * small.itemsize + 2 + VERTEX)
    top, number, read, quiet = TopDown(passes, core, count, room), 0, 0, False
    try:
        while not quiet:
            passed, more = passes.until_quiet(lambda lo, hi: due[lo:hi].view(bool), lower, 1)
            number, read, before = number + passed, read + more, top.layers
            quiet = not due.any() or top.run()
            if top.layers > before:  # what neighbours have lower is counted anew
                due[:] = top.unknown
    finally:
        passes.release()
    number, read = number + top.layers, read + top.read
    report.advance(
        "lower", supersteps=number, frontier=n, edges=read,
        bytes=read * (rows.neighbours.itemsize + core.itemsize) + n * (16 + core.itemsize),
        seconds=time.perf_counter() - start,
    )  # fmt: skip
    return core
