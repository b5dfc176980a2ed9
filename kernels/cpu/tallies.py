"""Weights added up by label, in a table of open addressing that is as large as a row of edges needs.

Most rows are short, so that their part of the table stays in the cache, however many labels there are.

Encoding
--------
keys : label of a slot, or all ones where there is none.
sums : what was added under it, where there is one.
touched : the slots with a label, in the order in which these came.
shift : 64 minus the bits of a slot's number.
"""

import numpy as np

from dask_graphgpu.kernels.compile import inner, jit

_ODD = np.uint64(0x9E3779B97F4A7C15)
_ONE = np.uint64(1)

AHEAD = np.uint64(16)  # entries of a row before which the label of a neighbour is asked for


@jit
def room_for(most):
    """Slots for so many labels: a power of two, at least twice as many."""
    room = 16
    while room < 2 * most:
        room *= 4
    return room


@inner
def new_table(room, like):
    """Keys, sums and touched slots of an empty table, for labels of the type of an array."""
    keys = np.empty(room, like.dtype)
    none = keys.dtype.type(-1)
    for slot in range(room):
        keys[slot] = none
    return keys, np.empty(room), np.empty(room // 2, np.uint32)


@inner
def shift_for(most):
    """The `shift` for so many labels, a uint64, as `room_for` has it."""
    shift = np.uint64(60)
    while (_ONE << (np.uint64(64) - shift)) < most + most:
        shift -= np.uint64(2)
    return shift


@inner
def add(keys, sums, touched, num, shift, label, weight):
    """Add a weight under a label; gives how many labels there are then."""
    none = keys.dtype.type(-1)
    mask = (_ONE << (np.uint64(64) - shift)) - _ONE
    slot = (label * _ODD) >> shift
    while keys[slot] != label:
        if keys[slot] == none:
            keys[slot] = label
            sums[slot] = weight
            touched[num] = slot
            return num + 1
        slot = (slot + _ONE) & mask
    sums[slot] += weight
    return num
