"""A pass over arrays on disk: pages come into memory ahead of it and go behind it."""

from __future__ import annotations

import mmap
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from itertools import pairwise

import numpy as np

from dask_graphgpu.partition.paged.files import PagedArray
from dask_graphgpu.partition.paged.limits import AHEAD

# Address space that the system does not set memory aside for: on Linux, what Python 3.11 lacks.
_NORESERVE = getattr(mmap, "MAP_NORESERVE", 0x4000)


class Window:
    """Arrays of one length in address space of their own, of which a few pages hold memory.

    An edge is at its own index, so kernels work on them as on arrays in memory, within what a pass
    has brought in.

    Attributes
    ----------
    read_bytes : int
        From disk so far.
    """

    def __init__(self, arrays: Mapping[str, PagedArray]) -> None:
        self._held = {name: _Held(array) for name, array in arrays.items()}

    @property
    def read_bytes(self) -> int:
        return sum(held.read_bytes for held in self._held.values())

    def over(self, spans: np.ndarray) -> Iterator[dict[str, np.ndarray]]:
        """The arrays, of which one span after the other is there.

        Parameters
        ----------
        spans : int64, shape (n, 2)
            First element and the one after the last; both columns ascend.

        Raises
        ------
        SpillError
            A page cannot be read, or is not what was written.
        """
        arrays = {name: held.values for name, held in self._held.items()}
        try:
            for held in self._held.values():
                held.begin(spans)
            for i in range(len(spans)):
                for held in self._held.values():
                    held.bring(i)
                yield arrays
        finally:
            for held in self._held.values():
                held.end()


class _Held:
    """One array of a window."""

    def __init__(self, array: PagedArray) -> None:
        self._array, self.read_bytes = array, 0
        self._ahead = AHEAD * len(array.folder.paths)
        size = max(-(-array.nbytes // mmap.PAGESIZE), 1) * mmap.PAGESIZE
        self._space = mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _NORESERVE)
        # A huge page would hold memory for pages that are not there.
        self._space.madvise(mmap.MADV_NOHUGEPAGE)
        self.values = np.frombuffer(self._space, array.dtype, len(array))
        self._bytes = memoryview(self._space)
        self._there: dict[int, Future[None]] = {}

    def begin(self, spans: np.ndarray) -> None:
        item, page = self._array.itemsize, self._array.page_bytes
        self._first = spans[:, 0] * item // page
        self._last = np.where(
            spans[:, 1] > spans[:, 0], (spans[:, 1] * item - 1) // page, self._first - 1
        )
        # Every page once, in order: a span begins where the one before it ended, or in its page.
        begins = np.maximum(self._first, np.maximum.accumulate(np.append(-1, self._last[:-1])) + 1)
        lengths = np.maximum(self._last + 1 - begins, 0)
        starts = np.repeat(begins - np.append(0, np.cumsum(lengths)[:-1]), lengths)
        self._queue = starts + np.arange(len(starts))
        self._asked = 0

    def bring(self, i: int) -> None:
        """Let go of pages before span ``i``, wait for its own, and have more read."""
        first, last = int(self._first[i]), int(self._last[i])
        for page in [page for page in self._there if page < first]:
            self._there.pop(page).result()
            self._drop(page)
        upto = int(np.searchsorted(self._queue, last, side="right")) + self._ahead
        while self._asked < min(upto, len(self._queue)):
            self._ask(int(self._queue[self._asked]))
            self._asked += 1
        for page in range(first, last + 1):
            self._there[page].result()

    def end(self) -> None:
        for page, reading in self._there.items():
            if not reading.cancel():
                reading.exception()  # ends; what it met, if anything, was raised or is not asked for
            self._drop(page)
        self._there.clear()

    def _ask(self, page: int) -> None:
        where, length = int(self._array.place[page, 0]), self._array.bytes_of(page)
        start = page * self._array.page_bytes
        into = self._bytes[start : start + length]
        self._there[page] = self._array.folder.readers[where].submit(self._array.read, page, into)
        self.read_bytes += length

    def _drop(self, page: int) -> None:
        start = page * self._array.page_bytes
        length = min(self._array.page_bytes, len(self._space) - start)
        self._space.madvise(mmap.MADV_DONTNEED, start, length)


def even_spans(cuts: np.ndarray) -> np.ndarray:
    """Spans between neighbouring cuts, shape (len(cuts) - 1, 2)."""
    return np.array(list(pairwise(cuts.tolist())), np.int64).reshape(-1, 2)
