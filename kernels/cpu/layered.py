"""Kernels of the layered edge list: roots of further trees, and edges in the order of layers."""

import numpy as np

from dask_graphgpu.kernels.compile import jit


@jit
def mark_beaten(lo, hi, offsets, neighbours, level, degree, numbers, beaten):
    """Mark the vertices without a level that are sent to by one of them of higher degree.

    Among equal degrees the smaller number counts as higher.
    """
    for u in range(lo, hi):
        if level[u] >= 0:
            continue
        for e in range(offsets[u], offsets[u + 1]):
            v = neighbours[e]
            higher = degree[u] > degree[v] or (degree[u] == degree[v] and numbers[u] < numbers[v])
            if level[v] < 0 and higher:
                beaten[v] = 1


@jit
def place_edges(lo, hi, order, offsets, places, neighbours, sources, destinations):
    """Write the edges of the rows ``order[lo:hi]`` from ``places[lo]`` on, one after another."""
    for i in range(np.uint64(lo), np.uint64(hi)):
        u = order[i]
        place = np.uint64(places[i])
        for e in range(np.uint64(offsets[u]), np.uint64(offsets[u + 1])):
            sources[place] = u
            destinations[place] = neighbours[e]
            place += np.uint64(1)


@jit
def place_column(lo, hi, order, offsets, places, column, out):
    """The same of what edges carry."""
    for i in range(np.uint64(lo), np.uint64(hi)):
        u = order[i]
        place = np.uint64(places[i])
        for e in range(np.uint64(offsets[u]), np.uint64(offsets[u + 1])):
            out[place] = column[e]
            place += np.uint64(1)
