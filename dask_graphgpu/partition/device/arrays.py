"""What partitions on the device need of arrays; the functions take NumPy arrays as well.

CuPy's own scatter and masked reads count in 32 bits, so long arrays are gone through in blocks.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np

BLOCK = 1 << 26  # elements that are worked on at once


def module_of(array: Any) -> ModuleType:
    """NumPy or CuPy, whichever the array belongs to."""
    if isinstance(array, np.ndarray):
        return np
    import cupy

    module: ModuleType = cupy
    return module


def blocks(length: int) -> Iterator[slice]:
    """Slices that cover ``0..length``."""
    return (slice(lo, min(lo + BLOCK, length)) for lo in range(0, length, BLOCK))


def add_at(sums: Any, index: Any, values: Any) -> None:
    """``sums[index] += values``, where an index may occur more than once.

    ``sums`` is of an unsigned type of 32 or 64 bits or of floats.
    """
    if isinstance(sums, np.ndarray):
        np.add.at(sums, index, values)
        return
    xp = module_of(sums)
    for part in blocks(len(index)):
        xp.add.at(sums, index[part], values if np.isscalar(values) else values[part])


def count(values: Any, size: int) -> Any:
    """How often each of ``0..size`` occurs, int64."""
    xp = module_of(values)
    if xp is np:
        return np.bincount(values, minlength=size)
    counts = xp.zeros(size, xp.uint32 if len(values) < 2**32 else xp.uint64)
    add_at(counts, values, 1)
    return counts.astype(xp.int64)


def choose(array: Any, keep: Any) -> Any:
    """The elements that are kept."""
    xp = module_of(array)
    parts = [array[part][keep[part]] for part in blocks(len(array))]
    return parts[0] if len(parts) == 1 else xp.concatenate([array[:0], *parts])


def packed(flags: Any) -> Any:
    """Flags as bits, eight in a byte, the first in its highest bit."""
    xp = module_of(flags)
    parts = [
        xp.packbits(flags[8 * part.start : 8 * part.stop]) for part in blocks(-(-len(flags) // 8))
    ]
    return xp.concatenate(parts) if parts else xp.empty(0, xp.uint8)


def unpacked(bits: Any, count: int) -> Any:
    """The flags of `packed`."""
    xp = module_of(bits)
    flags = xp.empty(count, bool)
    for part in blocks(len(bits)):
        here = flags[8 * part.start : 8 * part.stop]
        here[...] = xp.unpackbits(bits[part])[: len(here)]
    return flags


def offset_type(total: int) -> Any:
    """Type of offsets into so many elements."""
    return np.uint32 if total < 2**32 else np.uint64


def segments(offsets: Any, total: int, dtype: Any) -> Any:
    """Number of the segment that each of ``total`` elements is in."""
    xp = module_of(offsets)
    numbers = xp.empty(total, dtype)
    ends = offsets[1:]
    for part in blocks(total):
        places = xp.arange(part.start, part.stop, dtype=offsets.dtype)
        numbers[part] = xp.searchsorted(ends, places, side="right")
    return numbers


def reduce_segments(operation: str, values: Any, offsets: Any) -> Any:
    """``np.add``, ``np.minimum`` or ``np.maximum`` over each segment, none of which is empty.

    By halves, so that the result does not depend on the order in which threads run.
    """
    xp = module_of(values)
    combine = getattr(xp, operation)
    offsets = offsets.astype(xp.int64)
    while len(values) > len(offsets) - 1:
        lengths = xp.diff(offsets)
        halved = xp.zeros_like(offsets)
        halved[1:] = xp.cumsum((lengths + 1) // 2)
        total = int(halved[-1])
        made = xp.empty(total, values.dtype)
        numbers = segments(halved, total, xp.int64)
        for part in blocks(total):
            number = numbers[part]
            first = xp.arange(part.start, part.stop, dtype=xp.int64) - halved[number]
            first = offsets[number] + 2 * first
            second = xp.minimum(first + 1, offsets[number + 1] - 1)
            alone = second == first
            left = values[first]
            made[part] = xp.where(alone, left, combine(left, values[second]))
        values, offsets = made, halved
    return values
