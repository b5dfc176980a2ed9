"""First free colours of vertices in an order, by threads that take the next vertex each.

Encoding
--------
order : the vertices, by place
state : by vertex, its colour; before it has one -1 - its place
"""

import numpy as np

from dask_graphgpu.kernels.compile import inner, jit
from dask_graphgpu.kernels.cpu.atomics import atomic_add, atomic_load, atomic_store
from dask_graphgpu.kernels.cpu.bits import lowest_bit

_ONE = np.uint64(1)
_ALL = np.uint64(2**64 - 1)

PATIENCE = 256  # looks at a neighbour that another thread is at


@inner
def _colour(state, place, v, offsets, neighbours):
    """The first colour that no neighbour before has; -1: one of them has none yet."""
    first = np.int64(0)
    while True:
        taken = np.uint64(0)
        for e in range(offsets[v], offsets[v + _ONE]):
            w = np.uint64(neighbours[e])
            seen = np.int64(atomic_load(state, w))
            if seen < 0 and -1 - seen < place:
                looks = 0
                while seen < 0 and looks < PATIENCE:
                    seen = np.int64(atomic_load(state, w))
                    looks += 1
                if seen < 0:
                    return np.int64(-1)
            if seen >= first and seen < first + 64:
                taken |= _ONE << np.uint64(seen - first)
        if taken != _ALL:
            return first + np.int64(lowest_bit(~taken))
        first += 64


@jit
def take(lo, hi, places, order, state, offsets, neighbours, taken, left):
    """Give colours until no place is left; how many were, and which go to ``left``, is counted in ``taken``.

    Parameters
    ----------
    lo, hi : not looked at: each block is a thread
    places : ascending, of vertices without colours
    taken : int64, how many of them were taken, and how many of these had to be left
    """
    while True:
        i = atomic_add(taken, 0, 1)
        if i >= places.size:
            break
        place = np.int64(places[i])
        v = np.uint64(order[place])
        colour = _colour(state, place, v, offsets, neighbours)
        if colour < 0:
            left[atomic_add(taken, 1, 1)] = place
        else:
            atomic_store(state, v, colour)
