"""Neighbours that two vertices have in common, over symmetric rows without repeats and self-loops.

Encoding
--------
order, rank : the vertices in the order of the user's ids, and the place of each in it. Pairs are made in this order.
"""

import numpy as np

from dask_graphgpu.kernels.compile import jit

_ONE, _WORD, _LAST = np.uint64(1), np.uint64(6), np.uint64(63)

# So many times as long a row is searched for what the shorter one has, not read: a search costs as much as reading so
# many neighbours.
MUCH_LONGER = np.uint64(32)


@jit
def _mark(neighbours, start, stop, marks):
    for e in range(start, stop):
        v = np.uint64(neighbours[e])
        marks[v >> _WORD] |= _ONE << (v & _LAST)


@jit
def _unmark(neighbours, start, stop, marks):
    for e in range(start, stop):
        marks[np.uint64(neighbours[e]) >> _WORD] = np.uint64(0)


@jit
def _count_marked(neighbours, start, stop, marks):
    found = np.uint64(0)
    for e in range(start, stop):
        v = np.uint64(neighbours[e])
        found += marks[v >> _WORD] >> (v & _LAST) & _ONE
    return found


@jit
def _search(neighbours, a, a_stop, b, b_stop):
    """How many of the first of two ascending rows are in the second, by bisection."""
    found = np.uint64(0)
    for i in range(a, a_stop):
        wanted = neighbours[i]
        high = b_stop
        while b < high:
            middle = (b + high) >> _ONE
            if neighbours[middle] < wanted:
                b = middle + _ONE
            else:
                high = middle
        if b < b_stop and neighbours[b] == wanted:
            found += _ONE
            b += _ONE
    return found


@jit
def common(lo, hi, offsets, neighbours, vertices, shorter, longer, counts):
    """``counts[i]`` = neighbours, less than `vertices`, that the rows ``shorter[i]`` and ``longer[i]`` have in common.

    The neighbours of one are marked in a bitmap and looked up for those of the other: reads that do not wait for each
    other, and no branch depends on them, as where both rows are walked along. Of pairs one after another with the same
    longer row that one is marked, once, if this is less to read; else the shorter one.
    """
    marks = np.zeros((vertices >> 6) + 1, np.uint64)
    i = lo
    while i < hi:
        v = longer[i]
        b, b_stop = offsets[v], offsets[v + _ONE]
        length = b_stop - b
        end = i
        once = length + length  # what is read if the longer row is marked, and else
        each = np.uint64(0)
        while end < hi and longer[end] == v:
            short = offsets[shorter[end] + _ONE] - offsets[shorter[end]]
            once += short
            each += min(length, MUCH_LONGER * short) + short + short
            end += 1
        if once < each:
            _mark(neighbours, b, b_stop, marks)
        for k in range(i, end):
            a, a_stop = offsets[shorter[k]], offsets[shorter[k] + _ONE]
            if once < each:
                counts[k] = _count_marked(neighbours, a, a_stop, marks)
            elif length > MUCH_LONGER * (a_stop - a):
                counts[k] = _search(neighbours, a, a_stop, b, b_stop)
            else:
                _mark(neighbours, a, a_stop, marks)
                counts[k] = _count_marked(neighbours, b, b_stop, marks)
                _unmark(neighbours, a, a_stop, marks)
        if once < each:
            _unmark(neighbours, b, b_stop, marks)
        i = end


@jit
def two_hop_steps(lo, hi, offsets, neighbours, order, steps):
    """``steps[i]`` = reads of edges that the i-th vertex takes in the functions below."""
    for i in range(lo, hi):
        v = np.uint64(order[i])
        reads = 0
        for e in range(offsets[v], offsets[v + np.uint64(1)]):
            w = np.uint64(neighbours[e])
            reads += offsets[w + np.uint64(1)] - offsets[w]
        steps[i] = reads


@jit
def two_hop_lengths(lo, hi, offsets, neighbours, order, rank, lengths):
    """``lengths[i]`` = later vertices with which the i-th vertex has a neighbour in common."""
    seen = np.full(rank.size, -1, np.int64)
    for i in range(lo, hi):
        v = np.uint64(order[i])
        length = 0
        for e in range(offsets[v], offsets[v + np.uint64(1)]):
            w = np.uint64(neighbours[e])
            for f in range(offsets[w], offsets[w + np.uint64(1)]):
                j = np.int64(rank[np.uint64(neighbours[f])])
                if j > i and seen[j] != i:
                    seen[j] = i
                    length += 1
        lengths[i] = length


@jit
def two_hop_pairs(lo, hi, offsets, neighbours, order, rank, bounds, first, second, values):
    """Write the pairs of a block and their coefficients, those of the i-th vertex from ``bounds[i]`` on."""
    common = np.zeros(rank.size, np.int64)
    for i in range(lo, hi):
        v = np.uint64(order[i])
        k = bounds[i]
        for e in range(offsets[v], offsets[v + np.uint64(1)]):
            w = np.uint64(neighbours[e])
            for f in range(offsets[w], offsets[w + np.uint64(1)]):
                j = np.int64(rank[np.uint64(neighbours[f])])
                if j > i:
                    if common[j] == 0:
                        second[k] = j
                        k += 1
                    common[j] += 1
        second[bounds[i] : k].sort()
        degree = offsets[v + np.uint64(1)] - offsets[v]
        for p in range(bounds[i], k):
            j = second[p]
            u = np.uint64(order[j])
            first[p] = v
            second[p] = u
            values[p] = common[j] / (degree + offsets[u + np.uint64(1)] - offsets[u] - common[j])
            common[j] = 0


@jit
def cut_by_ghosts(order, offsets, neighbours, own, degree, room, starts):
    """Cut vertices, in an order, into parts of which each has ghosts with no more than `room` neighbours.

    ``starts[i]`` = where in the order the i-th part begins. A vertex with more is a part by itself.

    Returns
    -------
    int
        How many parts there are.
    """
    part_of = np.full(degree.size, -1, np.int64)  # of a ghost, the last part that has it
    num = 0
    taken = 0
    for i in range(order.size):
        v = np.uint64(order[i])
        more = 0
        for e in range(offsets[v], offsets[v + np.uint64(1)]):
            w = np.uint64(neighbours[e])
            if w >= np.uint64(own) and part_of[w] != num - 1:
                more += degree[w]
        if i == 0 or taken + more > room:
            starts[num] = i
            num += 1
            taken = 0
            more = 0
        for e in range(offsets[v], offsets[v + np.uint64(1)]):
            w = np.uint64(neighbours[e])
            if w >= np.uint64(own) and part_of[w] != num - 1:
                part_of[w] = num - 1
                taken += degree[w]
    return num


@jit
def rank_steps(lo, hi, offsets, neighbours, own, far_offsets, vertices, steps):
    """As `two_hop_steps`, of some own vertices of a rank; rows of ghosts are in `far`."""
    for i in range(lo, hi):
        v = np.uint64(vertices[i])
        reads = 0
        for e in range(offsets[v], offsets[v + np.uint64(1)]):
            w = np.uint64(neighbours[e])
            at = offsets if w < np.uint64(own) else far_offsets
            reads += at[w + np.uint64(1)] - at[w]
        steps[i] = reads


@jit
def rank_lengths(
    lo, hi, offsets, neighbours, own, numbers, far_offsets, far, vertices, total, lengths
):
    """``lengths[i]`` = vertices of larger numbers, of `total`, that have a neighbour in common with the i-th."""
    seen = np.full(total, -1, np.int64)
    for i in range(lo, hi):
        v = np.uint64(vertices[i])
        number = np.int64(numbers[v])
        length = 0
        for e in range(offsets[v], offsets[v + np.uint64(1)]):
            w = np.uint64(neighbours[e])
            here = w < np.uint64(own)
            at = offsets if here else far_offsets
            for f in range(at[w], at[w + np.uint64(1)]):
                x = np.int64(numbers[np.uint64(neighbours[f])] if here else far[f])
                if x > number and seen[x] != i:
                    seen[x] = i
                    length += 1
        lengths[i] = length


@jit
def rank_pairs(
    lo, hi, offsets, neighbours, own, numbers, far_offsets, far, vertices, degree, bounds, second,
    values,
):  # fmt: skip
    """Write the numbers of those vertices and the coefficients; `degree` is by number."""
    common = np.zeros(degree.size, np.int64)
    for i in range(lo, hi):
        v = np.uint64(vertices[i])
        number = np.int64(numbers[v])
        k = bounds[i]
        for e in range(offsets[v], offsets[v + np.uint64(1)]):
            w = np.uint64(neighbours[e])
            here = w < np.uint64(own)
            at = offsets if here else far_offsets
            for f in range(at[w], at[w + np.uint64(1)]):
                x = np.int64(numbers[np.uint64(neighbours[f])] if here else far[f])
                if x > number:
                    if common[x] == 0:
                        second[k] = x
                        k += 1
                    common[x] += 1
        second[bounds[i] : k].sort()
        for p in range(bounds[i], k):
            x = np.int64(second[p])
            values[p] = common[x] / (degree[number] + degree[x] - common[x])
            common[x] = 0
