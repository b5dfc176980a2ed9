"""Shards: runs of destinations whose sums fit the shared memory of a block.

References
----------
.. [1] Ma, Yang, Chen, Xue, Dai. Garaph: efficient GPU-accelerated graph processing on a single machine
   with balanced replication. USENIX ATC 2017.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import cupy
import numpy as np

from dask_graphgpu.engine.gpu import launch
from dask_graphgpu.engine.gpu.device import integer_types
from dask_graphgpu.engine.gpu.worklists import parts_of
from dask_graphgpu.kernels.compile import cuda
from dask_graphgpu.partition.csr import Adjacency
from dask_graphgpu.partition.device.memory import require

# Of pull_shards in program_shards.cuh.
THREADS = 1024

# Edges of an item, at most: a hub is the work of many blocks.
MOST = 1 << 16

# Destinations that are cut on their own, at least, and into how many such stretches at most.
_STRETCH, _STRETCHES = 1 << 16, 1 << 10

_MOST_COPIES = 32


def shared_bytes() -> int:
    """Of shared memory of a block, when as many blocks share a multiprocessor as its threads allow."""
    of = cupy.cuda.Device().attributes
    blocks = max(1, of["MaxThreadsPerMultiProcessor"] // THREADS)
    share = of["MaxSharedMemoryPerMultiprocessor"] // blocks - of["ReservedSharedMemoryPerBlock"]
    return int(min(of["MaxSharedMemoryPerBlockOptin"], share)) // 8 * 8


@dataclass(frozen=True, eq=False)
class Shards:
    """An adjacency by destination, in shards.

    Attributes
    ----------
    edges : Adjacency
    place : uint16 array of shape (num_edges,)
        The destination of each edge, counted from the first of its shard.
    first : ids of shape (shards + 1,)
        First vertex of each, and the end.
    copies : uint32 array of shape (shards,)
        Of each sum of a shard, log2.
    item_shard, item_begin : arrays of shape (items,)
        What a block does at a time: a shard with edges or, of one with more than ``most``, a part;
        its first edge.
    """

    edges: Adjacency
    place: Any
    first: Any
    copies: Any
    item_shard: Any
    item_begin: Any
    most: int

    @classmethod
    def of(cls, edges: Adjacency, capacity: int, replication: int | None) -> Shards:
        """Cut an adjacency.

        Parameters
        ----------
        edges : Adjacency
            By destination, on the device.
        capacity : int
            Sums that fit a block, all copies counted.
        replication : int or None
            Copies of each sum, a power of two; None: for each shard 2^ceil(log2(E / V) - 1/2) of
            its V destinations and E edges, 1 to 32.
        """
        require(2 * edges.num_edges, f"shards of {edges.num_edges:,} edges")
        ids, offsets = edges.neighbours.dtype, edges.offsets.dtype
        module = cuda("shards", defines=integer_types(ids, offsets))
        first, copies = _cut(module, edges, capacity, replication)
        begins = edges.offsets[first.astype(np.int64)].astype(np.int64)
        shard, nth = parts_of(-(-cupy.diff(begins) // MOST))
        begin = begins[shard] + nth * MOST
        made = cls(
            edges,
            cupy.empty(edges.num_edges, np.uint16),
            first,
            copies,
            shard.astype(np.uint32),
            begin.astype(offsets),
            MOST,
        )
        given = (edges.offsets, first, made.item_shard, made.item_begin, np.uint64(shard.size))
        kernel = module.kernel("place_edges")
        launch.flat(kernel, shard.size * 256, (*given, np.uint64(MOST), made.place), threads=256)
        return made

    @property
    def num_items(self) -> int:
        return int(self.item_shard.size)

    def struct(self, begin: int = 0, end: int | None = None) -> Any:
        """Struct Shards of program_shards.cuh, for items ``begin`` to ``end`` - 1."""
        held = (self.place, self.first, self.copies, self.item_shard, self.item_begin)
        last = self.num_items if end is None else end
        return launch.struct(
            [self.edges.offsets, self.edges.neighbours, *held, begin, last, self.most]
        )


def _cut(module: Any, edges: Adjacency, capacity: int, replication: int | None) -> tuple[Any, Any]:
    """First vertices of the shards and the end; copies of each, log2."""
    n, ids = edges.num_vertices, edges.neighbours.dtype
    stretch = max(_STRETCH, -(-n // _STRETCHES))
    # All but the last of a stretch have at least so many vertices.
    least = max(1, capacity // (replication or _MOST_COPIES))
    stretches, slots = -(-n // stretch), stretch // least + 2
    first = cupy.empty((stretches, slots), ids)
    copies = cupy.empty((stretches, slots), np.uint32)
    number = cupy.empty(stretches, np.uint32)
    fixed = -1 if replication is None else replication.bit_length() - 1
    words = (np.uint64(n), np.uint64(stretch), np.uint64(capacity), np.int64(fixed))
    launch.flat(
        module.kernel("cut_shards"),
        stretches * THREADS,
        (edges.offsets, *words, np.uint64(slots), first, copies, number),
        threads=THREADS,
    )
    there = cupy.arange(slots)[None, :] < number[:, None]
    end = cupy.full(1, n, np.int64)
    return cupy.concatenate([first[there].astype(np.int64), end]).astype(ids), copies[there]
