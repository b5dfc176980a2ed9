"""An order of rows in which a processor guesses their ends.

Where a row ends after another number of neighbours than the one before it, the processor has gone on with what is not
there, and starts anew: that takes as long as tens of additions.
"""

import numpy as np

from dask_graphgpu.kernels.compile import jit

# Neighbours from which rows count as equally long: a wrong guess is little of their time.
LONGEST = 64


@jit(inline="always")
def _length(offsets, v):
    return min(offsets[v + np.uint64(1)] - offsets[v], np.uint64(LONGEST))


@jit
def length_changes(lo, hi, offsets):
    """How many of the rows lo to hi are not as long as the one before; of the first of all there is none."""
    if hi < 2:
        return 0
    number = 0
    first = np.uint64(max(lo, 1))
    before = _length(offsets, first - np.uint64(1))
    for v in range(first, np.uint64(hi)):
        length = _length(offsets, v)
        number += length != before
        before = length
    return number


@jit
def by_length(lo, hi, bounds, offsets, order):
    """Write the rows of blocks lo to hi to `order`: in each the shortest first, those of a length as they lie.

    Parameters
    ----------
    bounds : int64 array, shape (blocks + 1,)
        Rows at which blocks start.
    offsets : uint64 array, shape (rows + 1,)
    order : unsigned integer array, shape (rows,)
    """
    place = np.empty(LONGEST + 2, np.int64)
    for block in range(lo, hi):
        place[:] = 0
        for v in range(np.uint64(bounds[block]), np.uint64(bounds[block + 1])):
            place[_length(offsets, v) + np.uint64(1)] += 1
        place[0] = bounds[block]
        for length in range(LONGEST):
            place[length + 1] += place[length]
        for v in range(np.uint64(bounds[block]), np.uint64(bounds[block + 1])):
            of_length = _length(offsets, v)
            order[place[of_length]] = v
            place[of_length] += 1
