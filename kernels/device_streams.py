"""CUDA streams, which are used again and never destroyed.

Memory that was allocated on a stream may be freed there long after its run, and where a run and its
arrays are collected as a cycle, finalizers come first: CuPy would destroy the stream before RMM frees
the arrays on it, and the driver has been seen to crash in that. To make one also takes some tenths of
a millisecond.
"""

from __future__ import annotations

import weakref
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import cupy

# By device and priority. Lists are appended to and popped from by any thread, also within a collection.
_idle: dict[tuple[int, int], list[Any]] = defaultdict(list)


def stream_of(owner: object, priority: int = 0) -> Any:
    """A stream of the current device for as long as ``owner`` lives; it waits for no other stream."""
    idle, stream = _taken(priority)
    weakref.finalize(owner, idle.append, stream).atexit = False
    return stream


@contextmanager
def lent_stream() -> Iterator[Any]:
    """A stream of the current device for the time being; it waits for no other stream."""
    idle, stream = _taken(0)
    try:
        yield stream
    finally:
        idle.append(stream)


def _taken(priority: int) -> tuple[list[Any], Any]:
    idle = _idle[cupy.cuda.Device().id, priority]
    try:
        return idle, idle.pop()
    except IndexError:
        return idle, cupy.cuda.Stream(non_blocking=True, priority=priority)
