"""Rows of an undirected graph, whose edges may be given once, in both directions, or some so, some so."""

from __future__ import annotations

from typing import Any

import numpy as np

from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.kernels.cpu.threads import edge_blocks, even_blocks, for_blocks
from dask_graphgpu.partition.as_given import AsGiven, tolerance
from dask_graphgpu.partition.csr import Adjacency, Coo, from_coo


def undirected(
    num_vertices: int,
    runs: list[Coo],
    dtype: Any,
    rank: np.ndarray | None = None,
    *,
    both: bool = True,
) -> tuple[Adjacency, AsGiven]:
    """Rows from runs of edges, each edge in the rows of both ends; ``runs`` is emptied.

    What is given in both directions is there once: see `settle`. Cost: as of `from_coo` with a bit
    more to sort by, and three passes over the rows, or five where something is left out.

    Parameters
    ----------
    rank : array of shape (num_vertices,), optional
        Place of each vertex in the order of the user's ids; None when that is the dense order.
    both : bool
        False: the runs have each edge at both ends already, in those with ``back`` turned over.
    """
    wide = marked_dtype(num_vertices, dtype)
    return settle(from_coo(num_vertices, runs, wide, marked=True, both=both), dtype, rank)


def marked_dtype(num_vertices: int, dtype: Any) -> Any:
    """Type of marked neighbours, where ``dtype`` is that of vertices."""
    return np.uint64 if num_vertices > 2**31 or dtype == np.uint64 else np.uint32


def mark(neighbours: np.ndarray, dtype: Any, *, back: bool = False) -> np.ndarray:
    """Neighbours of which it is said whether their edges were turned over, as `from_coo` marks them."""
    marked: np.ndarray = (neighbours.astype(dtype) << dtype(1)) | dtype(back)
    return marked


def settle(
    marked: Adjacency, dtype: Any, rank: np.ndarray | None = None, *, first: int = 0
) -> tuple[Adjacency, AsGiven]:
    """Take rows that lead both ways between two vertices for the same edges where weights agree.

    Beside these is given what they do not say of the rows before.

    Decided for each pair of vertices, and there for each weight (for all rows, without weights): of
    the rows in one direction and those in the other the more numerous are kept; of equally many
    those from the vertex with the smaller id. Other weights are other edges.

    Parameters
    ----------
    marked : Adjacency
        As `from_coo` gives it with ``marked``; its memory is used again.
    dtype
        Of the neighbours of the result.
    rank
        As of `undirected`.
    first : int
        The vertex of the first row.
    """
    keep = _keep_once(marked, rank, first)
    aside = AsGiven.of(marked, keep, np.dtype(dtype))
    return _kept(marked, keep, dtype), aside


def _keep_once(marked: Adjacency, rank: np.ndarray | None, first: int) -> np.ndarray:
    """Which entries `settle` keeps."""
    offsets, rows = marked.offsets, edge_blocks(marked.offsets)
    keep = np.empty(marked.num_edges, bool)
    weight = np.empty(0, np.uint8) if marked.weight is None else marked.weight
    if rank is None:
        rank = np.empty(
            0, marked.neighbours.dtype
        )  # of the type that it has else: the kernel is compiled once
    for_blocks(
        kernels.undirected.keep_once, rows, offsets, marked.neighbours, weight, rank,
        np.uint64(first), tolerance(weight.dtype), keep,
    )  # fmt: skip
    return keep


def _kept(marked: Adjacency, keep: np.ndarray, dtype: Any) -> Adjacency:
    """The entries that are kept, unmarked; in the memory of the marked ones."""
    offsets, rows = marked.offsets, edge_blocks(marked.offsets)
    neighbours = marked.neighbours
    if neighbours.dtype != dtype:
        neighbours = np.empty(len(neighbours), dtype)
    for_blocks(
        kernels.undirected.unmark, even_blocks(len(neighbours)), marked.neighbours, neighbours
    )
    # Where all stay, no array over the vertices is made: on ranks, most being ghosts, it can be as large as the edges.
    if keep.all():
        return Adjacency(offsets, neighbours, marked.columns)
    shorter = np.zeros_like(offsets)
    for_blocks(kernels.undirected.count_kept, rows, offsets, keep, shorter[1:])
    np.cumsum(shorter, out=shorter)

    def kept(column: np.ndarray) -> np.ndarray:
        made = np.empty(shorter[-1], column.dtype)
        for_blocks(kernels.undirected.compact, rows, offsets, keep, shorter, column, made)
        return made

    columns = {name: kept(marked.columns.pop(name)) for name in [*marked.columns]}
    return Adjacency(shorter, kept(neighbours), columns)
