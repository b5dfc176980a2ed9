"""What the GPU engine may pin of host memory: what ``graphgpu.host-memory-limit`` leaves beside the graph."""

from __future__ import annotations

import threading
import weakref
from collections import deque
from typing import Any

from dask_graphgpu.engine.limits import BLOCK, BUFFERS, Cut
from dask_graphgpu.errors import LimitTooSmall
from dask_graphgpu.partition.csr import Adjacency
from dask_graphgpu.partition.paged.limits import configured
from dask_graphgpu.partition.paged.sort import PagedAdjacency

# What a run pins beside edges: words that are looked at, some a segment, and two buffers that an answer
# goes through, at the least.
SMALL = 256 << 10


# Bytes of all graphs that are pinned, and of memory that has gone since: it may whatever a thread is at.
_pinned = 0
_gone: deque[int] = deque()
_lock = threading.Lock()


def count(memory: Any, num_bytes: int) -> None:
    """Note memory that was pinned, until it goes."""
    global _pinned
    with _lock:
        _pinned += num_bytes
    weakref.finalize(memory, _gone.append, num_bytes).atexit = False


def pinned_bytes() -> int:
    """How much is pinned."""
    global _pinned
    with _lock:
        while _gone:
            _pinned -= _gone.popleft()
        return _pinned


def room(rows: Adjacency) -> int | None:
    """Bytes that may be pinned for a graph, of which some rows are in host memory; None: any number.

    Below 0 where the rows alone take more than the limit.

    Raises
    ------
    InvalidArgument
        A setting is none.
    """
    if isinstance(rows, PagedAdjacency):
        return rows.limits.memory - rows.offsets.nbytes - rows.counts.nbytes
    limits = configured()
    return None if limits is None else limits.memory - _held(rows)


def cut_of(
    rows: Adjacency, edge: float, vertices: int, limit: int, what: str, *, gathers: bool = False
) -> Cut:
    """As of `Cut.of`, for edges that are all pinned where they do not fit the device.

    Parameters
    ----------
    rows : Adjacency
        In host memory.
    gathers : bool
        Whether edges are gathered there, in buffers that are no larger than there is room for.

    Raises
    ------
    LimitTooSmall
        Not even the least buffers fit, on the device or on the host.
    """
    number, left = rows.num_edges, room(rows)
    cut = Cut.of(number, edge, vertices, limit, what)
    if left is None or not cut.segment:
        return cut
    pinned, block = int(number * edge) + SMALL, int(BLOCK * edge)
    if gathers:
        pinned += rows.num_vertices * bytes_of_row(rows) + BUFFERS * block
        most = max(left - pinned, 0) // BUFFERS + block
        cut = Cut.of(number, edge, vertices, limit, what, most=most)
    if pinned > left:
        held = _held(rows)
        raise LimitTooSmall(
            f"{what} needs {held + pinned:,} bytes of host memory, {pinned:,} of them pinned, from which "
            "the GPU copies edges that do not fit graphgpu.device-memory-limit, and "
            f"graphgpu.host-memory-limit is {held + left:,}: raise either, or use engine='cpu'"
        )
    return cut


def bytes_of_row(rows: Adjacency) -> int:
    """Of a row of those that are gathered, at most."""
    return rows.neighbours.itemsize + 8


def refused(asked: int, room: int) -> LimitTooSmall:
    """The error of a run that needs more pinned memory than it may have, which was not known before."""
    return LimitTooSmall(
        f"a run on the GPU needs {asked:,} more bytes of pinned host memory, of which "
        f"graphgpu.host-memory-limit leaves {room:,} beside the graph: raise it, or "
        "graphgpu.device-memory-limit, or use engine='cpu'"
    )


def _held(rows: Adjacency) -> int:
    """Bytes of rows in host memory."""
    arrays = rows.offsets, rows.neighbours, *rows.columns.values()
    return sum({id(array): int(array.nbytes) for array in arrays}.values())
