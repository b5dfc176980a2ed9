"""Triangles, each found once: from its lowest vertex, along edges that go up.

Encoding
--------
up : rows of the neighbours that are higher. A vertex is higher than another if it has more neighbours, or as many and
    the smaller id. A row then has at most sqrt(2 E) neighbours.
far : rows in which the third vertex is looked for: those of `up`, or on one of many ranks, or of a graph on disk, some
    that lie in memory just now, or parts of them.
mark : of all vertices, 0 but for the neighbours of the vertex at hand: 1 + what was found there so far.

Vertices are in triangles of several blocks: what was found at them is added atomically, once an edge.
"""

import numpy as np

from dask_graphgpu.kernels.compile import jit
from dask_graphgpu.kernels.cpu.atomics import atomic_add

_ONE = np.uint64(1)


@jit
def list_up(lo, hi, first, offsets, neighbours, degree, number, listed, lengths):
    """List the higher neighbours of each vertex where its row begins, in `listed`; ``lengths[row]`` = how many.

    The vertex of the first row is `first`. `number` breaks ties of `degree`; empty: the vertex does.
    """
    for row in range(np.uint64(lo), np.uint64(hi)):
        begin, stop = offsets[row], offsets[row + _ONE]
        k = begin
        u = row + np.uint64(first)
        own = degree[u]
        for e in range(begin, stop):
            v = np.uint64(neighbours[e])
            if number.size:
                before = number[v] < number[u]
            else:
                before = v < u
            listed[k] = neighbours[e]  # no branch: which neighbours are higher cannot be foretold
            k += np.uint64((degree[v] > own) | ((degree[v] == own) & before))
        lengths[row] = k - begin


@jit
def up_rows(lo, hi, offsets, listed, up_offsets, up):
    """Bring what was listed into rows one after another."""
    for u in range(np.uint64(lo), np.uint64(hi)):
        begin = offsets[u]
        start = up_offsets[u]
        for i in range(up_offsets[u + _ONE] - start):
            up[start + i] = listed[begin + i]


@jit
def up_ways(lo, hi, offsets, up, out_offsets, out, in_offsets, into, ways):
    """``ways[e]`` = directions, 1 or 2, in which the ends of an edge of `up` are joined; all rows ascend."""
    for u in range(lo, hi):
        a = out_offsets[u]
        b = in_offsets[u]
        for e in range(offsets[u], offsets[u + 1]):
            v = up[e]
            while a < out_offsets[u + 1] and out[a] < v:
                a += 1
            while b < in_offsets[u + 1] and into[b] < v:
                b += 1
            ways[e] = (a < out_offsets[u + 1] and out[a] == v) + (
                b < in_offsets[u + 1] and into[b] == v
            )


@jit
def work(lo, hi, offsets, up, far_offsets, steps):
    """``steps[u]`` = reads of edges that `count` takes for u."""
    for u in range(lo, hi):
        reads = 1
        for e in range(offsets[u], offsets[u + 1]):
            v = np.uint64(up[e])
            reads += 1 + far_offsets[v + _ONE] - far_offsets[v]
        steps[u] = reads


@jit
def count(lo, hi, offsets, up, far_offsets, far, mark, triangles):
    """Add to ``triangles[v]`` the triangles at v that have their lowest vertex in the block.

    `mark` : uint32 array, zeros, of a number a vertex; zeros again afterwards.
    """
    for u in range(np.uint64(lo), np.uint64(hi)):
        start, stop = offsets[u], offsets[u + _ONE]
        if stop - start < 2:
            continue
        for e in range(start, stop):
            mark[np.uint64(up[e])] = 1
        total = np.int64(0)
        for e in range(start, stop):
            v = np.uint64(up[e])
            found = np.uint32(0)
            for f in range(far_offsets[v], far_offsets[v + _ONE]):
                w = np.uint64(far[f])
                here = mark[w]
                hit = np.uint32(here != 0)
                mark[w] = here + hit  # no branch: which neighbours are marked cannot be foretold
                found += hit
            mark[v] += found
            total += np.int64(found)
        for e in range(start, stop):
            v = np.uint64(up[e])
            if mark[v] > 1:
                atomic_add(triangles, v, mark[v] - np.uint32(1))
            mark[v] = 0
        if total:
            atomic_add(triangles, u, total)


@jit
def count_arcs(lo, hi, offsets, up, ways, far_offsets, far, far_ways, place, arcs):
    """Add to ``arcs[v]`` the edges, by direction, between neighbours of v in the triangles that `count` finds.

    `place` : as `mark`; 1 + where a neighbour stands in the row.
    """
    most = np.uint64(0)
    for u in range(np.uint64(lo), np.uint64(hi)):
        most = max(most, offsets[u + _ONE] - offsets[u])
    tally = np.zeros(most, np.int64)
    for u in range(np.uint64(lo), np.uint64(hi)):
        start, stop = offsets[u], offsets[u + _ONE]
        if stop - start < 2:
            continue
        for e in range(start, stop):
            place[np.uint64(up[e])] = e - start + _ONE
            tally[e - start] = 0
        total = np.int64(0)
        for e in range(start, stop):
            v = np.uint64(up[e])
            to_v = np.int64(ways[e])
            at_v = np.int64(0)
            for f in range(far_offsets[v], far_offsets[v + _ONE]):
                k = np.uint64(place[np.uint64(far[f])])
                if k:
                    tally[k - _ONE] += to_v
                    at_v += np.int64(ways[start + k - _ONE])
                    total += np.int64(far_ways[f])
            tally[e - start] += at_v
        for e in range(start, stop):
            v = np.uint64(up[e])
            if tally[e - start]:
                atomic_add(arcs, v, tally[e - start])
            place[v] = 0
        if total:
            atomic_add(arcs, u, total)


@jit
def ways_between(u, v, offsets, neighbours):
    """Directions, 0 to 2, in which two vertices are joined; rows ascend."""
    ways = 0
    for a, b in ((u, v), (v, u)):
        low, high = offsets[a], offsets[a + 1]
        while low < high:
            middle = (low + high) >> 1
            if neighbours[middle] < b:
                low = middle + 1
            else:
                high = middle
        ways += low < offsets[a + 1] and neighbours[low] == b
    return ways


@jit
def count_short(lo, hi, offsets, neighbours, out_offsets, out, counts):
    """As `count_arcs`, of symmetric rows that ascend and are short: from the highest vertex, by walks along two rows.

    Without ``out_offsets`` what `count` does: a triangle is one at each of its vertices.
    """
    for row in range(lo, hi):
        start = offsets[row]
        for e in range(start + 1, offsets[row + 1]):
            v = np.int64(neighbours[e])
            if v > row:
                break
            a = start
            b, stop = offsets[v], offsets[v + 1]
            while a < e and b < stop:  # common neighbours below v
                if neighbours[a] == neighbours[b]:
                    w = np.int64(neighbours[a])
                    if out_offsets.size == 0:
                        at_u, at_v, at_w = 1, 1, 1
                    else:
                        at_u = ways_between(v, w, out_offsets, out)
                        at_v = ways_between(row, w, out_offsets, out)
                        at_w = ways_between(row, v, out_offsets, out)
                    atomic_add(counts, row, at_u)
                    atomic_add(counts, v, at_v)
                    atomic_add(counts, w, at_w)
                    a += 1
                    b += 1
                elif neighbours[a] < neighbours[b]:
                    a += 1
                else:
                    b += 1
