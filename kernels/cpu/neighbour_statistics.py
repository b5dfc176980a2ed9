"""Values of neighbours brought together, several columns at once."""

import numpy as np

from dask_graphgpu.kernels.compile import jit

_ONE = np.uint64(1)


@jit
def accumulate(lo, hi, offsets, neighbours, weight, values, sums, weights, counts, least, most):
    """Take the values of the neighbours of rows in, where they are not NaN.

    Parameters
    ----------
    weight : of edges, or empty: all are 1
    values : float64 array of shape (num_vertices, columns)
    sums, weights, counts, least, most : arrays of shape (num_vertices, columns), or (0, columns)
        What there is so far, and what is not asked for.
    """
    width, weighted = values.shape[1], weight.size > 0
    adds, weighs, counting = sums.shape[0] > 0, weights.shape[0] > 0, counts.shape[0] > 0
    lowers, raises = least.shape[0] > 0, most.shape[0] > 0
    w = 1.0
    for i in range(lo, hi):
        v = np.uint64(i)
        for e in range(offsets[v], offsets[v + _ONE]):
            u = neighbours[e]
            if weighted:
                w = float(weight[e])
            for j in range(width):
                x = values[u, j]
                if x != x:
                    continue
                if adds:
                    sums[v, j] += w * x
                if weighs:
                    weights[v, j] += w
                if counting:
                    counts[v, j] += 1
                if lowers and x < least[v, j]:
                    least[v, j] = x
                if raises and x > most[v, j]:
                    most[v, j] = x


@jit
def add_rows(lo, hi, offsets, neighbours, weight, values, sums):
    """`accumulate` of sums alone, of values none of which is NaN: the loop over columns is one of vectors."""
    width, weighted = values.shape[1], weight.size > 0
    for i in range(lo, hi):
        v = np.uint64(i)
        for e in range(offsets[v], offsets[v + _ONE]):
            u = neighbours[e]
            if weighted:
                w = float(weight[e])
                for j in range(width):
                    sums[v, j] += w * values[u, j]
            else:
                for j in range(width):
                    sums[v, j] += values[u, j]
