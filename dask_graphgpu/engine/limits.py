"""How much of a GPU's memory a graph may take, and what of its edges lies where.

Settings and what follows from them: no GPU is needed for it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dask_graphgpu import config
from dask_graphgpu.errors import LimitTooSmall
from dask_graphgpu.partition.view import View

WAYS = ("auto", "stream", "zero-copy", "compact")
DISPATCH = ("auto", "gpu", "cpu", "alternate", "supersteps")
ROUNDS = ("auto", "synchronous", "asynchronous", "resident-first", "near-far")

# Edges that are not divided: what is at hand begins and ends at a multiple, so that arrays of edges
# and of what they carry all begin at whole lines of the link to the host.
BLOCK = 256

# Buffers for edges that are on their way, and bytes of one at most: half a millisecond of the link.
BUFFERS = 2
_MOST = 32 << 20

# The part of the memory left by vertices that a buffer takes, at most.
_SHARE = 8

# Bytes of a vertex beside its edges that the GPU engine takes about, where all is on the device.
_VERTEX = 64


def configured() -> int | None:
    """``graphgpu.device-memory-limit`` in bytes; None: there is none."""
    return config.memory("device-memory-limit", _device, "the GPU's")


def configured_transfer() -> str:
    """``graphgpu.transfer``; InvalidArgument if there is no such way."""
    return config.word("transfer", WAYS)


def configured_rounds() -> str:
    """``graphgpu.rounds``; InvalidArgument if it is none of `ROUNDS`."""
    return config.word("rounds", ROUNDS)


def configured_dispatch() -> str:
    """``graphgpu.dispatch``; InvalidArgument if it is none of `DISPATCH`."""
    return config.word("dispatch", DISPATCH)


def configured_of(memory: int | None) -> int | None:
    """As `configured`, of a GPU with so much memory; None: that is not known, and neither is a part of it."""
    if memory is None and isinstance(config.get("device-memory-limit"), float):
        return None
    return config.memory("device-memory-limit", lambda: memory or 0, "the GPU's")


def _device() -> int:
    import cupy

    return int(cupy.cuda.runtime.memGetInfo()[1])


def exceeds(view: View) -> bool:
    """Whether a graph in host memory would take more of the GPU's than it may.

    Told by one direction of its edges and a usual number of bytes a vertex.
    """
    limit = configured()
    if limit is None or view.on_device:
        return False
    given = view.given()
    edge = given.neighbours.itemsize + sum(column.itemsize for column in given.columns.values())
    return bytes_of_vertices(view.num_vertices) + view.num_edges * edge > limit


def bytes_of_gathered(num_vertices: int, num_edges: int, ids: int, carried: int) -> int:
    """Bytes that the edges of all ranks take on the GPU of each, with an id of ``ids`` bytes and what they carry."""
    return bytes_of_vertices(num_vertices) + num_edges * (ids + carried)


def bytes_to_gather(num_vertices: int, num_edges: int, ids: int, carried: int) -> int:
    """Bytes of a GPU that are needed while these edges are brought there and sorted."""
    sorting = 32 if carried else 16
    return bytes_of_vertices(num_vertices) + num_edges * (3 * ids + 2 * carried + sorting)


def bytes_of_vertices(num_vertices: int) -> int:
    """Bytes that vertices take where all is on the device, about."""
    return num_vertices * _VERTEX


class Tiers(NamedTuple):
    """Where a graph is to lie, about: bytes.

    Attributes
    ----------
    limit : int
        Of the GPU's memory.
    device : int
        That are taken of it.
    pinned : int
        Host memory for edges; 0: all are on the device.
    moved : int
        Of edges over the link in a superstep, at most.
    pages : int
        Number of segments that they are cut into.
    """

    limit: int
    device: int
    pinned: int
    moved: int
    pages: int

    @classmethod
    def of(cls, num_vertices: int, num_edges: int, edge: int) -> Tiers | None:
        """For edges of ``edge`` bytes; None: there is no limit.

        Raises
        ------
        LimitTooSmall
        """
        limit = configured()
        if limit is None:
            return None
        what, vertices = f"a graph of {num_vertices:,} vertices", bytes_of_vertices(num_vertices)
        cut = Cut.of(num_edges, edge, vertices, limit, what)
        rest = num_edges - cut.resident
        device = vertices + (cut.resident + BUFFERS * cut.segment) * edge
        pinned = num_edges * edge if rest else 0
        pages = len(cut.bounds) - 1
        return cls(limit, device, pinned, rest * edge, pages)


class Cut(NamedTuple):
    """What of the edges lies where.

    Attributes
    ----------
    resident : int
        The edges before this one are on the device and stay there.
    segment : int
        Edges that a buffer takes; those behind the resident ones are cut into as many each.
    num_edges : int
    """

    resident: int
    segment: int
    num_edges: int

    @classmethod
    def of(
        cls, num_edges: int, edge: float, vertices: int, limit: int, what: str, most: int = _MOST
    ) -> Cut:
        """For edges of ``edge`` bytes, beside ``vertices`` bytes that do not depend on it.

        A block takes a whole number of bytes, a buffer ``most`` of them, and 32 MiB, at most.

        Raises
        ------
        LimitTooSmall
            Not even the least buffers fit.
        """
        left = limit - vertices
        if 0 <= num_edges * edge <= left:
            return cls(num_edges, 0, num_edges)
        block = int(edge * BLOCK)
        least = vertices + BUFFERS * block
        if limit < least:
            raise LimitTooSmall(
                f"{what} needs {least:,} bytes of the GPU's memory, and graphgpu.device-memory-limit "
                f"is {limit:,}: edges may stay in host memory, what belongs to vertices may not; set "
                "it to at least as much"
            )
        segment = max(min(_MOST, most, left // _SHARE) // block, 1) * BLOCK
        resident = left // block * BLOCK - BUFFERS * segment
        return cls(resident, segment, num_edges)

    def without_buffers(self) -> Cut:
        """With resident edges in their place, where nothing is streamed."""
        resident = min(self.resident + BUFFERS * self.segment, self.num_edges)
        return Cut(resident, self.segment, self.num_edges)

    def smaller(self) -> Cut | None:
        """With half of what is on the device: resident edges first; None: there are none left."""
        if not self.segment:
            whole = self.num_edges // 2 // BLOCK * BLOCK
            segment = max(whole // _SHARE // BLOCK, 1) * BLOCK
            return Cut(whole, segment, self.num_edges) if self.num_edges > BLOCK else None
        if self.resident:
            left = self.resident // 2 // BLOCK * BLOCK
            return Cut(left if left > self.segment else 0, self.segment, self.num_edges)
        if self.segment > BLOCK:
            return Cut(0, self.segment // 2 // BLOCK * BLOCK, self.num_edges)
        return None

    @property
    def bounds(self) -> np.ndarray:
        """Where segments begin, and where the last one ends."""
        if not self.segment:
            return np.array([self.num_edges])
        return np.append(np.arange(self.resident, self.num_edges, self.segment), self.num_edges)
