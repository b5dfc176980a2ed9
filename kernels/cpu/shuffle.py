"""Kernels that deal edges to the ranks that own their ends, and name the ends there.

Encoding
--------
code : of an end of an edge, an index into the tables of its chunk.
place : of a vertex among all vertices, those of rank 0 first: rank r owns ``bounds[r]`` to
    ``bounds[r + 1]``, in the order of its memory.
words : a bitmap over places, p is bit ``p & 63`` of word ``p >> 6``.
"""

from __future__ import annotations

import numpy as np

from dask_graphgpu.kernels.compile import jit
from dask_graphgpu.kernels.cpu.atomics import atomic_or
from dask_graphgpu.kernels.cpu.bits import count_bits

_ONE = np.uint64(1)
_SIX, _LOW = np.uint64(6), np.uint64(63)


@jit
def count(lo, hi, codes, table, counts):
    """Add to ``counts[table[c]]`` how often code c stands in ``codes[lo:hi]``."""
    for i in range(lo, hi):
        counts[table[codes[i]]] += 1


@jit
def add_ends(lo, hi, vertices, out, into, degrees, excess):
    """Add what vertices, which differ, have of out-edges and in-edges."""
    for i in range(lo, hi):
        v, a, b = vertices[i], np.int64(out[i]), np.int64(into[i])
        degrees[v] += a + b
        excess[v] += a - b


@jit
def count_entries(lo, hi, rows, owners, counts):
    """Count the entries of rows that each rank gets."""
    for i in range(lo, hi):
        counts[owners[rows[i]]] += 1


@jit
def look_up(lo, hi, codes, places_of, owners_of, places, owners, counts):
    """Write the places and owners of the ends ``lo`` to ``hi``, from the first of ``places`` on, and count owners."""
    for i in range(lo, hi):
        code = codes[i]
        places[i - lo] = places_of[code]
        owner = owners_of[code]
        owners[i - lo] = owner
        counts[owner] += 1


@jit
def deal_entries(lo, hi, rows, owners, neighbours, bounds, cursor, dealt_rows, dealt_neighbours):
    """Write entries where those for their row's owner go next, in the order of the edges.

    ``rows`` and ``neighbours`` are places; a row is named as its owner names it.
    """
    for i in range(lo, hi):
        to = owners[i]
        at = cursor[to]
        cursor[to] = at + 1
        dealt_rows[at] = rows[i] - bounds[to]
        dealt_neighbours[at] = neighbours[i]


@jit
def deal_column(lo, hi, rows, owners, cursor, column, dealt):
    """Write what edges carry in the order of `deal_entries`."""
    for i in range(lo, hi):
        to = owners[rows[i]]
        at = cursor[to]
        cursor[to] = at + 1
        dealt[at] = column[i]


@jit
def note_remote(lo, hi, places, first, last, words):
    """Set the bits of the places that are not ``first`` to ``last``."""
    for i in range(lo, hi):
        place = np.uint64(places[i])
        if place < first or place >= last:
            word, bit = place >> _SIX, _ONE << (place & _LOW)
            if words[word] & bit == 0:  # most are set already, and a read disturbs no other thread
                atomic_or(words, word, bit)


@jit
def count_words(lo, hi, words, counts):
    """``counts[i]``: bits that are set in word i."""
    for i in range(lo, hi):
        counts[i] = count_bits(words[i])


@jit
def to_local(lo, hi, places, first, last, words, before):
    """Replace places by local ids: own ones from 0, then the ghosts, which are those in ``words``.

    ``before[i]``: ghosts in the words before word i.
    """
    owned = last - first
    for i in range(lo, hi):
        place = np.uint64(places[i])
        if first <= place < last:
            places[i] = place - first
        else:
            word = place >> _SIX
            below = words[word] & ((_ONE << (place & _LOW)) - _ONE)
            places[i] = owned + np.uint64(before[word]) + count_bits(below)
