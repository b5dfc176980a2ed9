"""Reading a folder that others may replace meanwhile: it is opened once, and every file through it.

Whoever replaces a folder gives its name to another one. One that is open stays what it was, but for files that are
deleted: then what took its place is read instead.
"""

import errno
import fcntl
import os
import re
import shutil
import stat
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, Self, TypeVar

from dask_graphgpu.errors import GraphError
from dask_graphgpu.io.objects.object_folder import ObjectFolder
from dask_graphgpu.io.replace import being_replaced, sweep

T = TypeVar("T")

# Of a file system without links, of one where others' files may not be linked, and of a file that has too many.
_NO_LINKS = {errno.EPERM, errno.EXDEV, errno.EMLINK, errno.ENOSYS, errno.EOPNOTSUPP}
_DELETED = re.compile(r"\.nfs[0-9a-f]+")  # of NFS

# Where two folders cannot change places in one step, there is none for a moment.
_PATIENCE, _PAUSE = 2.0, 0.002
_TRIES = 100  # at a folder that is replaced each time before it is read


class NoFolder(FileNotFoundError):
    """There is no folder at a path, not even for a moment; a file that a folder lacks is another error."""


class OpenFolder:
    """A folder, opened: its files are of one generation, whatever is at its path by now.

    Raises
    ------
    OSError
        There is no folder, or it may not be read.
    """

    path: Path | ObjectFolder

    def __init__(self, path: Path) -> None:
        self.path = path
        self._number = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        self.close: Any = weakref.finalize(self, os.close, self._number)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def names(self) -> list[str]:
        """What is in it, sorted, without what a network file system keeps of files that are deleted and still open."""
        return sorted(name for name in os.listdir(self._number) if not _DELETED.fullmatch(name))

    def fetch(self, names: Sequence[str]) -> None:
        """Bring files here that are to be opened: of a local folder they are."""

    def size(self, name: str) -> int:
        """Bytes of a file. Raises OSError: there is none, or what has the name is no plain file."""
        with self.open(name) as file:
            return os.fstat(file.fileno()).st_size

    def open(self, name: str) -> IO[bytes]:
        """A file of this folder, to be read.

        Raises
        ------
        OSError
            There is none, or what has the name is no plain file: links are not followed, as they lead elsewhere.
        """
        if not is_plain(name):
            raise OSError(errno.EINVAL, "is not the name of a file in this folder", name)
        # What would wait for somebody else, such as a pipe, is opened at once too.
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
        try:
            file = os.open(name, flags, dir_fd=self._number)
        except OSError as error:
            if error.errno == errno.ELOOP:
                raise OSError(errno.ELOOP, "is a link, which is not followed", name) from None
            raise
        if not stat.S_ISREG(os.fstat(file).st_mode):
            os.close(file)
            raise OSError(errno.EINVAL, "is no plain file", name)
        opened: IO[bytes] = open(file, "rb")
        return opened

    def link(self, name: str, to: Path) -> None:
        """Give a file a second name on the same file system; a copy, where it has no links."""
        try:
            os.link(name, to, src_dir_fd=self._number, follow_symlinks=False)
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            with self.open(name) as file, to.open("xb") as copy:
                shutil.copyfileobj(file, copy, 1 << 20)

    @contextmanager
    def alone(self, name: str) -> Iterator[None]:
        """Hold a lock on a file of this folder, which ends with this process.

        Raises
        ------
        BlockingIOError
            Another process, or another thread, holds it.
        OSError
            There are no locks here, or the file may not be written to.
        """
        file = os.open(name, os.O_RDWR | os.O_NOFOLLOW, dir_fd=self._number)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield
        finally:
            os.close(file)

    def require_current(self) -> None:
        """Raise OSError when it was replaced: it is being deleted, and what is left of it says nothing."""
        if self.is_replaced():
            raise OSError(errno.ESTALE, os.strerror(errno.ESTALE), str(self.path))

    def is_replaced(self) -> bool:
        """Whether something else, or nothing, is at its path now."""
        try:
            return not os.path.samestat(os.fstat(self._number), os.stat(str(self.path)))
        except OSError:
            return True


def is_plain(name: str) -> bool:
    """Whether a name is one of a file in a folder, which leads nowhere else."""
    try:
        os.fsencode(name)
    except UnicodeEncodeError:
        return False
    return bool(name) and name not in (".", "..") and not set(name) & {"/", "\0", os.sep}


def of_one_generation(path: Path, look: Callable[[OpenFolder], T]) -> T:
    """What ``look`` finds in a folder, all of it in the old one or in the new one.

    It is called again when it fails and the folder was replaced meanwhile.

    Raises
    ------
    NoFolder
    OSError
        It may not be read.
    Exception
        Of ``look``, for what is there.
    """
    return looked_at(lambda: opened_folder(path), look)


def looked_at(opened: Callable[[], OpenFolder], look: Callable[[OpenFolder], T]) -> T:
    """What ``look`` finds in a folder that is opened anew when it fails and the folder was replaced meanwhile."""
    for _ in range(_TRIES - 1):
        with opened() as folder:
            try:
                return look(folder)
            except (GraphError, OSError):
                if not folder.is_replaced():
                    raise
    with opened() as folder:
        return look(folder)


def opened_folder(path: Path) -> OpenFolder:
    """The folder at a path, also where it is being replaced, for which there is none for a moment.

    Raises
    ------
    NoFolder
    """
    until = time.monotonic() + _PATIENCE
    while time.monotonic() < until:
        with suppress(FileNotFoundError):
            return OpenFolder(path)
        if not being_replaced(path):
            break
        sweep(path)  # a writer that was killed at that moment is not waited for
        time.sleep(_PAUSE)
    try:
        return OpenFolder(path)
    except FileNotFoundError as error:
        raise NoFolder(error.errno, error.strerror, error.filename) from None
