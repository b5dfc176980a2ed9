"""Copies between pinned host memory and the device, and addresses as kernels take them."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import cupy
import numpy as np

from dask_graphgpu.engine.gpu import pinned
from dask_graphgpu.engine.gpu.run_cache import RunCache

_TO_DEVICE, _TO_HOST = 1, 2  # cudaMemcpyKind


def copy(into: int, place: int, size: int, stream: Any) -> None:
    """Copy bytes of host memory to the device."""
    if size:
        cupy.cuda.runtime.memcpyAsync(into, place, size, _TO_DEVICE, stream.ptr)


def bring(array: Any, into: np.ndarray, stream: Any) -> None:
    """Copy as much of an array on the device as a pinned one takes."""
    if into.nbytes:
        place = into.ctypes.data, int(array.data.ptr)
        cupy.cuda.runtime.memcpyAsync(*place, into.nbytes, _TO_HOST, stream.ptr)


def on_device(size: int, dtype: np.dtype[Any]) -> Any:
    """An array on the device, of bytes for items of some that are no number."""
    if dtype.kind == "V":
        return cupy.empty(size * dtype.itemsize, np.uint8)
    return cupy.empty(size, dtype)


def brought(array: np.ndarray) -> Any:
    """A copy on the device, for any stream."""
    made, stream = on_device(len(array), array.dtype), cupy.cuda.get_current_stream()
    copy(int(made.data.ptr), array.ctypes.data, array.nbytes, stream)
    stream.synchronize()  # the next run may be on another one
    return made


# Bytes that go at once by way of a pinned buffer, and at the least.
_PIECE, _LEAST_PIECE = 8 << 20, 4096


def to_host(array: Any, kept: RunCache) -> np.ndarray:
    """A copy in host memory.

    Pinned memory that an earlier answer was in, as far as there is; else by way of two pinned buffers,
    which all threads empty in turn.
    """
    stream, lent = cupy.cuda.get_current_stream(), kept.lend(len(array), array.dtype)
    if lent is not None:
        bring(array, lent, stream)
        stream.synchronize()
        return lent
    made = np.empty(len(array), array.dtype)
    with _buffers(len(array), array.dtype, kept) as (buffers, pieces):
        events = [cupy.cuda.Event(disable_timing=True) for _ in buffers]

        def begin(i: int) -> None:
            if i < len(pieces):
                lo, hi = pieces[i]
                bring(array[lo:hi], buffers[i % 2][: hi - lo], stream)
                events[i % 2].record(stream)

        begin(0)
        for i, (lo, hi) in enumerate(pieces):
            begin(i + 1)
            events[i % 2].synchronize()
            pinned.fill(made[lo:hi], buffers[i % 2][: hi - lo])
    return made


def to_device(array: np.ndarray, kept: RunCache) -> Any:
    """A copy on the device: of an answer that is pinned at once.

    Else by way of two pinned buffers, which all threads fill in turn.
    """
    made, stream = cupy.empty(len(array), array.dtype), cupy.cuda.get_current_stream()
    if pinned.is_lent(array):
        copy(int(made.data.ptr), array.ctypes.data, array.nbytes, stream)
        stream.synchronize()  # else its memory might be another answer's before it is read
        return made
    with _buffers(len(array), array.dtype, kept) as (buffers, pieces):
        events = [cupy.cuda.Event(disable_timing=True) for _ in buffers]
        for i, (lo, hi) in enumerate(pieces):
            buffer = buffers[i % 2][: hi - lo]
            if i >= 2:
                events[i % 2].synchronize()
            pinned.fill(buffer, array[lo:hi])
            copy(int(made[lo:hi].data.ptr), buffer.ctypes.data, buffer.nbytes, stream)
            events[i % 2].record(stream)
    return made


@contextmanager
def _buffers(
    size: int, dtype: Any, kept: RunCache
) -> Iterator[tuple[list[np.ndarray], list[tuple[int, int]]]]:
    """Two pinned buffers, smaller ones where there is no room, and what of an array goes through one at once."""
    left = kept.left()
    piece = _PIECE if left is None else min(_PIECE, max(left // 2, _LEAST_PIECE))
    most = max(1, min(piece // np.dtype(dtype).itemsize, size))
    buffers = [kept.take(most, dtype) for _ in range(2)]
    try:
        yield buffers, [(lo, min(lo + most, size)) for lo in range(0, size, most)]
    finally:
        cupy.cuda.get_current_stream().synchronize()  # nothing is on its way to or from them
        for buffer in buffers:
            kept.give_back(buffer)


def address(place: int) -> int:
    """An address as kernels take it: one before an array's may be below 0."""
    return ctypes.c_uint64(place).value
