"""Core numbers by peeling.

References
----------
.. [1] Matula, Beck. Smallest-last ordering and clustering and graph coloring algorithms. J. ACM 30 (1983).
"""

from __future__ import annotations

import time

import numpy as np

from dask_graphgpu.engine.cpu.peeling_in_step import pays, peel_levels
from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.partition.csr import Adjacency
from dask_graphgpu.partition.view import View
from dask_graphgpu.report import Report


def core_numbers(view: View, report: Report) -> np.ndarray:
    """Core number of every vertex in the simple undirected graph.

    Notes
    -----
    Vertices of the smallest degree are taken away until none is left [1]_. Each edge is read twice, and each vertex
    once for every value of k up to its core number at most: O(V + E). It runs on one thread where there are few, or
    few edges, else on all, see `peel_levels`.
    """
    rows = view.symmetric
    n = rows.num_vertices
    start = time.perf_counter()
    if pays(rows):
        degree, rounds, read = peel_levels(rows, 0, n)
    else:
        degree, alive = _degrees(rows), np.arange(n, dtype=rows.neighbours.dtype)
        rounds, read = kernels.peeling.peel(rows.offsets, rows.neighbours, degree, alive)
    each = degree.itemsize
    report.advance(
        "peel", supersteps=rounds, frontier=n, edges=read,
        bytes=read * (rows.neighbours.itemsize + each) + n * (16 + 2 * rows.neighbours.itemsize),
        seconds=time.perf_counter() - start,
    )  # fmt: skip
    return degree.astype(np.int64)


def k_core(view: View, k: int, report: Report) -> np.ndarray:
    """Whether each vertex is in the k-core: bool, shape (num_vertices,)."""
    rows = view.symmetric
    n = rows.num_vertices
    start = time.perf_counter()
    k = min(k, n)  # no vertex has so many neighbours
    if pays(rows):
        degree, _, read = peel_levels(rows, k - 1, k - 1)
    else:
        degree = _degrees(rows)
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
