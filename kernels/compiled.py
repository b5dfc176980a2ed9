"""How many functions Numba has compiled in this process.

Errors that it meets on its way, and keeps, refer to the frames of whoever called a kernel, and so to
what these hold, until Python's collector has found them.
"""

from __future__ import annotations

import itertools

_counted = itertools.count(1)
_times = 0


def note_compiled() -> None:
    """One more; from any thread."""
    global _times
    _times = next(_counted)


def times_compiled() -> int:
    """So many until now."""
    return _times
