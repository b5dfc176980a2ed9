"""Core numbers by peeling.

References
----------
.. [1] Matula, Beck. Smallest-last ordering and clustering and graph coloring algorithms. J. ACM 30 (1983).
.. [2] Kabir, Madduri. Parallel k-core decomposition on multicore platforms. IPDPSW 2017.
"""

from __future__ import annotations

import time

import numpy as np

from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.partition.csr import Adjacency
from dask_graphgpu.partition.view import View
from dask_graphgpu.report import Report


def core_numbers(view: View, report: Report) -> np.ndarray:
    """Core number of every vertex in the simple undirected graph.

    Notes
    -----
    Vertices of the smallest degree are taken away until none is left [1]_. Each edge is read twice, and each vertex
    once for every value of k up to its core number at most: O(V + E).

    It runs on one thread. Peeling wide layers on all of them [2]_ takes an atomic subtraction for every edge, which on
    two threads costs more than it gives, and on skewed graphs half the edges fall in cascades within the densest cores.
    """
    rows = view.symmetric
    n = rows.num_vertices
    start = time.perf_counter()
    degree = _degrees(rows)
    alive = np.arange(n, dtype=rows.neighbours.dtype)
    rounds, read = kernels.peeling.peel(rows.offsets, rows.neighbours, degree, alive)
    report.advance(
        "peel", supersteps=rounds, frontier=n, edges=read,
        bytes=read * (alive.itemsize + degree.itemsize) + n * (16 + 2 * alive.itemsize),
        seconds=time.perf_counter() - start,
    )  # fmt: skip
    return degree.astype(np.int64)


def k_core(view: View, k: int, report: Report) -> np.ndarray:
    """Whether each vertex is in the k-core: bool, shape (num_vertices,)."""
    rows = view.symmetric
    n = rows.num_vertices
    start = time.perf_counter()
    degree = _degrees(rows)
    k = min(k, n)  # no vertex has so many neighbours
    read = kernels.peeling.peel_below(k, rows.offsets, rows.neighbours, degree)
    inside: np.ndarray = degree >= k
    each = degree.itemsize
    report.advance(
        "peel", supersteps=1, frontier=n - int(np.count_nonzero(inside)), edges=read,
        bytes=read * (rows.neighbours.itemsize + each) + n * (8 + 3 * each),
        seconds=time.perf_counter() - start,
    )  # fmt: skip
    return inside


def _degrees(rows: Adjacency) -> np.ndarray:
    """A copy that peeling may change, in as few bytes as hold them."""
    return rows.degrees.astype(np.int32 if rows.num_vertices < 2**31 else np.int64)
