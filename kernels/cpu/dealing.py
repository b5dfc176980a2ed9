"""Kernel that deals groups of equal things to ranks so that all have about as much."""

from __future__ import annotations

import numpy as np

from dask_graphgpu.kernels.compile import jit
from dask_graphgpu.kernels.cpu.stable_order import stable_order


@jit
def level(weights, counts, loads, given):
    """Deal groups one after another, each thing to the rank that has least by then.

    Parameters
    ----------
    weights, counts : int64, shape (groups,)
        Weight of each thing of a group, over 0, and how many there are.
    loads : int64, shape (ranks,)
        What the ranks have; changed.
    given : int64, shape (groups, ranks)
        How many of each group each rank gets; written.
    """
    size = loads.size
    for g in range(weights.size):
        weight, left = weights[g], counts[g]
        order = stable_order(loads)  # of equal ranks the first
        # The ranks that have less than the level up to which this group fills them.
        below = 0
        filled = 0
        while filled < size:
            below += loads[order[filled]]
            filled += 1
            if filled < size and below + left * weight <= filled * loads[order[filled]]:
                break
        up_to = (below + left * weight) // filled
        for i in range(filled):
            r = order[i]
            given[g, r] = max(up_to - loads[r], 0) // weight
            loads[r] += given[g, r] * weight
            left -= given[g, r]
        while left > 0:  # fewer than ranks
            r = np.argmin(loads)
            given[g, r] += 1
            loads[r] += weight
            left -= 1
