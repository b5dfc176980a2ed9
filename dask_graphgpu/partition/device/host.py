"""Large arrays of the device come to host memory: by way of pinned memory, and all threads."""

from __future__ import annotations

from typing import Any

import numpy as np

from dask_graphgpu.kernels.cpu.threads import even_blocks, for_blocks
from dask_graphgpu.partition.as_given import AsGiven
from dask_graphgpu.partition.chunk import to_host

_PIECE = 1 << 25  # bytes that come at once, while those before are copied on


def to_new_memory(array: Any) -> np.ndarray:
    """A contiguous array of NumPy's or CuPy's in host memory.

    The driver alone would copy to new memory, which is mapped at its first write, on one thread: a
    gigabyte a second.
    """
    if isinstance(array, np.ndarray) or array.nbytes <= _PIECE:
        return to_host(array)
    import cupy
    import cupyx

    host: np.ndarray = np.empty(array.shape, array.dtype)
    here, there = array.reshape(-1).view(np.uint8), host.reshape(-1).view(np.uint8)
    starts = range(0, len(there), _PIECE)
    rooms = [cupyx.empty_pinned(_PIECE, np.uint8) for _ in range(2)]

    def fetched(k: int) -> tuple[Any, np.ndarray]:
        part = here[starts[k] : starts[k] + _PIECE]
        room = rooms[k % 2][: len(part)]
        part.get(out=room, blocking=False)
        event = cupy.cuda.Event(disable_timing=True)
        event.record()
        return event, room

    coming = fetched(0)
    for k, start in enumerate(starts):
        (event, room) = coming
        event.synchronize()
        if k + 1 < len(starts):
            coming = fetched(k + 1)
        for_blocks(_copy, even_blocks(len(room)), room, there[start : start + len(room)])
    return host


def as_given_on_host(aside: AsGiven) -> AsGiven:
    """The same in host memory."""
    return AsGiven(
        None if aside.turned is None else to_new_memory(aside.turned),
        to_new_memory(aside.places).astype(np.int64, copy=False),
        to_new_memory(aside.rows),
        to_new_memory(aside.neighbours),
        {name: to_new_memory(column) for name, column in aside.columns.items()},
    )


def _copy(lo: int, hi: int, given: np.ndarray, to: np.ndarray) -> None:
    to[lo:hi] = given[lo:hi]
