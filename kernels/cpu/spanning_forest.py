"""Rounds of Boruvka's algorithm: every component takes the lightest edge that leaves it.

Encoding
--------
low, high, weight : the edges, both ends by their place in the order of the user's ids. An edge is
    lighter than another by its weight, then by its low end, then by its high end.
a, b, edge : edges that still join two components: these, and which edge it is.
best : for each component the place in ``a, b, edge`` of its lightest edge so far, -1 for none.
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
def _lighter(i, j, edge, low, high, weight):
    """Whether the i-th of the edges is lighter than the j-th."""
    e, f = edge[i], edge[j]
    if weight[e] != weight[f]:
        return weight[e] < weight[f]
    if low[e] != low[f]:
        return low[e] < low[f]
    return high[e] < high[f]


@jit
def lightest(lo, hi, a, b, edge, low, high, weight, least, best):
    """Offer a block of edges to the components at both ends."""
    for i in range(lo, hi):
        w = weight[edge[i]]
        for c in (a[i], b[i]):
            if w > atomic_load(least, c):
                continue
            atomic_min(least, c, w)
            seen = atomic_load(best, c)
            while seen < 0 or _lighter(i, seen, edge, low, high, weight):
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
    for c in range(lo, hi):
        i = best[c]
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
def keep_joining(lo, hi, a, b, edge, parent):
    """Bring a block of edges to the new components, move those between two to its front, and count them."""
    place = lo
    for i in range(lo, hi):
        u, v = parent[a[i]], parent[b[i]]
        if u != v:
            a[place] = u
            b[place] = v
            edge[place] = edge[i]
            place += 1
    return place - lo
