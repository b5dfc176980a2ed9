"""Jaccard coefficients of pairs of vertices of a graph on disk: rows of some in memory, those of others pass by.

References
----------
.. [1] Liben-Nowell, Kleinberg. The link-prediction problem for social networks. JASIST 58 (2007).
"""

from __future__ import annotations

import time
from itertools import pairwise

import numpy as np

from dask_graphgpu.engine.cpu.edges import Paged, rows_on_disk
from dask_graphgpu.engine.cpu.jaccard import common_neighbours, note
from dask_graphgpu.engine.paged.at_hand import PLACES, rows_at_hand
from dask_graphgpu.partition.csr import offsets_of
from dask_graphgpu.partition.paged.rowwise import cuts_of
from dask_graphgpu.partition.view import View
from dask_graphgpu.report import Report

# Bytes of a pair: its ends by length of their rows and in order, places, counts, and what intersecting takes.
_OF_PAIR = 128

# So many times less than the memory that is left is taken for rows.
_USED = 2

# Bytes of a vertex: the degree, and which runs have it.
_OF_VERTEX = 9


def jaccard_of_pairs(
    view: View, first: np.ndarray, second: np.ndarray, report: Report
) -> np.ndarray:
    """Part of the neighbours of either of two vertices that are those of both: float64.

    Raises
    ------
    LimitTooSmall, SpillError

    Notes
    -----
    Of each pair the shorter row is brought to memory, as many as there is room for. The runs of pages that have the
    longer rows then pass by.
    """
    start, n = time.perf_counter(), view.num_vertices
    rows = rows_on_disk(view.symmetric)
    degree, ids = rows.degrees, rows.neighbours.itemsize
    turned = degree[first] > degree[second]
    near, far = np.where(turned, second, first), np.where(turned, first, second)
    vertices, place = np.unique(near, return_inverse=True)
    order = np.argsort(place, kind="stable")
    counts = np.zeros(len(first), np.int64)
    with Paged(rows, report) as passes:
        more = len(first) * _OF_PAIR + n * _OF_VERTEX + passes.longest * (ids + PLACES)
        longest = int(degree[vertices].max(initial=0))
        passes.require(more + _USED * longest * ids, f"{len(first):,} pairs of {n:,} vertices")
        room = (rows.limits.memory - passes.held - more) // (_USED * ids)
        cuts = cuts_of(offsets_of(degree[vertices]), room)
        starts = np.searchsorted(place[order], cuts)
        for (a, b), (lo, hi) in zip(
            pairwise(cuts.tolist()), pairwise(starts.tolist()), strict=True
        ):
            some = order[lo:hi]
            some = some[np.argsort(far[some], kind="stable")]
            counts[some] = _against(passes, vertices[a:b], place[some] - a, far[some])
    either = degree[first] + degree[second]
    values: np.ndarray = counts / np.maximum(either - counts, 1)
    note(report, int(either.sum()), len(first), ids, start)
    return values


def _against(passes: Paged, vertices: np.ndarray, near: np.ndarray, far: np.ndarray) -> np.ndarray:
    """Common neighbours of pairs of which the first are places in some vertices, ascending, and so are the others."""
    rows, found = passes.rows, np.empty(len(far), np.int64)
    here = rows_at_hand(passes, vertices, passes.longest)
    size, number = int(here.offsets[-1]), len(vertices)
    marked = np.zeros(rows.num_vertices, np.bool_)
    marked[far] = True
    for lo, hi, there in passes.over(passes.holding(marked)):
        begin, stop = int(rows.offsets[lo]), int(rows.offsets[hi])
        pairs = slice(*np.searchsorted(far, [lo, hi]))
        here.neighbours[size : size + stop - begin] = there.neighbours[begin:stop]
        offsets = np.append(here.offsets, rows.offsets[lo + 1 : hi + 1] - begin + size)
        ends = near[pairs], far[pairs] - lo + number
        found[pairs] = common_neighbours(offsets, here.neighbours, rows.num_vertices, *ends)
    return found
