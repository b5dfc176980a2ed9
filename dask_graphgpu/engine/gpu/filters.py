"""Memory of the filters by which supersteps that push list the next active vertices.

See kernels/cuda/program_filter.cuh.
"""

from __future__ import annotations

from typing import Any

import cupy
import numpy as np

from dask_graphgpu.engine.gpu import launch
from dask_graphgpu.engine.schedule import FILTERS, configured_bins
from dask_graphgpu.partition.csr import Adjacency

# Place of the list of edges in struct Filter, behind two integers; a part of it that is spare.
_BATCH, _SLACK = 6, 4


class Filter:
    """A filter for one run.

    Parameters
    ----------
    kind : str
        Of `schedule.FILTERS`; with "auto" there is none, and no memory.
    edges : Adjacency
        By source.
    blocks, threads : int
        Of the largest launch that pushes, and of each of its blocks.
    room : int
        Edges of the list of filter "batch", at first.
    """

    def __init__(
        self, kind: str, edges: Adjacency, *, blocks: int, threads: int, room: int
    ) -> None:
        n, ids = edges.num_vertices, edges.neighbours.dtype
        bins = kind in ("online", "jit")
        slots = configured_bins()

        def sized(used: bool, size: int, dtype: Any) -> Any:
            return cupy.empty(size if used else 0, dtype)

        some, batch = kind != "auto", kind == "batch"
        self._batches, self._edges, self.room = batch, edges, room
        self._held = [
            cupy.zeros((n + 31) // 32 if some else 0, np.uint32),
            sized(bins, blocks * threads * slots, ids),
            sized(bins, blocks * threads, np.uint32),
            sized(some, n, ids),
            sized(kind == "online", n, ids),
            sized(some, blocks, np.uint64),
            sized(batch, room, ids),
            sized(batch, n, edges.offsets.dtype),
        ]
        self.struct = launch.struct([FILTERS.index(kind), slots, *self._held, room])

    def make_room(self, edges: int) -> None:
        """Have the list of edges take so many; launches that were made read it from `struct`."""
        if not self._batches or edges <= self.room:
            return
        self.room = min(edges + edges // _SLACK, self._edges.num_edges)
        self._held[_BATCH] = None  # before there is another
        self._held[_BATCH] = cupy.empty(self.room, self._edges.neighbours.dtype)
        self.struct[f"word_{2 + _BATCH}"] = self._held[_BATCH].data.ptr
        self.struct[f"word_{2 + len(self._held)}"] = self.room

    @property
    def nbytes(self) -> int:
        """Of all lists."""
        return sum(int(array.nbytes) for array in self._held)
