"""Adjacencies row by row: repeats merged, loops left out, sums over rows and neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np

from dask_graphgpu.errors import IntegerOverflow
from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.kernels.cpu.threads import LITTLE_WORK, edge_blocks, even_blocks, for_blocks
from dask_graphgpu.partition.csr import Adjacency, offsets_of

_PARTS = 16  # of the edges, with sums for all vertices each


def merge_repeats(adjacency: Adjacency, rule: str, *, always: bool = False) -> Adjacency:
    """Make repeated edges one.

    ``rule``: "min", "max" or "sum" of the weights (an unweighted sum becomes a weight that counts
    the repeats), or "one" (columns are dropped). The same object comes back when nothing repeats
    and nothing is dropped, unless ``always``: then columns are those of a graph with repeats.
    """
    old, neighbours, weight = adjacency.offsets, adjacency.neighbours, adjacency.weight
    if rule == "one" and adjacency.columns:
        adjacency = Adjacency(old, neighbours)
    lengths, total = _distinct(adjacency)
    if total == old[-1] and not always:
        return adjacency
    offsets = offsets_of(lengths)
    rows = edge_blocks(old)
    merged = np.empty(offsets[-1], neighbours.dtype)
    given, made = _weights(weight, rule, len(merged))
    bad = for_blocks(
        kernels.csr.merge_repeats, rows, old, neighbours, given, _CODES[rule], offsets, merged, made
    )
    _refuse_overflow(bad, "repeated")
    weighted = rule == "sum" or (rule != "one" and weight is not None)
    return Adjacency(offsets, merged, {"weight": made} if weighted else {})


def repeats(adjacency: Adjacency) -> bool:
    """Whether some edge stands more than once."""
    return _distinct(adjacency)[1] != adjacency.num_edges


def row_ids(adjacency: Adjacency) -> np.ndarray:
    """The row that each edge is in."""
    rows = np.arange(adjacency.num_vertices, dtype=adjacency.neighbours.dtype)
    return np.repeat(rows, adjacency.degrees)


def edges_of(adjacency: Adjacency, vertices: np.ndarray) -> np.ndarray:
    """The places of the edges of some vertices, row after row; int64."""
    lengths = adjacency.degrees.take(vertices)
    ends = np.cumsum(lengths)
    found: np.ndarray = np.repeat(adjacency.offsets.take(vertices) - ends + lengths, lengths)
    found += np.arange(len(found))
    return found


def least_weights(adjacency: Adjacency, rows: np.ndarray, neighbours: np.ndarray) -> np.ndarray:
    """The weight of an edge in each of some rows, to one of its neighbours: of several the least."""
    assert adjacency.weight is not None
    firsts = adjacency.offsets[:-1].take(rows)
    lengths = adjacency.offsets[1:].take(rows) - firsts
    edges = np.repeat(firsts - offsets_of(lengths)[:-1], lengths)
    edges += np.arange(len(edges))
    among = adjacency.neighbours[edges] == np.repeat(neighbours, lengths)
    starts = offsets_of(among)[offsets_of(lengths)[:-1]]
    least: np.ndarray = np.minimum.reduceat(adjacency.weight[edges[among]], starts)
    return least


def union(a: Adjacency, b: Adjacency) -> Adjacency:
    """The edges of either of two adjacencies without repeats, without their columns."""
    lengths = np.empty(a.num_vertices, np.int64)
    rows = edge_blocks(a.offsets + b.offsets)
    given = (a.offsets, a.neighbours, b.offsets, b.neighbours)
    for_blocks(kernels.csr.union_lengths, rows, *given, lengths)
    offsets = offsets_of(lengths)
    neighbours = np.empty(offsets[-1], a.neighbours.dtype)
    for_blocks(kernels.csr.union_rows, rows, *given, offsets, neighbours)
    return Adjacency(offsets, neighbours)


def without_loops(adjacency: Adjacency) -> Adjacency:
    """The edges that join two different vertices, without columns."""
    old, neighbours = adjacency.offsets, adjacency.neighbours
    lengths = np.empty(adjacency.num_vertices, np.int64)
    rows = edge_blocks(old)
    for_blocks(kernels.csr.without_loops_lengths, rows, old, neighbours, lengths)
    offsets = offsets_of(lengths)
    if offsets[-1] == old[-1]:
        return Adjacency(old, neighbours)
    kept = np.empty(offsets[-1], neighbours.dtype)
    for_blocks(kernels.csr.without_loops, rows, old, neighbours, offsets, kept)
    return Adjacency(offsets, kept)


def count_loops(adjacency: Adjacency) -> np.ndarray:
    """Number of self-loops in each row, int64."""
    others = np.empty(adjacency.num_vertices, np.int64)
    offsets, neighbours = adjacency.offsets, adjacency.neighbours
    for_blocks(kernels.csr.without_loops_lengths, edge_blocks(offsets), offsets, neighbours, others)
    return adjacency.degrees - others


def sum_loops(adjacency: Adjacency) -> np.ndarray:
    """Weight of the self-loops in each row, int64 or float64; where `sum_rows` fits, so does it."""
    assert adjacency.weight is not None
    sums = np.zeros(adjacency.num_vertices, _wide(adjacency.weight.dtype))
    some = np.flatnonzero(count_loops(adjacency))
    edges = edges_of(adjacency, some)
    rows = np.repeat(some, adjacency.degrees.take(some))
    loops = adjacency.neighbours[edges] == rows
    add_at(sums, rows[loops], _widened(adjacency.weight[edges[loops]]))
    return sums


def count_neighbours(adjacency: Adjacency) -> np.ndarray:
    """How often each vertex is a neighbour, int64."""
    return _added(kernels.csr.count, adjacency, np.int64)[0]


def sum_rows(adjacency: Adjacency) -> np.ndarray:
    """Weight of each row, int64 or float64."""
    assert adjacency.weight is not None
    sums = np.zeros(adjacency.num_vertices, _wide(adjacency.weight.dtype))
    offsets = adjacency.offsets
    bad = for_blocks(kernels.csr.sum_rows, edge_blocks(offsets), offsets, adjacency.weight, sums)
    _refuse_overflow(bad, "a vertex's")
    return sums


def sum_neighbours(adjacency: Adjacency) -> np.ndarray:
    """Weight of the edges in which each vertex is the neighbour, int64 or float64."""
    weight = adjacency.weight
    assert weight is not None
    sums, bad = _added(kernels.csr.sum_neighbours, adjacency, _wide(weight.dtype), weight)
    _refuse_overflow(bad, "a vertex's")
    return sums


def _added(
    kernel: Any, adjacency: Adjacency, dtype: Any, *columns: np.ndarray
) -> tuple[np.ndarray, list[int]]:
    """What a kernel adds up for each neighbour, and what it returns.

    Edges are cut into parts, each with sums of its own, by the graph alone: sums of floats are the same on any number
    of threads.
    """
    n, edges = adjacency.num_vertices, adjacency.num_edges
    number = max(min(edges // (2 * max(n, 1)), edges // LITTLE_WORK, _PARTS), 1)
    cuts = np.arange(number + 1) * edges // number
    parts = np.zeros((number, n), dtype)

    def add(lo: int, hi: int) -> Any:
        return kernel(cuts[lo], cuts[hi], adjacency.neighbours, *columns, parts[lo])

    def unite(lo: int, hi: int) -> int:
        negative = 0
        for part in parts[1:, lo:hi]:
            parts[0, lo:hi] += part
            negative += int(np.count_nonzero(parts[0, lo:hi] < 0))
        return negative

    bad = for_blocks(add, np.arange(number + 1))
    bad += for_blocks(unite, even_blocks(n, work=number))
    return parts[0].copy(), bad


def add_neighbours(adjacency: Adjacency, sums: np.ndarray) -> None:
    """Add to ``sums`` the weight of the edges in which each vertex is the neighbour."""
    weight = adjacency.weight
    bad = kernels.csr.sum_neighbours(0, adjacency.num_edges, adjacency.neighbours, weight, sums)
    _refuse_overflow([bad], "a vertex's")


def add_at(sums: np.ndarray, index: np.ndarray, values: Any) -> None:
    """``sums[index] += values``, where an index may occur more than once."""
    np.add.at(sums, index, values)


_CODES = {"min": 0, "max": 1, "sum": 2, "one": 0}


def _weights(weight: np.ndarray | None, rule: str, size: int) -> tuple[np.ndarray, np.ndarray]:
    """The weights to merge and the array to merge them into; an empty one means there are none."""
    none = np.empty(0, np.int64)
    if rule == "one" or (weight is None and rule != "sum"):
        return none, none
    if weight is None:
        return none, np.empty(size, np.int64)
    if rule == "sum":
        weight = _widened(weight)
    return weight, np.empty(size, weight.dtype)


def _widened(weight: np.ndarray) -> np.ndarray:
    return weight.astype(_wide(weight.dtype), copy=False)


def _wide(dtype: Any) -> Any:
    """The type in which weights of a type are summed."""
    return np.float64 if dtype.kind == "f" else np.int64


def _refuse_overflow(bad: list[int], which: str) -> None:
    if sum(bad):
        raise IntegerOverflow(
            f"the summed weights of {which} edges do not fit int64 ({sum(bad)} times); give the "
            "weights as float64"
        )


def _distinct(adjacency: Adjacency) -> tuple[np.ndarray, int]:
    """Lengths of the rows with every neighbour once, and their sum."""
    lengths = np.empty(adjacency.num_vertices, np.int64)
    old = adjacency.offsets
    given = old, adjacency.neighbours, lengths
    return lengths, sum(for_blocks(kernels.csr.distinct, edge_blocks(old), *given))
