"""Rows of some vertices, brought from disk to stay in memory."""

from __future__ import annotations

import numpy as np

from dask_graphgpu.engine.cpu.edges import Paged
from dask_graphgpu.partition import rowwise
from dask_graphgpu.partition.csr import Adjacency, offsets_of

# Bytes of an edge of a run while rows are chosen from it.
PLACES = 16


def rows_at_hand(passes: Paged, vertices: np.ndarray, spare: int = 0) -> Adjacency:
    """Rows of some vertices, ascending, in memory, and behind them room for ``spare`` neighbours."""
    rows = passes.rows
    offsets = offsets_of(rows.offsets[vertices + 1] - rows.offsets[vertices])
    neighbours = np.empty(int(offsets[-1]) + spare, rows.neighbours.dtype)
    for first, last, there in passes.among(vertices):
        edges = rowwise.edges_of(rows, vertices[first:last])
        neighbours[offsets[first] : offsets[last]] = there.neighbours[edges]
    return Adjacency(offsets, neighbours)
