"""Vertices of Louvain and Leiden that move one by one, on one thread: the fastest for graphs that are not large."""

from __future__ import annotations

import time
from copy import copy
from typing import Any, Self

import numpy as np

from dask_graphgpu.engine.cpu.aggregated import aggregated
from dask_graphgpu.engine.cpu.community_level import (
    Level,
    SomeLevel,
    connected,
    renumbered,
    within,
)
from dask_graphgpu.interrupting import check, stopping
from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.partition.csr import offsets_of
from dask_graphgpu.report import Report

# How much of a vertex's degree a gain may be behind the best one and still be likely to be taken by `leiden` [2]. With
# ten times as much, modularity is lower by a hundredth where degrees are skewed (email-enron).
RANDOMNESS = 0.001

# Vertices that stay together when their order is shuffled: neighbours in the order of ids are often neighbours in the
# graph as well, and then in the cache (cnr-2000: half the time of one by one). With 64, modularity is a little lower.
TOGETHER = 16


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
        n, dtype = len(level), level.ids
        totals = np.bincount(labels, level.degree, n)
        order, queued = self._shuffled(n, dtype), np.ones(n, np.bool_)
        if fixed is not None:
            order = order[~fixed.take(order)]  # the others stay queued, so that they never are anew
        size = np.bincount(labels, minlength=n)
        unused = np.flatnonzero(size == 0)[::-1]
        empty = np.zeros(n, dtype)
        empty[: len(unused)] = unused
        at = np.array([0, len(order), len(unused)])
        ring = order, queued, np.zeros(n), np.empty(n, dtype), at
        read, stopped = 0, stopping()
        while at[1]:
            check(stopped)
            part, most = level.ahead(order, int(at[0]), int(at[1]))
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
            kernels.one_by_one.cuts(lo, hi, *_edges(part), labels, state[-1])
        room = np.zeros(n), np.empty_like(labels), np.ones(n, np.bool_)
        for lo, hi, part in level.along(order, np.arange(n + 1)):
            kernels.one_by_one.refine(
                order[lo:hi], chance[lo:hi], *_edges(part), level.degree, self._scale, RANDOMNESS, labels,
                totals, *room, *state,
            )  # fmt: skip
        parts, number = renumbered(state[0])
        return self.apart(level, labels) if number == n else (parts, number)

    def apart(self, level: SomeLevel, labels: np.ndarray) -> tuple[np.ndarray, int]:
        return connected(level, labels)

    def aggregated(self, level: SomeLevel, labels: np.ndarray, count: int) -> SomeLevel:
        if not isinstance(level, Level):
            above: SomeLevel = aggregated(level, labels, count)
            return above
        members = np.argsort(labels, kind="stable").astype(labels.dtype)
        starts = offsets_of(np.bincount(labels, minlength=count))
        offsets, loops = np.empty(count + 1, np.int64), np.empty(count)
        neighbours = np.empty(len(level.neighbours), labels.dtype)
        weight = np.empty(len(level.neighbours))
        kernels.one_by_one.aggregate(
            *_edges(level), level.loops, labels, starts, members, offsets, neighbours, weight, loops
        )
        kept = int(offsets[-1])
        degree = np.bincount(labels, level.degree, count)
        rows = offsets.view(np.uint64), neighbours[:kept].copy(), weight[:kept].copy()
        return Level(*rows, loops, degree)

    def named(self, labels: np.ndarray) -> np.ndarray:
        return renumbered(labels)[0]

    def within(self, labels: np.ndarray, chosen: np.ndarray) -> Self:
        narrowed = copy(self)
        narrowed.first, narrowed._scale = within(self.first, labels, chosen), 2 * self._scale
        return narrowed


def _edges(level: Level) -> tuple[np.ndarray, ...]:
    offsets, *others = level.edges
    return offsets.view(np.int64), *others
