"""Host memory that does not move: copied from and to by the GPU itself, and read by its kernels."""

from __future__ import annotations

from typing import Any

import numpy as np

from dask_graphgpu.errors import OutOfDeviceMemory

REFUSED = 2  # cudaErrorMemoryAllocation


def empty(size: int, dtype: Any) -> np.ndarray:
    """An array of whole pages, at one and the same address for the host and the GPU.

    CuPy's pool of such memory is not asked: it takes the next power of two.

    Raises
    ------
    OutOfDeviceMemory
        The system does not give so much.
    """
    import cupy

    dtype = np.dtype(dtype)
    if not size:
        return np.empty(0, dtype)
    try:
        memory = cupy.cuda.PinnedMemory(size * dtype.itemsize)
    except cupy.cuda.runtime.CUDARuntimeError as error:
        if error.status != REFUSED:
            raise
        raise OutOfDeviceMemory(
            f"{size * dtype.itemsize:,} bytes of host memory cannot be pinned, from which the GPU "
            "copies edges beyond graphgpu.device-memory-limit: free some, allow the process to "
            "lock more (ulimit -l), raise the limit, or use engine='cpu'"
        ) from error
    pointer = cupy.cuda.PinnedMemoryPointer(memory, 0)
    return np.frombuffer(pointer, dtype, size)


def copied(array: np.ndarray) -> np.ndarray:
    """A copy in such memory, made by all threads."""
    made = empty(len(array), array.dtype)
    fill(made, array)
    return made


def fill(into: np.ndarray, array: np.ndarray) -> None:
    """Copy an array into another one, by all threads."""
    from dask_graphgpu.kernels.cpu.threads import even_blocks, for_blocks

    def copy(lo: int, hi: int) -> None:
        into[lo:hi] = array[lo:hi]  # NumPy releases the GIL

    for_blocks(copy, even_blocks(len(array)))
