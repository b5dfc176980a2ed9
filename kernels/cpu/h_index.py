"""Core numbers of a rank's own vertices while the estimates of its ghosts stand still.

The core number of a vertex is the largest k for which k of its neighbours have core numbers of at
least k. From estimates that are nowhere too low, those of own vertices come down to the largest that
the ghosts' allow; these are nowhere too low either, and right once the ghosts' are.

Encoding
--------
owned : the vertices below are own ones. Rows of ghosts have their own neighbours only.
estimate : at least the core number of each vertex.
enough : for each own vertex, how many neighbours have an estimate as high as its own or higher. It
    has to come down exactly when they are fewer than its estimate.
"""

import numpy as np

from dask_graphgpu.kernels.compile import jit


@jit
def peel(offsets, neighbours, owned, most, estimate, enough, alive):
    """Bring down all own vertices at once: take away those of degree k, for k = 0, 1, 2 ...

    A ghost goes when k is its estimate. One thread; every row is read once at most.

    Parameters
    ----------
    most : int
        Where the peeling ends: no ghost has a higher estimate, and no own vertex gets one.
    estimate
        Of own vertices their degree before, their estimate after.
    enough
        Written.
    alive : shape (estimate.size,)
        All vertices; overwritten.

    Returns
    -------
    int
        Edges read.
    """
    stack = np.empty(estimate.size, neighbours.dtype)
    left = estimate.size
    own = owned  # of these
    k = 0
    read = 0
    while own:
        # Compact: what is gone has an estimate of at most k - 1. Then k jumps to the lowest there is.
        kept = 0
        top = 0
        lowest = most
        for i in range(left):
            v = alive[i]
            d = estimate[v]
            if d >= k:
                alive[kept] = v
                kept += 1
                if d < lowest:
                    lowest = d
                    top = 0
                if d == lowest:
                    stack[top] = v
                    top += 1
        left = kept
        k = lowest
        if k == most:
            for i in range(left):
                v = alive[i]
                if v < owned:
                    enough[v] = estimate[v]
                    estimate[v] = most
            break
        while top:
            top -= 1
            v = stack[top]
            start, stop = offsets[v], offsets[v + 1]
            read += stop - start
            high = 0
            for e in range(start, stop):
                u = neighbours[e]
                d = estimate[u]
                high += d >= k
                if d > k and u < owned:
                    estimate[u] = d - 1
                    if d - 1 == k:
                        stack[top] = u
                        top += 1
            if v < owned:
                enough[v] = high
                own -= 1
        k += 1
    return read


@jit
def lower(
    fallen, before, limit, offsets, neighbours, owned, estimate, enough, lowered, waiting, queue,
    counts,
):  # fmt: skip
    """Bring down own vertices after ghosts have come down: those with too few high neighbours left.

    One thread. Those that wait are looked at first come, first served, which takes about half as
    many looks as last come, first served.

    Parameters
    ----------
    fallen
        The ghosts that have come down.
    before : shape (ghosts,)
        Estimates of all ghosts until then.
    limit : int
        Edges after which it gives up: peeling anew takes less.
    lowered : bool, shape (owned,)
        Becomes true for those that come down.
    waiting : bool, shape (owned,)
        Which vertices are in the queue: none before, and none after unless given up.
    queue : shape (owned,)
        Overwritten.
    counts : shape (highest estimate of an own vertex + 1,)
        Zero before and after.

    Returns
    -------
    tuple
        Vertices looked at; edges read; whether it is done, not given up.
    """
    first = 0
    length = 0
    looks = 0
    read = 0
    for i in range(fallen.size):
        u = fallen[i]
        old, now = before[u - owned], estimate[u]
        start, stop = offsets[u], offsets[u + 1]
        read += stop - start
        for e in range(start, stop):
            v = neighbours[e]
            if now < estimate[v] <= old:
                enough[v] -= 1
                if enough[v] < estimate[v] and not waiting[v]:
                    waiting[v] = True
                    queue[length] = v
                    length += 1
    while length and read <= limit:
        v = queue[first]
        first = first + 1 if first + 1 < queue.size else 0
        length -= 1
        waiting[v] = False
        looks += 1
        start, stop = offsets[v], offsets[v + 1]
        read += 2 * (stop - start)
        old = estimate[v]
        for e in range(start, stop):
            d = estimate[neighbours[e]]
            if d < old:
                counts[d] += 1
        now, high = old, enough[v]
        while high < now:
            now -= 1
            high += counts[now]
        counts[:old] = 0
        estimate[v] = now
        enough[v] = high
        lowered[v] = True
        for e in range(start, stop):
            u = neighbours[e]
            if u < owned and now < estimate[u] <= old:
                enough[u] -= 1
                if enough[u] < estimate[u] and not waiting[u]:
                    waiting[u] = True
                    place = first + length
                    queue[place if place < queue.size else place - queue.size] = u
                    length += 1
    return looks, read, length == 0
