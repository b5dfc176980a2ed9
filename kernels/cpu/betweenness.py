"""Dependencies of one source after another on all vertices, and on all edges (Brandes).

Encoding
--------
count : float64, number of shortest paths from the source.
share : float64, ``(1 + dependency) / count`` of a vertex: what each path to it hands back to the vertex before.
order : reached vertices, nearest first.

A block of sources has arrays of its own, so that blocks run at once; sums are added up to ``through``
(of vertices) and ``along`` (of edges; of length 0 where nobody asks).
"""

import numpy as np

from dask_graphgpu.kernels.compile import jit

_ONE = np.uint64(1)

DONE, MANY_PATHS, LONG_PATHS = (
    0,
    1,
    2,
)  # MANY: a count is infinite. LONG: an edge adds nothing, or too much


@jit(inline="always")
def _hand_back(v, offsets, neighbours, level, count, share, along):
    """What the vertices behind v hand back to it, by `share`, and to its edges; its own share then."""
    after = level[v] + 1
    paths = count[v]
    total = 0.0
    for e in range(offsets[v], offsets[v + _ONE]):
        w = neighbours[e]
        if level[w] == after:
            total += share[w]
            if along.size:
                along[e] += paths * share[w]
    share[v] = (1.0 + paths * total) / paths
    return paths * total


@jit
def hand_back(
    lo, hi, order, offsets, neighbours, level, count, share, endpoints, through, along
):  # fmt: skip
    """Go from the vertices ``order[lo:hi]`` of one level, when those behind them are done; `DONE` or `MANY_PATHS`."""
    bad = False
    for i in range(lo, hi):
        v = np.uint64(order[i])
        bad |= np.isinf(count[v])
        handed = _hand_back(v, offsets, neighbours, level, count, share, along)
        if level[v]:
            through[v] += handed + endpoints
    return MANY_PATHS if bad else DONE


@jit
def by_edges(
    lo, hi, workers, sources, offsets, neighbours, level, count, share, order, endpoints,
    through, along,
):  # fmt: skip
    """Sum up the dependencies of the sources ``lo``, ``lo + workers``, ... where every edge counts one.

    ``level`` is -1 everywhere before, and after.

    Returns
    -------
    tuple
        `DONE` or `MANY_PATHS`; edges read.
    """
    read = 0
    for i in range(lo, len(sources), workers):
        source = sources[i]
        level[source] = 0
        count[source] = 1.0
        order[0] = source
        head, tail = 0, 1
        while head < tail:
            u = order[head]
            head += 1
            after = level[u] + 1
            paths = count[u]
            start, stop = offsets[u], offsets[u + _ONE]
            read += stop - start
            for e in range(start, stop):
                v = neighbours[e]
                if level[v] < 0:
                    level[v] = after
                    count[v] = paths
                    order[tail] = v
                    tail += 1
                elif level[v] == after:
                    count[v] += paths
        bad = False
        for place in range(tail - 1, -1, -1):
            v = order[place]
            bad |= np.isinf(count[v])
            handed = _hand_back(v, offsets, neighbours, level, count, share, along)
            if place:
                through[v] += handed + endpoints
        through[source] += (tail - 1) * endpoints
        for place in range(tail):
            level[order[place]] = -1
        if bad:
            return MANY_PATHS, read
    return DONE, read


@jit(inline="always")
def _sift_up(heap, where, distance, place, v):
    """Put `v` at `place` of the heap, or above where it is nearer than its parents."""
    while place > 0:
        above = (place - 1) >> 1
        u = heap[above]
        if distance[u] <= distance[v]:
            break
        heap[place] = u
        where[u] = place
        place = above
    heap[place] = v
    where[v] = place


@jit(inline="always")
def _sift_down(heap, where, distance, size, v):
    """Put `v` at the top of the heap, or below where it is farther than its children."""
    place = 0
    while True:
        below = 2 * place + 1
        if below >= size:
            break
        if below + 1 < size and distance[heap[below + 1]] < distance[heap[below]]:
            below += 1
        u = heap[below]
        if distance[v] <= distance[u]:
            break
        heap[place] = u
        where[u] = place
        place = below
    heap[place] = v
    where[v] = place


@jit
def by_weight(
    lo, hi, workers, sources, offsets, neighbours, weight, distance, far, where, heap, count,
    share, order, endpoints, through, along,
):  # fmt: skip
    """As `by_edges`, where the length of a path is the sum of its weights: vertices in order of a heap.

    ``distance`` is ``far``, which no distance reaches, everywhere before, and after. ``where`` is
    the place of a vertex in the heap.

    Returns
    -------
    tuple
        `DONE`, `MANY_PATHS`, or `LONG_PATHS`: along an edge the distance does not grow, or it comes to ``far``; edges
        read.
    """
    read = 0
    for i in range(lo, len(sources), workers):
        source = sources[i]
        distance[source] = 0
        count[source] = 1.0
        heap[0] = source
        where[source] = 0
        size, tail = 1, 0
        bad = DONE
        while size:
            u = heap[0]
            size -= 1
            if size:
                _sift_down(heap, where, distance, size, heap[size])
            order[tail] = u
            tail += 1
            near = distance[u]
            paths = count[u]
            start, stop = offsets[u], offsets[u + _ONE]
            read += stop - start
            for e in range(start, stop):
                v = neighbours[e]
                if v == u:
                    continue
                if (
                    weight[e] >= far - near
                ):  # asked before the sum, of which the compiler thinks it fits
                    bad = LONG_PATHS
                    continue
                beyond = near + weight[e]
                if beyond <= near or beyond >= far:
                    bad = LONG_PATHS
                elif beyond < distance[v]:
                    place = where[v]
                    if distance[v] == far:
                        place = size
                        size += 1
                    distance[v] = beyond
                    count[v] = paths
                    _sift_up(heap, where, distance, place, v)
                elif beyond == distance[v]:
                    count[v] += paths
        for place in range(tail - 1, -1, -1):
            v = order[place]
            near = distance[v]
            paths = count[v]
            if np.isinf(paths):
                bad = MANY_PATHS
            total = 0.0
            for e in range(offsets[v], offsets[v + _ONE]):
                w = neighbours[e]
                if near + weight[e] == distance[w] and w != v:
                    total += share[w]
                    if along.size:
                        along[e] += paths * share[w]
            share[v] = (1.0 + paths * total) / paths
            if place:
                through[v] += paths * total + endpoints
        through[source] += (tail - 1) * endpoints
        for place in range(tail):
            distance[order[place]] = far
        if bad != DONE:
            return bad, read
    return DONE, read
