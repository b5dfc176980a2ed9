"""Memory that begins at a huge page."""

from __future__ import annotations

import mmap

import numpy as np

# A page of the processor's on Linux that one entry of its table stands for, when memory is so aligned.
_HUGE = 2 << 20


def aligned(size: int) -> np.ndarray:
    """Bytes in huge pages as far as they fill such pages; they begin with one if they are no shorter.

    A disk writes into memory in pieces that are contiguous in the machine, and a huge page is one.
    """
    begin = _HUGE if size >= _HUGE else 0
    space = mmap.mmap(-1, size + begin, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    found = np.frombuffer(space, np.uint8)
    if not begin:
        return found
    skipped = -found.ctypes.data % _HUGE
    if hasattr(mmap, "MADV_HUGEPAGE"):
        space.madvise(mmap.MADV_HUGEPAGE, skipped - skipped % mmap.PAGESIZE, size // _HUGE * _HUGE)
    return found[skipped : skipped + size]
