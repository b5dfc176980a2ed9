"""A sweep of breadth-first searches: from up to 64 sources at once, a bit of a word each.

References
----------
.. [1] Then, Kaufmann, Chirigati, Hoang-Vu, Pham, Kemper, Neumann, Vo. The more the merrier: efficient multi-source
   graph traversal. PVLDB 8 (2014).
"""

from __future__ import annotations

import time

import numpy as np

from dask_graphgpu.engine.cpu.bfs import LARGE_LEVEL
from dask_graphgpu.engine.cpu.edges import InMemory, Paged
from dask_graphgpu.engine.options import configured_direction
from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.kernels.cpu import threads
from dask_graphgpu.kernels.cpu.threads import edge_blocks, even_blocks, for_blocks, num_threads
from dask_graphgpu.partition.distinct import distinct
from dask_graphgpu.partition.ranks.view import AnyView
from dask_graphgpu.report import Report

# Searches of one sweep: the bits of a word.
AT_ONCE = 64

# Part of the edges from which a frontier is pulled: a pull reads about all of them, and in order.
PULLED_PART = 0.25

# Bytes of a vertex, beside lists of ids and degrees.
OF_VERTEX = 24 + 16


class Sweep:
    """Searches under way.

    Parameters
    ----------
    sources, cutoff, targets
        As of `multi_bfs`.
    sums : float64, shape (num_vertices, 5), optional
        What `hop_sums` gives, to which these searches are added. Default: levels are noted.

    Attributes
    ----------
    level : int32, shape (sources, num_vertices), or (0, num_vertices)
        Right for own vertices; with ``sums`` there are none.
    size, ahead, missing : int
        Vertices that some search has just reached; of several ranks over all of them, as are edges out of these, where
        what two ranks find is counted twice, and targets that a search has not reached.
    """

    def __init__(
        self,
        view: AnyView,
        passes: InMemory | Paged,
        sources: np.ndarray,
        cutoff: int | None,
        targets: np.ndarray | None,
        report: Report,
        sums: np.ndarray | None = None,
    ) -> None:
        n, self.own = view.num_vertices, view.num_owned
        self.view, self.report, self.depth = view, report, 0
        self._passes, self._several = passes, view.on_ranks
        self.last = -1 if cutoff is None else cutoff
        self.full = np.uint64((1 << len(sources)) - 1)
        self._sums = np.empty((0, 5)) if sums is None else sums
        self.level = np.full((len(sources) if sums is None else 0, n), -1, np.int32)
        # Bits of the searches that have reached a vertex; in the last level; in the next one.
        self.seen, self.visit, self.next_visit = (np.zeros(n, np.uint64) for _ in range(3))
        places, of_bits = sources, list(range(len(sources)))
        if self._several:
            places, here = view.places(sources)
            of_bits = np.flatnonzero(here).tolist()
        for k, place in zip(of_bits, places.tolist(), strict=True):
            if sums is None:
                self.level[k, place] = 0
            self.seen[place] |= np.uint64(1 << k)
        self.visit[places] = self.seen[places]
        self.ghosts_know = True  # what is in `visit` of ghosts is right
        self.ends_early = targets is not None
        self.targets = np.empty(0, np.int64)
        if targets is not None:
            found = view.places(targets)[0]
            self.targets = found[found < self.own]
        starts = distinct(places[places < self.own] if self._several else places)
        self._lists = [np.empty(n, passes.rows.neighbours.dtype) for _ in range(2)]
        self.size = self._here = len(starts)
        self._lists[0][: self._here] = starts
        self.ahead = self.missing = 0

    def search(self) -> None:
        """Search until the end."""
        (_level_by_level if self._several or self.view.paged else _on_all_threads)(self)

    @property
    def frontier(self) -> np.ndarray:
        """The own vertices that some search has just reached, ascending, unless small levels were pushed."""
        return self._lists[0][: self._here]

    def goes_on(self) -> bool:
        """Whether there is a level to look for; the same on all ranks."""
        found = self.ends_early and not self.missing
        return self.size > 0 and self.depth != self.last and not found

    def push_small_levels(self, limit: int) -> int:
        """Push until a level has more edges than `limit`. Returns its edges, 0 when the searches are over."""
        start, depth, size = time.perf_counter(), self.depth, self.size
        rows = self._passes.rows
        self.size, side, self.depth, read, ahead = kernels.multi_bfs.push(
            rows.offsets.view(np.uint64), rows.neighbours, self.seen, self.visit, self.next_visit,
            self.level, self._sums, *self._lists, size, depth, self.last, self.targets, self.full, limit,
        )  # fmt: skip
        self._here = self.size
        if side:
            self._lists.reverse()
        if self.depth > depth:
            self._note("push", self.depth - depth, size, read, start)
        return int(ahead)

    def push(self) -> None:
        """Find the next level along the edges out of the last one."""
        start, size, read, some = time.perf_counter(), self.size, 0, self.frontier
        offsets = self._passes.rows.offsets.view(np.uint64)
        total = np.empty(len(some) + 1, np.int64)
        kernels.multi_bfs.running_degrees(len(some), some, offsets, total)
        for a, b, rows in self._passes.among(some):
            blocks = edge_blocks(total[a : b + 1]) + a
            words = self.seen, self.visit, self.next_visit
            read += sum(
                for_blocks(
                    kernels.multi_bfs.push_block, blocks, some, offsets, rows.neighbours, *words
                )
            )
        every = self._tell_owners() if self._several else None
        self._settle(every)
        self._note("push", 1, size, read, start)

    def pull(self) -> None:
        """Find the next level: vertices that a search has not reached ask their in-neighbours."""
        start, size, rows = time.perf_counter(), self.size, self.view.into
        if not self.ghosts_know:
            self._tell_ghosts(None)
        offsets = rows.offsets[: self.own + 1]
        read = sum(for_blocks(
            kernels.multi_bfs.pull_block, edge_blocks(offsets), offsets.view(np.uint64), rows.neighbours,
            self.seen, self.visit, self.next_visit, self.full,
        ))  # fmt: skip
        self._settle(None)
        if self._several:
            self._take_counts(self._tell_ghosts(self._counts()))
        self._note("pull", 1, size, read, start)

    def count(self) -> None:
        """Take the counts of all ranks of the last level."""
        self._take_counts(np.array(self.view.ranks.scalars(self._counts().tolist())))

    def _settle(self, every: np.ndarray | None) -> None:
        """Note the new level of own vertices, which becomes the last one; ``every``: counts of all ranks of it."""
        self.depth += 1
        self._here = sum(for_blocks(
            kernels.multi_bfs.settle_block, even_blocks(self.own), self.depth, self.seen, self.next_visit,
            self.level, self._sums,
        ))  # fmt: skip
        self.visit, self.next_visit = self.next_visit, self.visit
        self.visit[self.own :] = 0
        self.next_visit[:] = 0
        kernels.multi_bfs.collect(self.visit[: self.own], self._lists[0])
        if every is not None:
            self._take_counts(every)
        elif not self._several:
            self.size, self.missing = self._here, self._missing()

    # -- what several ranks tell each other --------------------------------------------------------

    def _tell_owners(self) -> np.ndarray:
        """Bring what a push has found to owners; every rank's counts."""
        found = self.next_visit.nonzero()[0]
        ghosts = found[found >= self.own]
        bits = self.next_visit[ghosts]
        self.seen[ghosts] |= bits  # so that they are told once
        edges = self.view.degrees("out")[found].sum()
        counts = np.array([len(found), edges, self._missing()], np.int64)
        told, every = self.view.border.tell_owners(ghosts, bits, counts)
        for ids, theirs in told:
            places = ids.astype(np.intp)
            self.next_visit[places] |= theirs & ~self.seen[places]
        self.ghosts_know = False
        return every

    def _tell_ghosts(self, counts: np.ndarray | None) -> np.ndarray:
        """Bring the last level to ghosts; every rank's counts."""
        _, every = self.view.border.refresh([self.visit], self.visit != 0, counts)
        self.seen[self.own :] |= self.visit[self.own :]
        self.ghosts_know = True
        return every

    def _counts(self) -> np.ndarray:
        edges = 0 if self.view.paged else self.view.degrees("out").take(self.frontier).sum()
        return np.array([self._here, edges, self._missing()], np.int64)

    def _missing(self) -> int:
        return int(np.count_nonzero(self.seen[self.targets] != self.full))

    def _take_counts(self, every: np.ndarray) -> None:
        self.size, self.ahead, self.missing = every.sum(axis=0).tolist()

    def _note(self, way: str, supersteps: int, frontier: int, read: int, start: float) -> None:
        ids = self._lists[0].dtype
        looked_at = self.own if self._several else frontier
        self.report.advance(
            way, supersteps=supersteps, frontier=frontier, edges=int(read),
            bytes=int(read) * (ids.itemsize + 8) + looked_at * 24, seconds=time.perf_counter() - start,
        )  # fmt: skip


def _on_all_threads(sweep: Sweep) -> None:
    """The levels of a sweep in the memory of one rank, those of few edges in one call."""
    view, direction = sweep.view, configured_direction()
    limit = LARGE_LEVEL * threads.LITTLE_WORK
    pulls = direction == "pull" or (direction != "push" and view.has_into)
    shares = num_threads() > 1
    if direction == "pull":
        limit = -1
    elif not shares and not pulls:
        limit = view.graph_edges
    while ahead := sweep.push_small_levels(limit):
        if pulls and (limit < 0 or ahead > PULLED_PART * view.graph_edges):
            sweep.pull()
        elif shares:
            sweep.push()
        else:
            sweep.push_small_levels(ahead)


def _level_by_level(sweep: Sweep) -> None:
    """The levels of a sweep on several ranks, or on disk, where levels are pushed."""
    view = sweep.view
    forced = "push" if view.paged else configured_direction()
    sweep.count()
    while sweep.goes_on():
        large = sweep.ahead > PULLED_PART * view.graph_edges
        if forced == "pull" or (forced != "push" and large):
            sweep.pull()
        else:
            sweep.push()
