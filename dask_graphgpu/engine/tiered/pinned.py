"""Host memory that does not move: copied from and to by the GPU itself, and read by its kernels."""

from __future__ import annotations

from typing import Any

import numpy as np

from dask_graphgpu.errors import OutOfDeviceMemory
from dask_graphgpu.partition.device import memory

REFUSED = 2  # cudaErrorMemoryAllocation


def empty(size: int, dtype: Any) -> np.ndarray:
    """An array of whole pages, at one and the same address for the host and the GPU.

    CuPy's pool of such memory is not asked: it takes the next power of two. If the system refuses,
    what earlier runs have left is given back to it first.

    Raises
    ------
    OutOfDeviceMemory
        The system does not give so much.
    """
    import cupy

    dtype = np.dtype(dtype)
    if not size:
        return np.empty(0, dtype)
    num_bytes = size * dtype.itemsize
    made = _asked(num_bytes)
    if made is None and memory.drop_kept():
        made = _asked(num_bytes)
    if made is None:
        raise OutOfDeviceMemory(
            f"{num_bytes:,} bytes of host memory cannot be pinned, from which the GPU copies edges "
            "beyond graphgpu.device-memory-limit: free some, allow the process to lock more "
            "(ulimit -l), raise the limit, or use engine='cpu'"
        )
    return np.frombuffer(cupy.cuda.PinnedMemoryPointer(made, 0), dtype, size)


def _asked(num_bytes: int) -> Any:
    """Pinned memory; None where it is refused."""
    import cupy

    try:
        return cupy.cuda.PinnedMemory(num_bytes)
    except cupy.cuda.runtime.CUDARuntimeError as error:
        if error.status != REFUSED:
            raise
        return None


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
