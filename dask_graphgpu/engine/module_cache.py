"""Generated modules on disk: one file a text, imported by path, shared by all processes of a user.

Numba keeps the compiled kernels beside the file (``__pycache__``), under the file's time and size;
so a file is written once and never again. The files hold marshalled code: the folder belongs to the
user alone, and a folder of somebody else is refused.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib.util
import os
import sys
import tempfile
import threading
from pathlib import Path
from types import ModuleType

import numba

from dask_graphgpu import config
from dask_graphgpu.errors import EngineUnavailable
from dask_graphgpu.kernels.cpu import atomics, convert

_lock = threading.RLock()


def _new_lock() -> None:
    """In a forked child: the thread that held the lock is not there."""
    global _lock
    _lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_new_lock)


def folder() -> Path:
    """Return the folder of compiled programs, made if need be.

    ``graphgpu.cache-directory`` of Dask's configuration; else ``dask-graphgpu`` in
    ``$XDG_CACHE_HOME`` or ``~/.cache``; where neither can be written, in the folder for temporary
    files, with the user's number in its name.
    """
    configured = config.get("cache-directory")
    if configured is not None:
        return _private(Path(configured).expanduser())
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    try:
        return _private(Path(base) / "dask-graphgpu")
    except OSError:
        return _private(Path(tempfile.gettempdir()) / f"dask-graphgpu-{os.getuid()}")


def _private(path: Path) -> Path:
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    status = path.stat()
    if hasattr(os, "getuid") and (status.st_uid != os.getuid() or status.st_mode & 0o022):
        raise EngineUnavailable(
            f"the cache folder {path} can be written by somebody else; it holds code that is run. "
            "Set graphgpu.cache-directory to a folder of your own (mode 0700)."
        )
    if not os.access(path, os.W_OK):
        raise PermissionError(f"cannot write the cache folder {path}")
    return path


def load(text: str) -> ModuleType:
    """Import the module with source ``text``; the same object for the same text."""
    name = f"dask_graphgpu_{hashlib.sha256((_stamp() + text).encode()).hexdigest()[:24]}"
    with _lock:
        if name in sys.modules:
            return sys.modules[name]
        path = folder() / f"{name}.py"
        if not path.exists():
            _write_once(path, text)
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        try:
            spec.loader.exec_module(module)
        except BaseException:
            del sys.modules[name]
            raise
        return module


@functools.cache
def _stamp() -> str:
    """What else the compiled code depends on; Numba looks at the generated file only."""
    digest = hashlib.sha256(f"{sys.version}\n{numba.__version__}\n".encode())
    for module in (atomics, convert):
        digest.update(Path(str(module.__file__)).read_bytes())
    return digest.hexdigest()


def _write_once(path: Path, text: str) -> None:
    """Write beside and link: the first writer wins, and nobody sees half a file."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
    try:
        with os.fdopen(handle, "w") as file:
            file.write(text)
        with contextlib.suppress(FileExistsError):
            os.link(temporary, path)
    finally:
        os.unlink(temporary)
