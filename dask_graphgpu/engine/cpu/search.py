"""A breadth-first search under way, and when it changes direction."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import numpy as np

from dask_graphgpu.kernels.cpu import bfs as kernels
from dask_graphgpu.kernels.cpu.threads import edge_blocks, even_blocks, for_blocks
from dask_graphgpu.partition.csr import Adjacency
from dask_graphgpu.partition.distinct import distinct
from dask_graphgpu.partition.view import View
from dask_graphgpu.report import Report

# Reads of an edge by a pull that take as long as one by a push, which also writes, appends and waits for memory.
PUSH_COST = 4

# A pull looks at every vertex, which costs as much as this many reads of an edge.
VERTEX_COST = 0.5

# Reads of an edge that making the in-edges costs, for each edge. A graph without in-edges is searched by pushing, until
# the reads that pulls would have saved add up to that.
INTO_COST = 32

# Edges of a vertex in the mean below which a neighbour may as well be new as not: roads, which lead back too.
SHORT_ROWS = 3


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
    reached: int = 1
    level: np.ndarray = field(init=False)
    queue: np.ndarray = field(init=False)
    last: int = field(init=False)  # level after which to stop; -1: none
    unread: int = field(init=False)  # edges of vertices that were not in a frontier before this one

    def __post_init__(self) -> None:
        rows = self.view.out
        self.level = np.full(rows.num_vertices, -1, np.int32)
        self.level[self.source] = 0
        self.queue = np.empty(rows.num_vertices + 1, rows.neighbours.dtype)
        self.queue[0] = self.source
        self.unread = rows.num_edges
        self.last = -1 if self.cutoff is None else self.cutoff

    def push_small_levels(self, limit: int) -> int:
        """Push until a level has more edges than `limit`. Returns its edges, 0 when the search is over."""
        rows = self.view.out
        start, frontier, depth = time.perf_counter(), self.tail - self.head, self.depth
        tail = self.tail
        self.head, self.tail, self.depth, self.missing, read, ahead = kernels.push(
            rows.offsets, rows.neighbours, self.level, self.queue,
            self.head, self.tail, self.depth, self.last, self.targets, self.missing, limit,
            rows.num_edges >= SHORT_ROWS * rows.num_vertices,
        )  # fmt: skip
        self.unread -= read
        self.reached += self.tail - tail
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
        self.reached += self.tail - self.head
        self.unread -= ahead
        self._note("push", 1, frontier, ahead, start)

    def prefers_pull(self, ahead: int) -> bool:
        """Whether to pull the next level, which has `ahead` edges if pushed."""
        saving = self._saving(ahead)
        if saving > 0 and not self.view.has_into:
            return self.view.note_missed(saving) > INTO_COST * self.view.num_edges
        return saving > 0

    def _saving(self, ahead: int) -> float:
        """Reads that a pull of the next level is expected to save.

        An in-edge of a vertex that is not reached comes from the frontier with the probability with which an edge that
        has not been read is one of the frontier's. So a vertex expects ``unread / ahead`` reads until its first hit,
        but no more than it has edges.
        """
        n = self.view.num_vertices
        reads = min((n - self.reached) * self.unread / max(ahead, 1), self.unread - ahead)
        return PUSH_COST * ahead - reads - VERTEX_COST * n

    def pull(self, ahead: int, *, forever: bool = False) -> None:
        """Pull while that saves reads, or to the end. `ahead`: edges of the frontier."""
        n = self.view.num_vertices
        rows: Adjacency = self.view.into
        frontier, found, done = (np.zeros((n + 63) // 64, np.uint64) for _ in range(3))
        kernels.mark(self.head, self.tail, self.queue, frontier)
        # A row that hits at once costs the same whatever its length, one that does not costs its
        # length: no block may have many of either.
        blocks = distinct(
            np.concatenate([even_blocks(n, multiple=64), edge_blocks(rows.offsets, multiple=64)])
        )
        first = True
        size = self.tail - self.head
        while size and self.depth != self.last and not self._have_targets():
            start = time.perf_counter()
            self.depth += 1
            edges = ahead
            results: list[tuple[int, int, int]] = for_blocks(
                kernels.pull_block, blocks,
                rows.offsets, rows.neighbours, self.view.out.offsets, self.level, self.depth,
                frontier, found, done, first,
            )  # fmt: skip
            first = False
            frontier, found = found, frontier
            before, (size, read, ahead) = size, np.sum(results, axis=0).tolist()
            self._note("pull", 1, before, read, start)
            self.unread -= edges
            self.reached += size
            if not forever and self._saving(ahead) <= 0:
                break
        self.head, self.tail = 0, kernels.collect(0, len(frontier), frontier, self.queue, 0)

    def _have_targets(self) -> bool:
        return len(self.targets) > 0 and bool((self.level.take(self.targets) >= 0).all())

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
