"""One-to-one links over pages: vertices offer their best link, until nobody has a better one to offer.

References
----------
.. [1] Gale, Shapley. College admissions and the stability of marriage. American Mathematical Monthly 69 (1962).
.. [2] Manne, Halappanavar. New effective multithreaded matching algorithms. IPDPS 2014.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from dask_graphgpu.engine.best_links import Edges
from dask_graphgpu.engine.cpu.edges import Paged, rows_on_disk
from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.partition.csr import Adjacency
from dask_graphgpu.partition.view import View
from dask_graphgpu.report import Report

# Bytes of a vertex beside an offer and its weight: whether it is due, and the links that are found.
_OF_VERTEX = 40


def best_links(view: View, edges: Callable[[], Any], report: Report) -> Edges:
    """Edges of which no two share an end, as `engine.best_links.best_links`; ``edges`` are not asked for.

    Raises
    ------
    LimitTooSmall, SpillError

    Notes
    -----
    Every source offers the best of its edges to a destination that has no better offer, and the next one when a
    better offer takes the place of it [1]_; of an undirected graph all vertices offer, and are joined where both have
    each other's offer [2]_. Both ends see the edges in the same order, so what comes out does not depend on who offers
    first. Runs of rows are gone over while they have vertices whose offer has been taken the place of.
    """
    start, rows, n = time.perf_counter(), rows_on_disk(view.out), view.num_vertices
    weight = rows.columns["weight"]
    due = rows.degrees > 0
    nobody = np.iinfo(rows.neighbours.dtype).max
    suitor = np.full(n, nobody, rows.neighbours.dtype)
    offered = np.zeros(n, weight.dtype)

    def offer(some: np.ndarray, here: Adjacency) -> int:
        arrays = here.offsets.view(np.uint64), here.neighbours, here.columns["weight"]
        return int(kernels.matching.propose(some, *arrays, view.directed, suitor, offered, due))

    with Paged(rows, report) as passes:
        held = n * (_OF_VERTEX + suitor.itemsize + offered.itemsize)
        passes.require(held, f"links of {n:,} vertices")
        steps, read = passes.until_quiet(lambda lo, hi: due[lo:hi], offer)
    second = np.flatnonzero(suitor != nobody)
    first = suitor[second]
    if not view.directed:
        both = (first < second) & (suitor[first] == second)
        first, second = first[both], second[both]
    order = np.argsort(first, kind="stable")
    first, second = first[order], second[order].astype(first.dtype)
    report.advance(
        "match", supersteps=steps, frontier=len(first), edges=read,
        bytes=read * (rows.neighbours.itemsize + weight.itemsize + offered.itemsize + suitor.itemsize),
        seconds=time.perf_counter() - start,
    )  # fmt: skip
    return first, second, offered[second]
