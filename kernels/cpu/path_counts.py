"""Kernels that count shortest paths over finished breadth-first levels.

order : reached vertices by level; within a level ascending.
level : int32, -1 where not reached.
count : int64 or float64, 1 at the source and 0 elsewhere before.

A vertex's count is the sum of its neighbours' counts one level before. A kernel may be given several
levels at once when it is the only one that runs: it goes through them in order.
"""

import numpy as np

from dask_graphgpu.kernels.compile import jit
from dask_graphgpu.kernels.cpu.atomics import atomic_add


@jit
def by_level(level, starts, order):
    """Counting sort of the reached vertices; ``starts[l]`` becomes where level l starts. One thread."""
    for v in range(level.size):
        if level[v] >= 0:
            starts[level[v] + 1] += 1
    for depth in range(1, starts.size):
        starts[depth] += starts[depth - 1]
    place = starts.copy()
    for v in range(np.uint64(level.size)):
        depth = level[v]
        if depth >= 0:
            order[place[depth]] = v
            place[depth] += 1


@jit
def running_degrees(lo, hi, order, offsets, total):
    """``total[i]`` = degrees of ``order[:i]``, for one block: all of it."""
    edges = 0
    for i in range(lo, hi):
        total[i] = edges
        u = order[i]
        edges += offsets[u + np.uint64(1)] - offsets[u]
    total[hi] = edges


@jit
def pull(lo, hi, order, offsets, neighbours, level, count):
    """The vertices ``order[lo:hi]`` add up their in-neighbours. Returns a negative number on overflow.

    Counts are not negative, so the first sum beyond int64 is.
    """
    signs = count[0] - count[0]
    for i in range(lo, hi):
        v = order[i]
        before = level[v] - 1
        total = count[0] - count[0]
        for e in range(offsets[v], offsets[v + np.uint64(1)]):
            u = neighbours[e]
            if level[u] == before:
                total += count[u]
                signs = min(signs, total)
        count[v] = total
    return signs


@jit
def push(lo, hi, order, offsets, neighbours, level, count):
    """The vertices ``order[lo:hi]`` add their count to their out-neighbours'; returns as `pull`. One thread."""
    signs = count[0] - count[0]
    for i in range(lo, hi):
        u = order[i]
        after = level[u] + 1
        paths = count[u]
        for e in range(offsets[u], offsets[u + np.uint64(1)]):
            v = neighbours[e]
            if level[v] == after:
                total = count[v] + paths
                count[v] = total
                signs = min(signs, total)
    return signs


@jit
def push_block(lo, hi, order, offsets, neighbours, level, count):
    """As `push`, for a part of one level, while other threads push other parts of it."""
    signs = count[0] - count[0]
    for i in range(lo, hi):
        u = order[i]
        after = level[u] + 1
        paths = count[u]
        for e in range(offsets[u], offsets[u + np.uint64(1)]):
            v = neighbours[e]
            if level[v] == after:
                signs = min(signs, atomic_add(count, v, paths) + paths)
    return signs
