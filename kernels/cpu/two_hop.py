"""Pairs of vertices with a neighbour in common, found while the rows of their neighbours come and go."""

import numpy as np

from dask_graphgpu.kernels.compile import jit

_ONE = np.uint64(1)


@jit
def gather(
    lo, hi, first, own_offsets, own, at, last, offsets, neighbours, rank, bounds, found, filled
):
    """Add to what is found at some vertices, of which the first is `first`, from rows before `last`.

    Parameters
    ----------
    own_offsets, own : rows of these vertices
    at : where in its row each of them goes on; moved
    rank : place of each vertex in the order of the user's ids
    bounds, found, filled
        In a part of `found` of its own each lists the later vertices that are neighbours of its neighbours, as often
        as they are; or, where a part has a place for every vertex, counts them. `filled` : how many are listed.
    """
    n = np.uint64(rank.size)
    for i in range(np.uint64(lo), np.uint64(hi)):
        begin, stop = bounds[i], own_offsets[i + _ONE]
        counted = bounds[i + _ONE] - begin == n
        place = rank[i + np.uint64(first)]
        k = begin + filled[i]
        e = at[i]
        while e < stop and np.uint64(own[e]) < np.uint64(last):
            w = np.uint64(own[e])
            for f in range(offsets[w], offsets[w + _ONE]):
                x = np.uint64(neighbours[f])
                if rank[x] > place:
                    if counted:
                        found[begin + x] += 1
                    else:
                        found[k] = x
                        k += _ONE
            e += _ONE
        at[i] = e
        filled[i] = k - begin


@jit
def found_lengths(lo, hi, vertices, bounds, found, filled, lengths):
    """``lengths[i]`` = different vertices that `gather` has found; what is listed is put in order."""
    for i in range(lo, hi):
        length = 0
        if bounds[i + 1] - bounds[i] == vertices:
            for k in range(bounds[i], bounds[i + 1]):
                length += found[k] != 0
        else:
            listed = found[bounds[i] : bounds[i] + filled[i]]
            listed.sort()
            for k in range(listed.size):
                length += k == 0 or listed[k] != listed[k - 1]
        lengths[i] = length


@jit
def found_pairs(lo, hi, first, vertices, degree, bounds, found, filled, starts, second, values):
    """Write what `gather` has found at each vertex, ascending, and the coefficients, from ``starts[i]`` on."""
    for i in range(lo, hi):
        at = starts[i]
        begin = bounds[i]
        counted = bounds[i + 1] - begin == vertices
        own = degree[i + first]
        k = begin
        stop = bounds[i + 1] if counted else begin + filled[i]
        while k < stop:
            x = np.int64(k - begin if counted else found[k])
            common = np.int64(found[k]) if counted else 0
            if counted:
                k += 1
            else:
                while k < stop and found[k] == x:
                    common += 1
                    k += 1
            if common:
                second[at] = x
                values[at] = common / (own + degree[x] - common)
                at += 1
