"""Runs of rows on disk that stay in memory once they were read."""

from __future__ import annotations

import mmap
import sys

import numpy as np

from dask_graphgpu.engine.cpu.edges import Paged
from dask_graphgpu.partition.csr import Adjacency

# Address space of which only what is written takes memory: a flag that Python has a name for from 3.13 on.
_FLAGS = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | (0x4000 if sys.platform == "linux" else 0)


class KeptRuns:
    """Runs that were read, as many as there is room for.

    Parameters
    ----------
    passes : Paged
        Goes over the rows.
    room : int
        Bytes that edges may take here.

    Attributes
    ----------
    rows : Adjacency
        Of which the rows of kept runs have edges, each at its own index.
    there : uint8, shape (num_vertices,)
        1 where a row is kept.
    """

    def __init__(self, passes: Paged, room: int) -> None:
        self._passes, self._room = passes, room
        given = passes.rows
        columns = {name: _sparse(column) for name, column in given.columns.items()}
        self.rows = Adjacency(given.offsets, _sparse(given.neighbours), columns)
        self.there = np.zeros(given.num_vertices, np.uint8)
        self._kept = np.zeros(len(passes), bool)
        edges, arrays = given.offsets[passes.cuts], given.arrays.values()
        self._has_room = sum(each.nbytes + mmap.PAGESIZE for each in arrays) <= room
        # Memory comes in pages of the processor, of which a run may touch one more at either end.
        self._bytes = sum(np.diff(edges) * each.itemsize + 2 * mmap.PAGESIZE for each in arrays)
        self._more = 0

    def chosen(self, wanted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Runs that are read because some are ``wanted``, and which of them will be kept: arrays of bool.

        Where there is room for all runs, each call reads some more ahead, twice as many as the one before it.
        """
        if not self._has_room:
            return wanted, wanted & (np.cumsum(np.where(wanted, self._bytes, 0)) <= self._room)
        left = np.flatnonzero(~self._kept & ~wanted)
        ahead = np.roll(left, -np.searchsorted(left, int(wanted.argmax())))[: self._more]
        wanted = wanted.copy()
        wanted[ahead] = True
        self._more = max(2 * self._more, 1)
        return wanted, wanted

    def keep(self, lo: int, hi: int, read: Adjacency) -> None:
        """Keep a run: rows from one to before another, which was read."""
        i = int(np.searchsorted(self._passes.cuts, lo))
        here = slice(*self.rows.offsets[[lo, hi]].tolist())
        self.rows.neighbours[here] = read.neighbours[here]
        for name, column in self.rows.columns.items():
            column[here] = read.columns[name][here]
        self.there[lo:hi] = 1
        self._kept[i] = True
        self._room -= int(self._bytes[i])


def _sparse(like: np.ndarray) -> np.ndarray:
    """Zeros of the type and length of an array."""
    space = mmap.mmap(-1, max(like.nbytes, mmap.PAGESIZE), _FLAGS)
    if hasattr(mmap, "MADV_NOHUGEPAGE"):  # which would come with what is around a run
        space.madvise(mmap.MADV_NOHUGEPAGE)
    return np.frombuffer(space, like.dtype, len(like))
