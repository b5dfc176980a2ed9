"""Peeling on all threads.

References
----------
.. [1] Kabir, Madduri. Parallel k-core decomposition on multicore platforms. IPDPSW 2017.
.. [2] Liu, Dong, Gu, Sun. Parallel k-core decomposition: theory and practice. SIGMOD 2025.
"""

from __future__ import annotations

import numpy as np

from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.kernels.cpu.threads import even_blocks, for_blocks, num_threads
from dask_graphgpu.partition.csr import Adjacency

# Threads and entries from which it is faster than one thread that needs no atomic subtraction: such a thread takes two
# fifths as long for an edge where most edges are between vertices of few.
MANY_THREADS = 4
MANY_EDGES = 1 << 21

# Hubs are so many vertices at most, whose counters of a thread fit its cache, and at most this part of all: each level
# ends with a look at them.
HUBS = 1 << 14
FEW_HUBS = 64

STEPS = 1 << 12  # of a call, after which an interrupt gets through


def pays(rows: Adjacency) -> bool:
    """Whether all threads are faster than one."""
    return num_threads() >= MANY_THREADS and rows.num_edges >= MANY_EDGES


def peel_levels(rows: Adjacency, first: int, last: int) -> tuple[np.ndarray, int, int]:
    """Peel vertices of degree `first`, or less, then of each degree up to `last`, of a graph with vertices.

    Returns
    -------
    tuple
        Of each vertex its neighbours that are left, or were when it was peeled, if that were at least `first`; levels
        in which a vertex was peeled; edges read.

    Notes
    -----
    As [1]_, threads share the vertices of a level and go on along what falls to it, so that long chains take few
    steps. Neighbours that hubs lose are counted by thread and added up once a round, in place of samples [2]_. Each
    edge is read twice; memory: 16 or 32 V bytes, and 64 KiB a thread.
    """
    kernel = kernels.peeling_in_step
    n, ids, threads = rows.num_vertices, rows.neighbours.dtype, num_threads()
    degree, hubs = _degrees_and_hubs(rows)
    left = degree[hubs].astype(np.int64)
    degree[hubs] = -1 - np.arange(len(hubs))
    alive, listed = np.empty((2, n), ids), np.empty(n, ids)
    alive[1] = np.arange(n)
    plans = np.empty((STEPS + 1, kernel.FIELDS), np.int64)
    shared = np.zeros(kernel.SHARED, np.int64)
    shared[kernel.KEPT], shared[kernel.LEVEL] = n, -1
    shared[kernel.LEAST_HUB] = left.min(initial=kernel.NONE)
    kernel.plan_scan(plans.ravel(), 0, first, 0, shared)
    arrays = (
        rows.offsets.view(np.uint64), rows.neighbours, degree, alive, listed, hubs.astype(ids), left,
        np.zeros((threads, len(hubs)), degree.dtype), plans.ravel(), shared,
    )  # fmt: skip
    read = 0
    while plans[shared[kernel.STEP], kernel.KIND] != kernel.OVER:
        plans[0], shared[kernel.STEP] = plans[shared[kernel.STEP]], 0
        read += sum(for_blocks(kernel.peel_in_step, np.arange(threads + 1), last, *arrays))
    kept = degree[hubs] < 0
    degree[hubs[kept]] = left[kept]
    return degree, int(shared[kernel.LEVELS]), read


def _degrees_and_hubs(rows: Adjacency) -> tuple[np.ndarray, np.ndarray]:
    """Degrees in as few bytes as hold them; the vertices from a power of two on of which there are not too many."""
    n = rows.num_vertices
    degree = np.empty(n, np.int32 if n < 2**31 else np.int64)
    blocks = even_blocks(n)
    count = kernels.peeling_in_step.count_widths
    of_more = np.cumsum(np.sum(for_blocks(count, blocks, rows.offsets, degree), axis=0)[::-1])
    bits = 63 - int(np.searchsorted(of_more, min(HUBS, n // FEW_HUBS), side="right"))

    def find(lo: int, hi: int) -> np.ndarray:
        found: np.ndarray = lo + np.flatnonzero(np.right_shift(degree[lo:hi], bits))
        return found

    return degree, np.concatenate(for_blocks(find, blocks))
