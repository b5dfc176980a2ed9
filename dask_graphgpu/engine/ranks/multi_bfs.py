"""Breadth-first searches from many sources on many ranks, up to 64 in one sweep.

References
----------
.. [1] Then, Kaufmann, Chirigati, Hoang-Vu, Pham, Kemper, Neumann, Vo. The more the merrier: efficient multi-source
   graph traversal. PVLDB 8 (2014).
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from dask_graphgpu.engine.cpu.multi_bfs import LONG_ROWS, PULLED_PART
from dask_graphgpu.engine.direction import configured_direction
from dask_graphgpu.engine.ranks.bfs import bfs
from dask_graphgpu.kernels.cpu.threads import edge_blocks, even_blocks, for_blocks

if TYPE_CHECKING:
    from dask_graphgpu.partition.ranks.view import RankView
    from dask_graphgpu.report import Report


def multi_bfs(
    view: RankView,
    sources: np.ndarray,
    *,
    cutoff: int | None,
    targets: np.ndarray | None,
    report: Report,
) -> np.ndarray:
    """Hops from each of several sources along the edges, as the CPU engine's `multi_bfs`. Collective.

    Sources and targets are numbers.

    Returns
    -------
    array of int32, shape (sources, num_vertices)
        -1 where not reached; right for own vertices.

    Notes
    -----
    A vertex has a word with a bit for each source [1]_. One exchange a level, for all sources: after a push new bits
    are told to owners, after a pull to those that have edges from them. Where rows are short, graphs are deep and
    searches rarely meet: then one follows the other, by several levels an exchange.
    """
    if view.graph_edges < LONG_ROWS * view.graph_vertices or view.levels is not None:
        each = [
            bfs(view, source, cutoff=cutoff, targets=targets, report=report)
            for source in sources.tolist()
        ]
        return np.stack(each)
    sweep, forced = _Sweep(view, sources, targets, report), configured_direction()
    while sweep.goes_on(cutoff):
        large = sweep.ahead > PULLED_PART * view.graph_edges
        if forced == "pull" or (forced != "push" and large):
            sweep.pull()
        else:
            sweep.push()
    return sweep.level


class _Sweep:
    """Searches under way.

    Attributes
    ----------
    level : int32, shape (sources, num_vertices)
        Right for own vertices.
    size, ahead, missing : int
        Over all ranks: vertices that some search has just reached, and edges out of them; what two ranks find is
        counted twice. Targets that a search has not reached.
    """

    def __init__(
        self, view: RankView, sources: np.ndarray, targets: np.ndarray | None, report: Report
    ) -> None:
        n, self.own = view.num_vertices, view.num_owned
        self.view, self.report, self.depth = view, report, 0
        self.degrees = view.degrees("out")
        self.full = np.uint64((1 << len(sources)) - 1)
        self.level = np.full((len(sources), n), -1, np.int32)
        # Bits of the searches that have reached a vertex; in the last level; in the next one.
        self.seen, self.visit, self.next_visit = (np.zeros(n, np.uint64) for _ in range(3))
        for k, source in enumerate(sources.tolist()):
            here = view.places(np.array([source]))[0]
            self.level[k, here] = 0
            self.visit[here] |= np.uint64(1 << k)
        self.seen |= self.visit
        self.ghosts_know = True  # what is in `visit` of ghosts is right
        self.targets: np.ndarray | None = None
        if targets is not None:
            places = view.places(targets)[0]
            self.targets = places[places < self.own]
        self._take_list()
        self._take_counts(view.ranks.scalars(self._counts().tolist()))

    def goes_on(self, cutoff: int | None) -> bool:
        """Whether there is a level to look for; the same on all ranks."""
        found = self.targets is not None and not self.missing
        return self.size > 0 and self.depth != cutoff and not found

    def push(self) -> None:
        """Find the next level along the edges out of the last one."""
        from dask_graphgpu.kernels.cpu import multi_bfs as kernels

        start, size, own, rows = time.perf_counter(), self.size, self.own, self.view.out
        offsets = rows.offsets.view(np.uint64)
        total = np.empty(len(self.list) + 1, np.int64)
        kernels.running_degrees(len(self.list), self.list, offsets, total)
        read = sum(for_blocks(
            kernels.push_block, edge_blocks(total), self.list, offsets, rows.neighbours,
            self.seen, self.visit, self.next_visit,
        ))  # fmt: skip
        found = self.next_visit.nonzero()[0]
        ghosts = found[found >= own]
        bits = self.next_visit[ghosts]
        self.seen[ghosts] |= bits  # so that they are told once
        counts = np.array([len(found), self.degrees[found].sum(), self._missing()], np.int64)
        told, every = self.view.border.tell_owners(ghosts, bits, counts)
        for ids, theirs in told:
            self.next_visit[ids] |= theirs & ~self.seen[ids]
        self._settle()
        self.ghosts_know = False
        self._take_counts(every)
        self._note("push", size, read, start)

    def pull(self) -> None:
        """Find the next level: vertices that a search has not reached ask their in-neighbours."""
        from dask_graphgpu.kernels.cpu import multi_bfs as kernels

        start, size, own, rows = time.perf_counter(), self.size, self.own, self.view.into
        if not self.ghosts_know:
            self._tell_ghosts(None)
        offsets = rows.offsets[: own + 1]
        read = sum(for_blocks(
            kernels.pull_block, edge_blocks(offsets), offsets.view(np.uint64), rows.neighbours,
            self.seen, self.visit, self.next_visit, self.full,
        ))  # fmt: skip
        self._settle()
        self._take_counts(self._tell_ghosts(self._counts()))
        self._note("pull", size, read, start)

    def _settle(self) -> None:
        """Note the new level of own vertices, which becomes the last one."""
        from dask_graphgpu.kernels.cpu import multi_bfs as kernels

        self.depth += 1
        for_blocks(
            kernels.settle_block, even_blocks(self.own), self.depth, self.seen, self.next_visit,
            self.level,
        )  # fmt: skip
        self.visit, self.next_visit = self.next_visit, self.visit
        self.visit[self.own :] = 0
        self.next_visit[:] = 0
        self._take_list()

    def _take_list(self) -> None:
        found = self.visit[: self.own].nonzero()[0]
        self.list = found.astype(self.view.out.neighbours.dtype)

    def _tell_ghosts(self, counts: np.ndarray | None) -> np.ndarray:
        """Bring the last level to ghosts; every rank's counts."""
        _, every = self.view.border.refresh([self.visit], self.visit != 0, counts)
        self.seen[self.own :] |= self.visit[self.own :]
        self.ghosts_know = True
        return every

    def _counts(self) -> np.ndarray:
        edges = self.degrees[self.list].sum()
        return np.array([len(self.list), edges, self._missing()], np.int64)

    def _missing(self) -> int:
        if self.targets is None:
            return 0
        return int(np.count_nonzero(self.seen[self.targets] != self.full))

    def _take_counts(self, every: np.ndarray) -> None:
        self.size, self.ahead, self.missing = every.sum(axis=0).tolist()

    def _note(self, way: str, frontier: int, read: int, start: float) -> None:
        moved = int(read) * (self.view.out.neighbours.itemsize + 8) + self.own * 24
        self.report.advance(
            way, supersteps=1, frontier=frontier, edges=int(read), bytes=moved,
            seconds=time.perf_counter() - start,
        )  # fmt: skip
