"""Counters of balls that grow by a step, for HyperBall."""

import numpy as np

from dask_graphgpu.kernels.compile import jit

_ONE = np.uint64(1)
_MOST_RANK = 44  # as in engine/hyperloglog.py
_SCALE = 0.5 / np.log(2.0)


@jit
def estimate(registers):
    """How many things a counter has counted (Ertl 2017, without the registers at their end, which are none).

    ``sigma`` brings in registers that are still empty, and is what corrects small numbers.
    """
    whole = np.int64(0)  # of 2**-rank, times 2**_MOST_RANK: exact
    empty = 0
    for j in range(registers.size):
        rank = registers[j]
        if rank == 0:
            empty += 1
        else:
            whole += np.int64(1) << np.int64(_MOST_RANK - rank)
    size = float(registers.size)
    x = empty / size
    if x == 1.0:
        return 0.0
    sigma, y, before = x, 1.0, -1.0
    while sigma != before:
        x *= x
        before = sigma
        sigma += x * y
        y += y
    return _SCALE * size * size / (size * sigma + float(whole) / float(1 << _MOST_RANK))


@jit
def grow(lo, hi, offsets, neighbours, registers, grown, changed, changes, step, balls):
    """Unite the counters of rows with those of neighbours that have just changed.

    Parameters
    ----------
    registers, grown : uint8, shape (vertices, registers of each)
        Before this step, and after it. Before, a row of `grown` is that of `registers` unless the vertex has
        just changed.
    changed, changes : uint8, shape (vertices,)
        Who has changed in the step before, and does in this one.
    balls : float64, shape (vertices, 6)
        As in engine/contract_distances.py.

    Returns
    -------
    tuple of int
        Counters that have changed, and how often one was united with another.
    """
    count, united = 0, 0
    hops = float(step)
    for i in range(lo, hi):
        v = np.uint64(i)
        mine = grown[v]
        if changed[v]:
            held = registers[v]
            for j in range(mine.size):
                mine[j] = held[j]
        touched = False
        for e in range(offsets[v], offsets[v + _ONE]):
            u = neighbours[e]
            if changed[u]:
                other = registers[u]
                for j in range(mine.size):
                    mine[j] = max(mine[j], other[j])
                touched = True
                united += 1
        differs = False
        if touched:
            before = registers[v]
            for j in range(mine.size):
                differs |= mine[j] != before[j]
        changes[v] = differs
        if differs:
            size = estimate(mine)
            more = size - balls[v, 0]
            varies = more * (size + balls[v, 0])
            balls[v, 0] = size
            balls[v, 1] += more * hops
            balls[v, 2] += more / hops
            balls[v, 3] += varies * hops
            balls[v, 4] += varies * (hops * hops)
            balls[v, 5] += varies / (hops * hops)
            count += 1
    return count, united
