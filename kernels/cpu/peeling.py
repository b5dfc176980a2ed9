"""Core numbers by peeling: take away vertices of degree k, for k = 0, 1, 2 ...

Encoding
--------
degree : neighbours of a vertex that are not peeled yet; of a peeled vertex, its core number (never lowered again).
alive : the vertices that are not peeled, compacted from time to time.
core : what a vertex's core number is at most, coming down to it.
count : of a vertex whose `core` was estimated, neighbours whose own is no lower.
place : of a vertex among those that are peeled by themselves; else `ABOVE`, in a higher core, or `BELOW`.
"""

import numpy as np

from dask_graphgpu.kernels.compile import jit
from dask_graphgpu.kernels.cpu.atomics import atomic_add, atomic_store

ABOVE, BELOW = -1, -2

_ONE = np.uint64(1)
_MOST = 2**62


@jit
def peel(offsets, neighbours, degree, alive):
    """Peel everything on one thread.

    Returns
    -------
    tuple
        Values of k for which a vertex was peeled; edges read.
    """
    n = degree.size
    stack = np.empty(n, neighbours.dtype)
    k = 0
    left = n
    rounds = 0
    read = 0
    while left:
        # Compact: what was peeled has a degree of at most k - 1. Then k jumps to the smallest degree left.
        kept = 0
        top = 0
        smallest = _MOST
        for i in range(left):
            v = alive[i]
            d = degree[v]
            if d >= k:
                alive[kept] = v
                kept += 1
                if d < smallest:
                    smallest = d
                    top = 0
                if d == smallest:
                    stack[top] = v
                    top += 1
        left = kept
        if left == 0:
            break
        k = smallest
        rounds += 1
        while top:
            top -= 1
            v = stack[top]
            start, stop = offsets[v], offsets[v + 1]
            read += stop - start
            for e in range(start, stop):
                u = neighbours[e]
                d = degree[u]
                if d > k:
                    degree[u] = d - 1
                    if d - 1 == k:
                        stack[top] = u
                        top += 1
        k += 1
    return rounds, read


@jit
def peel_below(k, offsets, neighbours, degree):
    """Peel what is not in the `k`-core, on one thread: who is in it keeps a degree of at least `k`.

    Returns
    -------
    int
        Edges read.
    """
    stack = np.empty(degree.size, neighbours.dtype)
    top = 0
    for v in range(degree.size):
        if degree[v] < k:
            stack[top] = v
            top += 1
    read = 0
    while top:
        top -= 1
        v = stack[top]
        start, stop = offsets[v], offsets[v + 1]
        read += stop - start
        for e in range(start, stop):
            u = neighbours[e]
            d = degree[u]
            if d >= k:
                degree[u] = d - 1
                if d == k:
                    stack[top] = u
                    top += 1
    return read


@jit
def estimate(lo, hi, some, offsets, neighbours, core, count, found):
    """``found[i]`` = the largest k up to the `core` of ``some[i]`` that k neighbours allow, for a block.

    ``count[v]`` becomes the neighbours whose `core` is no lower than that.

    Returns
    -------
    int
        Edges read.
    """
    read = 0
    counts = np.zeros(64, np.int64)
    for i in range(lo, hi):
        v = some[i]
        k = np.int64(core[v])
        if k >= counts.size:
            counts = np.zeros(2 * k, np.int64)
        counts[: k + 1] = 0
        start, stop = offsets[v], offsets[v + _ONE]
        read += stop - start
        for e in range(start, stop):
            counts[min(np.int64(core[neighbours[e]]), k)] += 1
        allow = counts[k]
        while allow < k:
            k -= 1
            allow += counts[k]
        count[v] = allow
        found[i] = k
    return read


@jit
def tell_lower(lo, hi, some, offsets, neighbours, before, core, count, due):
    """Take those of a block, whose `core` was ``before[i]`` and is lower, out of the `count` of whom they are below.

    Who has fewer left than it needs is `due`. Nobody's `core` changes meanwhile.

    Returns
    -------
    int
        Edges read.
    """
    read = 0
    for i in range(lo, hi):
        v = some[i]
        k, old = core[v], before[i]
        start, stop = offsets[v], offsets[v + _ONE]
        read += stop - start
        for e in range(start, stop):
            u = neighbours[e]
            its = core[u]
            if k < its and its <= old and atomic_add(count, u, -1) <= its:
                atomic_store(due, u, 1)
    return read


@jit
def count_inside(lo, hi, some, offsets, neighbours, place, inside, degree):
    """``inside[i]`` = neighbours of ``some[i]`` that have a place, ``degree[i]`` also those `ABOVE`, for a block.

    Returns
    -------
    int
        Edges read.
    """
    read = 0
    for i in range(lo, hi):
        v = some[i]
        start, stop = offsets[v], offsets[v + _ONE]
        read += stop - start
        within = 0
        beyond = 0
        for e in range(start, stop):
            at = place[neighbours[e]]
            within += at >= 0
            beyond += at == ABOVE
        inside[i] = within
        degree[i] = within + beyond
    return read


@jit
def list_inside(lo, hi, some, offsets, neighbours, place, begins, found):
    """The places of these neighbours from ``found[begins[i]]`` on, for a block."""
    for i in range(lo, hi):
        v = some[i]
        into = begins[i]
        for e in range(offsets[v], offsets[v + _ONE]):
            at = place[neighbours[e]]
            if at >= 0:
                found[into] = at
                into += 1
