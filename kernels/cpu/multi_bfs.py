"""Breadth-first searches from up to 64 sources in one sweep, a bit each.

Encoding
--------
seen, visit, next_visit : uint64 a vertex; bit k stands for the k-th source. Who has been reached,
    who was in the last level, who is in the next one.
level : int32, shape (sources, vertices), -1 where not reached; or (0, vertices), where only sums are wanted.
sums : float64, shape (vertices, 5), or (0, 5): of the searches that reach a vertex the number, and the sums of hops, of
    their squares, of their inverses, and of the squares of these.
"""

import numpy as np

from dask_graphgpu.kernels.compile import jit
from dask_graphgpu.kernels.cpu.atomics import atomic_load, atomic_or
from dask_graphgpu.kernels.cpu.bits import count_bits, lowest_bit

_ONE = np.uint64(1)
_NONE = np.uint64(0)

_SIDE = 1 << 9  # vertices whose sums stay in the cache


@jit(inline="always")
def _add(v, number, hops, sums):
    """Note in `sums` that so many searches have come to `v` by so many hops."""
    inverse = 1.0 / hops
    sums[v, 0] += number
    sums[v, 1] += number * hops
    sums[v, 2] += number * hops * hops
    sums[v, 3] += number * inverse
    sums[v, 4] += number * inverse * inverse


@jit(inline="always")
def _reach(v, bits, depth, seen, level, sums):
    """Note that `v` is in a level of the sources `bits`."""
    seen[v] |= bits
    if sums.shape[0] > 0:
        _add(v, float(count_bits(bits)), float(depth), sums)
        return
    while bits:
        level[lowest_bit(bits), v] = depth
        bits &= bits - _ONE


@jit
def push(
    offsets, neighbours, seen, visit, next_visit, level, sums, frontier, found, size, depth, last,
    targets, full, limit,
):  # fmt: skip
    """Push level after level on one thread, until a level is large or the searches end.

    Parameters
    ----------
    frontier, size : the vertices whose word in `visit` is not zero; the others' are
    found : room for as many
    last : last level that may be assigned; -1: none
    targets, full : the searches end when all `targets` have all bits of `full`
    limit : come back before a level of more edges than this

    Returns
    -------
    tuple
        Vertices in the frontier that is left, in which of the lists it is (0: `frontier`), depth, edges read, and the
        edges of the frontier that is left (0: the searches are over).
    """
    side = 0
    read = 0
    while size > 0:
        done = targets.size > 0
        for t in targets:
            done &= seen[t] == full
        if depth == last or done:
            break
        ahead = 0
        for i in range(size):
            u = frontier[i]
            ahead += offsets[u + _ONE] - offsets[u]
        if ahead > limit:
            return size, side, depth, read, ahead
        depth += 1
        read += ahead
        count = 0
        for i in range(size):
            u = frontier[i]
            bits = visit[u]
            for e in range(offsets[u], offsets[u + _ONE]):
                v = neighbours[e]
                new = bits & ~seen[v]
                if new:
                    if next_visit[v] == 0:
                        found[count] = v
                        count += 1
                    next_visit[v] |= new
        for i in range(size):
            visit[frontier[i]] = 0
        for i in range(count):
            v = found[i]
            new = next_visit[v]
            _reach(v, new, depth, seen, level, sums)
            visit[v] = new
            next_visit[v] = 0
        frontier, found = found, frontier
        side = 1 - side
        size = count
    return 0, side, depth, read, 0


@jit
def push_block(lo, hi, frontier, offsets, neighbours, seen, visit, next_visit):
    """Push the part ``frontier[lo:hi]`` of a level, while other threads push other parts; returns the edges read."""
    read = 0
    for i in range(lo, hi):
        u = frontier[i]
        bits = visit[u]
        start, stop = offsets[u], offsets[u + _ONE]
        read += stop - start
        for e in range(start, stop):
            v = neighbours[e]
            new = bits & ~seen[v]
            if new & ~atomic_load(next_visit, v):
                atomic_or(next_visit, v, new)
    return read


@jit
def pull_block(lo, hi, offsets, neighbours, seen, visit, next_visit, full):
    """Each vertex that a search has not reached asks its in-neighbours, until it has all bits; returns edges read."""
    read = 0
    for v in range(np.uint64(lo), np.uint64(hi)):
        wanted = full & ~seen[v]
        bits = _NONE
        if wanted:
            for e in range(offsets[v], offsets[v + _ONE]):
                bits |= visit[neighbours[e]]
                read += 1
                if bits & wanted == wanted:
                    break
        next_visit[v] = bits & wanted
    return read


@jit
def add_levels(lo, hi, level, sums):
    """Note in `sums` the levels of searches, but for that of a source."""
    for first in range(lo, hi, _SIDE):
        for k in range(level.shape[0]):
            for v in range(first, min(first + _SIDE, hi)):
                if level[k, v] > 0:
                    _add(v, 1.0, float(level[k, v]), sums)


@jit
def settle_block(lo, hi, depth, seen, next_visit, level, sums):
    """Note the vertices of a new level; returns how many they are, each once."""
    size = 0
    for v in range(np.uint64(lo), np.uint64(hi)):
        bits = next_visit[v]
        if bits:
            size += 1
            _reach(v, bits, depth, seen, level, sums)
    return size


@jit
def collect(visit, frontier):
    """List the vertices whose word is not zero."""
    size = 0
    for v in range(np.uint64(visit.size)):
        if visit[v]:
            frontier[size] = v
            size += 1


@jit
def running_degrees(size, frontier, offsets, total):
    """``total[i]`` = degrees of ``frontier[:i]``."""
    edges = 0
    for i in range(size):
        total[i] = edges
        u = frontier[i]
        edges += offsets[u + _ONE] - offsets[u]
    total[size] = edges
