"""As `partition.undirected`, with rows on the device."""

from __future__ import annotations

from typing import Any

import numpy as np

from dask_graphgpu.partition.as_given import AsGiven, tolerance
from dask_graphgpu.partition.csr import Adjacency
from dask_graphgpu.partition.device.arrays import count, module_of, offset_type, packed, segments
from dask_graphgpu.partition.device.csr import Pairs, from_pairs
from dask_graphgpu.partition.device.masks import any_true, count_true
from dask_graphgpu.partition.undirected import marked_dtype


def undirected(
    num_vertices: int, runs: list[Pairs], dtype: Any, rank: Any = None, *, both: bool = True
) -> tuple[Adjacency, AsGiven]:
    """Rows from runs of edges, each edge in the rows of both ends; ``runs`` is emptied.

    As `partition.undirected.undirected`. Cost: as of `from_pairs`, and a sort of the edges between
    vertices that are joined both ways.
    """
    wide = marked_dtype(num_vertices, dtype)
    return settle(from_pairs(num_vertices, runs, wide, marked=True, both=both), dtype, rank)


def settle(marked: Adjacency, dtype: Any, rank: Any = None) -> tuple[Adjacency, AsGiven]:
    """As `partition.undirected.settle`."""
    xp = module_of(marked.neighbours)
    back = (marked.neighbours & marked.neighbours.dtype.type(1)).astype(bool)
    neighbours = (marked.neighbours >> marked.neighbours.dtype.type(1)).astype(dtype, copy=False)
    offsets, columns = marked.offsets, marked.columns
    rows = segments(offsets, len(neighbours), dtype)
    drop = back & (rows == neighbours)  # a loop stands in its row both ways
    some = xp.flatnonzero(_joined_both_ways(xp, rows, neighbours, back) & (rows != neighbours))
    if len(some):
        ends = rows[some], neighbours[some]
        first = ends if rank is None else tuple(rank[each] for each in ends)
        weight = columns["weight"][some] if "weight" in columns else None
        drop[some] = ~_chosen(xp, ends, weight, back[some], first[0] < first[1])
    if not any_true(drop):
        return Adjacency(offsets, neighbours, columns), AsGiven(packed(back))
    keep = ~drop
    left = xp.flatnonzero(drop & ~back)
    aside = AsGiven(
        packed(back[keep]),
        left - xp.cumsum(back)[left],
        rows[left],
        neighbours[left],
        {name: column[left] for name, column in columns.items()},
    )
    counts = count(rows[keep], marked.num_vertices)
    shorter = xp.zeros(marked.num_vertices + 1, offset_type(count_true(keep)))
    xp.cumsum(counts, out=shorter[1:], dtype=shorter.dtype)
    kept = {name: column[keep] for name, column in columns.items()}
    return Adjacency(shorter, neighbours[keep], kept), aside


def _joined_both_ways(xp: Any, rows: Any, neighbours: Any, back: Any) -> Any:
    """Of each entry of sorted rows, whether the two vertices have edges in both directions."""
    heads = xp.ones(len(rows), bool)
    heads[1:] = (rows[1:] != rows[:-1]) | (neighbours[1:] != neighbours[:-1])
    pair = xp.cumsum(heads) - 1
    sizes, backward = _sizes(pair, back)
    mixed = (backward > 0) & (backward < sizes)
    return mixed[pair]


def _chosen(xp: Any, ends: tuple[Any, Any], weight: Any, back: Any, own: Any) -> Any:
    """Which entries of pairs that are joined both ways are edges of their own.

    ``own`` : whether the row's vertex is the smaller of the two.
    """
    keys = [back, ends[1], ends[0]] if weight is None else [back, weight, ends[1], ends[0]]
    order = xp.lexsort(xp.stack([_sortable(xp, key) for key in keys]))
    rows, neighbours = ends[0][order], ends[1][order]
    heads = xp.ones(len(order), bool)
    heads[1:] = (rows[1:] != rows[:-1]) | (neighbours[1:] != neighbours[:-1])
    if weight is not None:
        less, more = weight[order][:-1], weight[order][1:]
        share = tolerance(weight.dtype)
        with np.errstate(invalid="ignore"):  # of infinite weights
            gap = more - less
            near = (gap <= share * more) & (gap != np.inf)
            heads[1:] |= ~((less == more) | near)
    group = xp.cumsum(heads) - 1
    sizes, backward = _sizes(group, back[order])
    ahead = 2 * backward < sizes
    ahead |= (2 * backward == sizes) & own[order][heads]
    chosen = xp.empty(len(order), bool)
    chosen[order] = back[order] != ahead[group]
    return chosen


def _sizes(group: Any, back: Any) -> tuple[Any, Any]:
    """How many entries each group has, and how many of them are ``back``; groups ascend from 0."""
    size = int(group[-1]) + 1 if len(group) else 0
    return count(group, size), count(group[back], size)


def _sortable(xp: Any, key: Any) -> Any:
    """Values of a key as unsigned integers in the same order."""
    if key.dtype.kind == "f":  # not negative: their bits are in the order of the values
        return (key + key.dtype.type(0)).view(f"u{key.dtype.itemsize}").astype(xp.uint64)
    return key.astype(xp.uint64)
