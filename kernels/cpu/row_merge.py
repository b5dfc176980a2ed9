"""Kernels that copy rows under other numbers of vertices, without some entries and with others among them.

Every kernel works on a block ``[lo, hi)`` of new rows and holds no lock, so blocks run on threads side by side.
"""

from __future__ import annotations

import numpy as np

from dask_graphgpu.kernels.compile import inner, jit

_WIDE = np.uint64(32)
_DIGIT = 11  # bits of a digit
_FEW = 256  # entries that are sorted by comparing them


@inner
def _in_order(size, bits, keys, spare, counts):
    """Sort ``keys[:size]`` by their upper halves of so many bits; equal ones stay in order. Returns where they are."""
    if size <= _FEW:
        keys[:size].sort()
        return keys, spare
    shift = _WIDE
    low = np.uint64((1 << _DIGIT) - 1)
    for _ in range(0, bits, _DIGIT):
        counts[:] = 0
        for i in range(size):
            counts[(keys[i] >> shift & low) + np.uint64(1)] += 1
        for d in range(1 << _DIGIT):
            counts[d + 1] += counts[d]
        for i in range(size):
            d = keys[i] >> shift & low
            spare[counts[d]] = keys[i]
            counts[d] += 1
        keys, spare = spare, keys
        shift += np.uint64(_DIGIT)
    return keys, spare


@jit
def merge_rows(
    lo, hi, of_old, old_offsets, old_neighbours, lost_at, lost, table, fell, added_at, added,
    offsets, neighbours, taken,
):  # fmt: skip
    """Fill rows, ascending, from the old ones and from what is added; repeats stay in order, old ones first.

    ``of_old[v]`` is the old row, -1: none; ``lost`` has places of entries that are left out, those of old row u
    from ``lost_at[u]`` on. ``table`` has the new number of each old neighbour; where ``fell``, unless that is empty,
    it stands behind others that it stood before. ``taken``, unless empty, is told which entry of its row each is:
    those of the old row, then those added.
    An entry that is not above the last one is set aside, sorted with those added, and merged in from the end. So rows
    that are nearly in order cost little more than a copy.
    """
    low = np.uint64(0xFFFFFFFF)
    bits = 0
    while of_old.size >> bits:
        bits += 1
    aside, spare = np.empty(64, np.uint64), np.empty(64, np.uint64)
    counts = np.empty((1 << _DIGIT) + 1, np.int64)
    for v in range(lo, hi):
        u = of_old[v]
        begin, end, left_out, last_out = 0, 0, 0, 0
        if u >= 0:
            begin, end = old_offsets[u], old_offsets[u + 1]
            left_out, last_out = lost_at[u], lost_at[u + 1]
        new = added_at[v + 1] - added_at[v]
        if end - begin + new > aside.size:
            aside = np.empty(2 * (end - begin + new), np.uint64)
            spare = np.empty(2 * (end - begin + new), np.uint64)
        first, kept, out, most = offsets[v], offsets[v], 0, np.uint64(0)
        for e in range(begin, end):
            if left_out < last_out and lost[left_out] == e:
                left_out += 1
                continue
            old = old_neighbours[e]
            w = np.uint64(table[old])
            if w < most or (fell.size and fell[old]):
                aside[out] = w << _WIDE | np.uint64(e - begin)
                out += 1
            else:
                neighbours[kept] = w
                if taken.size:
                    taken[kept] = e - begin
                kept += 1
                most = w
        for a in range(new):
            aside[out] = np.uint64(added[added_at[v] + a]) << _WIDE | np.uint64(end - begin + a)
            out += 1
        if out == 0:
            continue
        aside, spare = _in_order(out, bits, aside, spare, counts)
        place = offsets[v + 1] - 1
        kept -= 1
        out -= 1
        while out >= 0:
            w = aside[out] >> _WIDE
            if kept >= first and np.uint64(neighbours[kept]) > w:
                neighbours[place] = neighbours[kept]
                if taken.size:
                    taken[place] = taken[kept]
                kept -= 1
            else:
                neighbours[place] = w
                if taken.size:
                    taken[place] = aside[out] & low
                out -= 1
            place -= 1


@jit
def merge_column(lo, hi, of_old, old_offsets, old, added_at, added, offsets, taken, made):
    """Fill what entries carry, from which entry of its row each is as `merge_rows` tells."""
    for v in range(lo, hi):
        u = of_old[v]
        begin, length = 0, 0
        if u >= 0:
            begin, length = old_offsets[u], old_offsets[u + 1] - old_offsets[u]
        for e in range(offsets[v], offsets[v + 1]):
            t = np.int64(taken[e])
            made[e] = old[begin + t] if t < length else added[added_at[v] + t - length]
