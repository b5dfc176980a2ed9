"""Rounds of Boruvka's algorithm: every component takes the lightest edge that leaves it.

Encoding
--------
low, high : ends of the edges by their place in the order of the user's ids. An edge is lighter than another by its
    weight, then by its low end, then by its high end.
a, b, weight, edge : edges that still join two components: these, the weight, and which edge it is. Components are
    numbered anew after each round, so that a round costs what is left.
best : for each component the place in ``a, b, weight, edge`` of its lightest edge so far, -1 for none.
least : the weight of that, or a smaller one that another thread is about to put there.
"""

import numpy as np

from dask_graphgpu.kernels.compile import jit
from dask_graphgpu.kernels.cpu.atomics import atomic_compare_exchange, atomic_load, atomic_min


@jit
def count_edges(lo, hi, offsets, neighbours, directed):
    """Edges of the rows of a block: of an undirected graph those from the smaller end, no self-loops."""
    count = 0
    for u in range(np.uint64(lo), np.uint64(hi)):
        for e in range(offsets[u], offsets[u + np.uint64(1)]):
            v = neighbours[e]
            count += u != v and (directed or u < v)
    return count


@jit
def list_edges(
    lo, hi, bounds, starts, offsets, neighbours, weights, rank, directed, low, high, weight
):
    """List what `count_edges` counts, for the block from ``bounds[i]`` on at ``starts[i]``."""
    place = starts[np.searchsorted(bounds, lo)]
    for u in range(np.uint64(lo), np.uint64(hi)):
        for e in range(offsets[u], offsets[u + np.uint64(1)]):
            v = neighbours[e]
            if u != v and (directed or u < v):
                first, second = np.uint64(u), np.uint64(v)
                if rank.size:
                    first, second = np.uint64(rank[u]), np.uint64(rank[v])
                low[place] = min(first, second)
                high[place] = max(first, second)
                if weights.size:
                    weight[place] = weights[e]
                place += 1


@jit(inline="always")
def _first(i, j, edge, low, high):
    """Whether the i-th of the edges is lighter than the j-th, which has the same weight."""
    e, f = edge[i], edge[j]
    return low[e] < low[f] or (low[e] == low[f] and high[e] < high[f])


@jit
def lightest(lo, hi, a, b, weight, edge, low, high, least, best):
    """Offer edges to the components at both ends. One thread."""
    for i in range(lo, hi):
        w = weight[i]
        for c in (a[i], b[i]):
            if w < least[c] or best[c] < 0:
                least[c] = w
                best[c] = i
            elif w == least[c] and _first(i, best[c], edge, low, high):
                best[c] = i


@jit
def lightest_of_many(lo, hi, a, b, weight, edge, low, high, least, best):
    """As `lightest`, while other threads do the same with other blocks."""
    for i in range(lo, hi):
        w = weight[i]
        for c in (a[i], b[i]):
            if w > atomic_load(least, c):
                continue
            atomic_min(least, c, w)
            seen = atomic_load(best, c)
            while (
                seen < 0
                or w < weight[seen]
                or (w == weight[seen] and _first(i, seen, edge, low, high))
            ):
                found = atomic_compare_exchange(best, c, seen, i)
                if found == seen:
                    break
                seen = found


@jit
def hook(lo, hi, a, b, edge, best, parent, chosen):
    """Hang each component of a block on the one that its lightest edge leads to, and choose the edge.

    Of two that chose each other the smaller stays a root.

    Returns
    -------
    int
        Components that were hung on another.
    """
    count = 0
    for c in range(np.uint64(lo), np.uint64(hi)):
        i = best[c]
        parent[c] = c
        if i < 0:
            continue
        d = b[i] if a[i] == c else a[i]
        j = best[d]
        if c < d and (a[j] == c or b[j] == c):
            continue
        parent[c] = d
        chosen[edge[i]] = 1
        count += 1
    return count


@jit
def count_roots(lo, hi, parent):
    """Roots in a block."""
    count = 0
    for c in range(np.uint64(lo), np.uint64(hi)):
        count += parent[c] == c
    return count


@jit
def number_roots(lo, hi, bounds, starts, parent, number):
    """``number`` = 0, 1, 2 ... of the roots, for the block from ``bounds[i]`` on from ``starts[i]``."""
    count = starts[np.searchsorted(bounds, lo)]
    for c in range(np.uint64(lo), np.uint64(hi)):
        if parent[c] == c:
            number[c] = count
            count += 1


@jit
def keep_joining(lo, hi, old, parent, number, new):
    """Bring a block of edges to the new components, and move those between two to its front; returns how many.

    `old` and `new` are ``a, b, weight, edge``; both may be the same arrays.
    """
    a, b, weight, edge = old
    new_a, new_b, new_weight, new_edge = new
    place = lo
    for i in range(lo, hi):
        u, v = parent[a[i]], parent[b[i]]
        if u != v:
            new_a[place] = number[u]
            new_b[place] = number[v]
            new_weight[place] = weight[i]
            new_edge[place] = edge[i]
            place += 1
    return place - lo
