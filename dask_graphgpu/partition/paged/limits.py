"""How much memory a graph may take, and where its edges go when they need more."""

from __future__ import annotations

import mmap
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import dask

from dask_graphgpu import config
from dask_graphgpu.errors import InvalidArgument, LimitTooSmall

# Spans of edges that are worked on side by side, each by a thread of its own, which waits for no other. More of
# them than keep up with a disk are in each other's way.
AT_ONCE = 4

# Bytes that are asked for at a time: a disk with a few such requests is faster than with large ones.
REQUEST = 1 << 20

# Built in memory, an edge has codes of both ends, the key that it is sorted by and its place in a
# row, 4 bytes each; what it carries stands in the chunk and in the row.
_BUILT = 16

# The part of the memory that edges take which are dealt to buckets: one of so many.
_DEALT = 8

# Bytes of a row of a chunk: two ids, their codes and a number, as frame and as arrays.
OF_ROW = 40

# Bytes of an edge that is on its way into a bucket of a sort: it is copied there, with its place, from a chunk.
_IN_TRANSIT = 64 + OF_ROW


@dataclass(frozen=True)
class Limits:
    """Settings of one graph, as they were when its method was called.

    Attributes
    ----------
    memory : int
        Bytes that its arrays may take.
    directories : tuple of str
        Where pages are spread.
    page_bytes : int
    enough : int, optional
        Bytes of memory with which the graph is built in memory, whatever its ids are; None: nobody knows.
    """

    memory: int
    directories: tuple[str, ...]
    page_bytes: int
    enough: int | None = None

    def window_bytes(self, arrays: int) -> int:
        """Bytes of the pages of some arrays that are in memory at once during a pass.

        Of each array these are the pages read ahead, those that the spans at work lie in, and one that is there twice.
        """
        ahead = pages_ahead(len(self.directories))
        return arrays * (ahead + AT_ONCE + 2) * self.page_bytes

    @property
    def run_length(self) -> int:
        """Edges that are dealt to buckets at a time: a part of the memory."""
        return min(max(self.memory // (_DEALT * _IN_TRANSIT), 1), 1 << 18)

    def left(self, held: int) -> int:
        """Bytes beside an eighth, where ``held`` are taken: it is for edges that are dealt, or what is not freed."""
        return max(self.memory - self.memory // _DEALT - held, 0)

    def work(self, held: int) -> int:
        """Bytes of edges that are sorted at a time: half of what is left."""
        return self.left(held) // 2

    def least(self, held: int, work: int = 0) -> int:
        """The smallest memory of which `work` gives so much."""
        return -(-(held + 2 * work) * _DEALT // (_DEALT - 1))

    def require(self, needed: int, what: str, *, so_far: bool = False, largest: int = 0) -> None:
        """Raise LimitTooSmall where so many bytes are not allowed; ``so_far`` : and it may be more that is needed.

        ``largest`` : how many of these are for the largest row group or run of rows. Where the graph can be built in
        memory with less, that is said to be needed.
        """
        if needed <= self.memory:
            return
        enough = self.enough
        if enough is not None and needed >= enough:
            needed, so_far, largest = enough, False, 0
        surely = (
            f", or to {enough:,}, which is enough: not all ids are read yet"
            if so_far and enough is not None
            else ""
        )
        if largest > 0:
            what += f", {largest:,} of it for its largest row group or run of rows,"
        raise LimitTooSmall(
            f"{what} needs {needed:,} bytes of memory, and graphgpu.host-memory-limit is "
            f"{self.memory:,}: edges go to disk, what belongs to vertices does not; set it to "
            f"at least as much{surely}"
        )


def pages_ahead(directories: int) -> int:
    """Pages that are read or waiting beside those that are worked on: one a thread that reads.

    A thread that reads may wait for a processor while all of them compute, and the disk is to have
    work meanwhile. What is read goes round in all this memory: less of it is faster.
    """
    return max(4, 2 * directories)


def pages_asked(directories: int, page_bytes: int) -> int:
    """As `pages_ahead`, where processors compute nothing: of as many requests."""
    return -(-pages_ahead(directories) // -(-page_bytes // REQUEST))


def configured() -> Limits | None:
    """The limits of Dask's configuration; None: there is none."""
    memory = config.memory("host-memory-limit", machine_memory, "the machine's")
    if memory is None:
        return None
    page = config.num_bytes("page-bytes")
    if page < mmap.PAGESIZE or page % mmap.PAGESIZE:
        raise InvalidArgument(
            f"graphgpu.page-bytes is {page:,}; allowed are multiples of {mmap.PAGESIZE}"
        )
    return Limits(memory, _directories(config.get("spill-directories")), page)


def in_memory_bytes(rows: int, carried: int, *, directed: bool) -> int:
    """About what a graph takes that is built in memory: ``rows`` edges that carry so many bytes each."""
    return rows * (_BUILT + 2 * carried) * (1 if directed else 2)


def machine_memory() -> int:
    """Bytes of memory of the machine."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _directories(given: Any) -> tuple[str, ...]:
    if given is None:
        root = dask.config.get("temporary-directory", default=None) or tempfile.gettempdir()
        return (os.path.join(root, "graphgpu-pages"),)
    if isinstance(given, (str, os.PathLike)):
        given = [given]
    named = isinstance(given, Sequence) and [
        each for each in given if isinstance(each, str | os.PathLike) and os.fspath(each)
    ]
    if not named or len(named) < len(given):
        raise InvalidArgument(
            f"graphgpu.spill-directories is {given!r}; give a list of folders, or null for one under "
            "Dask's temporary-directory"
        )
    return tuple(os.path.abspath(os.path.expanduser(each)) for each in given)
