"""Edges with both ends in a set of vertices.

Encoding
--------
inside : bool a vertex; some : the vertices that have rows and are inside, ascending.
rank : place of a vertex in an order; empty: the vertices themselves, as neighbours in rows are ordered then.
once : only edges whose source comes first in that order, or is the destination.
"""

import numpy as np

from dask_graphgpu.kernels.compile import jit

_ONE = np.uint64(1)

# Which neighbour is inside, and where in a row those begin that come after its vertex, no processor guesses: the loops
# over edges have no branch that goes by it.


@jit(inline="always")
def counts_from(v, u, rank, once):
    """Whether the edge from v to u is that of the two directions which counts."""
    if not once:
        return True
    if rank.size:
        return rank[v] <= rank[u]
    return v <= u


@jit
def count_chosen(lo, hi, bounds, some, offsets, neighbours, inside, rank, once, counts, first):
    """Count the chosen edges of each block ``lo`` to ``hi`` of `some`, which `bounds` bound.

    ``first`` gets, of each of `some`, the place before which no edge of its row is chosen.
    """
    ascending = once and not rank.size
    for block in range(lo, hi):
        count = 0
        for i in range(bounds[block], bounds[block + 1]):
            v = np.uint64(some[i])
            before = np.uint64(0)
            for e in range(offsets[v], offsets[v + _ONE]):
                u = np.uint64(neighbours[e])
                count += inside[u] & counts_from(v, u, rank, once)
                before += np.uint64(ascending & (u < v))
            first[i] = offsets[v] + before
        counts[block] = count


@jit
def list_chosen(
    lo, hi, bounds, some, offsets, neighbours, inside, rank, once, starts, first, source, destination,
    edge,
):  # fmt: skip
    """List them from ``starts`` of each block on; ``edge`` may be empty, where their places are not wanted.

    ``starts`` has one entry more, where the last block ends.
    """
    for block in range(lo, hi):
        place, stop = np.uint64(starts[block]), np.uint64(starts[block + 1])
        for i in range(bounds[block], bounds[block + 1]):
            v = np.uint64(some[i])
            for e in range(first[i], offsets[v + _ONE]):
                if place == stop:
                    break
                # Written in any case, and again unless it is chosen.
                u = neighbours[e]
                source[place] = v
                destination[place] = u
                if edge.size:
                    edge[place] = e
                place += np.uint64(inside[u] & counts_from(v, np.uint64(u), rank, once))
