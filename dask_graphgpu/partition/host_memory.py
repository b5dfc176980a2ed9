"""Memory of the host that is free and that allocators keep."""

from __future__ import annotations

import ctypes
import functools
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pyarrow as pa

# Options of glibc's `mallopt`, and variables that set them when a process starts: bytes of free memory from which on
# it goes back to the system at once, and of an allocation from which on the system is asked for it alone.
_TRIM, _MMAP = -1, -3
_SET_BY = {_TRIM: "MALLOC_TRIM_THRESHOLD_", _MMAP: "MALLOC_MMAP_THRESHOLD_"}
_KEPT = {_TRIM: 1 << 30, _MMAP: 1 << 25}  # the latter is the most that glibc takes
_ALONE = 1 << 17  # what `_MMAP` is where only `_TRIM` is set
_MANY = 1 << 20  # rows, of edges or a result, that leave tens of megabytes behind

_lock = threading.Lock()
_inside = 0  # how many are in `kept`
_pools: list[pa.MemoryPool] = []  # Arrow's own pool, once for each who is in `freed_at_once`


@contextmanager
def kept() -> Iterator[None]:
    """Keep what is freed inside for what is asked for next, and give it back at the end.

    Dask has workers give memory back at once. A build on ranks asks for arrays of some MB again and again, each of
    which would be pages that the system has to clear anew. Where nobody has asked for that the C library keeps
    memory by itself, and nothing is done.
    """
    global _inside
    given = os.environ.get(_SET_BY[_TRIM], "")
    if not given.isdecimal() or int(given) >= _KEPT[_TRIM] or _mallopt() is None:
        yield
        return
    with _lock:
        _inside += 1
        _set(_KEPT)
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if not _inside:
                alone = os.environ.get(_SET_BY[_MMAP], "")
                _set({_TRIM: int(given), _MMAP: int(alone) if alone.isdecimal() else _ALONE})
        give_back()


@contextmanager
def freed_at_once() -> Iterator[None]:
    """What Arrow frees inside goes back to the system: its other pools keep more than a small limit allows.

    The pool is the process's, so the last of those who are inside at one time, on any thread, gives Arrow its own back.
    """
    with _lock:
        _pools.append(_pools[0] if _pools else pa.default_memory_pool())
        pa.set_memory_pool(pa.system_memory_pool())
    try:
        yield
    finally:
        with _lock:
            own = _pools.pop()
            if not _pools:
                pa.set_memory_pool(own)


def _set(options: dict[int, int]) -> None:
    mallopt = _mallopt()
    assert mallopt is not None
    for option, value in options.items():
        mallopt(option, value)


def give_back(rows: int = _MANY) -> None:
    """Give the system what Arrow and the C library keep of this process's memory for later.

    Nothing is done after work on few ``rows``. Cost: about 0.1 s for each GB that goes, 0.2 ms where nothing does.
    """
    if rows < _MANY:
        return
    pa.default_memory_pool().release_unused()
    _trim()(0)


@functools.cache
def _trim() -> Callable[[int], Any]:
    """``malloc_trim`` of glibc; of other C libraries nothing is asked."""
    return _of_glibc("malloc_trim") or (lambda _: 0)


@functools.cache
def _mallopt() -> Callable[[int, int], Any] | None:
    return _of_glibc("mallopt") if _of_glibc("malloc_trim") else None


def _of_glibc(name: str) -> Callable[..., Any] | None:
    """A function of the C library; None where the library has no such function."""
    library: Any = ctypes.CDLL(None) if sys.platform == "linux" else None
    return getattr(library, name, None)
