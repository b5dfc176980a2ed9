"""Sums over neighbours, for hubs and authorities."""

import numpy as np

from dask_graphgpu.kernels.compile import jit


@jit
def sum_neighbours(lo, hi, offsets, neighbours, weight, values, sums):
    """``sums[v]`` = the values of the neighbours of v, times their weights unless `weight` is empty.

    Returns
    -------
    float
        The sums of the block added up.
    """
    total = 0.0
    weighted = weight.size > 0
    for v in range(np.uint64(lo), np.uint64(hi)):
        added = 0.0
        if weighted:
            for e in range(offsets[v], offsets[v + np.uint64(1)]):
                added += weight[e] * values[np.uint64(neighbours[e])]
        else:
            for e in range(offsets[v], offsets[v + np.uint64(1)]):
                added += values[np.uint64(neighbours[e])]
        sums[v] = added
        total += added
    return total
