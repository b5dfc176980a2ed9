"""Vertices of Louvain and Leiden that move in batches, which all threads work on: the fastest for large graphs."""

from __future__ import annotations

import time
from collections.abc import Callable
from copy import copy
from typing import Any, Self

import numpy as np

from dask_graphgpu.engine.cpu.aggregated import aggregated
from dask_graphgpu.engine.cpu.batches import Batches
from dask_graphgpu.engine.cpu.community_level import Level, SomeLevel, connected, renumbered, within
from dask_graphgpu.engine.cpu.one_by_one import RANDOMNESS
from dask_graphgpu.interrupting import check, stopping
from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.kernels.cpu.threads import for_blocks
from dask_graphgpu.report import Report

# Batches in which vertices are looked at first, and again. Of R-MAT graphs modularity is lower by a hundredth where the
# first are 64, as most vertices of a batch are single then and see nothing of what the others do.
FIRST, AGAIN = 1 << 10, 1 << 6

# Entries and rows below which vertices move one by one, on one thread: a batch would hardly be more than one.
FEW = 1 << 18

# Rounds after which vertices move one by one, which ends for sure: two of a batch might change places for ever.
ROUNDS = 100

AT_ONCE = 1 << 20  # entries that are read one by one before it is asked again how many there are


class MovesInBatches:
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
        size = np.bincount(labels, minlength=n)
        unused = np.flatnonzero(size == 0)[::-1]
        empty, at = np.empty(n, dtype), np.array([len(unused)])
        empty[: len(unused)] = unused
        waiting = np.ones(n, np.bool_)  # who is fixed always does, so that nobody lists it anew
        state = labels, labels.copy(), totals, size, empty, at, waiting, level.room
        given = level.degree, self._scale
        rounds, read, stopped = 0, 0, stopping()
        moving = _those(waiting, fixed)
        while len(batches := self._batches(level, moving(), AGAIN if rounds else FIRST)):
            check(stopped)
            if rounds == ROUNDS or batches.entries + len(batches.listed) < FEW:
                read += _one_by_one(level, batches.listed, moving, given, state)
                continue
            most = batches.largest
            plans = (
                np.empty(most, dtype), np.empty(most, np.int64), np.empty(most), np.empty(most, np.bool_)
            )  # fmt: skip
            # Neighbours in the order of ids see at once what the others do, but not while all are single: the first
            # would draw all the others after it.
            together = np.uint64(batches.together if rounds else 0)
            batches.run(
                kernels.moving.move_in_batches,
                level,
                *given,
                *state,
                together,
                plans,
                np.empty(most, dtype),
            )
            read += batches.entries
            rounds += 1
        entry = level.entry_bytes + dtype.itemsize + 8
        self._report.advance(
            "move", supersteps=1, frontier=n, edges=read, bytes=read * entry + n * 48,
            seconds=time.perf_counter() - begun,
        )  # fmt: skip
        return renumbered(labels)

    def refined(self, level: SomeLevel, labels: np.ndarray, count: int) -> tuple[np.ndarray, int]:
        n, dtype = len(level), labels.dtype
        parts, cut = np.empty_like(labels), np.empty(n)
        joined, followed = np.empty(n, np.uint32), np.empty(n, np.bool_)
        for lo, hi, part in level.sweep():
            for_blocks(
                kernels.refining.begin, part.blocks(lo, hi), *part.edges, labels, parts, cut, joined, followed
            )  # fmt: skip
        totals = np.bincount(labels, level.degree, count)
        waiting, salt, earlier = np.ones(n, np.bool_), self._salt(), 0
        state = labels, totals, parts, level.degree.copy(), cut, joined, followed, waiting
        given = level.degree, self._scale, salt, RANDOMNESS
        while len(batches := self._batches(level, waiting, AGAIN if earlier else FIRST)):
            most = batches.largest
            plans = np.empty(most, dtype), np.empty(most, dtype), np.empty(most)
            batches.run(
                kernels.refining.refine_in_batches,
                level,
                *given,
                *state,
                level.room,
                plans,
                earlier,
            )
            earlier += len(batches)
        parts, number = renumbered(parts)
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

    def _batches(self, level: SomeLevel, waiting: np.ndarray, number: int) -> Batches:
        return Batches.of(level, waiting, number, self._salt())

    def _salt(self) -> np.uint64:
        return np.uint64(self._rng.integers(1 << 63))


def _one_by_one(
    level: SomeLevel,
    listed: np.ndarray,
    moving: Callable[[], np.ndarray],
    given: tuple[Any, ...],
    state: tuple[Any, ...],
) -> int:
    """Move vertices one by one, first those listed, until none gains or enough is read; the entries that were."""
    read, kernel = 0, kernels.moving.move_one_by_one
    while len(listed) and read < AT_ONCE:
        # Where all rows are at hand the kernel goes on to those who wait then, else it ends after those listed.
        for lo, hi, part in level.along(listed, np.arange(len(listed) + 1)):
            most = AT_ONCE if isinstance(level, Level) else 1
            read += int(kernel(listed[lo:hi], *part.edges, *given, *state, most))
        listed = np.flatnonzero(moving()).astype(listed.dtype)
    return read


def _those(waiting: np.ndarray, fixed: np.ndarray | None) -> Callable[[], np.ndarray]:
    """Who waits, but for those that are fixed."""
    return lambda: waiting if fixed is None else waiting & ~fixed
