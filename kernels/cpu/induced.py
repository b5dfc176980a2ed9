"""Edges with both ends in a set of vertices.

Encoding
--------
inside : bool a vertex; some : the vertices that have rows and are inside, ascending.
rank : place of a vertex in an order; empty: the vertices themselves.
once : only edges whose source comes first in that order, or is the destination.
"""

import numpy as np

from dask_graphgpu.kernels.compile import jit

_ONE = np.uint64(1)


@jit(inline="always")
def first_of_row(v, offsets, neighbours, rank, once):
    """Where to begin in the row of v: neighbours are ascending, so smaller ones are passed over at once."""
    low = offsets[v]
    if once and not rank.size:
        high = offsets[v + _ONE]
        while low < high:
            middle = (low + high) >> _ONE
            if neighbours[middle] < v:
                low = middle + _ONE
            else:
                high = middle
    return low


@jit(inline="always")
def _chosen(v, u, inside, rank, once):
    """Of a neighbour u of v that `first_of_row` has not passed over."""
    return inside[u] and (not once or not rank.size or rank[v] <= rank[u])


@jit
def count_chosen(lo, hi, bounds, some, offsets, neighbours, inside, rank, once, counts):
    """Count the chosen edges of each block ``lo`` to ``hi`` of `some`, which `bounds` bound."""
    for block in range(lo, hi):
        count = 0
        for i in range(bounds[block], bounds[block + 1]):
            v = np.uint64(some[i])
            first = first_of_row(v, offsets, neighbours, rank, once)
            for e in range(first, offsets[v + _ONE]):
                count += _chosen(v, np.uint64(neighbours[e]), inside, rank, once)
        counts[block] = count


@jit
def list_chosen(
    lo, hi, bounds, some, offsets, neighbours, inside, rank, once, starts, source, destination,
    edge,
):  # fmt: skip
    """List them from ``starts`` of each block on; ``edge`` may be empty, where their places are not wanted."""
    for block in range(lo, hi):
        place = np.uint64(starts[block])
        for i in range(bounds[block], bounds[block + 1]):
            v = np.uint64(some[i])
            first = first_of_row(v, offsets, neighbours, rank, once)
            for e in range(first, offsets[v + _ONE]):
                u = neighbours[e]
                if _chosen(v, np.uint64(u), inside, rank, once):
                    source[place] = v
                    destination[place] = u
                    if edge.size:
                        edge[place] = e
                    place += _ONE
