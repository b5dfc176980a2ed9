"""Kernels that sort edges by row and neighbour, a bucket of rows at a time.

Encoding
--------
key : of an edge, ``(row - first row of its bucket) << bits | neighbour``, in 32 bits where that fits.
    Where edges are marked, a neighbour is ``vertex << 1 | mark``, and the mark is 1 where the edge
    leads from the neighbour to the row.
group : ``row >> shift``, the grain at which edges are counted and rows are dealt to buckets.

Edges are dealt to buckets in their order, and every pass within a bucket is stable, so that edges
that repeat stay in the order in which they came.
"""

from __future__ import annotations

import numpy as np

from dask_graphgpu.kernels.compile import jit
from dask_graphgpu.kernels.cpu.csr import vertex_of

_ONE = np.uint64(1)

# Most bits of a neighbour that a pass over a bucket looks at: the counters fit the nearest cache.
_DIGIT = 11


@jit
def copy_in_order(
    lo, hi, table, rows, neighbours, row, neighbour, ordered, first, offsets, made
):  # fmt: skip
    """Copy edges that come in the order of their rows, and say where rows start; False of others.

    Where ``ordered``, they are to come in the order of their neighbours too.
    ``row`` and ``neighbour`` are those of the edge before, int64, -1 where there is none; ``first`` is the place of
    the edge 0. Of edges in another order what is written says nothing.
    """
    for i in range(lo, hi):
        u = np.int64(vertex_of(table, rows[i]))
        v = np.int64(vertex_of(table, neighbours[i]))
        if u < row or (ordered and u == row and v < neighbour):
            return False
        for r in range(row + 1, u + 1):
            offsets[r] = first + i
        made[first + i] = v
        row, neighbour = u, v
    return True


@jit
def count_edges(lo, hi, table, rows, neighbours, both, shift, counts):
    """Count the edges of each group; ``both``: each edge but a loop in the rows of both ends."""
    for i in range(lo, hi):
        counts[vertex_of(table, rows[i]) >> shift] += 1
        if both and rows[i] != neighbours[i]:
            counts[vertex_of(table, neighbours[i]) >> shift] += 1


@jit
def count_turned(lo, hi, neighbours, shift, counts):
    """`count_edges` of the edges ``lo..hi`` of an adjacency, turned over."""
    for e in range(lo, hi):
        counts[np.uint64(neighbours[e]) >> shift] += 1


@jit
def deal_edges(
    lo, hi, table, rows, neighbours, both, marks, back, shift, bits, bucket, first, cursor, keys,
    column, carried,
):  # fmt: skip
    """Write the keys of edges, and what they carry, into the next free places of their buckets.

    ``keys`` and ``column`` may be empty, where only the other is wanted. ``marks`` is 1 where
    neighbours are marked, else 0; ``back`` the mark of these edges.
    """
    for i in range(lo, hi):
        u = vertex_of(table, rows[i])
        v = vertex_of(table, neighbours[i])
        b = bucket[u >> shift]
        place = cursor[b]
        cursor[b] = place + 1
        if keys.size:
            keys[place] = ((u - first[b]) << bits) | (v << marks) | back
        if column.size:
            carried[place] = column[i]
        if both and u != v:
            b = bucket[v >> shift]
            place = cursor[b]
            cursor[b] = place + 1
            if keys.size:
                keys[place] = ((v - first[b]) << bits) | (u << marks) | (marks ^ back)
            if column.size:
                carried[place] = column[i]


@jit
def deal_turned(
    lo, hi, offsets, neighbours, shift, bits, bucket, first, cursor, keys, column, carried
):
    """`deal_edges` of the rows ``lo..hi`` of an adjacency, turned over."""
    for v in range(np.uint64(lo), np.uint64(hi)):
        for e in range(offsets[v], offsets[v + _ONE]):
            u = np.uint64(neighbours[e])
            b = bucket[u >> shift]
            place = cursor[b]
            cursor[b] = place + 1
            keys[place] = ((u - first[b]) << bits) | v
            if column.size:
                carried[place] = column[e]


@jit
def _pass(keys, carried, low, mask, counts, new_keys, new_carried):
    """One stable pass of a radix sort, by the digit above bit ``low``."""
    counts[:] = 0
    for i in range(keys.size):
        counts[(np.uint64(keys[i]) >> low) & mask] += 1
    place = 0
    for d in range(counts.size):
        here = counts[d]
        counts[d] = place
        place += here
    for i in range(keys.size):
        d = (np.uint64(keys[i]) >> low) & mask
        place = counts[d]
        counts[d] = place + 1
        new_keys[place] = keys[i]
        if carried.size:
            new_carried[place] = carried[i]


@jit
def sort_buckets(
    lo, hi, starts, first, bits, ordered, keys, carried, offsets, neighbours, column
):  # fmt: skip
    """Sort the buckets ``lo..hi`` into rows, those by neighbours where ``ordered``, and say where each row starts.

    ``neighbours`` may be empty where only the column is wanted, and it and ``column`` may be the
    memory of the keys and of what they carry. Edges that come in order, by row or by neighbour, save
    the passes that would bring them into it.
    """
    mask = (_ONE << bits) - _ONE
    passes = (np.int64(bits) + _DIGIT - 1) // _DIGIT
    width = (np.int64(bits) + passes - 1) // passes
    digit = (_ONE << np.uint64(width)) - _ONE
    counts = np.empty(1 << width, np.int64)
    for b in range(lo, hi):
        start, stop = starts[b], starts[b + 1]
        here, with_it = keys[start:stop], carried[start:stop]
        row = np.int64(first[b])
        cursor = np.zeros(np.int64(first[b + 1]) - row + 1, np.int64)
        sorted_keys = sorted_neighbours = True
        before = np.uint64(0)
        for i in range(here.size):
            key = np.uint64(here[i])
            cursor[(key >> bits) + _ONE] += 1
            if before > key:
                sorted_keys = False
            if before & mask > key & mask:
                sorted_neighbours = False
            before = key
        cursor[0] = start
        for r in range(cursor.size - 1):
            offsets[row + r] = cursor[r]
            cursor[r + 1] += cursor[r]
        if not ordered:  # as if they came so
            sorted_neighbours = True
        if not (sorted_keys or sorted_neighbours):
            other, beside = np.empty_like(here), np.empty_like(with_it)
            for p in range(passes):
                low = np.uint64(p * width)
                _pass(here, with_it, low, digit, counts, other, beside)
                here, other = other, here
                with_it, beside = beside, with_it
        if not sorted_keys and (sorted_neighbours or passes % 2 == 0):
            # They stand where the sorted ones go.
            here, with_it = here.copy(), with_it.copy()
        for i in range(here.size):
            key = np.uint64(here[i])
            if sorted_keys:
                place = start + i
            else:
                place = cursor[key >> bits]
                cursor[key >> bits] = place + 1
            if neighbours.size:
                neighbours[place] = key & mask
            if with_it.size:
                column[place] = with_it[i]
