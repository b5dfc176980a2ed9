"""The folder of compiled code: where it may lie, who may write it, and what leaves it again.

The folder has one entry, a folder as well, for the kernels of this package, one for each vertex
program and one for each cubin. Compiled code is code that is run: a folder that somebody else may write is never used,
except that the system's user may have filled a configured one, as in a container image. That is read and not written.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import stat
import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

from dask_graphgpu import config
from dask_graphgpu.errors import EngineUnavailable

KERNELS, PROGRAM = "dask_graphgpu_kernels_", "dask_graphgpu_program_"
CUDA = "dask_graphgpu_cuda_"

_ENTRY = re.compile(rf"({KERNELS}|{PROGRAM}|{CUDA})[0-9a-f]{{24}}")
_MARK = "dask_graphgpu_swept"  # its time is that of the last sweep
_SYSTEM = 0  # the number of the user who makes container images, and whom nobody can keep out
_DAY = 24 * 60 * 60
_UNUSED = 90 * _DAY


def folder() -> Path | None:
    """Return the folder of compiled code, made if need be.

    ``graphgpu.cache-directory`` of Dask's configuration; else ``dask-graphgpu`` in
    ``$XDG_CACHE_HOME`` or ``~/.cache``; where that cannot be used, in the folder for temporary
    files, with the user's number in its name. None, with a warning, where neither can.

    Raises
    ------
    EngineUnavailable
        The configured folder cannot be used, or somebody else than the system's user can write it.
    """
    configured = config.get("cache-directory")
    if configured is not None:
        try:
            return _safe(Path(configured).expanduser())
        except (OSError, RuntimeError) as error:  # no permission; nobody's home
            raise EngineUnavailable(
                f"graphgpu.cache-directory is {str(configured)!r}: {error}. Set it to a folder of "
                "your own (mode 0700), or to null for the default."
            ) from error
    with contextlib.suppress(OSError):
        for path in _defaults():
            with contextlib.suppress(OSError):
                return _private(path)
    warn_not_kept("neither the cache folder of the user nor one for temporary files can be used")
    return None


def entry(name: str) -> Path | None:
    """Return the folder of one entry, made if need be and marked as used; None: there is none.

    Entries that were not used for 90 days are removed, at most once a day. Where the folder is only read, the entry may
    not be there.
    """
    base = folder()
    if base is None:
        return None
    now = time.time()
    path = base / name
    if not _writable(base):
        return path
    path.mkdir(mode=0o755, exist_ok=True)  # who may read it is said by the folder around it
    if now - path.stat().st_mtime > _DAY:
        os.utime(path)
    _sweep(base, now)
    return path


def write(path: Path, data: bytes) -> None:
    """Write a file of an entry, all or nothing: other processes may be writing or reading the same.

    Raises
    ------
    OSError
        It cannot be written, as on a full disk.
    """
    made = None
    try:
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
            made = Path(file.name)
            file.write(data)
        made.chmod(0o644)
        made.replace(path)
    except BaseException:
        if made is not None:
            made.unlink(missing_ok=True)
        raise


def warn_not_kept(reason: str) -> None:
    """Warn that every process compiles anew."""
    warnings.warn(
        f"compiled code is not kept for the next run: {reason}; set graphgpu.cache-directory to a "
        "folder of your own (mode 0700).",
        RuntimeWarning,
        stacklevel=3,
    )


def _defaults() -> Iterator[Path]:
    """Folders to try, best first."""
    cache = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(cache):
        cache = os.path.join(os.path.expanduser("~"), ".cache")
    if os.path.isabs(cache):  # else there is no home
        yield Path(cache) / "dask-graphgpu"
    temporary = Path(tempfile.gettempdir()) / f"dask-graphgpu-{os.getuid()}"
    if not temporary.is_symlink():  # anybody may put one there
        yield temporary


def _safe(path: Path) -> Path:
    """Make a folder; PermissionError if somebody else than this user and the system's may write it."""
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    status = path.stat()
    others = stat.S_IWGRP | stat.S_IWOTH
    if hasattr(os, "getuid") and (
        status.st_uid not in (os.getuid(), _SYSTEM) or status.st_mode & others
    ):
        raise PermissionError(f"{path} can be written by somebody else; it holds code that is run")
    if not os.access(path, os.R_OK | os.X_OK):
        raise PermissionError(f"{path} cannot be read")
    return path


def _private(path: Path) -> Path:
    """Make a folder; PermissionError unless it is safe, and this user may write it."""
    if not _writable(_safe(path)):
        raise PermissionError(f"{path} cannot be written")
    return path


def _writable(path: Path) -> bool:
    return os.access(path, os.W_OK | os.X_OK)


def _sweep(base: Path, now: float) -> None:
    mark = base / _MARK
    with contextlib.suppress(OSError):
        if now - mark.stat().st_mtime < _DAY:
            return
    with contextlib.suppress(OSError):  # another process may sweep as well
        mark.touch()
        for found in list(os.scandir(base)):
            if _ENTRY.fullmatch(found.name) and now - found.stat().st_mtime > _UNUSED:
                shutil.rmtree(found.path, ignore_errors=True)
