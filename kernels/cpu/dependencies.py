"""Path counts and dependencies of several sources on one of many ranks, without levels.

Encoding
--------
width : sources at work. The item of vertex v and the s-th source stands at ``v * width + s`` in arrays over items.
distance : from the source; where not reached the least integer, or NaN, which no sum comes to.
length : of each edge in the order of its rows, above 0; of size 0: all are 1.
pending : of own items, edges of shortest paths over which nothing has come yet. At 0 the item is final.

An edge from u to v is on a shortest path if ``distance[u] + length == distance[v]``.
"""

import numpy as np

from dask_graphgpu.kernels.compile import jit


@jit
def count_pending(
    lo, hi, width, back, offsets, neighbours, length, distance, pending
):  # fmt: skip
    """Edges of shortest paths at the items of a block of own vertices.

    ``back`` : 0 for rows of edges into a vertex, which are counted for path counts; 1 for rows of those
    out of it, for dependencies.
    """
    for v in range(lo, hi):
        for e in range(offsets[v], offsets[v + 1]):
            u = np.int64(neighbours[e])
            if u == v:
                continue
            step = length[e] if length.size else length.dtype.type(1)
            near, far = (v, u) if back else (u, v)
            for s in range(width):
                pending[v * width + s] += (
                    distance[near * width + s] + step == distance[far * width + s]
                )


@jit
def hand_on(
    ready, tail, fallen, width, back, owned, offsets, neighbours, length, distance, paths, pending,
    total, value,
):  # fmt: skip
    """Hand the values of final items on along edges of shortest paths, until no own item becomes final. One thread.

    Parameters
    ----------
    ready, tail : own items that are final and have not been handed on
    fallen : items of ghosts, likewise
    back : 0 to hand on along edges, 1 against them
    offsets, neighbours, length : for every vertex, ghosts too, its neighbours that way; ghosts among them do not count
    paths : path counts, for dependencies; of size 0 for path counts
    total : what has come to an item so far
    value : of an item that becomes final the sum of what has come, the number of paths. With ``paths`` (1 + dependency)
        / paths: what each path to it hands back.

    Returns
    -------
    tuple
        Items in ``ready``, edges read.
    """
    head = -fallen.size
    read = 0
    while head < tail:
        i = np.int64(ready[head] if head >= 0 else fallen[head + fallen.size])
        head += 1
        u, s = i // width, i % width
        start, stop = offsets[u], offsets[u + 1]
        read += stop - start
        for e in range(start, stop):
            v = np.int64(neighbours[e])
            if v >= owned or v == u:
                continue
            j = v * width + s
            step = length[e] if length.size else length.dtype.type(1)
            if back:
                leads = distance[j] + step == distance[i]
            else:
                leads = distance[i] + step == distance[j]
            if leads:
                total[j] += value[i]
                pending[j] -= 1
                if pending[j] == 0:
                    value[j] = (1.0 + paths[j] * total[j]) / paths[j] if paths.size else total[j]
                    ready[tail] = j
                    tail += 1
    return tail, read


@jit
def too_long(lo, hi, width, offsets, neighbours, length, distance, far):
    """Whether an edge out of a block of own vertices adds nothing to a distance, or takes it to ``far`` or beyond."""
    for v in range(lo, hi):
        for e in range(offsets[v], offsets[v + 1]):
            if neighbours[e] == v:
                continue
            for s in range(width):
                near = distance[v * width + s]
                if near < 0 or np.isnan(near):
                    continue
                if (
                    length[e] >= far - near
                ):  # asked before the sum, of which the compiler thinks it fits
                    return True
                beyond = near + length[e]
                if beyond <= near or beyond >= far:
                    return True
    return False


@jit
def along_edges(
    lo, hi, width, both, offsets, neighbours, length, distance, paths, share, along
):  # fmt: skip
    """Add to ``along`` what goes over the edges out of a block of own vertices; ``both``: either way."""
    for v in range(lo, hi):
        for e in range(offsets[v], offsets[v + 1]):
            w = np.int64(neighbours[e])
            if w == v:
                continue
            step = length[e] if length.size else length.dtype.type(1)
            for s in range(width):
                i, j = v * width + s, w * width + s
                if distance[i] + step == distance[j]:
                    along[e] += paths[i] * share[j]
                elif both and distance[j] + step == distance[i]:
                    along[e] += paths[j] * share[i]
