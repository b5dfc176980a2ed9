"""Kernels over the rows of an undirected graph in which some edges were given in both directions.

Encoding
--------
marked : neighbours in ascending order, each ``vertex << 1 | mark``. The mark is 1 where the edge was
    given from the neighbour to the vertex of the row, so those that were given from the row come first.

Every kernel works on a block ``[lo, hi)`` of rows and holds no lock, so blocks run on threads.
"""

from __future__ import annotations

import numpy as np

from dask_graphgpu.kernels.compile import inner, jit
from dask_graphgpu.kernels.cpu.stable_order import stable_order

_ONE = np.uint64(1)


@inner
def _is_same(less, more, tolerance):
    """Whether two weights are the same but for rounding; NaN is the same as NaN."""
    if less == more or (less != less and more != more):
        return True
    gap = more - less
    return tolerance > 0 and gap <= tolerance * max(abs(less), abs(more)) and gap != np.inf


@inner
def _choose(weight, middle, own, tolerance, keep):
    """Of rows between two vertices, ``middle`` in one direction and then others, keep each edge once.

    Rows of the same weight are the same edges. The direction that has more of them is kept; of
    equally many the first, if ``own``, else the second.
    """
    size = keep.size
    if not weight.size:
        ahead = middle > size - middle or (2 * middle == size and own)
        for i in range(size):
            keep[i] = (i < middle) == ahead
        return
    order = stable_order(weight)
    lo = 0
    while lo < size:
        hi = lo + 1
        while hi < size and _is_same(weight[order[hi - 1]], weight[order[hi]], tolerance):
            hi += 1
        forward = 0
        for i in range(lo, hi):
            forward += order[i] < middle
        ahead = 2 * forward > hi - lo or (2 * forward == hi - lo and own)
        for i in range(lo, hi):
            keep[order[i]] = (order[i] < middle) == ahead
        lo = hi


@jit
def keep_once(lo, hi, offsets, marked, weight, rank, shift, tolerance, keep):
    """Say which entries of rows are edges of their own.

    Parameters
    ----------
    weight : of each entry, or empty
    rank : place of each vertex in the order of the user's ids, or empty: that is theirs
    shift : the vertex of row 0
    tolerance : share of a weight up to which another is the same
    keep : written
    """
    for v in range(lo, hi):
        first, end = offsets[v], offsets[v + 1]
        vertex = np.uint64(v) + shift
        twice = False
        for e in range(first + 1, end):  # without branches, and mostly that is all
            twice |= marked[e] >> _ONE == marked[e - 1] >> _ONE
        if not twice:
            for e in range(first, end):
                keep[e] = True
            continue
        while first < end:
            u = marked[first] >> _ONE
            middle = first
            while middle < end and marked[middle] == u << _ONE:
                middle += 1
            last = middle
            while last < end and marked[last] >> _ONE == u:
                last += 1
            if u == vertex:  # a loop that stands in its row both ways
                keep[first:middle] = True
                keep[middle:last] = False
            elif middle in (first, last):
                keep[first:last] = True
            else:
                own = rank[vertex] < rank[u] if rank.size else vertex < u
                between = weight[first:last] if weight.size else weight
                _choose(between, middle - first, own, tolerance, keep[first:last])
            first = last


@jit
def count_kept(lo, hi, offsets, keep, lengths):
    """Write how many entries of each row are kept."""
    for v in range(lo, hi):
        kept = 0
        for e in range(offsets[v], offsets[v + 1]):
            kept += keep[e]
        lengths[v] = kept


@jit
def unmark(lo, hi, marked, neighbours):
    """Leave the marks out; ``neighbours`` may be the memory of ``marked``."""
    for e in range(lo, hi):
        neighbours[e] = marked[e] >> _ONE


@jit
def compact(lo, hi, offsets, keep, new_offsets, column, new_column):
    """Copy of rows what is kept."""
    for v in range(lo, hi):
        place = new_offsets[v]
        for e in range(offsets[v], offsets[v + 1]):
            if keep[e]:
                new_column[place] = column[e]
                place += 1
