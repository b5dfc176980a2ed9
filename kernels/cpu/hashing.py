"""Kernels that number the distinct values of 64-bit integers in the order of their appearance."""

from __future__ import annotations

import numpy as np

from dask_graphgpu.kernels.compile import jit
from dask_graphgpu.kernels.cpu.fingerprint import mixed


@jit
def _slot(key, mask):
    """Where a key belongs in a table of ``mask + 1`` slots."""
    return mixed(np.uint64(key)) & mask


@jit
def number(keys, codes, slots, values, known):
    """Give each of ``keys`` the number of its value.

    ``slots`` is an open-addressing table of numbers plus one, a power of two long, at most half
    full; ``values[:known]`` are the values numbered so far. Stops where a new value would fill
    either, and returns how many keys are done and how many values are known.
    """
    mask = np.uint64(slots.size - 1)
    room = min(values.size, slots.size // 2)
    for i in range(keys.size):
        key = keys[i]
        s = _slot(key, mask)
        while slots[s] != 0 and values[slots[s] - 1] != key:
            s = (s + np.uint64(1)) & mask
        if slots[s] == 0:
            if known == room:
                return i, known
            values[known] = key
            known += 1
            slots[s] = known
        codes[i] = slots[s] - 1
    return keys.size, known


@jit
def rebuild(slots, values, known):
    """Fill an empty table with the known values."""
    mask = np.uint64(slots.size - 1)
    for code in range(known):
        s = _slot(values[code], mask)
        while slots[s] != 0:
            s = (s + np.uint64(1)) & mask
        slots[s] = code + 1
