"""Memory of the filters by which supersteps that push list the next active vertices.

See kernels/cuda/program_filter.cuh.
"""

from __future__ import annotations

from typing import Any

import cupy
import numpy as np

from dask_graphgpu.engine.gpu.structs import struct
from dask_graphgpu.engine.schedule import FILTERS, configured_bins
from dask_graphgpu.partition.csr import Adjacency


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
    """

    def __init__(self, kind: str, edges: Adjacency, *, blocks: int, threads: int) -> None:
        n, ids = edges.num_vertices, edges.neighbours.dtype
        bins = kind in ("online", "jit")
        slots = configured_bins()

        def sized(used: bool, size: int, dtype: Any) -> Any:
            return cupy.empty(size if used else 0, dtype)

        some, batch = kind != "auto", kind == "batch"
        self._held = (
            cupy.zeros((n + 31) // 32 if some else 0, np.uint32),
            sized(bins, blocks * threads * slots, ids),
            sized(bins, blocks * threads, np.uint32),
            sized(some, n, ids),
            sized(kind == "online", n, ids),
            sized(some, blocks, np.uint64),
            sized(batch, edges.num_edges, ids),
            sized(batch, n, edges.offsets.dtype),
        )
        self.struct = struct([FILTERS.index(kind), slots, *self._held])
