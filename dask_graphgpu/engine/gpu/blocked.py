"""Edges sorted by blocks of sources, so that what is looked up at random fits shared memory.

References
----------
.. [1] Beamer, Asanovic, Patterson. Reducing PageRank communication via propagation blocking.
   IPDPS 2017.
.. [2] Lakhotia, Kannan, Prasanna. Accelerating PageRank using partition-centric processing.
   USENIX ATC 2018.
"""

from __future__ import annotations

from typing import Any

import cupy
import numpy as np

from dask_graphgpu.engine.gpu import launch
from dask_graphgpu.engine.gpu.device import integer_types
from dask_graphgpu.engine.gpu.shards import shared_bytes
from dask_graphgpu.engine.gpu.worklists import parts_of
from dask_graphgpu.errors import InvalidArgument
from dask_graphgpu.kernels.compile import cuda
from dask_graphgpu.kernels.sizes import SIZES
from dask_graphgpu.partition.csr import Adjacency
from dask_graphgpu.partition.device.arrays import add_at
from dask_graphgpu.partition.device.memory import require

_SIZES = SIZES["blocked.cuh"]

# Of blocks of program_blocked.cu, and of sum_far in it.
THREADS, FAR_THREADS = _SIZES["BLOCKED_THREADS"], _SIZES["FAR_THREADS"]

_QUAD = _SIZES["QUAD"]

# Values of a line of 16 bytes, at most.
_LINE = 16

# Places have 16 bits, and one is that of a zero.
_MOST_PLACES = (1 << 16) - _LINE

# Of a block's shared memory, in bytes, for what kernels declare themselves.
_DECLARED = 512

# Rows of a chunk, and quads of a near one, at most.
_ROWS, _NEAR_QUADS = 8192, 16384

# Quads of a tile, at most. Where a block of sources has so many a tile on the mean, a warp sends one; else
# a group of 8 lanes.
_TILE, _TILE_OF_WARP = 256, 16

# The time that a tile takes beside that of its quads, in quads that are sent meanwhile. (Measured: if it is
# left out, blocks of small tiles take ten times as long as the others.)
_COST_OF_TILE = 24

# Chunks that are cut one after another; others are at the same time.
_STRETCH = 64

# Columns of a table of chunks: struct Chunk of blocked.cuh.
_BEGIN, _END, _ROW, _NUM_ROWS, _FIRST_VALUE, _VALUES, _SLOT, _LANES = range(8)


def sizes(itemsize: int) -> tuple[int, int]:
    """Sources of a block, and far values of a chunk, at most.

    A block of sources has a multiprocessor to itself, chunks share it.
    """
    most = cupy.cuda.Device().attributes["MaxSharedMemoryPerBlockOptin"]
    given = (most, shared_bytes())
    block, room = (
        min(_MOST_PLACES, (shared - _DECLARED) // itemsize // _LINE * _LINE - _LINE)
        for shared in given
    )
    return block, room


class Blocked:
    """An adjacency by destination, as kernels/cuda/blocked.cuh says.

    Parameters
    ----------
    edges : Adjacency
        By destination, on the device.
    block, room : int
        Sources of a block, far values of a chunk at most: multiples of 16 up to 65,520.

    Attributes
    ----------
    num_values : int
        Far values, with what is left between those of two chunks.
    num_sums : int
        Parts of rows that are longer than a chunk.
    """

    def __init__(self, edges: Adjacency, block: int, room: int) -> None:
        require(6 * edges.num_edges, f"blocks of sources of {edges.num_edges:,} edges")
        self.edges, self.block, self.room = edges, block, room
        n, kind = edges.num_vertices, edges.offsets.dtype
        self.num_sources = max(1, -(-n // block))
        self._module = cuda("blocked", defines=integer_types(edges.neighbours.dtype, kind))
        near = cupy.empty(n, kind)
        self._kernel("count_near", n, edges.offsets, edges.neighbours, n, block, near)
        far = cupy.diff(edges.offsets) - near
        self.near_first, self.far_first = (
            _offsets((each + (_QUAD - 1)) // _QUAD) for each in (near, far)
        )
        self.near_quads = cupy.empty(int(self.near_first[-1]), np.uint64)
        self.far_quads = cupy.empty(int(self.far_first[-1]), np.uint64)
        # Of each block of sources a chunk may have values that fill less than a quad.
        most = (room - (_QUAD - 1) * self.num_sources) // _QUAD
        if most < 1:
            raise InvalidArgument(
                f"graphgpu.gather is 'blocks', which cannot be used: {n:,} vertices are "
                f"{self.num_sources:,} blocks of sources, too many for chunks of {room:,} values."
            )
        given = (self._module, self.near_first, near, _NEAR_QUADS, THREADS)
        self.near_chunks = _chunks(*given, 0, cut=False)
        given = (self._module, self.far_first, far, most, FAR_THREADS)
        self.far_chunks = _chunks(*given, self.num_sources, cut=True)
        self.num_near, self.num_far = len(self.near_chunks), len(self.far_chunks)
        self._near, self._far = (launch.struct(pair) for pair in self._quads)
        self._write_near(near)
        self._write_far(near)
        self._find_long()

    @property
    def _quads(self) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
        """Struct Quads, twice."""
        return (self.near_first, self.near_quads), (self.far_first, self.far_quads)

    def _kernel(self, name: str, n: int, *args: Any, threads: int = 256, shared: int = 0) -> None:
        words = (np.uint64(each) if isinstance(each, int) else each for each in args)
        launch.flat(self._module.kernel(name), n, tuple(words), threads=threads, shared=shared)

    def _write_near(self, near: Any) -> None:
        rows = (self.edges.offsets, self.edges.neighbours, near)
        given = (self.near_chunks, self.num_near, self._near, *rows, self.block)
        self._kernel("write_near", self.num_near * THREADS, *given, threads=THREADS)

    def _write_far(self, near: Any) -> None:
        """Far quads and the sources of far values; the tiles."""
        room = _line(self.far_chunks[:, _VALUES])
        self.far_chunks[:, _FIRST_VALUE] = _offsets(room)[:-1]
        self.num_values = int(room.astype(np.int64, copy=False).sum())
        if self.num_values > np.iinfo(self.edges.offsets.dtype).max:
            raise InvalidArgument(
                f"graphgpu.gather is 'blocks', which cannot be used: {self.num_values:,} values are "
                "more than offsets of 32 bits reach."
            )
        # What is left over of a tile's last quad is of the zero behind a block's values.
        self.source = cupy.full(self.num_values, self.block, np.uint16)
        shape = (self.num_sources, self.num_far)
        first, quads = cupy.empty(shape, self.edges.offsets.dtype), cupy.empty(shape, np.uint32)
        self._kernel(
            "write_far", self.num_far * THREADS, self.far_chunks, self.num_far, self._far,
            self.edges.offsets, self.edges.neighbours, near, self.room, self.block,
            self.num_sources, first, quads, self.source,
            threads=THREADS, shared=4 * self.num_sources,
        )  # fmt: skip
        there = cupy.flatnonzero(quads)
        first, quads = first.ravel()[there], quads.ravel()[there]
        which, nth = parts_of(-(-quads.astype(np.int64) // _TILE))
        begin = nth * _TILE
        self.tile_first = (first[which] + _QUAD * begin).astype(first.dtype)
        self.tile_quads = cupy.minimum(quads[which] - begin, _TILE).astype(np.uint32)
        source = there[which] // max(1, self.num_far)
        bounds = cupy.arange(self.num_sources + 1)
        self.source_tiles = cupy.searchsorted(source, bounds).astype(np.uint64)
        sent = cupy.zeros(self.num_sources, np.uint64)
        add_at(sent, source, self.tile_quads)
        mean = sent / cupy.maximum(cupy.diff(self.source_tiles.astype(np.int64)), 1)
        self.tile_lanes = cupy.where(mean >= _TILE_OF_WARP, 32, 8).astype(np.uint64)
        self.num_senders = launch.num_multiprocessors()
        self.sender_tiles = self.senders(0, self.num_sources, self.num_senders)

    def senders(self, first: int, last: int, number: int) -> Any:
        """Bounds of the tiles that so many blocks of threads send, of blocks of sources ``first`` .. ``last - 1``.

        Every block of threads takes as long as the others.
        """
        begin, end = (int(self.source_tiles[source]) for source in (first, last))
        cost = cupy.cumsum(self.tile_quads[begin:end].astype(np.int64) + _COST_OF_TILE)
        share = cupy.arange(1, number) * (int(cost[-1]) if cost.size else 0)
        tiles = cupy.full(number + 1, begin, np.uint64)
        tiles[1:-1] += cupy.searchsorted(cost, share // number).astype(np.uint64)
        tiles[-1] = end
        return tiles

    def _find_long(self) -> None:
        """Rows of several chunks, and the first place of the sums of each, and the end."""
        parts = self.far_chunks[self.far_chunks[:, _SLOT] >= 0]
        rows, slots = cupy.unique(parts[:, _ROW], return_index=True)
        self.num_sums, self.num_long = len(parts), len(rows)
        end = cupy.full(1, self.num_sums, np.int64)
        self.long_rows, self.long_slots = rows, cupy.concatenate([slots.astype(np.int64), end])

    @property
    def nbytes(self) -> int:
        """Of device memory, beside the adjacency."""
        return sum(int(array.nbytes) for array in vars(self).values() if hasattr(array, "nbytes"))

    def struct(self, values: Any, sums: Any, sender_tiles: Any) -> Any:
        """Struct Blocked of program_blocked.cu; ``sender_tiles``: as of `senders`."""
        return launch.struct([
            *self._quads[0], *self._quads[1], self.near_chunks, self.far_chunks, self.num_near,
            self.num_far, self.block, self.room, self.tile_first, self.tile_quads,
            self.source_tiles, self.tile_lanes, sender_tiles, self.source, values, sums, self.long_rows,
            self.long_slots, self.num_long,
        ])  # fmt: skip


def _offsets(lengths: Any) -> Any:
    """Where each of so many things begins, and the end."""
    found = cupy.zeros(len(lengths) + 1, lengths.dtype)
    cupy.cumsum(lengths, out=found[1:])
    return found


def _line(number: Any) -> Any:
    """To whole lines."""
    return -(-number // _LINE) * _LINE


def _cut(module: Any, first: Any, most: int) -> Any:
    """The first row of each chunk."""
    n = len(first) - 1
    stretch = most * _STRETCH
    stretches = max(1, -(-int(first[-1]) // stretch))
    slots = 2 * _STRETCH + n // _ROWS + 2
    row = cupy.empty((stretches, slots), np.uint64)
    number = cupy.empty(stretches, np.uint32)
    words = map(np.uint64, (n, stretches, stretch, most, _ROWS, slots))
    launch.flat(module.kernel("cut_chunks"), stretches, (first, *words, row, number))
    there = cupy.arange(slots)[None, :] < number[:, None]
    return row[there].astype(np.int64)


def _chunks(
    module: Any, first: Any, lengths: Any, most: int, threads: int, sources: int, *, cut: bool
) -> Any:
    """Runs of rows of at most ``most`` quads, for blocks of so many threads.

    A longer row is alone, and with ``cut`` in several chunks.
    """
    n = len(lengths)
    row = _cut(module, first, most)
    first, edges = first.astype(np.int64), _offsets(lengths.astype(np.int64))
    after = cupy.concatenate([row[1:], cupy.full(1, n, row.dtype)])
    begin, end = first[row], first[after]
    number = cupy.maximum(-(-(end - begin) // most), 1) if cut else cupy.ones(len(row), np.int64)
    which, nth = parts_of(number)
    table = cupy.zeros((len(which), _LANES + 1), np.int64)
    table[:, _BEGIN] = begin[which] + nth * most
    table[:, _END] = cupy.where(nth + 1 < number[which], table[:, _BEGIN] + most, end[which])
    table[:, _ROW], table[:, _NUM_ROWS] = row[which], (after - row)[which]
    left = (edges[after] - edges[row])[which] - nth * most * _QUAD
    alone = number[which] > 1
    values = cupy.where(alone, cupy.minimum(left, most * _QUAD), left)
    # Of each block of sources a whole number of quads: at most so many; `write_far` counts them.
    table[:, _VALUES] = values + (_QUAD - 1) * cupy.minimum(values, sources)
    table[:, _SLOT] = cupy.where(alone, cupy.cumsum(alone) - 1, -1)
    rows, quads = table[:, _NUM_ROWS], table[:, _END] - table[:, _BEGIN]
    lanes = sum(
        (quads >= rows * power).astype(np.int64) * power // 2 for power in (2, 4, 8, 16, 32)
    )
    warps = threads // 32  # fewer rows than these take several each
    several = 32 * 2 ** cupy.maximum(cupy.log2(warps / rows), 0).astype(np.int64)
    table[:, _LANES] = cupy.where((rows < warps) & (quads >= 32 * rows), several, lanes + 1)
    return table if not cut else table[quads > 0]
