"""Kernels that put edges into words with what they carry, and see which floats are whole numbers."""

from __future__ import annotations

import math

import numpy as np

from dask_graphgpu.kernels.compile import jit


@jit
def put_ids(lo, hi, ids, words):
    """Begin words lo to hi with ids."""
    for e in range(lo, hi):
        words[e] = ids[e]


@jit
def put_bytes(lo, hi, words, size, out):
    """Put the lowest bytes of words lo to hi one after the other, the lowest first.

    Parameters
    ----------
    size : int
        Bytes of a word.
    out : uint8 array
    """
    for e in range(lo, hi):
        word = np.uint64(words[e])
        for i in range(size):
            out[e * size + i] = np.uint8(word >> np.uint64(8 * i) & np.uint64(255))


@jit
def put_numbers(lo, hi, column, least, shift, words):
    """Put what a column has above `least` into words lo to hi, from a bit on that is 0 so far as are those above.

    Parameters
    ----------
    column : array of integers, or of floats that are whole
    least, shift : uint64
        The first modulo 2**64.
    words : uint32 or uint64 array
    """
    for e in range(lo, hi):
        words[e] |= (np.uint64(np.int64(column[e])) - least) << shift


@jit
def whole_ends(lo, hi, column, limit):
    """Whether floats lo to hi are whole and below `limit`, without a negative zero; the least and largest."""
    least, largest = np.inf, -np.inf
    for e in range(lo, hi):
        x = column[e]
        if not abs(x) < limit or x != math.floor(x) or (x == 0 and math.copysign(1.0, x) < 0):
            return False, least, largest
        least, largest = min(least, x), max(largest, x)
    return True, least, largest
