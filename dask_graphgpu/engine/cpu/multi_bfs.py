"""Breadth-first searches from many sources, up to 64 in one sweep.

References
----------
.. [1] Then, Kaufmann, Chirigati, Hoang-Vu, Pham, Kemper, Neumann, Vo. The more the merrier: efficient multi-source
   graph traversal. PVLDB 8 (2014).
"""

from __future__ import annotations

import time

import numpy as np

from dask_graphgpu.engine.cpu.bfs import bfs
from dask_graphgpu.engine.cpu.edges import Paged, passes_over, rows_on_disk
from dask_graphgpu.engine.cpu.nearest import Labels, spread_over_pages
from dask_graphgpu.engine.cpu.programs import side_by_side
from dask_graphgpu.engine.cpu.sweep import OF_VERTEX, Sweep
from dask_graphgpu.partition.paged.sort import PagedAdjacency
from dask_graphgpu.partition.ranks.view import AnyView
from dask_graphgpu.report import Report

# Edges of a vertex in the mean from which searches meet often enough for one sweep.
LONG_ROWS = 4

_OF_LEVEL = 4  # bytes of a vertex and source

# Levels of edges on disk, of which each is a look at pages; then the rows of a run are gone along until they are quiet.
_DEEP = 64


def multi_bfs(
    view: AnyView,
    sources: np.ndarray,
    *,
    cutoff: int | None,
    targets: np.ndarray | None,
    report: Report,
) -> np.ndarray:
    """Hops from each of several sources along the edges.

    Returns
    -------
    ndarray of int32, shape (sources, num_vertices)
        -1 where not reached; right for own vertices.

    Notes
    -----
    A vertex has a word with a bit for each source, so an edge is read once for all searches that have it in the same
    level [1]_: on graphs of small diameter for most of them. Where rows are short graphs are deep and searches rarely
    meet: then each is one thread's, several side by side, or on ranks one follows the other, by several levels an
    exchange. Levels of few edges are pushed on one thread, others on all threads, or pulled while they hold a large
    part of the edges and the view has its in-edges. 24 bytes a vertex, and 4 for each source.

    On ranks a level is an exchange for all sources: after a push new bits are told to owners, after a pull to those
    that have edges from them. Of edges on disk those pages are read in a level that have rows of the frontier of any
    search; where there is no memory for the levels of all sources, half of them come first. What is farther than 64
    edges is found in the order of the pages, which may find a vertex several times, each time nearer.
    """
    several = view.on_ranks
    if not view.paged and view.graph_edges < LONG_ROWS * view.graph_vertices:
        one = _one_by_one if several else _side_by_side
        return one(view, sources, cutoff, targets, report)
    if several and view.levels is not None:
        return _one_by_one(view, sources, cutoff, targets, report)
    rows, n = view.out, view.num_vertices
    with passes_over(rows, report) as passes:
        more = n * (OF_VERTEX + 2 * rows.neighbours.itemsize + _OF_LEVEL * len(sources))
        if len(sources) < 2 or passes.has_room(more):
            passes.require(more, f"a search of {n:,} vertices")
            deep = view.paged and targets is None and (cutoff is None or cutoff > _DEEP)
            sweep = Sweep(view, passes, sources, _DEEP if deep else cutoff, targets, report)
            sweep.search()
            level, goes_on = sweep.level, deep and sweep.size > 0
            del sweep
            if goes_on and isinstance(passes, Paged):
                passes.release()  # each goes on with pages of its own
                for each in level:
                    _go_on(rows_on_disk(rows), each, cutoff, report)
            return level
    halves = [
        multi_bfs(view, half, cutoff=cutoff, targets=targets, report=report)
        for half in np.array_split(sources, 2)
    ]
    return np.concatenate(halves)


def _go_on(rows: PagedAdjacency, level: np.ndarray, cutoff: int | None, report: Report) -> None:
    """Fill in the levels of a search behind the level `_DEEP`, wherever the rows at hand lead first."""
    begun, places = time.perf_counter(), np.flatnonzero(level == _DEEP)
    if not len(places):
        return
    most = np.int64(np.iinfo(np.int64).max if cutoff is None else cutoff)
    reached = level >= 0
    far = np.where(reached, level, 0).astype(np.int64)[:, None]
    labels = Labels(far, reached[:, None].astype(np.int64) - 1, most, 1)
    steps, read, _ = spread_over_pages(rows.with_columns(()), labels, places, report)
    level[:] = np.where(labels.who[:, 0] < 0, -1, far[:, 0])
    report.advance(
        "spread", supersteps=steps, frontier=len(places), edges=read,
        bytes=read * (rows.neighbours.itemsize + 8), seconds=time.perf_counter() - begun,
    )  # fmt: skip


def _one_by_one(
    view: AnyView,
    sources: np.ndarray,
    cutoff: int | None,
    targets: np.ndarray | None,
    report: Report,
) -> np.ndarray:
    """What `multi_bfs` gives on ranks, by one search after the other."""
    return np.stack([
        bfs(view, source, cutoff=cutoff, targets=targets, report=report)
        for source in sources.tolist()
    ])  # fmt: skip


def _side_by_side(
    view: AnyView,
    sources: np.ndarray,
    cutoff: int | None,
    targets: np.ndarray | None,
    report: Report,
) -> np.ndarray:
    """What `multi_bfs` gives, by a search from each source."""
    level = np.empty((len(sources), view.num_vertices), np.int32)

    def one(i: int, report: Report) -> None:
        level[i] = bfs(view, int(sources[i]), cutoff=cutoff, targets=targets, report=report)

    side_by_side(len(sources), report, one)
    return level
