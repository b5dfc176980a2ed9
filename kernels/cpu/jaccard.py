"""Neighbours that two vertices have in common, over symmetric rows without repeats and self-loops.

Encoding
--------
order, rank : the vertices in the order of the user's ids, and the place of each in it. Pairs are made in this order.
"""

import numpy as np

from dask_graphgpu.kernels.compile import jit

_ONE, _WORD, _LAST = np.uint64(1), np.uint64(6), np.uint64(63)

# So many times as long a row is searched for what the shorter one has, not read.
MUCH_LONGER = np.uint64(32)


@jit
def _common(neighbours, a, a_stop, b, b_stop, marks):
    """Equal entries of two ascending rows, of which the first is the shorter; all bits of `marks` are 0.

    Its entries are marked and looked up for those of the other: reads that do not wait for each other, and no branch
    that depends on them. Walking along both rows was two to four times slower.
    """
    found = np.uint64(0)
    if b_stop - b > MUCH_LONGER * (a_stop - a):
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
    for i in range(a, a_stop):
        v = np.uint64(neighbours[i])
        marks[v >> _WORD] |= _ONE << (v & _LAST)
    for i in range(b, b_stop):
        v = np.uint64(neighbours[i])
        found += marks[v >> _WORD] >> (v & _LAST) & _ONE
    for i in range(a, a_stop):
        marks[np.uint64(neighbours[i]) >> _WORD] = np.uint64(0)
    return found


@jit
def common(lo, hi, offsets, neighbours, vertices, first, second, counts):
    """``counts[i]`` = neighbours, less than `vertices`, that the rows ``first[i]`` and ``second[i]`` have in common."""
    marks = np.zeros((vertices >> 6) + 1, np.uint64)
    for i in range(lo, hi):
        u, v = first[i], second[i]
        if offsets[u + _ONE] - offsets[u] > offsets[v + _ONE] - offsets[v]:
            u, v = v, u
        counts[i] = _common(
            neighbours, offsets[u], offsets[u + _ONE], offsets[v], offsets[v + _ONE], marks
        )


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
