"""A pass over arrays on disk: pages come into a ring of memory ahead of it, and are overwritten behind it."""

from __future__ import annotations

import mmap
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from dask_graphgpu.kernels.cpu.threads import at_most, for_blocks, num_threads
from dask_graphgpu.partition.paged.files import PagedArray
from dask_graphgpu.partition.paged.limits import AT_ONCE, REQUEST, pages_ahead, pages_asked
from dask_graphgpu.partition.paged.spare import Piece, fitting

# A page of the processor's on Linux that one entry of its table stands for, when memory is so aligned.
_HUGE = 2 << 20

# The part of the time of those that work in a pass that they wait for a disk which is not the bound.
_LITTLE = 0.1


class Window:
    """Arrays of one length, of which a few pages at a time are in memory.

    An edge is at its own index, so kernels work on them as on arrays in memory, within what a pass
    has brought in.

    Parameters
    ----------
    arrays : mapping of str to PagedArray
    stays : bool
        Whether memory for pages stays for the next pass, until `release`: the system takes milliseconds
        to fill new memory with zeros, while the disk waits.
    memory : callable
        Pins some bytes of memory for pages, from which a device copies them, and which are left to other windows over
        the graph's edges. Default: `aligned`, whose are not.

    Attributes
    ----------
    read_bytes : int
        From disk so far.
    waited : float
        Seconds in which whoever asked for spans waited for the disk.
    """

    def __init__(
        self,
        arrays: Mapping[str, PagedArray],
        *,
        stays: bool = False,
        memory: Callable[[int], np.ndarray] | None = None,
    ) -> None:
        self._stays, self.waited = stays, 0.0
        self._held = {name: _Held(array, memory) for name, array in arrays.items()}
        self._took: dict[int, float] = {}  # seconds of an element, by threads that work on a span
        self._hurries = False
        self._spare = next(iter(arrays.values())).folder.spare

    @property
    def read_bytes(self) -> int:
        return sum(held.read_bytes for held in self._held.values())

    def over(self, spans: np.ndarray) -> Iterator[dict[str, np.ndarray]]:
        """Go over the arrays: one span after the other is in memory.

        Parameters
        ----------
        spans : int64, shape (n, 2)
            First element and the one after the last; both columns ascend.

        Yields
        ------
        dict of str to array
            Each has the length of the whole. Only the elements of the span may be touched, and only
            until the next span is asked for: what would be the others' memory is anything's.

        Raises
        ------
        SpillError
            A page cannot be read, or is not what was written.
        """
        if not len(spans):
            return
        with self.passing(spans, 1):
            for i in range(len(spans)):
                with self._brought(i) as held:
                    yield held

    def each(
        self, spans: np.ndarray, work: Callable[[int, dict[str, np.ndarray]], Any]
    ) -> list[Any]:
        """What ``work(i, arrays)`` gives for each span ``i``, in order; some are worked on at once.

        Parameters and errors are those of `over`, and what ``work`` raises. It is called from
        several threads, with a fair part of them to use.
        """
        threads = num_threads()
        at_once = max(min(threads, AT_ONCE, len(spans)), 1)
        share = self._share(threads // at_once) if at_once > 1 else threads

        def one(i: int, _: int) -> Any:
            with at_most(share), self._brought(i) as held:
                return work(i, held)

        began, waited = time.perf_counter(), self.waited
        with self.passing(spans, at_once), at_most(at_once):
            found = for_blocks(one, np.arange(len(spans) + 1))
        took, waited = time.perf_counter() - began, self.waited - waited
        if at_once > 1:
            size = max(int((spans[:, 1] - spans[:, 0]).sum()), 1)
            self._took[share] = took / size
            self._hurries |= waited < _LITTLE * at_once * took
        return found

    def _share(self, most: int) -> int:
        """Threads that work on a span: one, unless work was what a pass took and more of them were no slower."""
        if not self._hurries or most not in self._took:
            return most if self._hurries else 1
        return min(1, most, key=lambda share: self._took.get(share, np.inf))

    @contextmanager
    def passing(self, spans: np.ndarray, at_once: int, *, whole: bool = False) -> Iterator[None]:
        """A pass in which spans are asked for one by one, from several threads, each in ascending order.

        Parameters
        ----------
        spans : as of `over`
        at_once : int
            Spans that are worked on at a time.
        whole : bool
            Also where they have many pages; else there is room for one of these.
        """
        left = [] if self._has_memory else self._spare.take()
        try:
            for held in self._held.values():
                held.begin(spans, at_once, left, whole=whole)
            left.clear()
            yield
        finally:
            for held in self._held.values():
                held.end()
            if not self._stays:
                self.release()

    def has(self, i: int) -> bool:
        """Whether span ``i`` of a pass is there, so that `bring` does not wait."""
        return all(held.has(i) for held in self._held.values())

    def bring(self, i: int) -> dict[str, np.ndarray]:
        """Span ``i`` of a pass, until `leave`; errors are those of `over`."""
        began = time.perf_counter()
        try:
            return {name: held.bring(i) for name, held in self._held.items()}
        except BaseException as error:
            self.fail(error)
            raise
        finally:
            self.waited += time.perf_counter() - began

    def leave(self, i: int) -> None:
        """Span ``i`` is not needed any more."""
        for held in self._held.values():
            held.leave(i)

    def fail(self, error: BaseException) -> None:
        """End a pass: nothing is read any more, and whoever waits gets the error."""
        for held in self._held.values():
            held.fail(error)

    def release(self) -> None:
        """Give back the memory, between passes."""
        if self._has_memory:
            self._spare.leave([each for held in self._held.values() for each in held.release()])

    @property
    def _has_memory(self) -> bool:
        return any(held.has_memory for held in self._held.values())

    @contextmanager
    def _brought(self, i: int) -> Iterator[dict[str, np.ndarray]]:
        try:
            yield self.bring(i)
            self.leave(i)
        except GeneratorExit:
            # It would refer, by its frames, to who keeps it here, and so to all pages.
            self.fail(RuntimeError("the pass has ended"))
            raise
        except BaseException as error:  # others may wait for what is not read any more
            self.fail(error)
            raise


class _Held:
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


def aligned(size: int) -> np.ndarray:
    """Bytes in huge pages as far as they fill such pages; they begin with one if they are no shorter.

    A disk writes into memory in pieces that are contiguous in the machine, and a huge page is one.
    """
    begin = _HUGE if size >= _HUGE else 0
    space = mmap.mmap(-1, size + begin, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    found = np.frombuffer(space, np.uint8)
    if not begin:
        return found
    skipped = -found.ctypes.data % _HUGE
    if hasattr(mmap, "MADV_HUGEPAGE"):
        space.madvise(mmap.MADV_HUGEPAGE, skipped - skipped % mmap.PAGESIZE, size // _HUGE * _HUGE)
    return found[skipped : skipped + size]


def even_spans(cuts: np.ndarray) -> np.ndarray:
    """Spans between neighbouring cuts, shape (len(cuts) - 1, 2)."""
    return np.array(list(pairwise(cuts.tolist())), np.int64).reshape(-1, 2)
