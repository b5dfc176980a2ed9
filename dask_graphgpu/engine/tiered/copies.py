"""Copies between pinned host memory and the device, and addresses as kernels take them."""

from __future__ import annotations

import ctypes
from typing import Any

import cupy
import numpy as np

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


def address(place: int) -> int:
    """An address as kernels take it: one before an array's may be below 0."""
    return ctypes.c_uint64(place).value
