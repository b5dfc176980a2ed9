"""Locks on files, which the system gives back when a process ends, however it does."""

import errno
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

NO_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP}  # of file systems that have none
_SUFFIX = ".graphgpu-lock"


def locked(path: Path, *, wait: bool = False) -> IO[bytes] | None:
    """The lock of a file, held until it is closed.

    None when somebody else holds it and is not waited for, or when the file was removed meanwhile.

    Raises
    ------
    OSError
        There is no such file, or no locks, as of `NO_LOCKS`.
    """
    held: IO[bytes] = os.fdopen(os.open(path, os.O_RDWR | os.O_NOFOLLOW), "r+b")
    try:
        fcntl.flock(held, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        if os.path.samestat(os.fstat(held.fileno()), path.stat()):
            return held
    except (BlockingIOError, FileNotFoundError):
        pass
    except BaseException:
        held.close()
        raise
    held.close()
    return None


@contextmanager
def alone(place: Path) -> Iterator[None]:
    """Let one writer of a place at a time in, for a moment; where a file system has no locks, all.

    The lock is a file beside it, which is there for that moment; see `sweep_lock`.
    """
    path = _beside(place)
    held = None
    while held is None:
        with suppress(FileNotFoundError):  # the one before has just removed it
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666))
            try:
                held = locked(path, wait=True)
            except OSError as error:
                if error.errno not in NO_LOCKS:
                    raise
                held = path.open("r+b")
    with held:
        try:
            yield
        finally:
            path.unlink(missing_ok=True)


def sweep_lock(place: Path) -> None:
    """Remove the lock of a writer that was killed in that moment."""
    path = _beside(place)
    with suppress(OSError):
        held = locked(path)
        if held is not None:
            with held:
                path.unlink()


def _beside(place: Path) -> Path:
    return place.with_name(f".{place.name}{_SUFFIX}")
