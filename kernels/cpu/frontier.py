"""Kernels over frontiers: who is told, and lists from marks."""

import numpy as np

from dask_graphgpu.kernels.compile import jit

_ONE = np.uint64(1)


@jit
def notify(lo, hi, frontier, ends, offsets, neighbours, marked):
    """Mark the neighbours along the edges lo..hi of a frontier, whose vertices' end at ``ends``.

    Threads write the same value: no race.
    """
    place = np.uint64(lo)
    i = np.uint64(np.searchsorted(ends, place, side="right"))
    while place < np.uint64(hi):
        stop = min(ends[i], np.uint64(hi))
        begin = offsets[frontier[i] + _ONE] - (ends[i] - place)
        for e in range(begin, begin + (stop - place)):
            marked[neighbours[e]] = 1
        place = stop
        i += _ONE


@jit
def count_stamped(lo, hi, stamp, now):
    """Number of vertices in [lo, hi) with stamp ``now``."""
    count = 0
    for v in range(lo, hi):
        count += stamp[v] == now
    return count


@jit
def list_stamped(lo, hi, stamp, now, out, place):
    """Write the vertices in [lo, hi) with stamp ``now`` to ``out[place:]``."""
    for v in range(np.uint64(lo), np.uint64(hi)):
        if stamp[v] == now:
            out[place] = v
            place += 1


@jit
def append_marked(in_far, far, length):
    """Append the vertices marked 2 to the list, mark them 1, and return its new length."""
    for v in range(np.uint64(in_far.size)):
        if in_far[v] == 2:
            in_far[v] = 1
            far[length] = v
            length += 1
    return length


@jit
def changed(lo, hi, places, values, told, late, told_late, flags, found, had):
    """Flag those of the vertices ``places[lo:hi]`` that others have not been told of as they are now.

    ``told[i]``, ``told_late[i]``: what was told of ``places[i]``, from now on what is there. `late` is
    empty where no vertex can be. The changed vertices go to ``found[lo:]`` and the values that were
    told of them to ``had[lo:]``. NaN is the same as NaN.

    Returns
    -------
    int
        How many have changed.
    """
    count = 0
    for i in range(lo, hi):
        v = places[i]
        value = values[v]
        old = told[i]
        differs = value != old and (value == value or old == old)
        if late.size and late[v] != told_late[i]:
            told_late[i] = late[v]
            differs = True
        flags[v] = differs
        if differs:
            told[i] = value
            found[lo + count] = v
            had[lo + count] = old
            count += 1
    return count
