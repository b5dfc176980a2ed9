"""What clusters look like within: weights, degrees, bridges and how far it is from end to end.

Encoding
--------
bounds : vertices of cluster c are bounds[c] .. bounds[c + 1] - 1, in ascending order of the user's ids.
offsets, neighbours, weights : both directions of every edge within a cluster, without repeats and self-loops; no
    weights: an empty array.
number, low, cursor, parent : room for a depth-first search, an entry a vertex; ``number`` is 0 at first.
level, queue : room for a breadth-first search.
"""

from dask_graphgpu.kernels.compile import jit


@jit
def least_and_most(lo, hi, bounds, offsets, weights, weakest, degree):
    """The least weight and the largest degree within each cluster of a block; clusters without edges are left out."""
    for c in range(lo, hi):
        most = 0
        for v in range(bounds[c], bounds[c + 1]):
            most = max(most, offsets[v + 1] - offsets[v])
        degree[c] = most
        first, last = offsets[bounds[c]], offsets[bounds[c + 1]]
        if weights.size and last > first:
            least = weights[first]
            for e in range(first, last):
                least = min(least, weights[e])
            weakest[c] = least


@jit
def count_bridges(
    lo, hi, bounds, offsets, neighbours, number, low, cursor, parent, bridges, connected
):
    """Bridges of each cluster of a block, and whether it is connected: Tarjan's search, without recursion."""
    for c in range(lo, hi):
        time, roots, found = 0, 0, 0
        for root in range(bounds[c], bounds[c + 1]):
            if number[root]:
                continue
            roots += 1
            time += 1
            number[root] = low[root] = time
            parent[root] = root
            cursor[root] = offsets[root]
            v = root
            while True:
                if cursor[v] < offsets[v + 1]:
                    u = neighbours[cursor[v]]
                    cursor[v] += 1
                    if number[u] == 0:
                        time += 1
                        number[u] = low[u] = time
                        parent[u] = v
                        cursor[u] = offsets[u]
                        v = u
                    elif u != parent[v]:
                        low[v] = min(low[v], number[u])
                elif v == root:
                    break
                else:
                    above = parent[v]
                    low[above] = min(low[above], low[v])
                    found += low[v] > number[above]
                    v = above
        bridges[c] = found
        connected[c] = roots == 1


@jit
def _sweep(source, first, last, offsets, neighbours, level, queue):
    """Levels of a connected cluster from one vertex; returns the farthest, of several the smallest, and its level."""
    for v in range(first, last):
        level[v] = -1
    level[source] = 0
    queue[first] = source
    head, tail = first, first + 1
    while head < tail:
        v = queue[head]
        head += 1
        for e in range(offsets[v], offsets[v + 1]):
            u = neighbours[e]
            if level[u] < 0:
                level[u] = level[v] + 1
                queue[tail] = u
                tail += 1
    depth = level[queue[tail - 1]]
    farthest = last
    while tail > first and level[queue[tail - 1]] == depth:
        tail -= 1
        farthest = min(farthest, queue[tail])
    return farthest, depth


@jit
def bound_diameters(
    lo, hi, bounds, offsets, neighbours, connected, level, queue, at_least, at_most
):
    """Bounds of the diameter of each connected cluster of a block, by three searches.

    From the smallest vertex, from the one farthest from there, and from the middle of the path between the ends.
    """
    for c in range(lo, hi):
        first, last = bounds[c], bounds[c + 1]
        size = last - first
        edges = (offsets[last] - offsets[first]) // 2
        if not connected[c]:
            continue
        if 2 * edges == size * (size - 1):
            at_least[c] = at_most[c] = size > 1
            continue
        start, least = _sweep(first, first, last, offsets, neighbours, level, queue)
        end, length = _sweep(start, first, last, offsets, neighbours, level, queue)
        at_least[c] = max(length, 2)
        if edges == size - 1:
            at_most[c] = length
            continue
        middle = end
        for _ in range(length // 2):
            above = last
            for e in range(offsets[middle], offsets[middle + 1]):
                u = neighbours[e]
                if level[u] == level[middle] - 1:
                    above = min(above, u)
            middle = above
        _, radius = _sweep(middle, first, last, offsets, neighbours, level, queue)
        at_most[c] = 2 * min(least, radius)
