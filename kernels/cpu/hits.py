"""Sums over neighbours, for hubs and authorities."""

import numpy as np

from dask_graphgpu.kernels.compile import jit

_ONE = np.uint64(1)


@jit
def sum_neighbours(lo, hi, offsets, neighbours, weight, values, scale, sums):
    """``sums[v]`` = the values of the neighbours of v, times their weights unless `weight` is empty, times `scale`.

    Returns
    -------
    float
        The sums of the block added up.
    """
    total = 0.0
    weighted = weight.size > 0
    e = offsets[np.uint64(lo)]
    for v in range(np.uint64(lo), np.uint64(hi)):
        end = offsets[v + _ONE]
        even, odd = 0.0, 0.0  # two, so that an addition need not wait for the one before it
        if weighted:
            while e + _ONE < end:
                even += weight[e] * values[neighbours[e]]
                odd += weight[e + _ONE] * values[neighbours[e + _ONE]]
                e += np.uint64(2)
            if e < end:
                even += weight[e] * values[neighbours[e]]
        else:
            while e + _ONE < end:
                even += values[neighbours[e]]
                odd += values[neighbours[e + _ONE]]
                e += np.uint64(2)
            if e < end:
                even += values[neighbours[e]]
        e = end
        added = (even + odd) * scale
        sums[v] = added
        total += added
    return total


@jit
def change(lo, hi, before, of_before, after, of_after):
    """Sum of the differences of two vectors, each multiplied by a number."""
    total = 0.0
    for v in range(np.uint64(lo), np.uint64(hi)):
        total += abs(after[v] * of_after - before[v] * of_before)
    return total
