"""Triangles whose highest vertex is a hub, by rows of bits; see kernels/cuda/hub_triangles.cu."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import cupy
import numpy as np

from dask_graphgpu.engine.gpu import launch
from dask_graphgpu.engine.gpu.device import integer_types
from dask_graphgpu.kernels.compile import cuda
from dask_graphgpu.kernels.sizes import SIZES, WARP
from dask_graphgpu.partition.csr import Adjacency
from dask_graphgpu.partition.device import elements

WORDS = 8  # of 32 hubs each, that a lane has of a row

# Hubs that a vertex has for neighbours, at least, if it has a row of bits.
LEAST = 8

# Edges from which hubs are looked for: a small graph takes longer to prepare than to count.
LEAST_EDGES = 1 << 20

_NONE = np.uint32(0xFFFFFFFF)
_BLOCK = SIZES["hub_triangles.cu"]["BLOCK"]


@dataclass(frozen=True)
class DeviceHubs:
    """The vertices of the highest degrees.

    Attributes
    ----------
    vertices : id array
    degree : int
        All vertices of at least so many neighbours are hubs.
    """

    vertices: Any
    degree: int


def hubs_of(rows: Adjacency) -> DeviceHubs | None:
    """The hubs of a graph, no more than a row of bits has; None where that is not worth it."""
    most = WORDS * WARP * 32
    if rows.num_edges < LEAST_EDGES:
        return None
    degree = elements.lengths(rows.offsets)
    least = 2  # of one neighbour nobody is the highest vertex
    if len(degree) > most:
        least = max(int(cupy.sort(degree)[-most - 1]) + 1, least)
    found = elements.places_of(elements.between(degree, least))
    vertices = elements.converted(found, rows.neighbours.dtype)
    return DeviceHubs(vertices, least) if len(vertices) else None


def count_hubs(
    hubs: DeviceHubs, starts: Any, begins: Any, up: Any, found: Any, room: int
) -> tuple[Any, Any, int]:
    """Add the triangles whose highest vertex is a hub to what is `found`, those between vertices with rows of bits.

    Parameters
    ----------
    hubs : DeviceHubs
    starts : integer array
        Of the rows of `up`, with the end of the last one.
    begins : integer array
        Where the hubs among the higher neighbours begin, in each row.
    up : id array
        The higher neighbours.
    found : int64 array
        Of every vertex.
    room : int
        Bytes that rows of bits may take.

    Returns
    -------
    row_of : uint32 array
        The row of bits of each vertex, if it has one.
    others : integer array
        Where the row of `up` ends for those that have one, too.
    read : int
        Bytes of rows of bits.
    """
    n, ids, offset = len(begins), up.dtype, starts.dtype
    number = elements.less(starts[1:], begins)
    row, least = WORDS * 4 * WARP, LEAST
    holders = elements.places_of(elements.between(number, least))
    while len(holders) * row > room:
        least *= 2
        holders = elements.places_of(elements.between(number, least))
    # Those of most rows are begun first.
    falling = elements.turned(elements.gathered(number, holders))
    holders = elements.converted(elements.gathered(holders, cupy.argsort(falling)), ids)
    row_of = elements.places_in(holders, np.uint32, n, _NONE)
    others = starts[1:].copy()
    elements.copy_some(begins, holders, others)
    if not len(holders):
        return row_of, others, 0
    hub = elements.places_in(hubs.vertices, np.uint32, n)
    bits = cupy.zeros(len(holders) * (row // 4), np.uint32)
    module = cuda("hub_triangles", defines={**integer_types(ids, offset), "WORDS": str(WORDS)})
    size = np.uint64(len(holders))
    launch.flat(
        module.kernel("draw"), len(holders) * WARP,
        (holders, size, begins, starts[1:], up, hub, bits), threads=_BLOCK,
    )  # fmt: skip
    told = cupy.zeros(2, np.uint64)
    kernel = module.kernel("count")
    blocks = launch.resident_blocks(kernel, threads=_BLOCK)
    launch.flat(
        kernel, min(len(holders) * WARP, blocks * _BLOCK),
        (
            holders, size, row_of, bits, hubs.vertices, starts, up, found, told, told[1:],
        ),
        threads=_BLOCK,
    )  # fmt: skip
    return row_of, others, int(told[1]) * row
