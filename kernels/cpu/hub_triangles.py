"""Triangles of which two vertices are hubs, by bitmaps.

Encoding
--------
up : as of `triangles`; who is higher than a hub is a hub.
slot : place of each vertex among the hubs; -1 of others.
bits : a row a hub, with the bits of the hubs that it is joined to.
ways : directions, 1 or 2, in which the ends of an edge of `up` are joined.
"""

import numpy as np

from dask_graphgpu.kernels.compile import jit
from dask_graphgpu.kernels.cpu.atomics import atomic_add, atomic_or
from dask_graphgpu.kernels.cpu.bits import count_bits

# Words of a whole row that are counted in the time of one here and there.
_IN_A_ROW = 8

_ONE = np.uint64(1)


@jit
def join(lo, hi, hubs, offsets, up, ways, slot, words, bits):
    """Set the bits of the edges above a block of hubs, at both ends; with `ways` of those that lead both ways.

    The rows of `bits` stand one after the other, so many words each. Who is higher than a hub is one.
    """
    for i in range(lo, hi):
        v = np.uint64(hubs[i])
        own = np.int64(slot[v])
        for e in range(offsets[v], offsets[v + _ONE]):
            if ways.size == 0 or ways[e] == 2:
                other = np.int64(slot[np.uint64(up[e])])
                atomic_or(bits, own * words + (other >> 6), _ONE << np.uint64(other & 63))
                atomic_or(bits, other * words + (own >> 6), _ONE << np.uint64(own & 63))


@jit
def list_hubs(u, offsets, up, slot, here, own, some):
    """List the hubs above a vertex in `here`, and set their bits in `own`.

    Returns
    -------
    tuple
        How many hubs; how many words of `own` are not 0, which are listed in `some`, if there are two hubs; the last.
    """
    number = few = 0
    last = np.int64(0)
    for e in range(offsets[u], offsets[u + _ONE]):
        hub = np.int64(slot[np.uint64(up[e])])
        if hub >= 0:
            here[number] = hub
            number += 1
    if number > 1:
        for i in range(number):
            word = here[i] >> 6
            if not own[word]:
                some[few] = word
                few += 1
                last = max(last, word)
            own[word] |= _ONE << np.uint64(here[i] & 63)
    return number, few, last


@jit
def common(own, row, some, few, last):
    """How many bits are set in both, of words up to the last one."""
    both = np.uint64(0)
    if few * _IN_A_ROW < last:
        for j in range(few):
            at = np.uint64(some[j])
            both += count_bits(own[at] & row[at])
    else:
        for k in range(np.uint64(last + 1)):
            both += count_bits(own[k] & row[k])
    return np.int64(both)


@jit
def count(lo, hi, offsets, up, slot, bits, found, triangles):
    """Count the triangles whose lowest vertex is in the block, and whose others are hubs.

    Parameters
    ----------
    found : int64 array, shape (hubs,)
        Of this thread alone: gets what is found at hubs above the lowest vertex.
    triangles : gets what is found at the lowest vertex

    Returns
    -------
    int
        Words of `bits` read, or what takes as long.
    """
    words = bits.shape[1]
    own = np.zeros(words, np.uint64)
    some = np.empty(words, np.int64)  # words of `own` that are not 0
    here = np.empty(bits.shape[0], np.int64)  # hubs above the vertex at hand
    read = np.int64(0)
    for u in range(np.uint64(lo), np.uint64(hi)):
        number, few, last = list_hubs(u, offsets, up, slot, here, own, some)
        if number < 2:
            continue
        total = np.int64(0)
        for i in range(number):
            both = common(own, bits[here[i]], some, few, last)
            found[here[i]] += both
            total += both
        read += number * min(few * _IN_A_ROW, last + 1)
        for j in range(few):
            own[some[j]] = 0
        if total:
            atomic_add(triangles, u, total // 2)  # each from both hubs
    return read


@jit
def count_arcs(lo, hi, offsets, up, ways, slot, bits, both_ways, found, arcs):
    """As `count`: the edges, by direction, between neighbours of a vertex in these triangles.

    `both_ways` : as `bits`, of hubs with an edge each way.
    """
    words = bits.shape[1]
    own, own_both_ways = np.zeros((2, words), np.uint64)
    some = np.empty(words, np.int64)
    here = np.empty(bits.shape[0], np.int64)
    read = np.int64(0)
    for u in range(np.uint64(lo), np.uint64(hi)):
        number, few, last = list_hubs(u, offsets, up, slot, here, own, some)
        if number < 2:
            continue
        for e in range(offsets[u], offsets[u + _ONE]):
            hub = np.int64(slot[np.uint64(up[e])])
            if hub >= 0 and ways[e] == 2:
                own_both_ways[hub >> 6] |= _ONE << np.uint64(hub & 63)
        total = np.int64(0)
        for i in range(number):
            row = bits[here[i]]
            once = common(own, row, some, few, last)
            found[here[i]] += once + common(own_both_ways, row, some, few, last)
            total += once + common(own, both_ways[here[i]], some, few, last)
        read += 3 * number * min(few * _IN_A_ROW, last + 1)
        for j in range(few):
            own[some[j]] = own_both_ways[some[j]] = 0
        if total:
            atomic_add(arcs, u, total // 2)
    return read
