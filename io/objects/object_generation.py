"""Folders of files that only we read, on an object store: filled and read through local files.

The counterpart of `replace` and `generation`: a folder is filled on a local disk and then uploaded, and its files are
downloaded before they are opened.
"""

from __future__ import annotations

import errno
import os
import stat
import tempfile
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any, TypeVar

import dask

from dask_graphgpu.io.generation import NoFolder, OpenFolder, is_plain, looked_at, of_one_generation
from dask_graphgpu.io.objects import commits
from dask_graphgpu.io.objects.commits import Commit, Generation, committing
from dask_graphgpu.io.objects.object_folder import ObjectFolder
from dask_graphgpu.io.replace import replacing, staged

T = TypeVar("T")


@contextmanager
def local_folder() -> Iterator[Path]:
    """An empty folder in Dask's temporary directory; what killed processes leave there is removed by the next one."""
    above = dask.config.get("temporary-directory") or tempfile.gettempdir()
    mine = Path(above) / f"graphgpu-objects-{os.getuid()}"
    mine.mkdir(mode=0o700, parents=True, exist_ok=True)
    state = mine.lstat()
    if not stat.S_ISDIR(state.st_mode) or state.st_uid != os.getuid() or state.st_mode & 0o077:
        what = (
            f"{mine} is not a folder of yours alone: remove it, or set Dask's temporary-directory"
        )
        raise OSError(errno.EACCES, what)
    with staged(mine / "files") as folder:
        yield folder


def filling(
    folder: Path | ObjectFolder, kind: str, others: Callable[[Path], list[str]]
) -> AbstractContextManager[Path]:
    """Give an empty local folder, which takes the place of what is at ``folder`` when the block ends.

    ``kind`` says what it is, ``others`` is as of `replacing`; so are errors, and `LostRace`.
    """
    return replacing(folder, others) if isinstance(folder, Path) else _uploading(folder, kind)


@contextmanager
def _uploading(folder: ObjectFolder, kind: str) -> Iterator[Path]:
    with generation(folder, kind) as made, local_folder() as new:
        yield new
        made.folder.upload(sorted(new.iterdir()))


@contextmanager
def growing(
    opened: OpenFolder,
    folder: Path | ObjectFolder,
    kind: str,
    others: Callable[[Path], list[str]],
    names: Sequence[str],
) -> Iterator[Path]:
    """As `filling`, and some files of the folder as it is now, which is ``opened``, stay as they are.

    On a disk the new folder has links to them, or copies where the file system has no links; on a store they are not
    moved. The block fills in what is new.

    Raises
    ------
    OSError
        What `filling` raises, and on a disk where the folder was replaced since it was opened.
    """
    if isinstance(folder, Path):
        with replacing(folder, others, before=opened.require_current) as new:
            for name in names:
                opened.link(name, new / name)
            yield new
        return
    assert isinstance(opened, OpenObjects)
    with generation(folder, kind, opened.places(names)) as made, local_folder() as new:
        yield new
        made.folder.upload(sorted(new.iterdir()))


@contextmanager
def generation(
    folder: ObjectFolder, kind: str, shared: tuple[tuple[str, str, int], ...] = ()
) -> Iterator[Generation]:
    """Give a generation to fill, which takes the place of what is at ``folder`` when the block ends.

    ``shared`` is as of `Commit`.
    """
    with committing(folder, folder, kind, shared) as made:
        yield made
    commits.sweep(folder, Commit((folder.began or 0) + 1, kind, made.name, shared))


def of_one_state(folder: Path | ObjectFolder, look: Callable[[OpenFolder], T]) -> T:
    """What ``look`` finds in a folder, local or of a store, all of it in the old one or in the new one.

    Raises
    ------
    NoFolder
    OSError
        It may not be read.
    Exception
        Of ``look``, for what is there.
    """
    if isinstance(folder, Path):
        return of_one_generation(folder, look)
    return looked_at(lambda: OpenObjects(folder), look)


class OpenObjects(OpenFolder):
    """A folder of a store: the files of the commit that counts when it is opened.

    Among its names are those of files that others have put there, such as Parquet.

    Raises
    ------
    NoFolder
        Nothing is there, or what is there is being removed.
    OSError
        It may not be read; or by all methods, a file is gone.
    """

    path: ObjectFolder

    def __init__(self, folder: ObjectFolder) -> None:
        self.path, self.commit = folder, commits.latest(folder)
        self._here = folder
        found = folder.sizes()  # with what others have put there
        self._sizes = {name: size for name, size in found.items() if not commits.is_ours(name)}
        there = self.commit is not None and self.commit.generation is not None
        self._elsewhere: dict[str, str] = {}
        if self.commit is not None and self.commit.generation is not None:
            self._here = folder / self.commit.generation
            self._sizes |= {name: size for name, _, size in self.commit.shared}
            self._elsewhere = {name: where for name, where, _ in self.commit.shared}
            self._sizes |= self._here.sizes()
        if not self._sizes and not there:
            raise NoFolder(errno.ENOENT, f"there is no object or folder {folder}")
        self._local: Path | None = None
        self._held = ExitStack()
        self.close: Any = weakref.finalize(self, self._held.close)

    def names(self) -> list[str]:
        return sorted(self._sizes)

    def size(self, name: str) -> int:
        size = self._sizes.get(name)
        if size is None:
            raise FileNotFoundError(errno.ENOENT, f"there is no object {self._here / name}")
        return size

    def fetch(self, names: Sequence[str]) -> None:
        """Download files, side by side; `open` does not wait for them any more."""
        wanted = [name for name in names if is_plain(name) and name in self._sizes]
        if wanted:
            self._local = self._local or self._held.enter_context(local_folder())
            by_place: dict[str | None, list[str]] = {}
            for name in wanted:
                by_place.setdefault(self._elsewhere.get(name), []).append(name)
            for where, some in by_place.items():
                here = self._here if where is None else self.path / where
                here.download(some, self._local)

    def places(self, names: Sequence[str]) -> tuple[tuple[str, str, int], ...]:
        """Where some files are, as `Commit.shared` says it."""
        here = "" if self.commit is None else self.commit.generation or ""
        return tuple(
            (name, self._elsewhere.get(name, here), self._sizes[name] or 0) for name in names
        )

    def open(self, name: str) -> IO[bytes]:
        if not is_plain(name):
            raise OSError(errno.EINVAL, "is not the name of a file in this folder", name)
        self.size(name)
        if self._local is None or not (self._local / name).exists():
            self.fetch([name])
        assert self._local is not None
        opened: IO[bytes] = (self._local / name).open("rb")
        return opened

    def is_replaced(self) -> bool:
        try:
            return commits.latest(self.path) != self.commit
        except OSError:
            return False
