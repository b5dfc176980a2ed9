"""Replacing a folder as one step: after a crash the name shows the old folder or the new one.

The new folder is filled inside a *staging* folder beside its destination, is forced to disk, and then changes places
with what stands there. A writer holds a lock on its staging folder for as long as it lives, so that the next writer can
tell what a killed one left behind from what another one is working on.
"""

import ctypes
import errno
import os
import re
import secrets
import shutil
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

import numpy as np

from dask_graphgpu.io.claims import require_claimed
from dask_graphgpu.io.locks import NO_LOCKS, alone, locked, sweep_lock
from dask_graphgpu.kernels.cpu.threads import for_blocks

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2  # linux/fs.h
_SUFFIX = ".partial"
# Names inside a staging folder. _PREVIOUS is there only where two folders cannot change places in one step.
_LOCK, _NEW, _PREVIOUS = "lock", "new", "previous"


class NotOnDisk(OSError):
    """The new folder is in place, and the system does not say that this would outlast a crash of the machine."""

    def __init__(self, destination: Path, error: OSError) -> None:
        reason = error.strerror or str(error)
        what = f"is in place at {destination}, but the disk does not confirm it: {reason}"
        super().__init__(error.errno, what)


@contextmanager
def replacing(
    destination: Path, others: Callable[[Path], list[str]], before: Callable[[], None] | None = None
) -> Iterator[Path]:
    """Give a new folder to fill, which takes the place of ``destination`` when the block ends.

    Parameters
    ----------
    destination
        Folder to replace, or to make. Its parent is made when it is missing. One of `claims.claimed` is replaced only
        while no other writer has been there.
    others
        Gives the files in a folder that are not the writer's. A former folder that has some by the time it is replaced
        is not deleted: it is kept beside the new one, and a warning says where.
    before
        Called when the new folder is on disk and no other writer puts one in place; where it raises, nothing is
        replaced.

    Yields
    ------
    Path
        An empty folder on the same file system. When the block raises, it is removed and ``destination`` stays as it
        is.

    Raises
    ------
    LostRace
        Another writer has been there since; ``destination`` stays as it is.
    OSError
        The file system refuses a step; ``destination`` is as it was, but for `NotOnDisk`.

    Notes
    -----
    On Linux the two folders change places by ``renameat2(RENAME_EXCHANGE)``, so that ``destination`` exists at every
    moment. Where system or file system lack that, the old folder is moved away first; a crash between the two renames
    is put right by the next call for the same destination.
    """
    with staged(destination) as new:
        previous = new.with_name(_PREVIOUS)
        yield new
        _sync_tree(new)
        with alone(destination):
            require_claimed(destination, others)
            if before is not None:
                before()
            _put(new, destination, previous)
        for former in (new, previous):
            _keep_others(former, destination, others)
        try:
            _sync(destination.parent)
        except OSError as error:
            raise NotOnDisk(destination, error) from error


@contextmanager
def staged(destination: Path) -> Iterator[Path]:
    """Give an empty folder beside a place, whether or not anything is there, and remove it afterwards.

    What a killed process leaves is removed by the next call for the same place.
    """
    destination.parent.mkdir(parents=True, exist_ok=True)
    sweep(destination)
    staging, lock = _stage(destination)
    with lock:
        try:
            new = staging / _NEW
            new.mkdir()
            yield new
        finally:
            _clear(staging, destination)


def _keep_others(former: Path, destination: Path, others: Callable[[Path], list[str]]) -> None:
    """Keep the former folder beside the new one if somebody has put files there meanwhile."""
    if not former.exists():
        return
    try:
        names = others(former)
    except OSError as error:
        names = [f"what cannot be read ({error})"]
    if names:
        kept = destination.with_name(f"{destination.name}.{secrets.token_hex(4)}.kept")
        former.rename(kept)
        warnings.warn(
            f"{destination} is replaced, and held {', '.join(names[:3])}, which came there after it was looked at: "
            f"what was there is kept as {kept}",
            stacklevel=2,
        )


def being_replaced(destination: Path) -> bool:
    """Whether the former folder is moved away already, and the new one is not there yet."""
    return any((staging / _PREVIOUS).exists() for staging in _staging_folders(destination))


def sweep(destination: Path) -> None:
    """Remove what killed writers of ``destination`` left, and finish a replacement that one of them had begun."""
    sweep_lock(destination)
    for staging in _staging_folders(destination):
        with suppress(OSError):  # removed by another writer meanwhile, or not ours to remove
            try:
                lock = locked(staging / _LOCK)
            except FileNotFoundError:
                staging.rmdir()  # a writer was killed, or has yet to put its lock there: then it tries again
                continue
            if lock is None:
                continue
            with lock:
                previous = staging / _PREVIOUS
                if _is_folder(previous) and not destination.exists():
                    previous.rename(destination)
                _clear(staging, destination)


def _staging_folders(destination: Path) -> list[Path]:
    """Those of ``destination`` alone: the names of "out.v2" begin like those of "out".

    A link that somebody has put there is none: nothing is deleted where it leads.
    """
    name = re.compile(rf"\.{re.escape(destination.name)}\.[0-9a-f]{{16}}{re.escape(_SUFFIX)}")
    try:
        names = os.listdir(destination.parent)
    except OSError:  # no folder, or none that may be listed
        return []
    found = (destination.parent / each for each in names if name.fullmatch(each))
    return [path for path in found if _is_folder(path)]


def _is_folder(path: Path) -> bool:
    """Whether it is a folder itself, not a link to one."""
    return path.is_dir() and not path.is_symlink()


def _stage(destination: Path) -> tuple[Path, IO[bytes]]:
    """A new staging folder beside ``destination``, and the open file that holds its lock."""
    while True:
        staging = destination.parent / f".{destination.name}.{secrets.token_hex(8)}{_SUFFIX}"
        staging.mkdir()
        with suppress(FileNotFoundError):  # swept between the two steps
            (staging / _LOCK).touch()
            try:
                lock = locked(staging / _LOCK)
            except OSError as error:
                if error.errno not in NO_LOCKS:
                    raise
                # Nor can anybody else lock it, so nobody sweeps it.
                lock = (staging / _LOCK).open("r+b")
            if lock is not None:
                return staging, lock


def _clear(staging: Path, destination: Path) -> None:
    """Remove a staging folder, its lock last: whoever is killed half-way leaves it to the next sweep."""
    shutil.rmtree(staging / _NEW, ignore_errors=True)
    if destination.exists():  # otherwise the former result is all that is left of it
        shutil.rmtree(staging / _PREVIOUS, ignore_errors=True)
    with suppress(OSError):
        if [entry.name for entry in staging.iterdir()] == [_LOCK]:
            (staging / _LOCK).unlink()
            staging.rmdir()


def _put(new: Path, destination: Path, previous: Path) -> None:
    """Give ``new`` the name ``destination``; what had it ends up in the staging folder."""
    try:
        new.rename(destination)  # replaces nothing but an empty folder
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
            raise
        if not _exchange(new, destination):
            destination.rename(previous)
            try:
                new.rename(destination)
            except OSError:
                previous.rename(destination)
                raise


def _exchange(one: Path, other: Path) -> bool:
    """Let two folders change places in one step; False where that cannot be had."""
    renameat2 = _renameat2()
    if renameat2 is None:
        return False
    ctypes.set_errno(0)
    if renameat2(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _RENAME_EXCHANGE) == 0:
        return True
    code = ctypes.get_errno()
    if code in (errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP):
        return False
    raise OSError(code, os.strerror(code), str(other))


def _renameat2() -> Callable[..., int] | None:
    """The C library's renameat2, where there is one."""
    if sys.platform != "linux":
        return None
    function = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if function is not None:
        function.argtypes = (
            ctypes.c_int,
            ctypes.c_char_p,
            ctypes.c_int,
            ctypes.c_char_p,
            ctypes.c_uint,
        )
        function.restype = ctypes.c_int
    return function


def _sync_tree(folder: Path) -> None:
    """Force a folder and all below it to disk, files side by side and before the folders that they are in."""
    found = [*os.walk(folder)]
    files = [Path(root, name) for root, _, names in found for name in names]

    def sync(lo: int, hi: int) -> None:
        for path in files[lo:hi]:
            _sync(path)

    for_blocks(sync, np.arange(len(files) + 1))
    for root, _, _ in found:
        _sync(Path(root))


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno != errno.EINVAL or not path.is_dir():  # some file systems sync no folders
            raise
    finally:
        os.close(descriptor)
