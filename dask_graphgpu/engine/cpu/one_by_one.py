"""Vertices of Louvain and Leiden that move one by one: the fastest for graphs that are not large."""

from __future__ import annotations

import time
from copy import copy
from typing import Any, Self

import numpy as np

from dask_graphgpu.engine.cpu import side_by_side
from dask_graphgpu.engine.cpu.aggregated import aggregated
from dask_graphgpu.engine.cpu.community_level import Level, SomeLevel, connected, renumbered, within
from dask_graphgpu.interrupting import check, stopping
from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.kernels.cpu.threads import for_blocks, step_blocks
from dask_graphgpu.partition.csr import at_ends, offsets_of
from dask_graphgpu.report import Report

# How much of a vertex's degree a gain may be behind the best one and still be likely to be taken by `leiden` [2]. With
# ten times as much, modularity is lower by a hundredth where degrees are skewed (email-enron).
RANDOMNESS = 0.001

# Vertices that stay together when their order is shuffled: neighbours in the order of ids are often neighbours in the
# graph as well, and then in the cache (cnr-2000: half the time of one by one). With 64, modularity is a little lower.
TOGETHER = 16

# Entries and rows of a level from which they move on two sides at once. With a quarter as many, two threads do not take
# less than one (osm-andorra), and modularity of email-enron is lower by three thousandths.
MANY = 1 << 20

# Entries and rows, about, of communities that are refined one after the other by one thread: what belongs to their
# vertices is in the cache then.
GROUP = 1 << 16


class MovesOneByOne:
    """As of `engine.communities.Moves`; ``scale`` as kernels have it."""

    def __init__(self, first: SomeLevel, scale: float, seed: int, report: Report) -> None:
        self.first, self._scale, self._report = first, scale, report
        self._rng = np.random.default_rng(seed)

    def alone(self, level: SomeLevel) -> np.ndarray:
        return np.arange(len(level), dtype=level.ids)

    def moved(
        self, level: SomeLevel, labels: np.ndarray, fixed: np.ndarray | None
    ) -> tuple[np.ndarray, int]:
        begun = time.perf_counter()
        n, dtype, read, stopped = len(level), level.ids, 0, stopping()
        order = self._shuffled(n, dtype)
        if fixed is not None:
            order = order[~fixed.take(order)]
        if n + int(level.offsets[-1]) >= MANY:
            labels, order, read = side_by_side.move(level, order, labels, fixed, self._scale)
        queue, queued = np.empty(n, dtype), np.zeros(n, np.bool_)
        queue[: len(order)] = order
        queued[order.astype(np.intp, copy=False)] = True
        if fixed is not None:
            queued |= fixed  # these never are anew
        totals, size = np.bincount(labels, level.degree, n), np.bincount(labels, minlength=n)
        unused = np.flatnonzero(size == 0)[::-1]
        empty = np.zeros(n, dtype)
        empty[: len(unused)] = unused
        at = np.array([0, len(order), len(unused)])
        ring = queue, queued, np.zeros(n), np.empty(n, dtype), at
        while at[1]:
            check(stopped)
            part, most = level.ahead(queue, int(at[0]), int(at[1]))
            read += kernels.one_by_one.move(
                *_edges(part), level.degree, self._scale, labels, totals, size, empty, *ring, most
            )
        entry = level.entry_bytes + dtype.itemsize + 8
        self._report.advance(
            "move", supersteps=1, frontier=n, edges=int(read), bytes=int(read) * entry + n * 48,
            seconds=time.perf_counter() - begun,
        )  # fmt: skip
        return renumbered(labels)

    def _shuffled(self, n: int, dtype: np.dtype[Any]) -> np.ndarray:
        """The numbers below n, stretches of them in another order."""
        stretches = self._rng.permutation(-(-n // TOGETHER))
        rows = np.arange(len(stretches) * TOGETHER).reshape(-1, TOGETHER)
        order = rows.take(stretches, axis=0).ravel()
        shuffled: np.ndarray = order[order < n].astype(dtype)
        return shuffled

    def refined(self, level: SomeLevel, labels: np.ndarray, count: int) -> tuple[np.ndarray, int]:
        n = len(level)
        order, chance = self._shuffled(n, labels.dtype), self._rng.random(n)
        totals = np.bincount(labels, level.degree, count)
        state = np.arange(n, dtype=labels.dtype), level.degree.copy(), np.zeros(n)
        for lo, hi, part in level.sweep():
            blocks = part.blocks(lo, hi)
            for_blocks(kernels.one_by_one.cuts, blocks, *part.edges, labels, state[-1])
        to, alone = np.zeros(n), np.ones(n, np.bool_)
        lengths = np.diff(level.offsets.view(np.int64))
        longest, group = int(lengths.max(initial=0)), _groups(labels, count, lengths)
        for lo, hi, part in level.along(order, np.arange(n + 1)):
            some, chances = order[lo:hi], chance[lo:hi]
            groups = at_ends(group, some)
            by_group = np.argsort(groups, kind="stable")
            begins = offsets_of(np.bincount(groups))
            for_blocks(
                kernels.one_by_one.refine, np.arange(len(begins)), begins, at_ends(some, by_group),
                at_ends(chances, by_group), *part.edges, level.degree, self._scale, RANDOMNESS, labels, totals, to,
                longest, alone, *state,
            )  # fmt: skip
        parts, number = renumbered(state[0])
        return self.apart(level, labels) if number == n else (parts, number)

    def apart(self, level: SomeLevel, labels: np.ndarray) -> tuple[np.ndarray, int]:
        return connected(level, labels)

    def aggregated(self, level: SomeLevel, labels: np.ndarray, count: int) -> SomeLevel:
        above: SomeLevel = aggregated(level, labels, count)
        return above

    def named(self, labels: np.ndarray) -> np.ndarray:
        return renumbered(labels)[0]

    def within(self, labels: np.ndarray, chosen: np.ndarray) -> Self:
        narrowed = copy(self)
        narrowed.first, narrowed._scale = within(self.first, labels, chosen), 2 * self._scale
        return narrowed


def _groups(labels: np.ndarray, count: int, lengths: np.ndarray) -> np.ndarray:
    """The group of each vertex, of groups of communities whose rows have about `GROUP` entries."""
    entries = np.bincount(labels, lengths, count).astype(np.int64)
    sizes = np.diff(step_blocks(offsets_of(entries), GROUP))
    number = np.arange(len(sizes), dtype=np.min_scalar_type(len(sizes)))
    return at_ends(np.repeat(number, sizes), labels)


def _edges(level: Level) -> tuple[np.ndarray, ...]:
    offsets, *others = level.edges
    return offsets.view(np.int64), *others
