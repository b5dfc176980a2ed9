"""Shortest paths by weight over rows in any order, once distances are known: counted, and their dependencies.

An edge is tight if the distance of its end is that of its start and its length: shortest paths go along these.

Encoding
--------
weight, each : the length of edge e is ``weight[e * each]``; for hops `each` is 0.
distance : from the source; ``far``, which no distance reaches, where there is no path.
waits : of each vertex, the tight edges to it that no path has been counted along yet.
stage : most edges of a shortest path to a vertex; -1 where there is none. Tight edges lead to later stages.
count, share : as in ``betweenness.py``; both 0 where there is no path.
"""

import numpy as np

from dask_graphgpu.kernels.compile import inner, jit
from dask_graphgpu.kernels.cpu.atomics import atomic_add
from dask_graphgpu.kernels.cpu.betweenness import DONE, LONG_PATHS, MANY_PATHS

_ONE = np.uint64(1)


@inner
def _tight(u, v, e, weight, each, distance):
    return u != v and distance[u] + distance.dtype.type(weight[e * each]) == distance[v]


@jit
def count_tight(lo, hi, offsets, neighbours, weight, distance, far, waits):
    """Add the tight edges of a block of rows to what their ends wait for; `DONE` or `LONG_PATHS`, the least weight."""
    bad, least = DONE, far
    for u in range(np.uint64(lo), np.uint64(hi)):
        near = distance[u]
        if near >= far:
            continue
        for e in range(offsets[u], offsets[u + _ONE]):
            v, w = np.uint64(neighbours[e]), distance.dtype.type(weight[e])
            if u == v:
                continue
            least = min(least, w)
            if w >= far - near or near + w <= near or near + w >= far:
                bad = LONG_PATHS
            elif near + w == distance[v]:
                atomic_add(waits, v, 1)
    return bad, least


@jit
def count_paths(some, offsets, neighbours, weight, distance, waits, stage, count, due):
    """Hand on the paths to some vertices, which wait for nothing; who waits for nothing then is due. Edges read."""
    read = np.uint64(0)
    for i in range(len(some)):
        u = np.uint64(some[i])
        due[u] = False
        read += offsets[u + _ONE] - offsets[u]
        for e in range(offsets[u], offsets[u + _ONE]):
            v = np.uint64(neighbours[e])
            if _tight(u, v, e, weight, _ONE, distance):
                count[v] += count[u]
                stage[v] = max(stage[v], stage[u] + 1)
                waits[v] -= 1
                due[v] = waits[v] == 0
    return read


@jit
def hand_back(
    lo, hi, order, offsets, neighbours, weight, distance, stage, count, share, endpoints, through
):  # fmt: skip
    """Go from the vertices ``order[lo:hi]`` of one stage, when later ones are done; `DONE` or `MANY_PATHS`."""
    bad = False
    for i in range(lo, hi):
        v = np.uint64(order[i])
        paths, total = count[v], 0.0
        bad |= np.isinf(paths)
        for e in range(offsets[v], offsets[v + _ONE]):
            w = np.uint64(neighbours[e])
            if _tight(v, w, e, weight, _ONE, distance):
                total += share[w]
        share[v] = (1.0 + paths * total) / paths
        if stage[v]:
            through[v] += paths * total + endpoints
    return MANY_PATHS if bad else DONE


@jit
def along_edges(
    lo, hi, offsets, neighbours, weight, each, distance, count, share, both_ways, along
):  # fmt: skip
    """Add to ``along`` what paths from one source hand back along the edges of a block of rows.

    ``both_ways`` : also what they hand back along an edge from its end.
    """
    for v in range(np.uint64(lo), np.uint64(hi)):
        for e in range(offsets[v], offsets[v + _ONE]):
            w = np.uint64(neighbours[e])
            if _tight(v, w, e, weight, each, distance):
                along[e] += count[v] * share[w]
            if both_ways and _tight(w, v, e, weight, each, distance):
                along[e] += count[w] * share[v]
