"""Fingerprints of edges and of vertices' values: equal for equal ones, however they are shared out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.kernels.cpu.threads import edge_blocks, even_blocks, for_blocks
from dask_graphgpu.partition.csr import Adjacency
from dask_graphgpu.partition.paged import rowwise
from dask_graphgpu.partition.paged.sort import PagedAdjacency

_NONE = np.empty(0, np.uint8)


def of_edges(
    rows: Adjacency, numbers: np.ndarray | None, num_rows: int, by: str, first: int = 0
) -> int:
    """Sum modulo 2**64 of hashes of the edges in the first ``num_rows`` rows, with their columns.

    ``numbers`` are the names of the vertices, None: their places; ``by`` says what a row is,
    "source" or "destination", and ``first`` the vertex of the first one. Wrong once in 2**64. Cost: a
    pass over the edges for each column; over pages on disk one for all.
    """
    if isinstance(rows, PagedAdjacency):
        runs = rowwise.runs(rows)
        return sum(of_edges(run, numbers, run.num_vertices, by, at) for at, run in runs) % 2**64
    neighbours: Any = rows.neighbours
    if not isinstance(neighbours, np.ndarray):
        from dask_graphgpu.partition.device import fingerprint as on_device

        return on_device.of_edges(rows, numbers, num_rows, by)

    offsets = rows.offsets[: num_rows + 1]
    named = _NONE if numbers is None else numbers
    total = 0
    columns = {"": _NONE} if not rows.columns else rows.columns
    for name in sorted(columns):
        blocks = for_blocks(
            kernels.fingerprint.hash_rows, edge_blocks(offsets), first, offsets, rows.neighbours, named,
            bits_of(columns[name]), by == "source",
        )  # fmt: skip
        total = joined(total, name, sum(map(int, blocks)))
    return total


def of_values(values: Mapping[str, np.ndarray], numbers: np.ndarray | None, count: int) -> int:
    """The same of the first ``count`` values of some columns of vertices."""
    named = _NONE if numbers is None else numbers
    total = 0
    for name in sorted(values):
        blocks = for_blocks(
            kernels.fingerprint.hash_values, even_blocks(count), named, bits_of(values[name])
        )
        total = joined(total, name, sum(map(int, blocks)))
    return total


def joined(total: int, name: str, more: int) -> int:
    """Sums of columns, each times a number of its own, so that they cannot change places."""
    factor = int.from_bytes(name.encode(), "little") * 2 + 1
    return (total + more * factor) % 2**64


def bits_of(column: Any) -> Any:
    """A column as unsigned integers of the same width."""
    return column.view(f"u{column.dtype.itemsize}")
