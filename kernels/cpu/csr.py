"""Kernels over rows of neighbours: counts, hashes, merging of repeated edges, sums.

Every kernel works on a block ``[lo, hi)`` and holds no lock, so blocks run on threads side by side.
"""

from __future__ import annotations

import numpy as np

from dask_graphgpu.kernels.compile import jit
from dask_graphgpu.kernels.cpu.atomics import atomic_add
from dask_graphgpu.kernels.cpu.fingerprint import mixed

MERGE_MIN, MERGE_MAX, MERGE_SUM = 0, 1, 2


@jit
def count(lo, hi, keys, counts):
    """Add to ``counts[k]`` how often key k stands in ``keys[lo:hi]``."""
    for i in range(lo, hi):
        counts[keys[i]] += 1


@jit
def count_together(lo, hi, keys, counts):
    """`count`, where other threads add to the same counts."""
    for i in range(lo, hi):
        atomic_add(counts, keys[i], 1)


@jit
def mark(lo, hi, keys, present):
    """Say of the keys ``keys[lo:hi]`` that they are there; what other threads have said is not written again."""
    for i in range(lo, hi):
        if not present[keys[i]]:
            present[keys[i]] = True


@jit
def add_at(lo, hi, places, counts, totals):
    """Add ``counts[:, i]`` to ``totals[:, places[i]]``, two rows each."""
    for i in range(lo, hi):
        totals[0, places[i]] += counts[0, i]
        totals[1, places[i]] += counts[1, i]


@jit
def vertex_of(table, code):
    """The vertex of a code; an empty table: codes are vertices."""
    return np.uint64(table[code]) if table.size else np.uint64(code)


@jit
def hash_edges(lo, hi, table, rows, neighbours, bits):
    """Sum of hashes of the edges, minus that of their mirror images: 0 if these are the same edges.

    ``bits`` is what each edge carries, as unsigned integers, or empty; ``table`` is as of `vertex_of`.
    """
    total = np.uint64(0)
    odd = np.uint64(0x9E3779B97F4A7C15)
    for i in range(lo, hi):
        u = mixed(vertex_of(table, rows[i]) + odd)
        v = mixed(vertex_of(table, neighbours[i]) + odd)
        w = np.uint64(bits[i]) * odd if bits.size else np.uint64(0)
        total += mixed(u * np.uint64(3) + v + w) - mixed(v * np.uint64(3) + u + w)
    return total


@jit
def distinct(lo, hi, offsets, neighbours, lengths):
    """Number of different neighbours of each row; returns that of all."""
    total = 0
    for v in range(lo, hi):
        k = 0
        for e in range(offsets[v], offsets[v + 1]):
            if e == offsets[v] or neighbours[e] != neighbours[e - 1]:
                k += 1
        lengths[v] = k
        total += k
    return total


@jit
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


@jit
def union_lengths(lo, hi, offsets_a, a, offsets_b, b, lengths):
    """Length of each row of the union of two adjacencies whose rows ascend without repeats."""
    for v in range(lo, hi):
        i = offsets_a[v]
        j = offsets_b[v]
        k = 0
        while i < offsets_a[v + 1] and j < offsets_b[v + 1]:
            x = a[i]
            y = b[j]
            i += x <= y
            j += y <= x
            k += 1
        lengths[v] = k + offsets_a[v + 1] - i + offsets_b[v + 1] - j


@jit
def union_rows(lo, hi, offsets_a, a, offsets_b, b, offsets, neighbours):
    """Merge the rows of two adjacencies; neighbours that both have come once."""
    for v in range(lo, hi):
        i = offsets_a[v]
        j = offsets_b[v]
        for q in range(offsets[v], offsets[v + 1]):
            if j == offsets_b[v + 1] or (i < offsets_a[v + 1] and a[i] <= b[j]):
                neighbours[q] = a[i]
                j += j < offsets_b[v + 1] and a[i] == b[j]
                i += 1
            else:
                neighbours[q] = b[j]
                j += 1


@jit
def without_loops_lengths(lo, hi, offsets, neighbours, lengths):
    """Row lengths without self-loops."""
    for v in range(lo, hi):
        k = 0
        for e in range(offsets[v], offsets[v + 1]):
            if neighbours[e] != v:
                k += 1
        lengths[v] = k


@jit
def without_loops(lo, hi, offsets, neighbours, new_offsets, new_neighbours):
    """Copy rows without self-loops."""
    for v in range(lo, hi):
        q = new_offsets[v]
        for e in range(offsets[v], offsets[v + 1]):
            if neighbours[e] != v:
                new_neighbours[q] = neighbours[e]
                q += 1


@jit
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


@jit
def sum_neighbours(lo, hi, neighbours, weight, sums):
    """``sums[v]``: weight of the edges whose neighbour is v; returns as `sum_rows`."""
    bad = 0
    for e in range(lo, hi):
        v = neighbours[e]
        sums[v] += weight[e]
        if sums[v] < 0:
            bad += 1
    return bad
