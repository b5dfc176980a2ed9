"""Rows of the graph that has a vertex for each community; encoding as in `communities`.

Members of large communities are cut into pieces, whatever the threads are, so that sums are added in the same order.
Each piece has a row first, with as many places as its members have entries; then the rows of a community's pieces
become one.

Encoding
--------
members, starts : ``members[starts[c]:starts[c + 1]]`` are the vertices of community c.
first_piece : of each community.
spaces : where a piece's places begin.
"""

import numpy as np

from dask_graphgpu.kernels.compile import inner, jit
from dask_graphgpu.kernels.cpu.prefetch import prefetch
from dask_graphgpu.kernels.cpu.tallies import AHEAD, add, new_table, room_for, shift_for

_ONE = np.uint64(1)


@jit
def entries_of_pieces(lo, hi, offsets, members, starts, first_piece, most, entries):
    """``entries[p]`` = entries of the rows of piece p, of so many members at most, for a block of communities."""
    for c in range(lo, hi):
        for p in range(first_piece[c], first_piece[c + 1]):
            begin = starts[c] + (p - first_piece[c]) * most
            number = np.uint64(0)
            for i in range(begin, min(begin + most, starts[c + 1])):
                v = np.uint64(members[i])
                number += offsets[v + _ONE] - offsets[v]
            entries[p] = number


@inner
def _take(table, num, begin, labels, sums_of):
    """Move what is in a table to a row that begins there; the table is empty then."""
    keys, sums, touched = table
    none = keys.dtype.type(-1)
    for j in range(num):
        slot = np.uint64(touched[j])
        labels[begin + j] = keys[slot]
        sums_of[begin + j] = sums[slot]
        keys[slot] = none


@jit
def sum_pieces(
    lo, hi, offsets, neighbours, weight, loops, degree, labels, members, starts, first_piece, most,
    community_of, spaces, row_labels, row_sums, lengths, within, degrees,
):  # fmt: skip
    """The row of each piece of a block, its length, the weight within its community, and the degree of its members."""
    weighted = weight.size > 0
    count = starts.size - 1
    largest = 0
    for p in range(lo, hi):
        largest = max(largest, spaces[p + 1] - spaces[p])
    table = new_table(room_for(min(largest, count)), labels)
    keys, sums, touched = table
    for p in range(lo, hi):
        c = np.uint64(community_of[p])
        shift = shift_for(np.uint64(min(spaces[p + 1] - spaces[p], count)))
        begin = starts[c] + (p - first_piece[c]) * most
        inside, all_degrees = 0.0, 0.0
        num = 0
        for i in range(begin, min(begin + most, starts[c + _ONE])):
            v = np.uint64(members[i])
            inside += loops[v]
            all_degrees += degree[v]
            for e in range(offsets[v], offsets[v + _ONE]):
                if e + AHEAD < np.uint64(neighbours.size):
                    prefetch(labels, np.uint64(neighbours[e + AHEAD]))
                u = np.uint64(neighbours[e])
                w = np.float64(weight[e]) if weighted else 1.0
                if u == v or w <= 0:
                    continue
                other = np.uint64(labels[u])
                if other == c:
                    inside += w
                else:
                    num = add(keys, sums, touched, num, shift, other, w)
        _take(table, num, spaces[p], row_labels, row_sums)
        lengths[p], within[p], degrees[p] = num, inside, all_degrees


@jit
def join_pieces(
    lo, hi, first_piece, spaces, row_labels, row_sums, lengths, within, degrees, new_lengths, loops, degree
):  # fmt: skip
    """Make one row of those of a community's pieces, where the first of them is, for a block of communities."""
    count = first_piece.size - 1
    largest = 0
    for c in range(lo, hi):
        total = 0
        for p in range(first_piece[c], first_piece[c + 1]):
            total += lengths[p]
        new_lengths[c] = total
        largest = max(largest, total)
    table = new_table(room_for(min(largest, count)), row_labels)
    keys, sums, touched = table
    for c in range(lo, hi):
        first, last = first_piece[c], first_piece[c + 1]
        shift = shift_for(np.uint64(min(new_lengths[c], count)))
        inside, all_degrees = 0.0, 0.0
        num = 0
        for p in range(first, last):
            inside += within[p]
            all_degrees += degrees[p]
            if last - first > 1:
                for e in range(spaces[p], spaces[p] + lengths[p]):
                    label = np.uint64(row_labels[e])
                    num = add(keys, sums, touched, num, shift, label, row_sums[e])
        loops[c], degree[c] = inside, all_degrees
        if last - first > 1:
            _take(table, num, spaces[first], row_labels, row_sums)
            new_lengths[c] = num


@jit
def compact(lo, hi, first_piece, spaces, row_labels, row_sums, offsets, neighbours, weight):
    """Copy the rows of a block of communities to where they belong."""
    for c in range(lo, hi):
        begin = spaces[first_piece[c]]
        for e in range(offsets[c], offsets[c + 1]):
            neighbours[e] = row_labels[begin + e - offsets[c]]
            weight[e] = row_sums[begin + e - offsets[c]]
