"""One array of a `Window`: its pages on their way from disk, and the ring of memory that they come into."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, NamedTuple

import numpy as np

from dask_graphgpu.partition.paged.files import PagedArray
from dask_graphgpu.partition.paged.huge_pages import aligned
from dask_graphgpu.partition.paged.limits import REQUEST, pages_ahead, pages_asked
from dask_graphgpu.partition.paged.spare import Piece, fitting


class HeldArray:
    """One array of a window.

    Pages that are read one after the other stand one after the other in a ring of slots. A span that
    goes beyond the ring's end finds its pages there: they are copied from its beginning. A slot is
    written again once all spans have been left up to the one that needs what is in it.

    Threads that read do nothing else. They read a page in blocks, each of which is checked by who needs it first: its
    bytes are in the cache of the processor that works on them then, and the disk does not wait for the check.
    """

    def __init__(
        self, array: PagedArray, memory: Callable[[int], np.ndarray] | None = None
    ) -> None:
        self._array, self._memory, self.read_bytes = array, memory, 0
        folders = len(array.folder.paths)
        self._ahead = (
            pages_ahead(folders) if memory is None else pages_asked(folders, array.page_bytes)
        )
        self._slot = array.page_bytes
        self._there: dict[int, _Page] = {}
        self._ring: np.ndarray | None = None
        self._pinned = False
        self._moved = threading.Condition()
        self._array_at: tuple[int, np.ndarray] | None = None

    def begin(
        self,
        spans: np.ndarray,
        at_once: int,
        left: list[Piece],
        *,
        whole: bool = False,
    ) -> None:
        """Read the first pages of a pass, see `Window.passing`; ``left`` is memory to take from."""
        item, page = self._array.itemsize, self._array.page_bytes
        first = spans[:, 0] * item // page
        last = np.where(spans[:, 1] > spans[:, 0], (spans[:, 1] * item - 1) // page, first - 1)
        # Every page once, in order: a span begins where the one before it ended, or in its page.
        begins = np.maximum(first, np.maximum.accumulate(np.append(-1, last[:-1])) + 1)
        lengths = np.maximum(last + 1 - begins, 0)
        starts = np.repeat(begins - np.append(0, np.cumsum(lengths)[:-1]), lengths)
        self._queue = (starts + np.arange(len(starts))).tolist()
        self._bytes_of_spans = (spans * item).tolist()
        # A span's pages stand in a row in the queue, from here to there.
        places = np.searchsorted(self._queue, first)
        stops = places + np.maximum(last - first + 1, 0)
        longest = max(int((stops - places).max(initial=0)), 1)
        self._first, self._stop = places.tolist(), stops.tolist()
        # Pages of the spans that are worked on at a time, unless these have many.
        side_by_side = (
            stops[min(at_once, len(stops)) - 1 :] - places[: max(len(stops) + 1 - at_once, 1)]
        )
        room = int(side_by_side.max(initial=1))
        room = room if whole else max(min(room, at_once + 1), longest)
        self._slots = room + self._ahead
        if self._memory is None:  # else a longer pass is likely, and memory takes long to make
            self._slots = min(self._slots, max(len(self._queue), 1))
        self._asked = self._copied = self._lowest = 0
        self._left: set[int] = set()
        self._error: BaseException | None = None
        size = (self._slots + longest - 1) * self._slot
        if self._ring is None or len(self._ring) < size:
            self.release()  # before there is new memory
            pinned = self._memory is not None
            found = fitting(left, size, pinned=pinned)
            if found is None:
                left.clear()
                found = Piece((self._memory or aligned)(size), pinned)
            self._ring, self._pinned = found
        self._array_at = None
        self._ask()

    def has(self, i: int) -> bool:
        """Whether the pages of span ``i`` are read."""
        with self._moved:
            if self._asked < self._stop[i] or self._error is not None:
                return self._error is not None  # which `bring` raises
            return all(self._there[at].is_read for at in range(self._first[i], self._stop[i]))

    def bring(self, i: int) -> np.ndarray:
        """Wait for the pages of span ``i``; the array with these pages, until `leave`."""
        first, stop = self._first[i], self._stop[i]
        if stop == first:
            return self._shown(0, 0)
        with self._moved:
            while self._asked < stop and self._error is None:
                self._moved.wait()
            if self._error is not None:
                raise self._error
            reading = [self._there[at] for at in range(first, stop)]
        end = (first // self._slots + 1) * self._slots
        for at, page in zip(range(first, stop), reading, strict=True):
            # Pages that are copied are needed as a whole: by others, too.
            self._check(at, page, None if stop > end else self._bytes_of_spans[i])
        if stop > end:
            with self._moved:
                for at in range(max(end, self._copied), stop):
                    self._bytes(at - end + self._slots)[:] = self._bytes(at % self._slots)
                    self._copied = at + 1
        return self._shown(self._queue[first], first % self._slots)

    def _check(self, at: int, page: _Page, within: list[int] | None) -> None:
        """Have a page's blocks there and right: all, or those that have some bytes of the array."""
        number, held = self._queue[at], self._bytes(at % self._slots)
        blocks = range(len(page.blocks))
        if within is not None:
            lo, hi = (each - number * self._slot for each in within)
            blocks = blocks[max(lo, 0) // REQUEST : -(-hi // REQUEST)]
        for i in blocks:
            block = page.blocks[i]
            block.reading.result()
            with block.lock:
                if not block.checked:
                    self._array.check(number, i, held)
                    block.checked = True

    def leave(self, i: int) -> None:
        """Span ``i`` is not needed any more: have more read where it was."""
        with self._moved:
            self._left.add(i)
            while self._lowest in self._left:
                self._left.remove(self._lowest)
                self._lowest += 1
            self._ask()
            self._moved.notify_all()

    def fail(self, error: BaseException) -> None:
        """Nothing is read any more: whoever waits gets the error."""
        with self._moved:
            self._error = error
            self._moved.notify_all()

    def end(self) -> None:
        for page in self._there.values():
            page.end()
        self._there.clear()

    @property
    def has_memory(self) -> bool:
        return self._ring is not None

    def release(self) -> list[Piece]:
        """Give back the memory, between passes."""
        ring, self._ring, self._array_at = self._ring, None, None
        return [] if ring is None else [Piece(ring, self._pinned)]

    def _ask(self) -> None:
        """Have pages read into the slots that are free."""
        array, total = self._array, len(self._queue)
        gone = self._first[self._lowest] if self._lowest < len(self._first) else total
        for at in range(self._asked, min(gone + self._slots, total)):
            page = self._queue[at]
            into = self._bytes(at % self._slots).data
            reader = array.folder.readers[int(array.place[page, 0])]
            blocks = range(-(-array.bytes_of(page) // REQUEST))
            self._there[at] = _Page(
                [_Block(reader.submit(array.read, page, block, into)) for block in blocks]
            )
            self._there.pop(at - self._slots, None)
            self.read_bytes += array.bytes_of(page)
            self._asked = at + 1

    def _bytes(self, slot: int) -> np.ndarray:
        assert self._ring is not None
        return self._ring[slot * self._slot : (slot + 1) * self._slot]

    def _shown(self, page: int, slot: int) -> np.ndarray:
        """The whole array, as if it began so far before the ring that this page is in this slot."""
        ring, array = self._ring, self._array
        assert ring is not None
        start = (slot - page) * self._slot  # the same until the ring's end
        known = self._array_at
        if known is None or known[0] != start:
            known = self._array_at = start, np.asarray(_Placed(ring, start, array))
        return known[1]


class _Block:
    """A block on its way: read by one thread, checked by another, once."""

    __slots__ = ("checked", "lock", "reading")

    def __init__(self, reading: Future[None]) -> None:
        self.reading, self.lock, self.checked = reading, threading.Lock(), False


class _Page(NamedTuple):
    """A page on its way, in blocks."""

    blocks: list[_Block]

    @property
    def is_read(self) -> bool:
        return all(block.reading.done() for block in self.blocks)

    def end(self) -> None:
        """Have nothing more of it read; what a thread met was raised or is not asked for."""
        for block in self.blocks:
            if not block.reading.cancel():
                block.reading.exception()


class _Placed:
    """Memory at a distance from the ring's, for NumPy; keeps the ring."""

    def __init__(self, ring: np.ndarray, start: int, array: PagedArray) -> None:
        self._ring = ring
        self.__array_interface__: dict[str, Any] = {
            "version": 3,
            "shape": array.shape,
            "typestr": array.dtype.str,
            "data": (ring.ctypes.data + start, False),
        }
