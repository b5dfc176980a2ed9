"""Adjacencies on the device row by row: as `partition.rowwise`, which says what each function gives."""

from __future__ import annotations

from typing import Any

import numpy as np

from dask_graphgpu.errors import IntegerOverflow
from dask_graphgpu.partition.csr import Adjacency
from dask_graphgpu.partition.device import elements
from dask_graphgpu.partition.device.arrays import (
    add_at,
    choose,
    count,
    module_of,
    offset_type,
    reduce_segments,
    segments,
)
from dask_graphgpu.partition.device.csr import Pairs, from_pairs, row_ids
from dask_graphgpu.partition.device.masks import all_true, count_true

_OPERATIONS = {"min": "minimum", "max": "maximum", "sum": "add"}


def merge_repeats(adjacency: Adjacency, rule: str) -> Adjacency:
    """Make repeated edges one, by "min", "max" or "sum" of the weights, or "one"."""
    old, neighbours, weight = adjacency.offsets, adjacency.neighbours, adjacency.weight
    if rule == "one" and adjacency.columns:
        adjacency = Adjacency(old, neighbours)
    xp = module_of(neighbours)
    ends = elements.places_of(_firsts(adjacency), behind=True)
    starts = ends[:-1]
    if len(starts) == len(neighbours):
        return adjacency
    kept = elements.gathered(neighbours, starts)
    offsets = _thinned(starts, old)
    if rule == "one" or (weight is None and rule != "sum"):
        return Adjacency(offsets, kept)
    if weight is None:
        return Adjacency(offsets, kept, {"weight": xp.diff(ends)})
    if rule == "sum":
        return Adjacency(offsets, kept, {"weight": _sums(weight, ends, "repeated")})
    merged = reduce_segments(_OPERATIONS[rule], weight, ends)
    return Adjacency(offsets, kept, {"weight": merged})


def repeats(adjacency: Adjacency) -> bool:
    """Whether some edge stands more than once."""
    return not all_true(_firsts(adjacency))


def least_weights(adjacency: Adjacency, rows: Any, neighbours: Any) -> Any:
    """The weight of an edge in each of some rows, to one of its neighbours: of several the least."""
    weight = adjacency.weight
    assert weight is not None
    xp = module_of(weight)
    firsts, lasts = (
        side[rows].astype(xp.int64) for side in (adjacency.offsets[:-1], adjacency.offsets[1:])
    )
    ends = xp.zeros(len(rows) + 1, xp.int64)
    ends[1:] = xp.cumsum(lasts - firsts)
    row = segments(ends, int(ends[-1]), xp.int64)
    edges = xp.arange(len(row)) - ends[row] + firsts[row]
    among = adjacency.neighbours[edges] == neighbours[row]
    found = xp.searchsorted(row[among], xp.arange(len(rows) + 1))
    return reduce_segments("minimum", weight[edges[among]], found)


def union(a: Adjacency, b: Adjacency) -> Adjacency:
    """The edges of either of two adjacencies without repeats, without their columns."""
    runs = [Pairs(row_ids(x), x.neighbours) for x in (a, b)]
    return merge_repeats(from_pairs(a.num_vertices, runs, a.neighbours.dtype), "one")


def without_loops(adjacency: Adjacency) -> Adjacency:
    """The edges that join two different vertices, without columns."""
    offsets, neighbours = adjacency.offsets, adjacency.neighbours
    kept = elements.places_of(elements.alike(row_ids(adjacency), neighbours, same=False))
    if len(kept) == len(neighbours):
        return Adjacency(offsets, neighbours)
    return Adjacency(_thinned(kept, offsets), elements.gathered(neighbours, kept))


def count_loops(adjacency: Adjacency) -> Any:
    """Number of self-loops in each row, int64."""
    rows = row_ids(adjacency)
    loops = elements.places_of(elements.alike(rows, adjacency.neighbours))
    return count(elements.gathered(rows, loops), adjacency.num_vertices)


def count_neighbours(adjacency: Adjacency) -> Any:
    """How often each vertex is a neighbour, int64."""
    return count(adjacency.neighbours, adjacency.num_vertices)


def sum_rows(adjacency: Adjacency) -> Any:
    """Weight of each row, int64 or float64."""
    weight = adjacency.weight
    assert weight is not None
    if module_of(weight) is not np:
        return _sums(weight, adjacency.offsets, "a vertex's")
    sums = np.zeros(adjacency.num_vertices, _wide(weight.dtype))
    full = np.flatnonzero(adjacency.degrees > 0)
    if len(full):
        ends = np.append(adjacency.offsets[full], adjacency.offsets[-1])
        sums[full] = _sums(weight, ends, "a vertex's")
    return sums


def sum_loops(adjacency: Adjacency) -> Any:
    """Weight of the self-loops in each row, int64 or float64; where `sum_rows` fits, so does it."""
    assert adjacency.weight is not None
    rows = row_ids(adjacency)
    loops = rows == adjacency.neighbours
    weight = choose(adjacency.weight, loops)
    sums = module_of(weight).zeros(adjacency.num_vertices, _wide(weight.dtype))
    # CuPy adds integers at an index only without a sign.
    wide = sums if weight.dtype.kind == "f" else sums.view("uint64")
    add_at(wide, choose(rows, loops), weight.astype(wide.dtype, copy=False))
    return sums


def sum_neighbours(adjacency: Adjacency) -> Any:
    """Weight of the edges in which each vertex is the neighbour, int64 or float64."""
    weight, n = adjacency.weight, adjacency.num_vertices
    assert weight is not None
    xp = module_of(weight)
    if weight.dtype.kind == "f":
        sums = xp.zeros(n, xp.float64)
        add_at(sums, adjacency.neighbours, weight.astype(xp.float64, copy=False))
        return sums
    whole = xp.zeros(n, xp.uint64)
    add_at(whole, adjacency.neighbours, weight.astype(xp.uint64))
    if _may_overflow(weight, adjacency.num_edges):
        rough = xp.zeros(n, xp.float64)
        add_at(rough, adjacency.neighbours, weight.astype(xp.float64))
        _refuse_overflow(whole.view(xp.int64), rough, "a vertex's")
    return whole.view(xp.int64)


def _firsts(adjacency: Adjacency) -> Any:
    """Which edges are the first of their row to their neighbour; rows are in order."""
    neighbours, offsets = adjacency.neighbours, adjacency.offsets
    xp = module_of(neighbours)
    if xp is not np:
        return elements.first_edges(offsets, neighbours)
    first = xp.ones(len(neighbours), bool)
    xp.not_equal(neighbours[1:], neighbours[:-1], out=first[1:])
    starts = offsets[:-1][offsets[1:] > offsets[:-1]].astype(xp.int64)
    first[starts] = True
    return first


def _thinned(kept: Any, offsets: Any) -> Any:
    """Offsets after only the edges at the places ``kept``, which ascend, are left."""
    return elements.first_not_below(kept, offsets, offset_type(len(kept)))


def _sums(weight: Any, ends: Any, which: str) -> Any:
    """Sums of weights between ``ends``, int64 or float64."""
    sums = reduce_segments("add", weight, ends)
    if weight.dtype.kind != "f" and _may_overflow(weight, len(weight)):
        wide = elements.converted(weight, np.float64)
        _refuse_overflow(sums, reduce_segments("add", wide, ends), which)
    return sums


def _may_overflow(weight: Any, times: int) -> bool:
    return bool(len(weight)) and int(weight.max()) * times >= 2**63


def _refuse_overflow(sums: Any, rough: Any, which: str) -> None:
    """Raise where a sum, of which ``rough`` is the same in float64, has left int64."""
    bad = count_true((sums < 0) | (rough >= 2.0**63 * 1.5))
    if bad:
        raise IntegerOverflow(
            f"the summed weights of {which} edges do not fit int64 ({bad} times); give the "
            "weights as float64"
        )


def _wide(dtype: Any) -> Any:
    """The type in which weights of a type are summed."""
    return np.float64 if dtype.kind == "f" else np.int64
