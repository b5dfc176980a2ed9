"""A breadth-first search under way, and when it changes direction."""

from __future__ import annotations

import time
import weakref
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from dask_graphgpu.engine.cpu.threads import edge_blocks, for_blocks
from dask_graphgpu.kernels.cpu import bfs as kernels

if TYPE_CHECKING:
    from dask_graphgpu.partition.csr import Adjacency
    from dask_graphgpu.partition.view import View
    from dask_graphgpu.report import Report

# Pull once the frontier's edges are more than this part of the edges not yet read, push again once the frontier is
# less than this part of the vertices and shrinks (alpha and beta of Beamer et al., 2012).
ALPHA = 15
BETA = 18

# A pull saves at most one read of each edge; making the in-edges costs about this many. So a view whose in-edges are
# not made pushes, until what its searches have pushed where they would rather have pulled adds up to that.
COST_OF_INTO = 8
_pushed_edges: weakref.WeakKeyDictionary[View, int] = weakref.WeakKeyDictionary()


@dataclass
class Search:
    """A search under way: the frontier is ``queue[head:tail]``, of level `depth`."""

    view: View
    source: int
    cutoff: int | None
    targets: np.ndarray
    report: Report
    head: int = 0
    tail: int = 1
    depth: int = 0
    missing: int = 0  # targets before this one are reached
    pulled: bool = False
    level: np.ndarray = field(init=False)
    queue: np.ndarray = field(init=False)
    last: int = field(init=False)  # level after which to stop; -1: none
    unread: int = field(init=False)  # edges of vertices that have not been in a frontier

    def __post_init__(self) -> None:
        rows = self.view.out
        self.level = np.full(rows.num_vertices, -1, np.int32)
        self.level[self.source] = 0
        self.queue = np.empty(rows.num_vertices, rows.neighbours.dtype)
        self.queue[0] = self.source
        self.unread = rows.num_edges
        self.last = -1 if self.cutoff is None else self.cutoff

    def push_small_levels(self, limit: int) -> int:
        """Push until a level has more edges than `limit`. Returns its edges, 0 when the search is over."""
        rows = self.view.out
        start, frontier, depth = time.perf_counter(), self.tail - self.head, self.depth
        self.head, self.tail, self.depth, self.missing, read, ahead = kernels.push(
            rows.offsets, rows.neighbours, self.level, self.queue,
            self.head, self.tail, self.depth, self.last, self.targets, self.missing, limit,
        )  # fmt: skip
        self.unread -= read
        if self.depth > depth:
            self._note("push", self.depth - depth, frontier, read, start)
        return int(ahead)

    def push_large_level(self, ahead: int) -> None:
        """Push one level of `ahead` edges on all threads."""
        rows = self.view.out
        start, frontier = time.perf_counter(), self.tail - self.head
        total = np.empty(frontier + 1, np.int64)
        kernels.running_degrees(self.head, self.tail, self.queue, rows.offsets, self.head, total)
        self.depth += 1
        tail = np.array([self.tail], np.int64)
        for_blocks(
            kernels.push_block, self.head + edge_blocks(total),
            rows.offsets, rows.neighbours, self.level, self.queue, self.depth, tail,
        )  # fmt: skip
        self.head, self.tail = self.tail, int(tail[0])
        self.unread -= ahead
        self._note("push", 1, frontier, ahead, start)

    def prefers_pull(self, ahead: int) -> bool:
        """Whether to pull the next level, which has `ahead` edges if pushed."""
        frontier = self.tail - self.head
        if ahead * ALPHA <= self.unread or (
            self.pulled and frontier * BETA <= self.view.num_vertices
        ):
            return False
        if not self.view.has_into:
            pushed = _pushed_edges.get(self.view, 0) + self.unread
            _pushed_edges[self.view] = pushed
            return pushed > COST_OF_INTO * self.view.num_edges
        return True

    def pull(self, forever: bool = False) -> None:
        """Pull until the frontier is small again, or to the end."""
        n = self.view.num_vertices
        rows: Adjacency = self.view.into
        frontier, found, done = (np.zeros((n + 63) // 64, np.uint64) for _ in range(3))
        kernels.mark(self.head, self.tail, self.queue, frontier)
        blocks = edge_blocks(rows.offsets, multiple=64)
        for_blocks(kernels.mark_done, blocks, rows.offsets, self.level, done)
        size = self.tail - self.head
        while size and self.depth != self.last and not self._have_targets():
            start = time.perf_counter()
            self.depth += 1
            results: list[tuple[int, int, int]] = for_blocks(
                kernels.pull_block, blocks,
                rows.offsets, rows.neighbours, self.level, self.depth, frontier, found, done,
            )  # fmt: skip
            frontier, found = found, frontier
            before, (size, read, ahead) = size, np.sum(results, axis=0).tolist()
            self._note("pull", 1, before, read, start)
            self.unread -= ahead
            if not forever and size < before and size * BETA < n:
                break
        self.head, self.tail = 0, kernels.collect(0, len(frontier), frontier, self.queue, 0)
        self.pulled = True

    def _have_targets(self) -> bool:
        return len(self.targets) > 0 and bool((self.level[self.targets] >= 0).all())

    def _note(
        self, direction: str, supersteps: int, frontier: int, edges: int, start: float
    ) -> None:
        id_bytes = self.queue.itemsize
        if direction == "push":  # a neighbour and its level for each edge, the queue
            moved = edges * (id_bytes + 4) + frontier * (id_bytes + 16)
        else:  # a neighbour and its bit for each edge; three bitmaps and the offsets for all
            moved = edges * (id_bytes + 1) + self.view.num_vertices * 8
        self.report.advance(
            direction, supersteps=supersteps, frontier=frontier, edges=edges, bytes=moved,
            seconds=time.perf_counter() - start,
        )  # fmt: skip
