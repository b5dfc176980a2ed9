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
def put_bits(lo, hi, words, bits, out):
    """Put the lowest bits of words one after the other, the lowest first: those of 32 words at a time, lo to hi.

    Behind the last word are zeros.

    Parameters
    ----------
    bits : int
        Of a word, at most 63.
    out : uint32 array
    """
    low = np.uint64(2**32 - 1)
    for group in range(lo, hi):
        held, filled, place = np.uint64(0), 0, group * bits
        for e in range(32 * group, 32 * group + 32):
            word = np.uint64(words[e]) if e < len(words) else np.uint64(0)
            left = bits
            while left > 0:  # no more than 32 bits at a time: fewer are held
                taken = min(left, 32)
                held |= (word & ((np.uint64(1) << np.uint64(taken)) - np.uint64(1))) << np.uint64(
                    filled
                )
                filled += taken
                if filled >= 32:
                    out[place] = np.uint32(held & low)
                    held >>= np.uint64(32)
                    filled -= 32
                    place += 1
                word >>= np.uint64(taken)
                left -= taken


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
