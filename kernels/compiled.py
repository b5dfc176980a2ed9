"""How many functions were compiled in this process, and how long that took.

Errors that it meets on its way, and keeps, refer to the frames of whoever called a kernel, and so to
what these hold, until Python's collector has found them.
"""

from __future__ import annotations

import itertools
import threading
from typing import Any

_counted = itertools.count(1)
_times = 0
_seconds = 0.0
_lock = threading.Lock()


def note_compiled() -> None:
    """One more; from any thread."""
    global _times
    _times = next(_counted)


def times_compiled() -> int:
    """So many until now."""
    return _times


def note_seconds(seconds: float) -> None:
    """Compiling has taken so long; from any thread."""
    global _seconds
    with _lock:
        _seconds += seconds


def seconds_compiling() -> float:
    """What compiling has taken until now, of all threads."""
    return _seconds


def is_compiled(kernel: Any) -> bool:
    """Whether this process, or one before it whose code is kept, has compiled a kernel for some types."""
    if not hasattr(kernel, "signatures"):  # NUMBA_DISABLE_JIT
        return False
    return bool(kernel.signatures) or kernel._cache.has_some()
