"""Peeling on one of many ranks: own vertices go level by level, and ghosts when their owners say so.

Encoding
--------
owned : the vertices below are own ones. Rows of ghosts have their own neighbours only.
degree : of own vertices, neighbours that are left, but never less than the level in which the vertex went: of one that
    is gone its core number.
counts : own vertices of each degree.
"""

import numpy as np

from dask_graphgpu.kernels.compile import jit


@jit
def begin_level(k, alive, left, degree, stack):
    """Put the vertices of degree ``k`` on the stack, and keep those above in front of ``alive``.

    Returns
    -------
    tuple
        Vertices kept; vertices on the stack.
    """
    kept = 0
    top = 0
    for i in range(left):
        v = alive[i]
        if degree[v] > k:
            alive[kept] = v
            kept += 1
        elif degree[v] == k:
            stack[top] = v
            top += 1
    return kept, top


@jit
def peel(
    k, stack, top, fallen, offsets, neighbours, owned, degree, counts, shared, told
):  # fmt: skip
    """Take away the vertices on the stack, and all that come down to degree ``k`` by that or by ghosts. One thread.

    Parameters
    ----------
    fallen : ghosts that are gone, each given once
    shared : whether an own vertex is a ghost elsewhere
    told : gets the shared vertices that go

    Returns
    -------
    tuple
        Vertices that go; how many of them are shared; edges read.
    """
    gone = 0
    number = 0
    read = 0
    left = fallen.size
    while left or top:
        if left:
            left -= 1
            v = np.int64(fallen[left])
        else:
            top -= 1
            v = np.int64(stack[top])
            gone += 1
            counts[k] -= 1
            if shared[v]:
                told[number] = v
                number += 1
        start, stop = offsets[v], offsets[v + 1]
        read += stop - start
        for e in range(start, stop):
            u = neighbours[e]
            if u < owned:
                d = degree[u]
                if d > k:
                    degree[u] = d - 1
                    counts[d] -= 1
                    counts[d - 1] += 1
                    if d - 1 == k:
                        stack[top] = u
                        top += 1
    return gone, number, read


@jit
def next_level(k, counts, most):
    """The least degree above ``k``, at most ``most``."""
    for d in range(k + 1, min(counts.size, most)):
        if counts[d]:
            return d
    return most


@jit
def address(told, offsets, places, peers, ends, out):
    """Write where each vertex that is told stands among the ghosts of each peer.

    Parameters
    ----------
    offsets, places, peers : of own vertices, who has it as a ghost, and where
    ends : shape (peers,), int64
        Where the places for a peer start in ``out``; where they end after.
    """
    for v in told:
        for e in range(offsets[v], offsets[v + 1]):
            peer = peers[e]
            out[ends[peer]] = places[e]
            ends[peer] += 1


@jit
def count_peers(told, offsets, peers, lengths):
    """``lengths[j]`` = vertices that are told and that peer j has as ghosts."""
    lengths[:] = 0
    for v in told:
        for e in range(offsets[v], offsets[v + 1]):
            lengths[peers[e]] += 1
