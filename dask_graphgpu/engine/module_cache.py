"""Generated modules: one a text, which share their compiled kernels with other processes.

Only what is compiled is kept on disk, under a name that says text, kernel sources, Python and Numba;
the text is made anew in each process, which takes less time than to read it and trust it.
"""

from __future__ import annotations

import hashlib
import linecache
import os
import sys
import threading
from types import ModuleType

from dask_graphgpu.kernels.cache_folder import PROGRAM
from dask_graphgpu.kernels.compile import STAMP

_lock = threading.RLock()


def _new_lock() -> None:
    """In a forked child: the thread that held the lock is not there."""
    global _lock
    _lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_new_lock)


def load(text: str) -> ModuleType:
    """Return the module with source ``text``; the same object for the same text."""
    name = PROGRAM + hashlib.sha256((STAMP + text).encode()).hexdigest()[:24]
    with _lock:
        if name in sys.modules:
            return sys.modules[name]
        file = f"<{name}>"
        module = ModuleType(name)
        module.__dict__["__source__"] = text
        sys.modules[name] = module
        # So that tracebacks and debuggers show the lines.
        linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
        try:
            exec(compile(text, file, "exec"), module.__dict__)
        except BaseException:
            del sys.modules[name], linecache.cache[file]
            raise
        return module
