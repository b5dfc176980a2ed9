"""Large arrays go between the device and host memory by way of pinned memory, and all threads."""

from __future__ import annotations

from typing import Any

import numpy as np

from dask_graphgpu.kernels.cpu.threads import copy_blocks, for_blocks
from dask_graphgpu.partition.as_given import AsGiven
from dask_graphgpu.partition.chunk import to_host

_PIECE = 1 << 25  # bytes that come at once, at most, while those before are copied on
_SMALL = 1 << 22  # bytes of an array that comes in one piece


def _packages() -> tuple[Any, Any]:
    import cupy
    import cupyx

    return cupy, cupyx


def _piece_of(nbytes: int) -> int:
    """Bytes of a piece: a quarter of an array or less, a power of two, as pinned memory is kept by its size."""
    return min(_PIECE, _SMALL if nbytes <= _SMALL else 1 << (nbytes // 4).bit_length() - 1)


def to_new_memory(array: Any) -> np.ndarray:
    """A contiguous array of NumPy's or CuPy's in host memory.

    The driver alone would copy to new memory, which is mapped at its first write, on one thread: a
    gigabyte a second.
    """
    piece = _piece_of(array.nbytes)
    if isinstance(array, np.ndarray) or array.nbytes <= piece:
        return to_host(array)
    cupy, cupyx = _packages()
    host: np.ndarray = np.empty(array.shape, array.dtype)
    here, there = array.reshape(-1).view(np.uint8), host.reshape(-1).view(np.uint8)
    starts = range(0, len(there), piece)
    rooms = [cupyx.empty_pinned(piece, np.uint8) for _ in range(2)]

    def fetched(k: int) -> tuple[Any, np.ndarray]:
        part = here[starts[k] : starts[k] + piece]
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
        for_blocks(_copy, copy_blocks(len(room), 1), room, there[start : start + len(room)])
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


def to_device(array: Any) -> Any:
    """A contiguous array in the memory of the GPU: of host memory, which may be mapped from a file, or that is there.

    The driver alone would read what is mapped on one thread, page after page.
    """
    cupy, cupyx = _packages()
    piece = _piece_of(array.nbytes)
    if not isinstance(array, np.ndarray) or array.nbytes <= piece:
        return cupy.asarray(array)
    made = cupy.empty(array.shape, array.dtype)
    here, there = array.reshape(-1).view(np.uint8), made.reshape(-1).view(cupy.uint8)
    rooms = [cupyx.empty_pinned(piece, np.uint8) for _ in range(2)]
    gone: list[Any] = [None, None]
    for k, start in enumerate(range(0, len(here), piece)):
        part = here[start : start + piece]
        if gone[k % 2] is not None:
            gone[k % 2].synchronize()
        room = rooms[k % 2][: len(part)]
        for_blocks(_copy, copy_blocks(len(part), 1), part, room)
        there[start : start + len(part)].set(room)
        gone[k % 2] = cupy.cuda.Event(disable_timing=True)
        gone[k % 2].record()
    for event in gone:
        if event is not None:
            event.synchronize()  # before its memory is used again
    return made
