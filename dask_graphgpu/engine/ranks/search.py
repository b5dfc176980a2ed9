"""A breadth-first search under way on many ranks."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from dask_graphgpu.engine.cpu.search import INTO_COST, PUSH_COST, VERTEX_COST
from dask_graphgpu.kernels.cpu import bfs as kernels
from dask_graphgpu.kernels.cpu.threads import edge_blocks, even_blocks, for_blocks

if TYPE_CHECKING:
    from dask_graphgpu.partition.ranks.view import RankView
    from dask_graphgpu.report import Report


class Search:
    """Levels of own vertices, and the frontier: those of the last level that are here, ghosts too.

    Attributes
    ----------
    level : int32, shape (num_vertices,)
    depth : int
        Of the frontier.
    ahead, reached, unread : int
        Over all ranks: edges out of the frontier; vertices reached; edges of vertices that were in
        no frontier before this one.
    """

    def __init__(
        self,
        view: RankView,
        source: int,
        cutoff: int | None,
        targets: np.ndarray | None,
        report: Report,
    ) -> None:
        self.view, self.report, self.cutoff = view, report, cutoff
        self.edges = view.toward("out")
        self.degrees = view.degrees("out")
        n, own = view.num_vertices, view.num_owned
        self.level = np.full(n, -1, np.int32)
        self.depth, self.reached = 0, 1
        self.frontier, self.ahead, self.missing = 0, 0, 0
        here = view.places(np.array([source]))[0]
        self.level[here] = 0
        self.queue = np.empty(n, view.out.neighbours.dtype)
        self.queue[: len(here)] = here
        self.size = len(here)
        self.targets = np.empty(0, np.int64)
        if targets is not None:
            places = view.places(targets)[0]
            self.targets = places[places < own]
        self.has_targets = targets is not None
        self.changed = np.zeros(own, bool)
        self.unread = view.graph_edges
        # Bits of the frontier and of what is found, for pulls; None while the last level was pushed.
        self.bits: tuple[np.ndarray, np.ndarray] | None = None
        self.done = np.zeros((n + 63) // 64, np.uint64)
        self.first_pull = True
        mine = here[here < own]
        self._agree(len(mine), int(self.degrees[mine].sum()), None)

    def goes_on(self) -> bool:
        """Whether there is a level to look for; the same on all ranks."""
        found = self.has_targets and not self.missing
        return self.frontier > 0 and self.depth != self.cutoff and not found

    def prefers_pull(self) -> bool:
        """Whether to pull the next level; the same on all ranks.

        By the reads of edges that it is expected to save: see the CPU engine's `Search`.
        """
        n = self.view.graph_vertices
        reads = min((n - self.reached) * self.unread / max(self.ahead, 1), self.unread - self.ahead)
        saving = PUSH_COST * self.ahead - reads - VERTEX_COST * n
        if saving > 0 or self.edges.rows.has("source"):
            return bool(saving > 0)
        # By counts of the whole graph, so that all ranks turn their rows over at the same time.
        return self.edges.note_missed(-saving) <= INTO_COST * self.view.graph_edges

    def push(self) -> None:
        """Find the next level along the edges out of the frontier."""
        start = time.perf_counter()
        rows, before, frontier = self.edges.out, self.size, self.frontier
        self.bits, self.first_pull = None, True
        self.depth += 1
        total = np.empty(before + 1, np.int64)
        kernels.running_degrees(0, before, self.queue, rows.offsets, 0, total)
        tail = np.array([before], np.int64)
        found = np.empty(before + self.view.num_owned, self.queue.dtype)
        found[:before] = self.queue[:before]
        for_blocks(
            kernels.push_block, edge_blocks(total),
            rows.offsets, rows.neighbours, self.level, found, self.depth, tail,
        )  # fmt: skip
        new = found[before : int(tail[0])]
        self.queue[: len(new)] = new
        got = self._agree(len(new), int(self.degrees[new].sum()), new)
        self.queue[len(new) : len(new) + len(got)] = got
        self.size = len(new) + len(got)
        self._note("push", frontier, int(total[-1]), start)

    def pull(self) -> None:
        """Find the next level among own vertices that are not reached."""
        start = time.perf_counter()
        rows, own, size = self.view.into, self.view.num_owned, self.frontier
        if self.bits is None:
            bits = np.zeros_like(self.done), np.zeros_like(self.done)
            kernels.mark(0, self.size, self.queue, bits[0])
            self.bits = bits
        frontier, found = self.bits
        self.depth += 1
        offsets = rows.offsets[: own + 1]
        blocks = np.union1d(even_blocks(own, multiple=64), edge_blocks(offsets, multiple=64))
        results: list[tuple[int, int, int]] = for_blocks(
            kernels.pull_block, blocks,
            offsets, rows.neighbours, self.view.out.offsets, self.level, self.depth,
            frontier, found, self.done, self.first_pull,
        )  # fmt: skip
        self.first_pull = False
        count, read, ahead = np.sum([(0, 0, 0), *results], axis=0).tolist()
        found[-(-own // 64) :] = 0  # ghosts of two levels ago
        new = np.empty(count, self.queue.dtype)
        kernels.collect(0, len(found), found, new, 0)
        got = self._agree(count, ahead, new)
        kernels.mark(0, len(got), got, found)
        self.bits = found, frontier
        self.queue[:count] = new
        self.queue[count : count + len(got)] = got
        self.size = count + len(got)
        self._note("pull", size, read, start)

    def _agree(self, count: int, ahead: int, new: np.ndarray | None) -> np.ndarray:
        """Tell the others of new own vertices; the ghosts that they told of."""
        missing = int(np.count_nonzero(self.level[self.targets] < 0))
        scalars = np.array([count, ahead, missing])
        got = self.queue[:0]
        if new is None:  # all know the source
            every = self.view.ranks.scalars(scalars.tolist())
        else:
            self.changed[new] = True
            got, every = self.view.border.refresh([self.level], self.changed, scalars)
            self.changed[new] = False
            self.unread -= self.ahead
        self.frontier, self.ahead, self.missing = every.sum(axis=0).tolist()
        self.reached += self.frontier if new is not None else 0
        return got

    def _note(self, direction: str, frontier: int, edges: int, start: float) -> None:
        id_bytes = self.queue.itemsize
        if direction == "push":  # a neighbour and its level for each edge, the queue
            moved = edges * (id_bytes + 4) + self.size * (id_bytes + 16)
        else:  # a neighbour and its bit for each edge; three bitmaps and the offsets for all
            moved = edges * (id_bytes + 1) + self.view.num_owned * 8
        self.report.advance(
            direction, supersteps=1, frontier=frontier, edges=edges, bytes=moved,
            seconds=time.perf_counter() - start,
        )  # fmt: skip
