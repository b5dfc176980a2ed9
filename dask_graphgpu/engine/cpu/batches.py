"""Vertices of a level that wait, in batches whose vertices are looked at by all threads at the same time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dask_graphgpu.engine.cpu.community_level import SomeLevel
from dask_graphgpu.engine.cpu.in_step import AT_ONCE, BLOCK, threads_for
from dask_graphgpu.interrupting import check, stopping
from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.kernels.cpu.threads import even_blocks, for_blocks
from dask_graphgpu.partition.csr import offsets_of

SEARCHED = 1 << 13  # vertices of a block in which those that wait are searched for

# Low bits of a vertex's number that do not matter for the batch that it is in: vertices with neighbouring numbers are
# often neighbours in the graph, too, and then in the cache. Without these bits moving takes twice as long on grids
# (700 x 700), and a quarter more on cnr-2000.
TOGETHER = 4


@dataclass(frozen=True, eq=False)
class Batches:
    """Batch b is ``listed[begins[b]:begins[b + 1]]``, ascending.

    Attributes
    ----------
    entries : int
        Entries of the rows of all that are listed.
    together : int
        Vertices are in one batch if their numbers differ in no more than so many low bits.
    """

    begins: np.ndarray
    listed: np.ndarray
    entries: int
    together: int

    @classmethod
    def of(cls, level: SomeLevel, waiting: np.ndarray, number: int, salt: np.uint64) -> Batches:
        """Those that wait in so many batches, or fewer where the level is small; none if none does."""
        n, dtype = len(level), level.ids
        number = min(number, (n >> TOGETHER) + 1)
        bounds = np.append(np.arange(0, n, SEARCHED), n)
        blocks = len(bounds) - 1
        hashes = 1 << kernels.batches.HASH_BITS
        batch_of = (np.arange(hashes) * number // hashes).astype(np.uint16)
        drawn = bounds, waiting, np.uint64(TOGETHER), salt, batch_of
        counts, entries = np.zeros((number, blocks), np.int64), np.empty(blocks, np.int64)
        by_thread = even_blocks(blocks, work=SEARCHED)
        for_blocks(kernels.batches.count, by_thread, *drawn, level.offsets, counts, entries)
        places = offsets_of(counts.ravel())
        begins = np.append(places[:-1:blocks], places[-1])
        listed = np.empty(begins[-1], dtype)
        places = places[:-1].reshape(counts.shape)
        for_blocks(kernels.batches.deal, by_thread, *drawn, places, listed)
        filled = np.append(begins[:-1][np.diff(begins) > 0], begins[-1])
        return cls(filled, listed, int(entries.sum()), TOGETHER)

    def __len__(self) -> int:
        return len(self.begins) - 1

    @property
    def largest(self) -> int:
        """Vertices of the largest batch."""
        return int(np.diff(self.begins).max())

    def run(self, kernel: Callable[..., Any], level: SomeLevel, *args: Any) -> None:
        """Run a kernel that takes what `move_in_batches` of ``kernels/cpu/moving.py`` does over all batches."""
        stopped, number, work = stopping(), len(self), self.entries + len(self.listed)
        block = max(BLOCK * len(self.listed) // (2 * work), 1)
        blocks = -(-self.largest // block)
        threads, at_once = threads_for(blocks), max(AT_ONCE * number // work, 1)
        of_blocks = np.empty((2, blocks), np.int64)
        claimed, done = np.zeros((2, kernels.batches.STEPS * number), np.int64)
        for begin, end, part in level.along(self.listed, self.begins):
            for first in range(begin, end, at_once):
                check(stopped)
                for_blocks(
                    kernel, threads, first, min(first + at_once, end), self.begins, block, self.listed,
                    *part.edges, *args, *of_blocks, np.empty(number, np.int64), claimed, done,
                )  # fmt: skip
