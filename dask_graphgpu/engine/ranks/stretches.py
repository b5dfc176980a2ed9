"""Breadth-first search on many ranks where levels are small: several levels between two exchanges.

Each rank pushes its own vertices level by level, up to a level that all have agreed on, as if no
others were there. Then it tells owners which levels their vertices have got from it. A level that
turns out to be too high is lowered, and pushed again. The fewer edges that takes, the more levels the
next stretch has.
"""

from __future__ import annotations

import time

import numpy as np

from dask_graphgpu.engine.ranks.in_place import STRETCHES
from dask_graphgpu.engine.ranks.search import Search
from dask_graphgpu.kernels.cpu import bfs as kernels

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
        pending = np.unique(self.pending)  # several ranks may have lowered one
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
