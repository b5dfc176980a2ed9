"""The closing pass of a path search: which neighbour a vertex was best reached from.

Encoding
--------
predecessor : dense id; a vertex's own id means that it has none (yet).
rank : place of a vertex in the order of the user's ids; empty when that is the order of the dense ids.
weight : empty for hops, where every edge counts one.

Of the neighbours that fit, the one of highest degree, then of smallest rank is taken; that is an order without ties,
so the answer depends on nothing else.
"""

import numpy as np

from dask_graphgpu.kernels.compile import jit
from dask_graphgpu.kernels.cpu.atomics import atomic_add, atomic_compare_exchange, atomic_load


@jit(inline="always")
def better(u, other, degree, rank):
    """Whether `u` is preferred to `other`."""
    if degree[u] != degree[other]:
        return degree[u] > degree[other]
    if rank.size == 0:
        return u < other
    return rank[u] < rank[other]


@jit(inline="always")
def length(distance, weight, e):
    """Length of an edge in the type of the distances, so that the sum is the one that the search made."""
    if weight.size == 0:
        return distance.dtype.type(1)
    return distance.dtype.type(weight[e])


@jit
def in_degrees(lo, hi, neighbours, degree):
    """Add the number of edges into each vertex, over a block of edges."""
    for e in range(lo, hi):
        atomic_add(degree, neighbours[e], 1)


@jit
def in_order(lo, hi, degree, rank):
    """Whether the dense ids of a block, and the one after it, stand in the order of preference."""
    for v in range(lo, min(hi, degree.size - 1)):
        if not better(v, v + 1, degree, rank):
            return False
    return True


@jit
def pull(
    lo, hi, offsets, neighbours, weight, distance, reached, degree, rank, first_is_best, predecessor
):
    """Each vertex of a block takes the best of its in-neighbours that are strictly nearer to the source.

    Returns
    -------
    tuple
        Reached vertices that found none (among them the source); edges read.
    """
    without = 0
    read = 0
    for v in range(lo, hi):
        if not reached[v]:
            continue
        here = distance[v]
        start, stop = offsets[v], offsets[v + 1]
        best = neighbours.dtype.type(v)
        read += stop - start
        for e in range(start, stop):
            u = neighbours[e]
            if (
                distance[u] < here
                and distance[u] + length(distance, weight, e) == here
                and reached[u]  # last: few get here
            ):
                if best == v or better(u, best, degree, rank):
                    best = u
                if first_is_best:
                    read -= stop - e - 1
                    break
        if best == v:
            without += 1
        predecessor[v] = best
    return without, read


@jit
def push(lo, hi, offsets, neighbours, weight, distance, reached, degree, rank, predecessor):
    """Each vertex of a block offers itself to its out-neighbours. Returns the edges read."""
    read = 0
    for row in range(lo, hi):
        u = neighbours.dtype.type(row)
        if not reached[u]:
            continue
        here = distance[u]
        start, stop = offsets[row], offsets[row + 1]
        read += stop - start
        for e in range(start, stop):
            v = neighbours[e]
            if (
                here < distance[v]
                and here + length(distance, weight, e) == distance[v]
                and reached[v]
            ):
                best = atomic_load(predecessor, v)
                while best == v or better(u, best, degree, rank):
                    seen = atomic_compare_exchange(predecessor, v, best, u)
                    if seen == best:
                        break
                    best = seen
    return read


@jit
def count_without(lo, hi, reached, predecessor):
    """Reached vertices of a block that have no predecessor."""
    without = 0
    for v in range(lo, hi):
        if reached[v] and predecessor[v] == v:
            without += 1
    return without


@jit
def cross_plateaus(
    source, offsets, neighbours, weight, distance, reached, degree, rank, predecessor
):
    """Give the vertices that no strictly nearer neighbour reaches a predecessor at their own distance.

    Breadth-first from all vertices that have one, along edges that add nothing: a vertex takes the best neighbour of
    the level before it. On one thread.

    Returns
    -------
    tuple
        Levels, edges read.
    """
    n = distance.size
    round_of = np.full(n, -1, np.int64)  # in which round the vertex got its predecessor
    queue = np.empty(n, predecessor.dtype)
    tail = 0
    for v in range(n):
        if reached[v] and (predecessor[v] != v or v == source):
            round_of[v] = 0
            queue[tail] = v
            tail += 1
    head = 0
    rounds = 0
    read = 0
    while head < tail:
        rounds += 1
        end = tail
        for i in range(head, end):
            u = queue[i]
            here = distance[u]
            read += offsets[u + 1] - offsets[u]
            for e in range(offsets[u], offsets[u + 1]):
                v = neighbours[e]
                if (
                    not reached[v]
                    or distance[v] != here
                    or here + length(distance, weight, e) != here
                ):
                    continue
                if round_of[v] == -1:
                    round_of[v] = rounds
                    predecessor[v] = u
                    queue[tail] = v
                    tail += 1
                elif round_of[v] == rounds and better(u, predecessor[v], degree, rank):
                    predecessor[v] = u
        head = end
    return rounds, read


@jit
def pull_plateau(
    lo,
    hi,
    waiting,
    offsets,
    neighbours,
    weight,
    distance,
    reached,
    settled,
    degree,
    rank,
    predecessor,
):
    """A level of `cross_plateaus`, in which those of a list that wait for a predecessor look for one.

    Each takes the best of its in-neighbours that are `settled`, along an edge that adds nothing.

    Returns
    -------
    int
        Edges read.
    """
    read = 0
    for i in range(lo, hi):
        v = waiting[i]
        here = distance[v]
        best = neighbours.dtype.type(v)
        read += offsets[v + 1] - offsets[v]
        for e in range(offsets[v], offsets[v + 1]):
            u = neighbours[e]
            if (
                distance[u] == here
                and here + length(distance, weight, e) == here
                and reached[u]
                and settled[u]
                and (best == v or better(u, best, degree, rank))
            ):
                best = u
        predecessor[v] = best
    return read
