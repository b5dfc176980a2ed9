"""What a run over edges in host memory leaves to the next one over the same rows."""

from __future__ import annotations

import gc
import threading
import weakref
from collections import deque
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from dask_graphgpu.engine.gpu import host, pinned
from dask_graphgpu.engine.gpu.device import DeviceView
from dask_graphgpu.errors import OutOfDeviceMemory
from dask_graphgpu.partition.device import memory
from dask_graphgpu.partition.paged.spare import Spare

_all: weakref.WeakSet[RunCache] = weakref.WeakSet()

# Pinned buffers that are kept, at most, and answers in pinned memory, those that callers have and those that came back.
_MOST_SPARE, _MOST_LENT = 16, 4


class RunCache:
    """The resident edges on the device, and pinned buffers that no run uses.

    They go with the rows, and before that where memory is short (`memory.drop_kept`). Runs that are
    at work have what they took for themselves.

    Attributes
    ----------
    room : int, optional
        Bytes that may be pinned in all, whatever graph they are for, with answers that callers have.
    pages : Spare, optional
        Where passes over edges on disk leave memory that was made by `registered`.
    """

    room: int | None = None
    pages: Spare | None = None

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._edges = 0
        self._resident: dict[str, tuple[np.ndarray, Any]] = {}
        self._spare: list[np.ndarray] = []
        # What was lent comes back whenever its array goes, also while this thread has the lock.
        self._back: deque[np.ndarray] = deque()
        self._answers: list[np.ndarray] = []  # came back, in bytes
        self._lent = 0
        self._pinned: dict[Any, tuple[tuple[np.ndarray, ...], np.ndarray]] = {}
        memory.keep(self)
        _all.add(self)

    @classmethod
    def of(cls, view: DeviceView) -> RunCache:
        """What is kept with a view's rows."""
        return view.made("kept by runs over edges in host memory", cls)

    def pinned(self, array: np.ndarray) -> np.ndarray:
        """A pinned copy of an array, made once; it stays as long as the rows do and there is room."""

        def copied() -> np.ndarray:
            made = self.empty(len(array), array.dtype)
            pinned.fill(made, array)
            return made

        return self.made(None, (array,), copied)

    def made(
        self, how: Any, arrays: tuple[np.ndarray, ...], make: Callable[[], np.ndarray]
    ) -> np.ndarray:
        """What is made of some arrays, once in each way; it stays as long as the rows do and there is room."""
        key = how, *map(id, arrays)  # they are held, so that no others get their ids
        with self._lock:
            found = self._pinned.get(key)
        if found is None:
            found = arrays, make()
            with self._lock:
                found = self._pinned.setdefault(key, found)
        return found[1]

    def resident(
        self, arrays: Mapping[str, np.ndarray], edges: int, bring: Callable[[str, int], Any]
    ) -> dict[str, Any]:
        """The first ``edges`` of each array, on the device, to which ``bring`` brings those of a name.

        What was there of other arrays goes first: of a limit there is no room for it.
        """
        with self._lock:
            held = self._resident if edges == self._edges else {}
            found = {n: held[n] for n, array in arrays.items() if n in held and held[n][0] is array}
            self._edges, self._resident = edges, found
            del held
            for name, array in arrays.items():
                if name not in found:
                    found[name] = array, bring(name, edges)
            return {name: found[name][1] for name in arrays}

    def take(self, size: int, dtype: Any) -> np.ndarray:
        """A pinned array of its own: what another one has given back, or a new one."""
        with self._lock:
            self._take_back()
            fits = (
                i
                for i, each in enumerate(self._spare)
                if each.dtype == dtype and size <= len(each) <= 2 * size
            )
            place = next(fits, None)
            if place is not None:
                return self._spare.pop(place)
        return self.empty(size, dtype)

    def empty(self, size: int, dtype: Any) -> np.ndarray:
        """A new pinned array.

        Raises
        ------
        LimitTooSmall
            There would be more than `room`, after everything is let go of that no run uses.
        OutOfDeviceMemory
            The system does not give so much.
        """
        num_bytes = size * np.dtype(dtype).itemsize
        self._make_room(num_bytes)
        return pinned.empty(size, dtype, host.count)

    def registered(self, num_bytes: int) -> np.ndarray:
        """As `pinned.registered`; errors as of `empty`."""
        self._make_room(num_bytes)
        return pinned.registered(num_bytes, host.count)

    def left(self) -> int | None:
        """Bytes that may still be pinned, with what no run uses here; None: any number."""
        with self._lock:
            if self.room is None:
                return None
            self._take_back()
            unused = sum(array.nbytes for array in (*self._spare, *self._answers))
            unused += 0 if self.pages is None else self.pages.nbytes
            return max(self.room - host.pinned_bytes() + unused, 0)

    def bound(self, room: int | None) -> None:
        """Have no more than so many bytes pinned: what no run uses goes where there are more."""
        self.room = room
        self._has_room(0, copies=True)

    def _make_room(self, num_bytes: int) -> None:
        if not self._has_room(num_bytes, copies=True):
            assert self.room is not None
            raise host.refused(num_bytes, max(self.room - host.pinned_bytes(), 0))

    def _has_room(self, num_bytes: int, *, copies: bool) -> bool:
        """Whether so much may be pinned; what no run uses goes for it, last what is of other graphs."""
        if self.room is None:
            return True
        for kept in (self, *(_all - {self})):
            if host.pinned_bytes() + num_bytes > self.room:
                kept._let_go(copies=copies)
        if host.pinned_bytes() + num_bytes > self.room and copies:
            gc.collect()  # what a run was made of refers to itself
        return host.pinned_bytes() + num_bytes <= self.room

    def _let_go(self, *, copies: bool) -> None:
        # Not waited for: who has the lock may wait for this one's.
        if self._lock.acquire(blocking=False):
            try:
                self._take_back()
                self._spare, self._answers = [], []
                self._drop_pages()
                if copies:
                    made = {id(array) for _, array in self._pinned.values()}
                    held = self._resident.items()  # these name what they were copied from
                    self._resident = {n: each for n, each in held if id(each[0]) not in made}
                    self._pinned = {}
            finally:
                self._lock.release()

    def lend(self, size: int, dtype: Any) -> np.ndarray | None:
        """A pinned array for a caller, which comes back by itself once nobody has it.

        None: there are enough, or the system or `room` gives no more. New memory that an answer is written to
        costs the system a fault for each of its pages, which takes several times as long as the copy
        from the device.
        """
        num_bytes = size * np.dtype(dtype).itemsize
        with self._lock:
            self._take_back()
            if not size or self._lent == _MOST_LENT:
                return None
            # The smallest that fits: the large ones stay for large answers, as they take long to make.
            fits = [i for i, each in enumerate(self._answers) if len(each) >= num_bytes]
            place = min(fits, key=lambda i: len(self._answers[i]), default=None)
            whole = None if place is None else self._answers.pop(place)
            self._lent += 1
            # Those that are too small make way for a new one.
            del self._answers[: max(self._lent + len(self._answers) - _MOST_LENT, 0)]
        if whole is None:
            try:
                if self._has_room(num_bytes, copies=False):
                    whole = pinned.empty(num_bytes, np.uint8, host.count)
            except OutOfDeviceMemory:
                pass
            if whole is None:
                with self._lock:
                    self._lent -= 1
                return None
        shown = whole[:num_bytes].view(dtype)
        return np.asarray(pinned.Lent(shown, partial(self._back.append, whole)))

    def _take_back(self) -> None:
        while self._back:
            self._answers.append(self._back.popleft())
            self._lent -= 1

    def give_back(self, array: np.ndarray) -> None:
        """Leave an array, to or from which nothing is copied any more, to other runs."""
        with self._lock:
            self._spare.append(array)
            del self._spare[:-_MOST_SPARE]

    def drop(self) -> bool:
        """Let go of all but pinned copies. Return whether there was any."""
        with self._lock:
            self._take_back()
            dropped = bool(self._resident or self._spare or self._answers or self._drop_pages())
            self._edges, self._resident, self._spare, self._answers = 0, {}, [], []
        return dropped

    def _drop_pages(self) -> int:
        """Let go of memory for pages; how much of it was pinned."""
        pieces = [] if self.pages is None else self.pages.take()
        return sum(piece.memory.nbytes for piece in pieces)
