"""Fingerprints of edges on the device, the same as of equal ones on the host."""

from __future__ import annotations

from typing import Any

import numpy as np

from dask_graphgpu.partition.csr import Adjacency
from dask_graphgpu.partition.device.arrays import blocks, module_of
from dask_graphgpu.partition.fingerprint import bits_of, joined

_ODD = np.uint64(0x9E3779B97F4A7C15)


def of_edges(rows: Adjacency, numbers: Any, num_rows: int, by: str) -> int:
    """As `partition.fingerprint.of_edges`, of arrays of CuPy; ``numbers`` may be on the host.

    A few passes over blocks of edges; 40 bytes an edge of a block.
    """
    xp = module_of(rows.neighbours)
    ends = rows.offsets[1 : num_rows + 1].astype(np.int64)
    of_vertex = _hashed(
        xp, xp.arange(rows.num_vertices) if numbers is None else xp.asarray(numbers)
    )
    total = 0
    columns = {"": None} if not rows.columns else rows.columns
    for name in sorted(columns):
        column, found = columns[name], 0
        for block in blocks(int(ends[-1]) if num_rows else 0):
            edges = xp.arange(block.start, block.stop)
            row = of_vertex[xp.searchsorted(ends, edges, side="right")]
            neighbour = of_vertex[rows.neighbours[block]]
            first, second = (row, neighbour) if by == "source" else (neighbour, row)
            mixed = first * np.uint64(3) + second
            if column is not None:
                mixed += bits_of(column[block]).astype(np.uint64) * _ODD
            found += int(_mixed(mixed).sum(dtype=np.uint64))
        total = joined(total, name, found)
    return total


def _hashed(xp: Any, values: Any) -> Any:
    return _mixed(values.astype(np.uint64) + xp.uint64(_ODD))


def _mixed(x: Any) -> Any:
    """The finalizer of splitmix64."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
