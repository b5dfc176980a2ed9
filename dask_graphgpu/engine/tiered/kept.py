"""What a run over edges in host memory leaves to the next one over the same rows."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from dask_graphgpu.engine.gpu.device import DeviceView
from dask_graphgpu.engine.tiered import pinned
from dask_graphgpu.errors import OutOfDeviceMemory
from dask_graphgpu.partition.device import memory

# Pinned buffers that are kept, at most, and answers in pinned memory, those that callers have and those that came back.
_MOST_SPARE, _MOST_LENT = 16, 4


class Kept:
    """The resident edges on the device, and pinned buffers that no run uses.

    They go with the rows, and before that where memory is short (`memory.drop_kept`). Runs that are
    at work have what they took for themselves.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._edges = 0
        self._resident: dict[str, tuple[np.ndarray, Any]] = {}
        self._spare: list[np.ndarray] = []
        # What was lent comes back whenever its array goes, also while this thread has the lock.
        self._back: deque[np.ndarray] = deque()
        self._answers: list[np.ndarray] = []  # came back, in bytes
        self._lent = 0
        self._pinned: dict[Any, tuple[tuple[np.ndarray, ...], np.ndarray]] = {}
        memory.keep(self)

    @classmethod
    def of(cls, view: DeviceView) -> Kept:
        """What is kept with a view's rows."""
        made: Kept = view.made("kept by runs over edges in host memory", cls)
        return made

    def pinned(self, array: np.ndarray) -> np.ndarray:
        """A pinned copy of an array, made once; it stays as long as the rows."""
        return self.made(None, (array,), lambda: pinned.copied(array))

    def made(
        self, how: Any, arrays: tuple[np.ndarray, ...], make: Callable[[], np.ndarray]
    ) -> np.ndarray:
        """What is made of some arrays, once in each way; it stays as long as the rows."""
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
            for i, each in enumerate(self._spare):
                if each.dtype == dtype and size <= len(each) <= 2 * size:
                    return self._spare.pop(i)
        return pinned.empty(size, dtype)

    def lend(self, size: int, dtype: Any) -> np.ndarray | None:
        """A pinned array for a caller, which comes back by itself once nobody has it.

        None: there are enough, or the system gives no more. New memory that an answer is written to
        costs the system a fault for each of its pages, which takes several times as long as the copy
        from the device.
        """
        num_bytes = size * np.dtype(dtype).itemsize
        with self._lock:
            self._take_back()
            if not size or self._lent == _MOST_LENT:
                return None
            fits = (i for i, each in enumerate(self._answers) if len(each) >= num_bytes)
            place = next(fits, None)
            whole = None if place is None else self._answers.pop(place)
            self._lent += 1
            # Those that are too small make way for a new one.
            del self._answers[: max(self._lent + len(self._answers) - _MOST_LENT, 0)]
        if whole is None:
            try:
                whole = pinned.empty(num_bytes, np.uint8)
            except OutOfDeviceMemory:
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
        """Let go of all but pinned copies; whether there was any."""
        with self._lock:
            self._take_back()
            dropped = bool(self._resident or self._spare or self._answers)
            self._edges, self._resident, self._spare, self._answers = 0, {}, [], []
        return dropped
