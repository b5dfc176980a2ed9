"""Two ascending lists of distinct ids merged: where each id stands in the one list that has them all."""

from __future__ import annotations

import numpy as np

from dask_graphgpu.kernels.compile import inner, jit
from dask_graphgpu.kernels.cpu.strings import compared, first_word, load64, store64

_EIGHT, _BYTE = np.uint64(8), np.uint64(255)


@jit
def merge_integers(lo, hi, a, b, start, stop, places_a, places_b, source):
    """Merge ``a[lo:hi]`` with ``b[start:stop]``; how many distinct values there are, and bytes of strings.

    ``places_a`` and ``places_b`` become their places, counted from the first; ``source``, from ``lo + start`` on,
    where each distinct one is: in a, or behind all of a in b.
    """
    i, j, found = lo, start, 0
    while i < hi or j < stop:
        first = i < hi and (j == stop or a[i] <= b[j])
        second = j < stop and (i == hi or b[j] <= a[i])
        source[lo + start + found] = i if first else len(a) + j
        if first:
            places_a[i] = found
            i += 1
        if second:
            places_b[j] = found
            j += 1
        found += 1
    return found, 0


@jit
def merge_strings(
    lo, hi, offsets_a, data_a, offsets_b, data_b, start, stop, places_a, places_b, source
):
    """As `merge_integers`, of strings of Arrow arrays, in the order of their bytes."""
    i, j, found, size, nbytes = lo, start, 0, len(offsets_a) - 1, 0
    while i < hi or j < stop:
        order = 1 if i == hi else -1
        if i < hi and j < stop:
            order = compared(
                np.uint64(data_a) + np.uint64(offsets_a[i]),
                np.uint64(_length(offsets_a, i)),
                np.uint64(data_b) + np.uint64(offsets_b[j]),
                np.uint64(_length(offsets_b, j)),
            )
        source[lo + start + found] = i if order <= 0 else size + j
        nbytes += _length(offsets_a, i) if order <= 0 else _length(offsets_b, j)
        if order <= 0:
            places_a[i] = found
            i += 1
        if order >= 0:
            places_b[j] = found
            j += 1
        found += 1
    return found, nbytes


@jit
def write_strings(source, offsets_a, data_a, offsets_b, data_b, begin, offsets, data):
    """Write the strings that ``source`` says one after the other, and where each starts: the first at ``begin``."""
    size = len(offsets_a) - 1
    for k in range(len(source)):
        i = np.int64(source[k])
        if i < size:
            address, length = np.uint64(data_a) + np.uint64(offsets_a[i]), _length(offsets_a, i)
        else:
            i -= size
            address, length = np.uint64(data_b) + np.uint64(offsets_b[i]), _length(offsets_b, i)
        offsets[k] = begin
        done = 0
        while done + 8 <= length:
            store64(np.uint64(data.ctypes.data + begin + done), load64(address + np.uint64(done)))
            done += 8
        word = first_word(address + np.uint64(done), np.uint64(length - done))
        while done < length:
            data[begin + done] = word & _BYTE
            word >>= _EIGHT
            done += 1
        begin += length


@inner
def _length(offsets, i):
    return offsets[i + 1] - offsets[i]
