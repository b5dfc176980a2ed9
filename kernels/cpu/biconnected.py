"""Biconnected components by a spanning tree and one look at every edge.

Encoding
--------
A traversal of the spanning trees gives each vertex a place, a parent before its children, so that what is below a
vertex is a range of places. Arrays are by place, but for those that say otherwise.

up : the place of the parent; of a root its own.
last : the last place of what is below, the vertex included.
low, high : the first and the last place that an edge which is not of the tree leads to from the vertex; what is below
    it is added in the end.
union : trees of sets, see kernels/cpu/components.py. Each vertex but roots stands for the edge to its parent.
"""

import numpy as np

from dask_graphgpu.kernels.compile import jit
from dask_graphgpu.kernels.cpu.atomics import atomic_load, atomic_max, atomic_min
from dask_graphgpu.kernels.cpu.components import link

_ONE = np.uint64(1)


@jit
def traverse(offsets, neighbours, stack, parent, place, order, up):
    """Go through trees, in rows of both directions. One thread.

    Parameters
    ----------
    stack, parent : for the traversal; by vertex
    place : of each vertex; what is no place before
    order : the vertex at each place
    """
    none, count = place.dtype.type(place.size), np.uint64(0)
    for begin in range(place.size):
        if place[begin] != none:
            continue
        stack[0], size = begin, np.uint64(1)
        parent[begin] = begin
        while size > 0:
            size -= _ONE
            v = np.uint64(stack[size])
            above = np.uint64(parent[v])
            place[v] = count
            order[count] = v
            up[count] = place[above]
            count += _ONE
            for e in range(offsets[v], offsets[v + _ONE]):
                w = np.uint64(neighbours[e])
                if w != above:
                    parent[w] = v
                    stack[size] = w
                    size += _ONE


@jit
def add_below(up, last, low, high):
    """What is below each place becomes part of its `last`, `low` and `high`. One thread."""
    for i in range(up.size - 1, -1, -1):
        above = up[i]
        if last[above] < last[i]:
            last[above] = last[i]
        if low[i] < low[above]:
            low[above] = low[i]
        if high[above] < high[i]:
            high[above] = high[i]


@jit
def look(lo, hi, offsets, neighbours, twice, place, up, last, low, high, union):
    """Look at the edges of a block of rows; all arrays are by vertex.

    Vertices at the ends of an edge of which neither is below the other are in one component: their trees are linked.
    ``twice`` : every edge is in the rows of both ends, and each end is told once.
    """
    for u in range(np.uint64(lo), np.uint64(hi)):
        first, end, above = place[u], last[u], up[u]
        for e in range(offsets[u], offsets[u + _ONE]):
            w = np.uint64(neighbours[e])
            other = place[w]
            if other < first:
                if other == above:  # of the tree
                    continue
                if other < atomic_load(low, u):
                    atomic_min(low, u, other)
                if last[w] < first:
                    if not twice and atomic_load(high, w) < first:
                        atomic_max(high, w, first)
                    link(union, u, w)
            elif other > end:
                if atomic_load(high, u) < other:
                    atomic_max(high, u, other)
                if not twice:
                    if first < atomic_load(low, w):
                        atomic_min(low, w, first)
                    link(union, u, w)
            elif not twice and other != first and up[w] != first and first < atomic_load(low, w):
                atomic_min(low, w, first)


@jit
def link_parents(lo, hi, up, last, low, high, union):
    """Link each place of a block with its parent's, where an edge leads from below it to beyond the parent."""
    for i in range(np.uint64(lo), np.uint64(hi)):
        above = np.uint64(up[i])
        if up[above] != above and (low[i] < above or high[i] > last[above]):
            link(union, i, above)
