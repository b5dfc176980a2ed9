"""Folders for the pages of one graph, gone when it is, and swept where their process was killed."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import tempfile
import weakref
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from dask_graphgpu.errors import SpillError
from dask_graphgpu.partition.paged.limits import pages_ahead
from dask_graphgpu.partition.paged.spare import Spare

_PREFIX, _LOCK, PAGES = "graphgpu-", ".lock", ".pages"
_OURS = re.compile(rf"{_PREFIX}[a-z0-9_]{{8}}{re.escape(_LOCK)}")  # as of tempfile

_living: weakref.WeakSet[SpillFolder] = weakref.WeakSet()


class SpillFolder:
    """A new folder in each of some directories, and threads that read there.

    A file beside the folder is locked for as long as this process lives, so that whoever comes next
    can tell what a killed process left behind, whatever has its number by then.

    Attributes
    ----------
    paths : list of str
    readers : list of executors
        One for each directory, of several threads that do nothing but read: a disk is at work while
        some of them wait for a processor.
    spare : Spare
        Memory for pages that no pass uses.
    """

    def __init__(self, directories: Sequence[str]) -> None:
        self.paths: list[str] = []
        self.spare = Spare()
        locks: list[tuple[str, int]] = []
        self._end = weakref.finalize(self, _remove, os.getpid(), self.paths, locks)
        _living.add(self)
        for directory in directories:
            try:
                os.makedirs(directory, exist_ok=True)
                sweep(directory)
                lock, held = _locked(directory)
                locks.append((lock, held))
                self.paths.append(lock.removesuffix(_LOCK))
                os.mkdir(self.paths[-1])
            except OSError as error:
                self.remove()
                raise SpillError(
                    f"cannot keep pages in {directory}: {error.strerror}; name folders that can be "
                    "written in graphgpu.spill-directories"
                ) from error
        threads = pages_ahead(len(self.paths)) // len(self.paths)
        self.readers = [ThreadPoolExecutor(threads, "graphgpu-pages") for _ in self.paths]

    def remove(self) -> None:
        """Delete the folders now."""
        self.spare.take()
        self._end()


def remove_all() -> None:
    """Delete the folders of this process, which ends without the rest of what Python does then."""
    for folder in list(_living):
        folder.remove()


def sweep(directory: str) -> None:
    """Delete what processes that are gone have left in a directory."""
    for name in os.listdir(directory):
        if not _OURS.fullmatch(name):
            continue
        lock = os.path.join(directory, name)
        try:
            # Where a link leads, nothing is ours.
            held = os.open(lock, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError:  # its owner, or another sweeper, was faster; or it is another user's
            continue
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:  # its owner lives
            os.close(held)
            continue
        _delete(lock, held)


def _locked(directory: str) -> tuple[str, int]:
    """A new file, locked, whose name less its ending is free for a folder."""
    while True:
        held, path = tempfile.mkstemp(_LOCK, _PREFIX, directory)
        fcntl.flock(held, fcntl.LOCK_EX)
        os.write(held, f"{os.getpid()}\n".encode())
        if os.path.exists(path):  # nobody swept it before it was locked
            return path, held
        os.close(held)


def _remove(owner: int, paths: list[str], locks: list[tuple[str, int]]) -> None:
    if os.getpid() != owner:
        return  # a forked child, whose parent still reads them
    for lock, held in locks:
        _delete(lock, held)
    locks.clear()
    paths.clear()


def _delete(lock: str, held: int) -> None:
    folder = lock.removesuffix(_LOCK)
    with contextlib.suppress(OSError):
        if not os.path.islink(folder):
            _delete_pages(folder)
    # The lock goes last: a folder without one would stay for ever.
    if os.path.lexists(lock):
        os.unlink(lock)
    os.close(held)


def _delete_pages(folder: str) -> None:
    """Delete a folder of pages; one that holds anything else stays, with that in it."""
    for name in os.listdir(folder):
        if name.endswith(PAGES):
            with contextlib.suppress(OSError):
                os.unlink(os.path.join(folder, name))
    os.rmdir(folder)
