"""Kernels that build rows of neighbours: counting sort, merging of repeated and mirrored edges.

Every kernel works on a block ``[lo, hi)`` and holds no lock, so blocks run on threads side by side.
"""

from __future__ import annotations

from numba import njit

MERGE_MIN, MERGE_MAX, MERGE_SUM = 0, 1, 2


@njit(nogil=True, cache=True)
def count(lo, hi, keys, counts):
    """Add to ``counts[k]`` how often key k stands in ``keys[lo:hi]``."""
    for i in range(lo, hi):
        counts[keys[i]] += 1


@njit(nogil=True, cache=True)
def cursors(lo, hi, counts, offsets):
    """Turn per-block counts into each block's first free place in rows ``lo..hi`` of ``offsets``."""
    for v in range(lo, hi):
        place = offsets[v]
        for b in range(counts.shape[0]):
            here = counts[b, v]
            counts[b, v] = place
            place += here


@njit(nogil=True, cache=True)
def scatter(lo, hi, keys, cursor, values, out):
    """Write ``values[i]`` into the next free place of row ``keys[i]``."""
    for i in range(lo, hi):
        k = keys[i]
        out[cursor[k]] = values[i]
        cursor[k] += 1


@njit(nogil=True, cache=True)
def count_through(lo, hi, table, keys, counts):
    """`count` of ``table[keys]``."""
    for i in range(lo, hi):
        counts[table[keys[i]]] += 1


@njit(nogil=True, cache=True)
def scatter_through(lo, hi, table, keys, cursor, values, out):
    """`scatter` under ``table[keys]``."""
    for i in range(lo, hi):
        k = table[keys[i]]
        out[cursor[k]] = values[i]
        cursor[k] += 1


@njit(nogil=True, cache=True)
def scatter_ends(lo, hi, table, keys, cursor, neighbours, out):
    """`scatter` of ``table[neighbours]`` under ``table[keys]``."""
    for i in range(lo, hi):
        k = table[keys[i]]
        out[cursor[k]] = table[neighbours[i]]
        cursor[k] += 1


@njit(nogil=True, cache=True)
def transpose_count(lo, hi, offsets, neighbours, counts):
    """Count the neighbours in rows ``lo..hi``."""
    for e in range(offsets[lo], offsets[hi]):
        counts[neighbours[e]] += 1


@njit(nogil=True, cache=True)
def transpose_rows(lo, hi, offsets, neighbours, cursor, out):
    """Write the row id of every edge in rows ``lo..hi`` under its neighbour."""
    for v in range(lo, hi):
        for e in range(offsets[v], offsets[v + 1]):
            k = neighbours[e]
            out[cursor[k]] = v
            cursor[k] += 1


@njit(nogil=True, cache=True)
def distinct(lo, hi, offsets, neighbours, lengths):
    """Number of different neighbours of each row."""
    for v in range(lo, hi):
        k = 0
        for e in range(offsets[v], offsets[v + 1]):
            if e == offsets[v] or neighbours[e] != neighbours[e - 1]:
                k += 1
        lengths[v] = k


@njit(nogil=True, cache=True)
def merge_repeats(
    lo, hi, offsets, neighbours, weight, rule, new_offsets, new_neighbours, new_weight
):
    """Make repeated neighbours one, weights by ``rule``; an empty ``weight`` counts the repeats when summed.

    Returns the number of integer sums that went negative, which non-negative weights do only by overflow.
    """
    bad = 0
    for v in range(lo, hi):
        q = new_offsets[v] - 1
        for e in range(offsets[v], offsets[v + 1]):
            first = e == offsets[v] or neighbours[e] != neighbours[e - 1]
            if first:
                q += 1
                new_neighbours[q] = neighbours[e]
            if new_weight.size:
                w = weight[e] if weight.size else new_weight.dtype.type(1)
                if first:
                    new_weight[q] = w
                elif rule == MERGE_MIN:
                    new_weight[q] = min(new_weight[q], w)
                elif rule == MERGE_MAX:
                    new_weight[q] = max(new_weight[q], w)
                else:
                    new_weight[q] += w
                    if new_weight[q] < 0:
                        bad += 1
    return bad


@njit(nogil=True, cache=True)
def union_lengths(lo, hi, offsets_a, a, offsets_b, b, keep, lengths):
    """Length of each row of the union of two sorted adjacencies; ``keep``: equal ones stay apart.

    A self-loop stands in both and is one edge.
    """
    for v in range(lo, hi):
        i = offsets_a[v]
        j = offsets_b[v]
        k = 0
        while i < offsets_a[v + 1] or j < offsets_b[v + 1]:
            if j == offsets_b[v + 1]:
                i += 1
                k += 1
            elif i == offsets_a[v + 1]:
                if b[j] != v or not keep:
                    k += 1
                j += 1
            elif a[i] == b[j] and (not keep or a[i] == v):
                i += 1
                j += 1
                k += 1
            elif a[i] <= b[j]:
                i += 1
                k += 1
            else:
                j += 1
                k += 1
        lengths[v] = k


@njit(nogil=True, cache=True)
def union_rows(
    lo, hi, offsets_a, a, weight_a, offsets_b, b, weight_b, keep, rule, offsets, neighbours, weight
):
    """Merge the rows of two sorted adjacencies, weights of equal neighbours by ``rule``.

    Returns the number of integer sums that overflowed, as `merge_repeats`.
    """
    bad = 0
    for v in range(lo, hi):
        i = offsets_a[v]
        j = offsets_b[v]
        q = offsets[v]
        while i < offsets_a[v + 1] or j < offsets_b[v + 1]:
            if j == offsets_b[v + 1]:
                neighbours[q] = a[i]
                if weight.size:
                    weight[q] = weight_a[i]
                i += 1
                q += 1
            elif i == offsets_a[v + 1]:
                if b[j] != v or not keep:
                    neighbours[q] = b[j]
                    if weight.size:
                        weight[q] = weight_b[j]
                    q += 1
                j += 1
            elif a[i] == b[j] and (not keep or a[i] == v):
                neighbours[q] = a[i]
                if weight.size:
                    if a[i] == v or keep:
                        weight[q] = weight_a[i]
                    elif rule == MERGE_MIN:
                        weight[q] = min(weight_a[i], weight_b[j])
                    elif rule == MERGE_MAX:
                        weight[q] = max(weight_a[i], weight_b[j])
                    else:
                        weight[q] = weight_a[i] + weight_b[j]
                        if weight[q] < 0:
                            bad += 1
                i += 1
                j += 1
                q += 1
            elif a[i] <= b[j]:
                neighbours[q] = a[i]
                if weight.size:
                    weight[q] = weight_a[i]
                i += 1
                q += 1
            else:
                neighbours[q] = b[j]
                if weight.size:
                    weight[q] = weight_b[j]
                j += 1
                q += 1
    return bad


@njit(nogil=True, cache=True)
def without_loops_lengths(lo, hi, offsets, neighbours, lengths):
    """Row lengths without self-loops."""
    for v in range(lo, hi):
        k = 0
        for e in range(offsets[v], offsets[v + 1]):
            if neighbours[e] != v:
                k += 1
        lengths[v] = k


@njit(nogil=True, cache=True)
def without_loops(lo, hi, offsets, neighbours, new_offsets, new_neighbours):
    """Copy rows without self-loops."""
    for v in range(lo, hi):
        q = new_offsets[v]
        for e in range(offsets[v], offsets[v + 1]):
            if neighbours[e] != v:
                new_neighbours[q] = neighbours[e]
                q += 1


@njit(nogil=True, cache=True)
def sum_rows(lo, hi, offsets, weight, sums):
    """``sums[v]``: weight of row v; returns how many integer sums overflowed."""
    bad = 0
    for v in range(lo, hi):
        total = sums[v]
        for e in range(offsets[v], offsets[v + 1]):
            total += weight[e]
            if total < 0:
                bad += 1
        sums[v] = total
    return bad


@njit(nogil=True, cache=True)
def sum_neighbours(lo, hi, neighbours, weight, sums):
    """``sums[v]``: weight of the edges whose neighbour is v; returns as `sum_rows`."""
    bad = 0
    for e in range(lo, hi):
        v = neighbours[e]
        sums[v] += weight[e]
        if sums[v] < 0:
            bad += 1
    return bad
