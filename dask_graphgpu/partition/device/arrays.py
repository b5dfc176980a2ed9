"""What partitions on the device need of arrays; the functions take NumPy arrays as well.

CuPy's own scatter and masked reads count in 32 bits, so long arrays are gone through in blocks.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from dask_graphgpu.partition.device import building, elements
from dask_graphgpu.partition.device.module import module_of as module_of

BLOCK = 1 << 26  # elements that are worked on at once


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
    if isinstance(values, np.ndarray):
        return np.bincount(values, minlength=size)
    return building.counted(values, size)


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
    if not isinstance(offsets, np.ndarray):
        return elements.segments(offsets, total, dtype)
    return np.searchsorted(offsets[1:], np.arange(total), side="right").astype(dtype)


def reduce_segments(operation: str, values: Any, offsets: Any) -> Any:
    """``np.add``, ``np.minimum`` or ``np.maximum`` over each segment, none of which is empty.

    Sums are of int64 or float64. The result does not depend on the order in which threads run.
    """
    if isinstance(values, np.ndarray):
        wide = values.astype(np.float64 if values.dtype.kind == "f" else np.int64, copy=False)
        made = values if operation != "add" else wide
        return getattr(np, operation).reduceat(made, offsets[:-1].astype(np.int64))
    if operation == "add":
        return elements.sums(values, offsets)
    ends = elements.converted(offsets, np.int64)
    return elements.extremes(values, ends, most=operation == "maximum")
