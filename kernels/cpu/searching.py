"""Binary searches: of edges in rows, and of strings among those that ascend."""

from __future__ import annotations

import numpy as np

from dask_graphgpu.kernels.compile import jit
from dask_graphgpu.kernels.cpu.strings import compared


@jit
def find_cells(lo, hi, offsets, neighbours, rows, wanted, first, end):
    """Where the entries of ``rows[i]`` that are ``wanted[i]`` begin and end, of ascending rows."""
    for i in range(lo, hi):
        a, last = offsets[rows[i]], offsets[rows[i] + 1]
        b = last
        while a < b:
            middle = (a + b) >> 1
            if neighbours[middle] < wanted[i]:
                a = middle + 1
            else:
                b = middle
        first[i] = a
        while a < last and neighbours[a] == wanted[i]:  # repeats are few
            a += 1
        end[i] = a


@jit
def find_strings(lo, hi, offsets, data, wanted_offsets, wanted, places, known):
    """Where strings ``lo`` to ``hi`` of an Arrow array stand among distinct ones in the order of their bytes.

    Of what is not ``known`` the place is that of the next one.
    """
    for i in range(lo, hi):
        address = np.uint64(wanted) + np.uint64(wanted_offsets[i])
        length = np.uint64(wanted_offsets[i + 1] - wanted_offsets[i])
        a, b, found = 0, len(offsets) - 1, False
        while a < b:
            middle = (a + b) >> 1
            order = compared(
                np.uint64(data) + np.uint64(offsets[middle]),
                np.uint64(offsets[middle + 1] - offsets[middle]),
                address,
                length,
            )
            if order < 0:
                a = middle + 1
            else:
                b = middle
                found = found or order == 0
        places[i], known[i] = a, found
