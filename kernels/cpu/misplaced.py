"""Whether rows of neighbours are what they have to be, before a kernel indexes anything by them."""

import numpy as np

from dask_graphgpu.kernels.compile import jit

# Rows after which it is looked where they begin, so that what they hold is still in the cache.
_ROWS = 2048


@jit
def falling(lo, hi, offsets):
    """How many of the rows lo to hi end before they begin."""
    number = 0
    for v in range(np.uint64(lo), np.uint64(hi)):
        number += offsets[v + np.uint64(1)] < offsets[v]
    return number


@jit
def misplaced(lo, hi, offsets, neighbours, num_vertices):
    """How many neighbours in the rows lo to hi stand below the one before; -1: one of them is no vertex.

    Neighbours are compared as if there were no rows, in which order they may fall where a row begins. So the
    inner loop has no branch.

    Parameters
    ----------
    offsets : int64 array, ascending within the neighbours
    neighbours : unsigned array
    """
    wrong = 0
    for start in range(lo, hi, _ROWS):
        end = min(start + _ROWS, hi)
        first, last = np.uint64(offsets[start]), np.uint64(offsets[end])
        if first == last:
            continue
        largest = neighbours[first]
        falls = 0
        for e in range(first + np.uint64(1), last):
            largest = max(largest, neighbours[e])
            falls += neighbours[e] < neighbours[e - np.uint64(1)]
        if largest >= num_vertices:
            return -1
        for v in range(np.uint64(start), np.uint64(end)):
            begin = np.uint64(offsets[v])
            if begin > first and begin < np.uint64(offsets[v + np.uint64(1)]):
                falls -= neighbours[begin] < neighbours[begin - np.uint64(1)]
        wrong += falls
    return wrong
