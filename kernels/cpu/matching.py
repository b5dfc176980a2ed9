"""Matchings: edges of which no two share an end."""

import numpy as np

from dask_graphgpu.kernels.compile import jit


@jit
def take_in_turn(order, source, destination, left, right, chosen):
    """Choose edges in turn, unless an end has one already; one thread.

    ``left`` and ``right`` tell which sources and destinations have one: one array where both are the same vertices.
    """
    for i in range(len(order)):
        edge = order[i]
        u, v = source[edge], destination[edge]
        if not left[u] and not right[v]:
            left[u] = right[v] = True
            chosen[edge] = True


@jit
def propose(some, offsets, neighbours, weight, to_itself, suitor, offered, due):
    """Have some vertices offer an edge to the neighbours that prefer it to what they have, each the best of its row.

    An edge is better than another at one of its ends if its weight is larger, of equal ones if its other end is the
    smaller. Vertices whose offer a better one has taken the place of are due.

    Parameters
    ----------
    to_itself : bool
        Whether a vertex may be its own neighbour.
    suitor, offered : by vertex, whose offer it has, all ones: nobody's; and the weight of that edge

    Returns
    -------
    int
        Edges read.
    """
    nobody = suitor.dtype.type(-1)
    read = np.uint64(0)
    for i in range(len(some)):
        u = np.uint64(some[i])
        due[u] = False
        best, most = np.int64(-1), weight.dtype.type(0)
        read += offsets[u + np.uint64(1)] - offsets[u]
        for e in range(offsets[u], offsets[u + np.uint64(1)]):
            v, w = np.uint64(neighbours[e]), weight[e]
            if best >= 0 and (w < most or (w == most and np.int64(v) >= best)):
                continue
            if u == v and not to_itself:
                continue
            if suitor[v] == nobody or w > offered[v] or (w == offered[v] and u < suitor[v]):
                best, most = np.int64(v), w
        if best >= 0:
            before = suitor[best]
            suitor[best], offered[best] = u, most
            if before != nobody:
                due[before] = True
    return read
