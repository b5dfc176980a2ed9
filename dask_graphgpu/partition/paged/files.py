"""Arrays in files: equal pages, spread over folders by a hash, each with a checksum."""

from __future__ import annotations

import errno
import fcntl
import mmap
import os
import tempfile
import weakref
from typing import Any, NoReturn

import numpy as np

from dask_graphgpu.errors import EngineUnavailable, SpillError
from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.partition.paged.folder import PAGES, SpillFolder
from dask_graphgpu.partition.paged.limits import REQUEST

_DIRECT = getattr(os, "O_DIRECT", 0)  # of Linux

_HASH = 0x9E3779B97F4A7C15  # 2**64 over the golden ratio: neighbours land far apart


class PagedArray:
    """An array on disk, which has what one in memory says of itself, but not its values.

    Attributes
    ----------
    dtype, itemsize, nbytes, shape : as of a NumPy array
    page_bytes : int
    place : int64 array of shape (pages, 2)
        Folder of each page, and its number in the file there.
    checksums : uint64 array of shape (pages * blocks,)
        Of the blocks that each page is read in.
    blocks : int
        Of a page.
    """

    def __init__(
        self,
        folder: SpillFolder,
        files: list[tuple[str, int]],
        dtype: np.dtype[Any],
        size: int,
        page_bytes: int,
        place: np.ndarray,
        checksums: np.ndarray,
        largest: Any,
    ) -> None:
        self.folder, self.files = folder, files
        self.dtype, self.page_bytes = dtype, page_bytes
        self.place, self.checksums, self.blocks = place, checksums, -(-page_bytes // REQUEST)
        self.itemsize, self.shape, self.nbytes = dtype.itemsize, (size,), size * dtype.itemsize
        self._largest = largest
        weakref.finalize(self, _close, files)

    def __len__(self) -> int:
        return self.shape[0]

    def max(self) -> Any:
        """The largest value, as a NumPy scalar."""
        return self._largest

    def __array__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise EngineUnavailable(
            "the edges of this graph lie in pages on disk, and what was called needs them in memory: "
            "raise graphgpu.host-memory-limit, or set it to null"
        )

    def bytes_of(self, page: int) -> int:
        """Length of a page: the last may be shorter."""
        return min(self.page_bytes, self.nbytes - page * self.page_bytes)

    def read(self, page: int, block: int, into: memoryview) -> None:
        """Bring a block of a page into memory of a whole page, past the system's cache where that can be passed.

        ``into`` begins where a page of the system does. What comes is to be checked by `check`.

        Raises
        ------
        SpillError
        """
        where, slot = self.place[page].tolist()
        file = self.files[where][1]
        begin, end = self._within(page, block)
        start, done = slot * self.page_bytes, begin
        # Past the cache, whole pages of the system are read.
        whole = into[: -(-end // mmap.PAGESIZE) * mmap.PAGESIZE]
        try:
            while done < end:
                more = os.preadv(file, [whole[done:]], start + done)
                done += more
                if done < end and (not more or done % mmap.PAGESIZE):
                    raise self._damaged(page, "ends before it")
            os.posix_fadvise(file, start + begin, end - begin, os.POSIX_FADV_DONTNEED)
        except OSError as error:
            if isinstance(error, SpillError):
                raise
            raise self._damaged(page, f"cannot be read: {error}") from error

    def _within(self, page: int, block: int) -> tuple[int, int]:
        """Where a block of a page begins in it, and where it ends."""
        begin = block * REQUEST
        return begin, min(begin + REQUEST, self.bytes_of(page))

    def check(self, page: int, block: int, held: np.ndarray) -> None:
        """Compare a block in a page's memory with what was written. Raises SpillError."""
        words = words_of(held[slice(*self._within(page, block))])
        if kernels.checksum.checksum(words) != self.checksums[page * self.blocks + block]:
            raise self._damaged(page, "is not what was written")

    def _damaged(self, page: int, what: str) -> SpillError:
        path, _ = self.files[int(self.place[page, 0])]
        return SpillError(
            f"page {page} of {path} {what}; the disk or another process has damaged it: run again, "
            "with other graphgpu.spill-directories if it stays"
        )


class PageWriter:
    """Appends to a new array on disk, page by page."""

    def __init__(self, folder: SpillFolder, name: str, dtype: Any, page_bytes: int) -> None:
        self._folder, self._dtype, self._page_bytes = folder, np.dtype(dtype), page_bytes
        self._files: list[tuple[str, int]] = []
        self._buffer, self._filled, self._size = np.empty(page_bytes, np.uint8), 0, 0
        self._place: list[tuple[int, int]] = []
        self._checksums: list[int] = []
        self._slots = [0] * len(folder.paths)
        self._largest: Any = None
        self._end = weakref.finalize(self, _close, self._files)
        for path in folder.paths:
            self._files.append(create(path, name))

    def append(self, values: np.ndarray) -> None:
        """Write values of the array's type, which are cast to it. Raises SpillError."""
        if not len(values):
            return
        values = np.ascontiguousarray(values, self._dtype)
        top = values.max()
        self._largest = top if self._largest is None else max(self._largest, top)
        self._size += len(values)
        raw, done = values.view(np.uint8), 0
        while done < len(raw):
            take = min(self._page_bytes - self._filled, len(raw) - done)
            self._buffer[self._filled : self._filled + take] = raw[done : done + take]
            self._filled, done = self._filled + take, done + take
            if self._filled == self._page_bytes:
                self._flush()

    def close(self) -> PagedArray:
        """The array; nothing can be appended any more."""
        if self._filled:
            self._flush()
        for path, file in self._files:
            try:
                os.fdatasync(file)
            except OSError as error:
                raise full(path, error) from error
            os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
            _pass_cache(file)
        self._end.detach()
        self._buffer = np.empty(0, np.uint8)
        return PagedArray(
            self._folder,
            self._files,
            self._dtype,
            self._size,
            self._page_bytes,
            np.array(self._place, np.int64).reshape(-1, 2),
            np.array(self._checksums, np.uint64),
            self._largest,
        )

    def _flush(self) -> None:

        page, block = len(self._place), self._buffer[: self._filled]
        where = (((page + 1) * _HASH % 2**64) >> 32) % len(self._files)
        path, file = self._files[where]
        write(path, file, block, self._slots[where] * self._page_bytes)
        self._place.append((where, self._slots[where]))
        for begin in range(0, self._page_bytes, REQUEST):
            self._checksums.append(
                int(kernels.checksum.checksum(words_of(block[begin : begin + REQUEST])))
            )
        self._slots[where] += 1
        self._filled = 0


def _pass_cache(file: int) -> None:
    """Have a file read without the system's cache, which would cost a copy and memory for each page."""
    flags = fcntl.fcntl(file, fcntl.F_GETFL)
    try:
        fcntl.fcntl(file, fcntl.F_SETFL, flags | _DIRECT)
    except OSError as error:
        if error.errno != errno.EINVAL:  # a file system without it, such as one in memory
            raise


def create(folder: str, name: str) -> tuple[str, int]:
    """A new file, open for writing and reading: its path and number. Raises SpillError."""
    try:
        file, path = tempfile.mkstemp(PAGES, f"{name}-", folder)
    except OSError as error:
        raise full(folder, error) from error
    return path, file


def write(path: str, file: int, values: np.ndarray, start: int) -> None:
    """Write bytes from a place of a file on. Raises SpillError."""
    left = values.data
    try:
        while len(left):
            done = os.pwrite(file, left, start)
            left, start = left[done:], start + done
    except OSError as error:
        raise full(path, error) from error


def full(path: str, error: OSError) -> SpillError:
    """The error of a file that cannot be written."""
    return SpillError(
        f"cannot write {path}: {error.strerror}; make room there, name other folders in "
        "graphgpu.spill-directories, or raise graphgpu.host-memory-limit"
    )


def words_of(block: np.ndarray) -> np.ndarray:
    """Bytes as 64-bit words, as many as four divides; filled up with zeros."""
    odd = -len(block) % 32
    whole = np.append(block, np.zeros(odd, np.uint8)) if odd else block
    words: np.ndarray = whole.view(np.uint64)
    return words


def _close(files: list[tuple[str, int]]) -> None:
    for path, file in files:
        os.close(file)
        if os.path.exists(path):
            os.unlink(path)
    files.clear()
