"""Samples of the edges of some rows. ``kernels/cuda/neighbor_sample.cu`` does the same.

A row has a stream of random numbers of its own, by its batch and its vertex: see `walks` for these.
"""

import numpy as np

from dask_graphgpu.kernels.compile import jit
from dask_graphgpu.kernels.cpu.stable_order import stable_order
from dask_graphgpu.kernels.cpu.walks import drawn, key_of

_SHIFT = np.uint64(32)


@jit
def sample(lo, hi, batch, vertex, begins, degrees, starts, hop, replace, seed, edges):
    """Write the edges that are drawn of each row from ``starts`` of it on, up to those of the next.

    Without ``replace`` these are different ones: by Floyd's method, of which the time grows with the square of their
    number, or where that is more, by a pass over the row (Knuth's algorithm S).
    """
    for i in range(lo, hi):
        begin, first = begins[i], starts[i]
        degree, number = degrees[i], starts[i + 1] - first
        key = key_of(key_of(seed, batch[i]), vertex[i])
        counter = np.uint64(hop) << _SHIFT
        if not replace and number == degree:
            for j in range(number):
                edges[first + j] = begin + j
        elif replace:
            for j in range(number):
                place = np.int64(drawn(key, counter + np.uint64(j)) * np.float64(degree))
                edges[first + j] = begin + min(place, degree - 1)
        elif number * number <= 4 * degree:
            for j in range(number):
                last = degree - number + j
                place = np.int64(drawn(key, counter + np.uint64(j)) * np.float64(last + 1))
                edge = begin + min(place, last)
                for k in range(j):
                    if edges[first + k] == edge:
                        edge = begin + last
                        break
                edges[first + j] = edge
        else:
            taken = 0
            for j in range(degree):
                left = np.float64(degree - j)
                if drawn(key, counter + np.uint64(j)) * left < np.float64(number - taken):
                    edges[first + taken] = begin + j
                    taken += 1


@jit
def order_rows(lo, hi, offsets, values, edges):
    """Write the edges of each row in ascending order of their values; equal ones stay in theirs.

    It allocates what it sorts a row by.
    """
    for i in range(lo, hi):
        begin, end = np.int64(offsets[i]), np.int64(offsets[i + 1])
        order = stable_order(values[begin:end])
        for j in range(end - begin):
            edges[begin + j] = begin + order[j]
