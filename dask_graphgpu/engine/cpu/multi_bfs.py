"""Breadth-first searches from many sources, up to 64 in one sweep.

References
----------
.. [1] Then, Kaufmann, Chirigati, Hoang-Vu, Pham, Kemper, Neumann, Vo. The more the merrier: efficient multi-source
   graph traversal. PVLDB 8 (2014).
"""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import TYPE_CHECKING

import numpy as np

from dask_graphgpu.engine.cpu.bfs import LARGE_LEVEL, bfs
from dask_graphgpu.engine.direction import configured_direction
from dask_graphgpu.kernels.cpu import threads
from dask_graphgpu.kernels.cpu.threads import (
    at_most,
    edge_blocks,
    even_blocks,
    for_blocks,
    num_threads,
)
from dask_graphgpu.report import Report

if TYPE_CHECKING:
    from dask_graphgpu.partition.view import View

# Searches of one sweep: the bits of a word.
AT_ONCE = 64

# Edges of a vertex in the mean from which searches meet often enough for one sweep.
LONG_ROWS = 4

# Part of the edges from which a frontier is pulled: a pull reads about all of them, and in order.
PULLED_PART = 0.25


def multi_bfs(
    view: View,
    sources: np.ndarray,
    *,
    cutoff: int | None,
    targets: np.ndarray | None,
    report: Report,
) -> np.ndarray:
    """Hops from each of several sources along the edges.

    Notes
    -----
    A vertex has a word with a bit for each source, so an edge is read once for all searches that have it in the same
    level [1]_: on graphs of small diameter for most of them. Where rows are short graphs are deep and searches rarely
    meet: then each is one thread's, several side by side. Levels of few edges are pushed on one thread, others on all
    threads, or pulled while they hold a large part of the edges and the view has its in-edges. 24 bytes a vertex, and
    4 for each source.
    """
    if view.num_edges < LONG_ROWS * view.num_vertices:
        return _side_by_side(view, sources, cutoff, targets, report)
    sweep = _Sweep(view, sources, cutoff, targets, report)
    direction = configured_direction()
    limit = LARGE_LEVEL * threads.LITTLE_WORK
    pulls = direction == "pull" or (direction != "push" and view.has_into)
    shares = num_threads() > 1
    if direction == "pull":
        limit = -1
    elif not shares and not pulls:
        limit = view.num_edges
    while ahead := sweep.push_small_levels(limit):
        if pulls and (limit < 0 or ahead > PULLED_PART * view.num_edges):
            sweep.large_level(pull=True)
        elif shares:
            sweep.large_level(pull=False)
        else:
            sweep.push_small_levels(ahead)
    return sweep.level


def _side_by_side(
    view: View,
    sources: np.ndarray,
    cutoff: int | None,
    targets: np.ndarray | None,
    report: Report,
) -> np.ndarray:
    """What `multi_bfs` gives, by a search from each source."""
    level = np.empty((len(sources), view.num_vertices), np.int32)
    reports = [Report(report.algorithm) for _ in sources]

    def one(lo: int, hi: int) -> None:
        with at_most(1):
            level[lo] = bfs(
                view, int(sources[lo]), cutoff=cutoff, targets=targets, report=reports[lo]
            )

    for_blocks(one, np.arange(len(sources) + 1))
    for advance in (advance for each in reports for advance in each.advances):
        report.advance(**asdict(advance))
    return level


class _Sweep:
    """Searches under way."""

    def __init__(
        self,
        view: View,
        sources: np.ndarray,
        cutoff: int | None,
        targets: np.ndarray | None,
        report: Report,
    ) -> None:
        n = view.num_vertices
        self.view, self.report = view, report
        self.rows = view.out.offsets.view(np.uint64), view.out.neighbours
        self.last = -1 if cutoff is None else cutoff
        self.targets = np.empty(0, np.int64) if targets is None else targets
        self.level = np.full((len(sources), n), -1, np.int32)
        self.seen, self.visit, self.next_visit = (np.zeros(n, np.uint64) for _ in range(3))
        for k, source in enumerate(sources):
            self.level[k, source] = 0
            self.seen[source] |= np.uint64(1 << k)
        self.full = np.uint64((1 << len(sources)) - 1)
        self.visit[sources] = self.seen[sources]
        starts = np.unique(sources)
        self.lists = [np.empty(n, self.rows[1].dtype) for _ in range(2)]
        self.size, self.depth = len(starts), 0
        self.lists[0][: self.size] = starts

    def push_small_levels(self, limit: int) -> int:
        """Push until a level has more edges than `limit`. Returns its edges, 0 when the searches are over."""
        from dask_graphgpu.kernels.cpu import multi_bfs as kernels

        start, depth, size = time.perf_counter(), self.depth, self.size
        self.size, side, self.depth, read, ahead = kernels.push(
            *self.rows, self.seen, self.visit, self.next_visit, self.level, *self.lists, self.size,
            self.depth, self.last, self.targets, self.full, limit,
        )  # fmt: skip
        if side:
            self.lists.reverse()
        if self.depth > depth:
            self._note("push", self.depth - depth, size, read, start)
        return int(ahead)

    def large_level(self, *, pull: bool) -> None:
        """One level on all threads."""
        from dask_graphgpu.kernels.cpu import multi_bfs as kernels

        start, size = time.perf_counter(), self.size
        words = self.seen, self.visit, self.next_visit
        if pull:
            into = self.view.into
            blocks = edge_blocks(into.offsets)
            read = sum(for_blocks(
                kernels.pull_block, blocks, into.offsets.view(np.uint64), into.neighbours, *words,
                self.full,
            ))  # fmt: skip
        else:
            total = np.empty(size + 1, np.int64)
            kernels.running_degrees(size, self.lists[0], self.rows[0], total)
            blocks = edge_blocks(total)
            read = sum(for_blocks(kernels.push_block, blocks, self.lists[0], *self.rows, *words))
        self.depth += 1
        settled = for_blocks(
            kernels.settle_block, even_blocks(self.view.num_vertices),
            self.depth, self.seen, self.next_visit, self.level,
        )  # fmt: skip
        self.size = sum(settled)
        self.visit, self.next_visit = self.next_visit, self.visit
        self.next_visit[:] = 0
        kernels.collect(self.visit, self.lists[0])
        self._note("pull" if pull else "push", 1, size, read, start)

    def _note(self, way: str, supersteps: int, frontier: int, read: int, start: float) -> None:
        moved = int(read) * (self.rows[1].itemsize + 8) + frontier * 24
        self.report.advance(
            way, supersteps=supersteps, frontier=frontier, edges=int(read), bytes=moved,
            seconds=time.perf_counter() - start,
        )  # fmt: skip
