"""Kernels that deal strings to their ranges, and bring what is known of them there to where they stand."""

from __future__ import annotations

import numpy as np

from dask_graphgpu.kernels.compile import jit
from dask_graphgpu.kernels.cpu.strings import (
    compared,
    copy_string,
    first_word,
    turned,
)

_EIGHT = np.uint64(8)


@jit
def first_words(lo, hi, offsets, data, words):
    """The first eight bytes of strings as numbers that are in their order: zeros behind an end."""
    for i in range(lo, hi):
        length = np.uint64(offsets[i + 1] - offsets[i])
        words[i] = turned(first_word(np.uint64(data) + np.uint64(offsets[i]), min(length, _EIGHT)))


@jit
def find(lo, hi, offsets, data, splits, split_offsets, split_data, ranges, counts, sizes):
    """The range of each of the strings ``lo`` to ``hi``: how many of ascending ``splits`` are not above it.

    ``splits`` : their `first_words`. Adds to ``counts`` and ``sizes`` how many strings and bytes each range gets.
    """
    for i in range(lo, hi):
        address = np.uint64(data) + np.uint64(offsets[i])
        length = np.uint64(offsets[i + 1] - offsets[i])
        word = turned(first_word(address, min(length, _EIGHT)))
        found, left = 0, len(splits)
        while left > 0:  # the splits that begin with less, without a jump that nobody can guess
            half = (left + 1) // 2
            found += half if splits[found + half - 1] < word else 0
            left -= half
        if found < len(splits) and splits[found] == word:
            above = len(splits)
            while found < above:  # among those that begin alike, by all of their bytes
                middle = (found + above) // 2
                at, end = np.uint64(split_offsets[middle]), np.uint64(split_offsets[middle + 1])
                split = np.uint64(split_data) + at
                if splits[middle] == word and compared(address, length, split, end - at) >= 0:
                    found = middle + 1
                else:
                    above = middle
        ranges[i] = found
        counts[found] += 1
        sizes[found] += length


@jit
def deal(lo, hi, offsets, data, ranges, cursor, begin, lengths, to):
    """Write strings where those of their ranges go next, at ``begin`` of ``to``, and their lengths at ``cursor``."""
    for i in range(lo, hi):
        r = ranges[i]
        length = offsets[i + 1] - offsets[i]
        address = np.uint64(data) + np.uint64(offsets[i])
        copy_string(address, np.uint64(length), np.uint64(to) + np.uint64(begin[r]))
        lengths[cursor[r]] = length
        cursor[r] += 1
        begin[r] += length


@jit
def bring(lo, hi, ranges, cursor, values, to):
    """Values of strings, in the order in which `deal` has written them, to where they stood."""
    for i in range(lo, hi):
        r = ranges[i]
        to[i] = values[cursor[r]]
        cursor[r] += 1
