"""Whether a mask holds anywhere, or everywhere, and how often.

CuPy compiles sums of bools, and whether all or any are true, for five seconds each in a process that finds none
of its compiled code. Reductions of a number to the same type it brings along.
"""

from __future__ import annotations

from typing import Any

import numpy as np

_PIECE = 1 << 24  # values that are widened at a time


def any_true(mask: Any) -> bool:
    """Whether a mask is true anywhere; contiguous, of any shape."""
    return bool(mask.size) and bool(mask.view(np.uint8).max())


def all_true(mask: Any) -> bool:
    """Whether a mask is true everywhere; contiguous, of any shape."""
    return not mask.size or bool(mask.view(np.uint8).min())


def count_true(mask: Any) -> int:
    """How often a mask of one dimension is true."""
    pieces = (mask[first : first + _PIECE] for first in range(0, len(mask), _PIECE))
    return sum(int(piece.astype(np.int64).sum()) for piece in pieces)


def count_nan(values: Any) -> int:
    """How many of some floats are NaN."""
    bits = np.dtype(f"u{values.dtype.itemsize}")
    # As integers those above infinity are NaN and whatever is negative: of most weights there are none.
    infinity = int(np.array(np.inf, values.dtype).view(bits))
    if not len(values) or int(values.view(bits).max()) <= infinity:
        return 0
    return count_true(values != values)
