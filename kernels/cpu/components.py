"""Connected components by linking trees (Afforest), over blocks of vertices on several threads at once.

Encoding
--------
parent : id of each vertex's parent in its tree, never larger than the vertex; a root is its own parent. Threads link
    and shorten at the same time: a parent only ever becomes another ancestor, so a stale read costs a step and no
    more. Reads that others may be changing are `atomic_load`, else the compiler could keep a value in a register.
inside : a bit for each vertex that is known to be in one certain tree, in words of 64: what is there stays there.
"""

import numpy as np

from dask_graphgpu.kernels.compile import jit
from dask_graphgpu.kernels.cpu.atomics import (
    atomic_compare_exchange,
    atomic_load,
    atomic_min,
    atomic_store,
)
from dask_graphgpu.kernels.cpu.csr import vertex_of
from dask_graphgpu.kernels.cpu.prefetch import prefetch

_ZERO, _ONE, _SIX, _LAST = np.uint64(0), np.uint64(1), np.uint64(6), np.uint64(63)

# Edges that are looked at together; how far ahead more are asked for, and of a line of a cache.
_LOOK, _AHEAD, _LINE = np.uint64(64), np.uint64(1024), np.uint64(16)


@jit(inline="always")
def link(parent, u, v):
    """Join the trees of `u` and `v`: the larger root becomes a child of a smaller vertex.

    On the way up a vertex becomes a child of its parent's parent, so that long ways are not gone again and again.
    """
    a = atomic_load(parent, u)
    b = atomic_load(parent, v)
    while a != b:
        high = max(a, b)
        low = min(a, b)
        above = atomic_load(parent, high)
        if above == low:
            break
        if above == high and atomic_compare_exchange(parent, high, high, low) == high:
            break
        a = atomic_load(parent, above)
        if a != above:
            atomic_store(parent, high, a)
        b = atomic_load(parent, low)


@jit
def compress(lo, hi, parent):
    """Make every vertex of a block a child of its root."""
    for v in range(lo, hi):
        up = atomic_load(parent, v)
        top = atomic_load(parent, up)
        while up != top:
            atomic_store(parent, v, top)
            up = top
            top = atomic_load(parent, up)


@jit
def link_sampled(lo, hi, offsets, neighbours, parent, place):
    """Link every vertex of a block with the neighbour at one place of its row."""
    for v in range(lo, hi):
        e = offsets[v] + place
        if e < offsets[v + 1]:
            link(parent, v, neighbours[e])


@jit
def link_rest(lo, hi, offsets, neighbours, parent, place, skipped):
    """Link every vertex of a block with its neighbours from `place` on, but for those in the tree of `skipped`.

    Returns
    -------
    int
        Edges read.
    """
    read = 0
    for v in range(lo, hi):
        if atomic_load(parent, v) != skipped:
            start = offsets[v] + place
            stop = offsets[v + 1]
            for e in range(start, stop):
                link(parent, v, neighbours[e])
            read += max(stop - start, 0)
    return read


@jit
def link_edges(lo, hi, offsets, neighbours, parent, inside):
    """Link both ends of the edges lo..hi, whatever rows they are in.

    Most have the same parent by then, once trees were made flat: a look at the neighbour's is enough.
    Where the row's vertex is ``inside``, not even that: the bits of its neighbours, which fit a
    processor's nearest cache, are looked at some at a time.
    """
    v = np.searchsorted(offsets, lo, side="right") - 1
    while v + 1 < len(offsets) and offsets[v] < hi:
        within = is_inside(inside, np.uint64(v))
        up = atomic_load(parent, v)
        e = np.uint64(max(offsets[v], lo))
        end = np.uint64(min(offsets[v + 1], hi))
        while e < end:
            stop = min(e + _LOOK, end)
            for f in range(e, stop, _LINE):
                prefetch(neighbours, f + _AHEAD)
            some = np.uint64(1) - within
            if within:
                for f in range(e, stop):
                    some |= ~is_inside(inside, np.uint64(neighbours[f]))
            if some & _ONE:
                for f in range(e, stop):
                    if atomic_load(parent, neighbours[f]) != up:
                        link(parent, v, neighbours[f])
                        up = atomic_load(parent, v)
            e = stop
        v += 1


@jit(inline="always")
def is_inside(inside, v):
    """The bit of a vertex, 0 or 1."""
    return (inside[v >> _SIX] >> (v & _LAST)) & _ONE


@jit
def smallest_rank(lo, hi, parent, rank, best):
    """``best[r]`` = the smallest rank in the tree of root r; `best` starts with each vertex's own rank."""
    for v in range(lo, hi):
        atomic_min(best, parent[v], rank[v])


@jit
def holder_of_rank(lo, hi, parent, rank, best, holder):
    """``holder[r]`` = the vertex that has the smallest rank in the tree of root r."""
    for v in range(lo, hi):
        root = parent[v]
        if best[root] == rank[v]:
            holder[root] = v


@jit
def relabel(lo, hi, parent, holder, labels):
    """``labels[v]`` = the holder of the tree of v."""
    for v in range(lo, hi):
        labels[v] = holder[parent[v]]


@jit
def link_pairs(lo, hi, a, b, parent):
    """Link the vertices ``a[i]`` and ``b[i]`` of a block of pairs."""
    for i in range(lo, hi):
        link(parent, a[i], b[i])


@jit
def link_some(lo, hi, source, destination, first, table, step, parent):
    """Link both ends of every ``step``-th of the edges ``lo..hi`` of a list.

    An end is the vertex that ``table`` says of ``first`` and its code, as of `csr.vertex_of`.
    """
    one = np.empty(_LOOK, np.uint64)
    other = np.empty(_LOOK, np.uint64)
    e = np.uint64(lo)
    while e < np.uint64(hi):
        number = _ZERO
        while e < np.uint64(hi) and number < _LOOK:
            one[number] = first + source[e]
            other[number] = first + destination[e]
            number += _ONE
            e += step
        link_codes(number, one, other, table, parent)


@jit
def link_outside(lo, hi, source, destination, first, table, inside, parent):
    """Link both ends of the edges ``lo..hi`` of a list but for those with both ends ``inside``; else as `link_some`.

    ``inside`` has a bit for each code, which fit a processor's nearer caches; those of some edges are looked at
    together.
    """
    one = np.empty(_LOOK, np.uint64)
    other = np.empty(_LOOK, np.uint64)
    start = np.uint64(lo)
    while start < np.uint64(hi):
        stop = min(start + _LOOK, np.uint64(hi))
        within = _ONE
        for e in range(start, stop):
            within &= is_inside(inside, first + source[e])
            within &= is_inside(inside, first + destination[e])
        if not within:
            number = _ZERO
            for e in range(start, stop):
                u = first + source[e]
                v = first + destination[e]
                one[number] = u
                other[number] = v
                number += _ONE ^ (is_inside(inside, u) & is_inside(inside, v))
            link_codes(number, one, other, table, parent)
        start = stop


@jit(inline="always")
def link_codes(number, one, other, table, parent):
    """Link the first of some pairs of codes, whose parents are asked for together; the pairs are written over."""
    for i in range(number):
        one[i] = vertex_of(table, one[i])
        other[i] = vertex_of(table, other[i])
        prefetch(parent, one[i])
        prefetch(parent, other[i])
    for i in range(number):
        link(parent, one[i], other[i])


@jit
def mark_inside(lo, hi, table, parent, root, inside):
    """Set the bits of the codes of a block whose vertex has the parent ``root``; ``lo`` is a multiple of 64."""
    for word in range(np.uint64(lo) >> _SIX, (np.uint64(hi) + _LAST) >> _SIX):
        start = word << _SIX
        bits = _ZERO
        for code in range(start, min(start + _LAST + _ONE, np.uint64(hi))):
            same = atomic_load(parent, vertex_of(table, code)) == root
            bits |= np.uint64(same) << (code - start)
        inside[word] = bits
