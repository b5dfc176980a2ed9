"""A breadth-first search under way on many ranks."""

from __future__ import annotations

import time

import numpy as np

from dask_graphgpu.engine.cpu.search import PUSH_COST, VERTEX_COST
from dask_graphgpu.engine.ranks.in_place import STRETCHES
from dask_graphgpu.kernels.cpu import bfs as kernels
from dask_graphgpu.kernels.cpu.threads import edge_blocks, even_blocks, for_blocks
from dask_graphgpu.partition.distinct import distinct
from dask_graphgpu.partition.ranks.view import RankView
from dask_graphgpu.report import Report


class Search:
    """Levels of the vertices that are here, and the frontier: those of the last level.

    Pushed are the own vertices of the frontier, along their rows; found ghosts are told to their
    owners. Pulled are own vertices, from own ones and ghosts. Either is one exchange a level, and so
    is, once, to tell the ghosts when a pull follows a push.

    Attributes
    ----------
    level : int32, shape (num_vertices,)
        Right for own vertices; of a ghost -1 or right.
    depth : int
        Of the frontier.
    frontier, ahead, reached, unread : int
        Over all ranks: vertices of the frontier, and edges out of them; vertices reached; edges of
        vertices that were in no frontier before this one. What two ranks find in one push is counted
        twice until the next exchange.
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
        self.degrees = view.degrees("out")
        n, own = view.num_vertices, view.num_owned
        self.level = np.full(n, -1, np.int32)
        self.depth = 0
        self.targets: np.ndarray | None = None
        if targets is not None:
            places = view.places(targets)[0]
            self.targets = places[places < own]
        # Bits of the frontier and of what is found, for pulls; None while the last level was pushed.
        self.bits: tuple[np.ndarray, np.ndarray] | None = None
        self.done = np.zeros((n + 63) // 64, np.uint64)
        here = view.places(np.array([source]))[0].astype(view.out.neighbours.dtype)
        self.level[here.astype(np.intp)] = 0
        # The frontier: its own vertices, and its ghosts, None while they are not known.
        self.own: np.ndarray = here[here < own]
        self.ghosts: np.ndarray | None = here[here >= own]
        # Of own vertices: how many are reached, edges out of the frontier, and of those before it.
        self._reached_here = self._ahead_here = self._left_here = 0
        counts = self._counts(len(self.own), self._edges_of(self.own))
        self._note_counts(view.ranks.scalars(counts))

    def goes_on(self) -> bool:
        """Whether there is a level to look for; the same on all ranks."""
        found = self.targets is not None and not self.missing
        return self.frontier > 0 and self.depth != self.cutoff and not found

    def prefers_pull(self) -> bool:
        """Whether to pull the next level; the same on all ranks.

        By the reads of edges that it is expected to save: see the CPU engine's `Search`.
        """
        n = self.view.graph_vertices
        reads = min((n - self.reached) * self.unread / max(self.ahead, 1), self.unread - self.ahead)
        return bool(PUSH_COST * self.ahead - reads - VERTEX_COST * n > 0)

    def push(self) -> None:
        """Find the next level along the edges out of the frontier."""
        start = time.perf_counter()
        rows, before, frontier = self.view.out, len(self.own), self.frontier
        self.bits = None
        self.depth += 1
        total = np.empty(before + 1, np.int64)
        kernels.running_degrees(0, before, self.own, rows.offsets, 0, total)
        tail = np.array([before], np.int64)
        queue = np.empty(before + min(int(total[-1]), self.view.num_vertices), self.own.dtype)
        queue[:before] = self.own
        for_blocks(
            kernels.push_block, edge_blocks(total),
            rows.offsets, rows.neighbours, self.level, queue, self.depth, tail,
        )  # fmt: skip
        new = queue[before : int(tail[0])]
        is_ghost = new >= self.view.num_owned
        ghosts, found = np.sort(new[is_ghost]), [new[~is_ghost]]
        own_edges, edges = self._edges_of(found[0]), self._edges_of(ghosts)
        counts = self._counts(len(found[0]), own_edges, len(ghosts), edges)
        no_values = np.empty((len(ghosts), 0), np.uint8)  # all are of the next level
        told, every = self.view.border.tell_owners(ghosts, no_values, np.array(counts, np.int64))
        for ids, _ in told:
            fresh = ids[self.level.take(ids) < 0]
            self.level[fresh.astype(np.intp)] = self.depth
            self._reached_here += len(fresh)
            self._ahead_here += self._edges_of(fresh)
            found.append(fresh)
        self.own, self.ghosts = np.concatenate(found), None
        self._note_counts(every)
        if self.targets is not None:  # what was told just now may be one
            self.missing = int(self.view.ranks.sum(self._missing()))
        self.note("push", frontier, int(total[-1]), start)

    def pull(self) -> None:
        """Find the next level among own vertices that are not reached."""
        start = time.perf_counter()
        view, size = self.view, self.frontier
        rows, own = view.into, view.num_owned
        first = self.bits is None
        if self.ghosts is None:
            self.ghosts, _ = self._tell_ghosts(None)
        frontier, found = self.bits or (np.zeros_like(self.done), np.zeros_like(self.done))
        if first:
            kernels.mark(0, len(self.own), self.own, frontier)
        kernels.mark(0, len(self.ghosts), self.ghosts, frontier)
        self.depth += 1
        offsets = rows.offsets[: own + 1]
        blocks = distinct(
            np.concatenate([even_blocks(own, multiple=64), edge_blocks(offsets, multiple=64)])
        )
        results: list[tuple[int, int, int]] = for_blocks(
            kernels.pull_block, blocks,
            offsets, rows.neighbours, view.out.offsets, self.level, self.depth,
            frontier, found, self.done, first,
        )  # fmt: skip
        count, read, ahead = np.sum([(0, 0, 0), *results], axis=0).tolist()
        found[-(-own // 64) :] = 0  # ghosts of two levels ago
        self.own = np.empty(count, self.own.dtype)
        kernels.collect(0, len(found), found, self.own, 0)
        self.ghosts, every = self._tell_ghosts(self._counts(count, ahead))
        self.bits = found, frontier
        self._note_counts(every)
        self.note("pull", size, read, start)

    def go_on_from(self, depth: int) -> None:
        """Take for the frontier a level up to which all levels are right, none beyond; collective."""
        view, own = self.view, self.level[: self.view.num_owned]
        self.level[self.level > depth] = -1
        self.depth, self.bits, self.ghosts = depth, None, None
        self.own = np.flatnonzero(own == depth).astype(self.own.dtype)
        before = own >= 0
        self._reached_here = int(np.count_nonzero(before)) - len(self.own)
        before &= own < depth
        self._left_here = int(self.degrees[: view.num_owned][before].sum())
        self._ahead_here = 0
        counts = self._counts(len(self.own), self._edges_of(self.own))
        self._note_counts(view.ranks.scalars(counts))

    def _tell_ghosts(self, counts: list[int] | None) -> tuple[np.ndarray, np.ndarray]:
        """Tell other ranks which own vertices are in the frontier; the ghosts that are."""
        in_frontier = self.level[: self.view.num_owned] == self.depth
        scalars = None if counts is None else np.array(counts, np.int64)
        ghosts, every = self.view.border.refresh([], in_frontier, scalars)
        self.level[ghosts.astype(np.intp)] = self.depth
        return ghosts, every

    def _counts(self, own: int, own_edges: int, ghosts: int = 0, edges: int = 0) -> list[int]:
        """What the ranks tell each other of a level: how much was found here, and edges out of it."""
        self._reached_here += own
        self._left_here += self._ahead_here
        self._ahead_here = own_edges
        reached = self._reached_here + ghosts
        return [own + ghosts, own_edges + edges, self._missing(), reached, self._left_here]

    def _edges_of(self, vertices: np.ndarray) -> int:
        return int(self.degrees.take(vertices).sum())

    def _missing(self) -> int:
        """Targets of this rank that are not reached."""
        return 0 if self.targets is None else int(np.count_nonzero(self.level[self.targets] < 0))

    def _note_counts(self, every: np.ndarray) -> None:
        self.frontier, self.ahead, self.missing, self.reached, left = every.sum(axis=0).tolist()
        self.unread = self.view.graph_edges - left

    def note(
        self, direction: str, frontier: int, edges: int, start: float, levels: int = 1
    ) -> None:
        """Add a row to the report."""
        id_bytes = self.own.itemsize
        if direction == "push":  # a neighbour and its level for each edge, the queue
            moved = edges * (id_bytes + 4) + len(self.own) * (id_bytes + 16)
        else:  # a neighbour and its bit for each edge; three bitmaps and the offsets for all
            moved = edges * (id_bytes + 1) + self.view.num_owned * 8
        self.report.advance(
            direction, supersteps=levels, frontier=frontier, edges=edges, bytes=moved,
            seconds=time.perf_counter() - start,
        )  # fmt: skip


# Levels of few edges after which a search goes on in stretches, and levels of the first stretch.
SMALL_LEVELS = 32
_FIRST_WIDTH = 8

_HIGHEST = 2**31 - 1


class LevelStretches:
    """A search that goes on from where levels have become small."""

    def __init__(self, search: Search) -> None:
        view = search.view
        self.search, self.view, self.level = search, view, search.level
        self.last = -1 if search.cutoff is None else search.cutoff
        dtype = search.own.dtype
        self.lists = np.empty((2, view.num_owned), dtype)
        self.told = np.zeros(view.num_vertices, np.uint8)
        self.far = np.empty(view.num_vertices - view.num_owned, dtype)
        self.pending = search.own  # own vertices that are to be pushed

    def run(self) -> bool:
        """Search until nothing is left, or levels are large. Return whether the search is over."""
        search, ranks = self.search, self.view.ranks
        least, width = search.depth, _FIRST_WIDTH
        while True:
            start = time.perf_counter()
            size = len(self.pending)
            read, ghosts = self._push(least + width)
            values = self.level.take(ghosts)
            scalars = self._scalars(read, ghosts, values)
            told, every = self.view.border.tell_owners(ghosts, values, scalars)
            self._take(told)
            search.note("push", size, read, start, levels=width)
            left, edges, sent, missing = every[:, :4].sum(axis=0).tolist()
            furthest, depth = int(every[:, 4].max()), least
            least = int(every[:, 5].min())
            found = search.targets is not None and not missing and furthest <= least
            if not left or found:
                if found:  # what is beyond is not final
                    self.level[self.level > furthest] = -1
                return True
            if width == 1 and STRETCHES.are_many(edges, ranks.size) and least > depth:
                search.go_on_from(least)
                return False
            width = STRETCHES.buckets(width, edges, sent, ranks.size)

    def _push(self, until: int) -> tuple[int, np.ndarray]:
        """Push what is pending below a level; edges read, and ghosts that have got levels."""
        rows, level = self.view.out, self.level
        pending = distinct(self.pending)  # several ranks may have lowered one
        keys = level.take(pending)
        order = np.argsort(keys, kind="stable")
        pending, keys = pending[order], keys[order]
        side, count, done, found, read = kernels.settle(
            rows.offsets, rows.neighbours, level, pending, keys, until, self.last,
            self.view.num_owned, self.lists, self.told, self.far,
        )  # fmt: skip
        later = pending[done:][level.take(pending[done:]) == keys[done:]]
        self.pending = np.concatenate([self.lists[side, :count], later])
        ghosts = np.sort(self.far[:found])
        self.told[ghosts.astype(np.intp)] = 0
        return read, ghosts

    def _scalars(self, read: int, ghosts: np.ndarray, values: np.ndarray) -> np.ndarray:
        """What the ranks have to know of each other.

        Vertices that are still to be pushed, edges read, values that travel; targets that are not
        reached, the highest level of one; the lowest level that is still to be pushed.
        """
        level = self.level
        self.pending = self._pushed_on(self.pending)
        ahead = np.concatenate([level.take(self.pending), values])
        missing, furthest = 0, -1
        if self.search.targets is not None:
            of_targets = level[self.search.targets]
            missing = int(np.count_nonzero(of_targets < 0))
            furthest = int(of_targets.max(initial=-1))
        return np.array(
            [len(ahead), read, len(ghosts), missing, furthest, ahead.min(initial=_HIGHEST)],
            np.int64,
        )

    def _take(self, told: list[tuple[np.ndarray, np.ndarray]]) -> None:
        """Lower the levels that others have found lower."""
        found = [self.pending]
        for ids, values in told:
            have = self.level.take(ids)
            lower = (have < 0) | (values < have)
            self.level[ids[lower].astype(np.intp)] = values[lower]
            found.append(self._pushed_on(ids[lower]))
        self.pending = np.concatenate(found)

    def _pushed_on(self, vertices: np.ndarray) -> np.ndarray:
        """Those that are not of the last level."""
        return vertices if self.last < 0 else vertices[self.level.take(vertices) < self.last]
