"""Edges that stand in both directions: their ends are made one vertex, and what is then left is a small graph.

Encoding
--------
parent : of each vertex one of its set that is not larger; the smallest, the root, is its own.
"""

import numpy as np

from dask_graphgpu.kernels.compile import jit
from dask_graphgpu.kernels.cpu.strong_components import has_edge

_ONE = np.uint64(1)


@jit
def count_mutual(offsets, neighbours, samples):
    """Of an edge each of so many vertices, spread over all: how many are mutual, and how many there are."""
    n = np.uint64(offsets.size - 1)
    found = seen = 0
    for i in range(np.uint64(samples)):
        u = i * n // np.uint64(samples)
        length = offsets[u + _ONE] - offsets[u]
        if length:
            seen += 1
            found += has_edge(offsets, neighbours, neighbours[offsets[u] + i % length], u)
    return found, seen


@jit
def _root(parent, v):
    """The root of v's set; paths become shorter on the way."""
    up = np.uint64(parent[v])
    top = np.uint64(parent[up])
    while up != top:
        parent[v] = top
        v = top
        up = np.uint64(parent[v])
        top = np.uint64(parent[up])
    return up


@jit
def join_mutual(offsets, neighbours, parent, cursor, sources, targets, most):
    """Make sets of what mutual edges connect, and list the other edges. One thread.

    Vertices are gone through in ascending order, so of every row the part above its vertex is met in order too: a
    cursor into it finds the edge back without a search. What it passes by has none.

    Parameters
    ----------
    offsets, neighbours : ascending rows
    parent : written
    cursor : for each vertex, place of an edge; written
    sources, targets : written, the ends of the other edges but for self-loops; with room for all edges
    most : other edges that are wanted

    Returns
    -------
    int
        Number of other edges. More than `most`: it was given up, and `parent` is of no use.
    """
    n = np.uint64(offsets.size - 1)
    count = np.uint64(0)
    stop = np.uint64(offsets[0])
    for u in range(n):
        root = np.uint64(u)
        e, stop = stop, np.uint64(offsets[u + _ONE])
        while e < stop:
            v = np.uint64(neighbours[e])
            if v >= u:
                break
            e += _ONE
            c, end = np.uint64(cursor[v]), offsets[v + _ONE]
            while c < end and neighbours[c] < u:
                sources[count], targets[count] = v, neighbours[c]
                count += _ONE
                c += _ONE
            if c < end and neighbours[c] == u:
                cursor[v] = c + _ONE
                if root == u:  # nothing is below it yet, so any of the set will do
                    root = np.uint64(parent[v])
                else:
                    a, b = _root(parent, v), _root(parent, root)
                    root = min(a, b)
                    parent[max(a, b)] = root
            else:
                cursor[v] = c
                sources[count], targets[count] = u, v
                count += _ONE
        if e < stop and neighbours[e] == u:
            e += _ONE
        parent[u] = root
        cursor[u] = e
        if count > most:
            return count
    for u in range(n):
        for left in range(np.uint64(cursor[u]), offsets[u + _ONE]):
            sources[count], targets[count] = u, neighbours[left]
            count += _ONE
    return count


@jit
def contract(parent, place, sources, targets, roots):
    """Rows of the graph that has a vertex for each set with an edge to or from another. One thread.

    Parameters
    ----------
    parent : the root of each vertex
    place : for each vertex, of any content; written
    sources, targets : the edges that are not mutual; written
    roots : twice as long; gets the root of each vertex of the graph

    Returns
    -------
    tuple
        offsets, of uint64, and neighbours, in any order.
    """
    vertices = edges = np.uint64(0)
    for i in range(np.uint64(sources.size)):
        a, b = np.uint64(parent[sources[i]]), np.uint64(parent[targets[i]])
        if a != b:
            x = np.uint64(place[a])
            if x >= vertices or roots[x] != a:  # a has no number yet
                x = vertices
                place[a], roots[x] = x, a
                vertices += _ONE
            y = np.uint64(place[b])
            if y >= vertices or roots[y] != b:
                y = vertices
                place[b], roots[y] = y, b
                vertices += _ONE
            sources[edges], targets[edges] = x, y
            edges += _ONE
    # The row of x starts at place x + 1, which becomes where it ends, and the next one starts, as it is filled.
    offsets = np.zeros(vertices + np.uint64(2), np.uint64)
    for i in range(edges):
        offsets[np.uint64(sources[i]) + np.uint64(2)] += _ONE
    for row in range(vertices):
        offsets[row + _ONE] += offsets[row]
    neighbours = np.empty(edges, targets.dtype)
    for i in range(edges):
        x = np.uint64(sources[i]) + _ONE
        neighbours[offsets[x]] = targets[i]
        offsets[x] += _ONE
    return offsets[:-1], neighbours


@jit
def join_components(roots, label, parent):
    """Join the sets whose vertices have one label: the vertex of the smallest root among them."""
    for x in range(label.size):
        parent[roots[x]] = roots[label[x]]


@jit
def flatten(parent):
    """Make every vertex a child of its root. Parents are not larger, so they are done before."""
    for v in range(np.uint64(parent.size)):
        parent[v] = parent[parent[v]]
