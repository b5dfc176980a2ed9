"""The edges among the vertices near one, where these are few: one thread, one call.

Encoding
--------
found : bitmap of uint64 words, zero before, vertex v is bit ``v & 63`` of word ``v >> 6``.
queue : room for all vertices, which come in the order in which they are reached.
rank, once : as in `induced`.
"""

import numpy as np

from dask_graphgpu.kernels.compile import jit
from dask_graphgpu.kernels.cpu.bits import lowest_bit
from dask_graphgpu.kernels.cpu.induced import counts_from

_ONE, _SIX, _LAST = np.uint64(1), np.uint64(6), np.uint64(63)


@jit(inline="always")
def _has(found, v):
    return (found[v >> _SIX] >> (v & _LAST)) & _ONE


@jit
def search(offsets, neighbours, found, queue, radius, most):
    """Reach what is near ``queue[0]``; gives up before a level with which it reads more than `most` edges.

    Returns
    -------
    tuple of int
        Levels after the first, edges read, and edges of all that were reached: -1 if it gave up.
    """
    head, tail, depth, read = 0, 1, 0, 0
    center = np.uint64(queue[0])
    found[center >> _SIX] |= _ONE << (center & _LAST)
    while True:
        ahead = 0
        for i in range(head, tail):
            u = np.uint64(queue[i])
            ahead += int(offsets[u + _ONE] - offsets[u])
        if read + ahead > most:
            return depth, read, -1
        if depth == radius or head == tail:
            return depth, read, read + ahead
        read += ahead
        end = tail
        for i in range(head, end):
            u = np.uint64(queue[i])
            for e in range(offsets[u], offsets[u + _ONE]):
                v = np.uint64(neighbours[e])
                if not _has(found, v):
                    found[v >> _SIX] |= _ONE << (v & _LAST)
                    queue[tail] = v
                    tail += 1
        head = end
        depth += 1


@jit
def list_edges(offsets, neighbours, found, rank, once, source, destination, edge):
    """List the edges of which both ends are in `found`, by ascending source. Returns how many.

    ``edge`` gets their places; it may be empty, where they are not wanted.
    """
    place = 0
    for w in range(found.size):
        bits = found[w]
        while bits:
            v = np.uint64(w << 6) + lowest_bit(bits)
            bits &= bits - _ONE
            for e in range(offsets[v], offsets[v + _ONE]):
                u = np.uint64(neighbours[e])
                if _has(found, u) and counts_from(v, u, rank, once):
                    source[place] = v
                    destination[place] = u
                    if edge.size:
                        edge[place] = e
                    place += 1
    return place
