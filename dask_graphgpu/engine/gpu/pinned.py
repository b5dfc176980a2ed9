"""Host memory that does not move: copied from and to by the GPU itself, and read by its kernels."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import cupy
import numpy as np

from dask_graphgpu.errors import OutOfDeviceMemory
from dask_graphgpu.kernels.cpu.threads import copy_blocks, for_blocks
from dask_graphgpu.partition.device import memory
from dask_graphgpu.partition.paged.huge_pages import aligned

REFUSED = 2  # cudaErrorMemoryAllocation


# Is given memory that was pinned, and its bytes.
Noted = Callable[[Any, int], None]


def empty(size: int, dtype: Any, note: Noted | None = None) -> np.ndarray:
    """An array of whole pages, at one and the same address for the host and the GPU.

    CuPy's pool of such memory is not asked: it takes the next power of two. If the system refuses,
    what earlier runs have left is given back to it first. ``note`` is called with the new memory.

    Raises
    ------
    OutOfDeviceMemory
        The system does not give so much.
    """
    dtype = np.dtype(dtype)
    if not size:
        return np.empty(0, dtype)
    num_bytes = size * dtype.itemsize
    made = _asked(num_bytes)
    if made is None and memory.drop_kept():
        made = _asked(num_bytes)
    if made is None:
        raise _refused(num_bytes)
    if note is not None:
        note(made, num_bytes)
    return np.frombuffer(cupy.cuda.PinnedMemoryPointer(made, 0), dtype, size)


def registered(num_bytes: int, note: Noted | None = None) -> np.ndarray:
    """Bytes of memory of the system's own, pinned as long as there are arrays over them.

    Disks read into it past the system's cache, in huge pages, and the GPU copies from it. ``note`` as of
    `empty`.

    Raises
    ------
    OutOfDeviceMemory
        The system does not pin so much.
    """
    found = aligned(num_bytes)
    place, runtime = found.ctypes.data, cupy.cuda.runtime
    try:
        runtime.hostRegister(place, num_bytes, 0)
    except runtime.CUDARuntimeError as error:
        if error.status != REFUSED:
            raise
        raise _refused(num_bytes) from None

    def unregister() -> None:
        if not sys.is_finalizing():  # the driver may have gone before
            runtime.hostUnregister(place)

    held = Lent(found, unregister)
    if note is not None:
        note(held, num_bytes)
    return np.asarray(held)


def _refused(num_bytes: int) -> OutOfDeviceMemory:
    return OutOfDeviceMemory(
        f"{num_bytes:,} bytes of host memory cannot be pinned, from which the GPU copies edges "
        "beyond graphgpu.device-memory-limit: free some, allow the process to lock more "
        "(ulimit -l), raise the limit, or use engine='cpu'"
    )


def _asked(num_bytes: int) -> Any:
    """Pinned memory; None where it is refused."""
    try:
        return cupy.cuda.PinnedMemory(num_bytes)
    except cupy.cuda.runtime.CUDARuntimeError as error:
        if error.status != REFUSED:
            raise
        return None


class Lent:
    """The memory of an array that is lent: ``back`` is called when the last array over it goes."""

    def __init__(self, array: np.ndarray, back: Callable[[], None]) -> None:
        self._array, self._back = array, back
        self.__array_interface__ = array.__array_interface__

    def __del__(self) -> None:
        self._back()


def is_lent(array: np.ndarray) -> bool:
    """Whether it is over memory that is lent, which is pinned."""
    base = array.base
    while isinstance(base, np.ndarray):
        base = base.base
    return isinstance(base, Lent)


def copied(array: np.ndarray) -> np.ndarray:
    """A copy in such memory, made by all threads."""
    made = empty(len(array), array.dtype)
    fill(made, array)
    return made


def fill(into: np.ndarray, array: np.ndarray) -> None:
    """Copy an array into another one, by all threads that have enough to do."""

    def copy(lo: int, hi: int) -> None:
        into[lo:hi] = array[lo:hi]  # NumPy releases the GIL

    for_blocks(copy, copy_blocks(len(array), array.itemsize))
