"""Trusses: edges in few triangles are taken away, or what an edge's support is at most comes down.

Encoding
--------
offsets, neighbours : symmetric rows, ascending, without repeats and self-loops. Both directions of an edge, its arcs,
    are in them.
up : of the same graph rows with every edge once, in that of its lower end, ascending; an edge's place is its number.
number : of the edge of each arc.
stops : where the rows end in which only arcs of edges that are left are kept.
support : triangles of an edge among those that are left; of one that was taken away, the level at which it was.
state : of an edge, `LEFT`, `NOW` in the round that goes on, or `GONE`.
bound : of an arc, what the support of its edge can be at most in the end.
"""

import numpy as np

from dask_graphgpu.kernels.compile import jit
from dask_graphgpu.kernels.cpu.atomics import atomic_add

LEFT, NOW, GONE = 0, 1, 2

_ONE = np.uint64(1)


@jit(inline="always")
def _first(neighbours, low, high, wanted):
    """The first place of an ascending part of a row that has no less than ``wanted``; `high`: none."""
    while low < high:
        middle = (low + high) >> _ONE
        if neighbours[middle] < wanted:
            low = middle + _ONE
        else:
            high = middle
    return low


@jit(inline="always")
def _next(neighbours, low, high, wanted):
    """As `_first`, where it is near the beginning: steps from there grow."""
    step = _ONE
    while low + step <= high and neighbours[low + step - _ONE] < wanted:
        low += step
        step += step
    return _first(neighbours, low, min(low + step, high), wanted)


@jit
def number_arcs(lo, hi, offsets, neighbours, up_offsets, up, number):
    """``number[e]`` of the arcs of a block of rows."""
    for u in range(np.uint64(lo), np.uint64(hi)):
        k, stop = up_offsets[u], up_offsets[u + _ONE]
        for e in range(offsets[u], offsets[u + _ONE]):
            v = np.uint64(neighbours[e])
            if k < stop and up[k] == v:
                number[e] = k
                k += _ONE
            else:
                number[e] = _first(up, up_offsets[v], up_offsets[v + _ONE], u)


@jit
def supports(lo, hi, offsets, up, support):
    """Add to ``support`` the triangles of each edge that have their lowest vertex in the block."""
    mark = np.zeros(
        offsets.size - 1, np.uint32
    )  # 1 + the triangles at the neighbours of the vertex at hand
    for u in range(np.uint64(lo), np.uint64(hi)):
        start, stop = offsets[u], offsets[u + _ONE]
        if stop < start + np.uint64(2):
            continue
        for e in range(start, stop):
            mark[np.uint64(up[e])] = 1
        for e in range(start, stop):
            v = np.uint64(up[e])
            found = np.uint32(0)
            for f in range(offsets[v], offsets[v + _ONE]):
                w = np.uint64(up[f])
                if mark[w]:
                    mark[w] += np.uint32(1)
                    found += np.uint32(1)
                    atomic_add(support, f, 1)
            mark[v] += found
        for e in range(start, stop):
            v = np.uint64(up[e])
            if mark[v] > 1:
                atomic_add(support, e, mark[v] - np.uint32(1))
            mark[v] = 0


@jit
def keep_left(lo, hi, offsets, stops, neighbours, number, state):
    """Bring what is left of each row of a block to its front.

    Returns
    -------
    int
        Arcs that are.
    """
    total = np.uint64(0)
    for u in range(np.uint64(lo), np.uint64(hi)):
        kept = offsets[u]
        for e in range(offsets[u], stops[u]):
            neighbours[kept] = neighbours[e]
            number[kept] = number[e]
            kept += np.uint64(state[number[e]] == LEFT)
        stops[u] = kept
        total += kept - offsets[u]
    return total


@jit
def peel(
    lo, hi, edges, level, low, up, offsets, stops, neighbours, number, state, support, found, size
):
    """Take edges of a block away, of `support` ``level`` and `NOW`; by which others come down.

    ``low[e]``, ``up[e]`` are the ends of edge e. Those that come down to the level are written to ``found``, of which
    ``size[0]`` are there. Of two edges of a triangle that go in one round the one with the smaller number counts it.

    Returns
    -------
    int
        Arcs read.
    """
    read = np.uint64(0)
    for i in range(lo, hi):
        e = np.uint64(edges[i])
        a, b = np.uint64(low[e]), np.uint64(up[e])
        if stops[a] - offsets[a] > stops[b] - offsets[b]:
            a, b = b, a
        place, last = offsets[b], stops[b]
        read += stops[a] - offsets[a]
        for k in range(offsets[a], stops[a]):
            f = np.uint64(number[k])
            if state[f] == GONE:
                continue
            place = _next(neighbours, place, last, neighbours[k])
            if place == last:
                break
            g = np.uint64(number[place])
            if neighbours[place] != neighbours[k] or state[g] == GONE:
                continue
            both = state[f] == LEFT and state[g] == LEFT
            for h, other in ((f, g), (g, f)):
                if state[h] == LEFT and (both or e < other) and support[h] > level:
                    old = atomic_add(support, h, -1)
                    if old == level + 1:
                        found[np.uint64(atomic_add(size, 0, 1))] = h
                    elif old <= level:  # another had brought it down meanwhile
                        atomic_add(support, h, 1)
    return read


@jit
def bound_by_degree(lo, hi, offsets, neighbours, degree, bound):
    """``bound[e]`` of the arcs of a block of rows, as the degrees of both ends allow."""
    for u in range(np.uint64(lo), np.uint64(hi)):
        for e in range(offsets[u], offsets[u + _ONE]):
            bound[e] = min(degree[u], degree[np.uint64(neighbours[e])]) - 1


@jit
def _count_common(a, a_stop, row, bounds, b, b_stop, other, others, most, counts):
    """Count, at the bound that it allows, what the first of two ascending rows has in common with the second."""
    for i in range(a, a_stop):
        b = _next(other, b, b_stop, row[i])
        if b == b_stop:
            break
        if other[b] == row[i]:
            counts[min(bounds[i], others[b], most)] += 1


@jit
def lower(
    lo, hi, offsets, neighbours, bound, due, first, last, far_offsets, far, far_bound, fell,
):  # fmt: skip
    """Bring down the bounds of arcs of a block of rows that lead to the vertices ``first`` to ``last - 1``.

    An edge has a support of k in the end only if k of its triangles have two other edges that do. Looked at are arcs of
    which an end is `due`. ``far_offsets``, ``far`` and ``far_bound`` : rows of where they lead. ``fell[u]`` = 1 where a
    bound came down.

    Returns
    -------
    int
        Arcs read.
    """
    counts = np.zeros(64, np.int64)
    read = np.uint64(0)
    for u in range(np.uint64(lo), np.uint64(hi)):
        start, stop = offsets[u], offsets[u + _ONE]
        for e in range(_first(neighbours, start, stop, first), stop):
            v = np.uint64(neighbours[e])
            if v >= last:
                break
            most = np.int64(bound[e])
            if most == 0 or not (due[u] | due[v]):
                continue
            if most >= counts.size:
                counts = np.zeros(2 * most, np.int64)
            counts[: most + 1] = 0
            far_start, far_stop = far_offsets[v], far_offsets[v + _ONE]
            if stop - start < far_stop - far_start:
                read += stop - start
                _count_common(
                    start,
                    stop,
                    neighbours,
                    bound,
                    far_start,
                    far_stop,
                    far,
                    far_bound,
                    most,
                    counts,
                )
            else:
                read += far_stop - far_start
                _count_common(
                    far_start,
                    far_stop,
                    far,
                    far_bound,
                    start,
                    stop,
                    neighbours,
                    bound,
                    most,
                    counts,
                )
            k = most
            allow = counts[k]
            while allow < k:
                k -= 1
                allow += counts[k]
            if k < most:
                bound[e] = k
                fell[u] = 1
    return read
