"""How much of a GPU's memory a graph may take, and what of its edges lies where."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dask_graphgpu import config
from dask_graphgpu.errors import InvalidArgument, LimitTooSmall

if TYPE_CHECKING:
    from dask_graphgpu.partition.view import View

WAYS = ("auto", "stream", "zero-copy", "compact")
ROUNDS = ("synchronous", "asynchronous")

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
    way = config.get("transfer")
    if way not in WAYS:
        raise InvalidArgument(f"graphgpu.transfer is {way!r}: allowed are {', '.join(WAYS)}.")
    return str(way)


def asynchronous() -> bool:
    """Whether ``graphgpu.rounds`` are; InvalidArgument if it is neither that nor synchronous."""
    rounds = config.get("rounds")
    if rounds not in ROUNDS:
        raise InvalidArgument(f"graphgpu.rounds is {rounds!r}: allowed are {', '.join(ROUNDS)}.")
    return bool(rounds == "asynchronous")


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
    return view.num_edges * edge + view.num_vertices * _VERTEX > limit


@dataclass(frozen=True)
class Cut:
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
    def of(cls, num_edges: int, edge: int, vertices: int, limit: int, what: str) -> Cut:
        """For edges of ``edge`` bytes, beside ``vertices`` bytes that do not depend on it.

        Raises
        ------
        LimitTooSmall
            Not even the least buffers fit.
        """
        left = limit - vertices
        if 0 <= num_edges * edge <= left:
            return cls(num_edges, 0, num_edges)
        least = vertices + BUFFERS * BLOCK * edge
        if limit < least:
            raise LimitTooSmall(
                f"{what} needs {least:,} bytes of the GPU's memory, and graphgpu.device-memory-limit "
                f"is {limit:,}: edges may stay in host memory, what belongs to vertices may not; set "
                "it to at least as much"
            )
        segment = max(min(_MOST, left // _SHARE) // (edge * BLOCK), 1) * BLOCK
        resident = (left // edge - BUFFERS * segment) // BLOCK * BLOCK
        return cls(resident, segment, num_edges)

    @property
    def bounds(self) -> np.ndarray:
        """Where segments begin, and where the last one ends."""
        if not self.segment:
            return np.array([self.num_edges])
        return np.append(np.arange(self.resident, self.num_edges, self.segment), self.num_edges)
