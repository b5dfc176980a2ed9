"""Kernels that find strings in a hash table, or enter them: a table of a shard of the hashes."""

from __future__ import annotations

import numpy as np

from dask_graphgpu.kernels.compile import inner, jit
from dask_graphgpu.kernels.cpu.fingerprint import mixed
from dask_graphgpu.kernels.cpu.prefetch import prefetch, prefetch_at
from dask_graphgpu.kernels.cpu.strings import (
    FIRST,
    LAST,
    LONG,
    SHORT,
    address_of,
    entry,
    fill,
    first_word,
    last_word,
    length_of,
    load64,
    same_middle,
    store64,
)

_ODD = np.uint64(0x9E3779B97F4A7C15)
_EIGHT = np.uint64(8)
_ONE = np.uint64(1)
_HALF = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)
_SLOT_AHEAD, _ENTRY_AHEAD = 16, 8  # strings to ask for before they are looked up


@inner
def _hash(address, length):
    h = mixed(mixed(first_word(address, length) + length * _ODD) ^ last_word(address, length))
    at = _EIGHT
    while at + _EIGHT < length:
        h = mixed(h ^ load64(address + at))
        at += _EIGHT
    return h


@jit
def deal(lo, hi, offsets, data, shift, hashes, bounds, dealt, order):
    """Hash strings ``lo`` to ``hi`` of an Arrow array, and deal them to shards by the first bits of their hashes.

    ``dealt`` gets the hashes in the order of the shards, ``order`` their places after ``lo``; shard s is
    ``bounds[s]`` to ``bounds[s + 1]``.
    """
    bounds[:] = 0
    for i in range(lo, hi):
        start, length = np.uint64(offsets[i]), np.uint64(offsets[i + 1] - offsets[i])
        h = _hash(np.uint64(data) + start, length)
        hashes[i - lo] = h
        bounds[(h >> shift) + _ONE] += 1
    for s in range(1, bounds.size):
        bounds[s] += bounds[s - 1]
    for i in range(hi - lo):
        h = hashes[i]
        place = bounds[h >> shift]
        dealt[place] = h
        order[place] = i
        bounds[h >> shift] = place + 1
    for s in range(bounds.size - 1, 0, -1):
        bounds[s] = bounds[s - 1]
    bounds[0] = 0


@jit
def number(
    lo, hi, dealt, order, offsets, data, first, slots, starts, bits, state, text, codes
):  # fmt: skip
    """Give the dealt strings ``lo`` to ``hi`` of a shard their codes, the rows of their entries.

    A slot is 0, or a row plus one above the low bits of a hash; at most three quarters of the slots are taken.
    What is longer than an entry holds is copied to ``text``. ``state`` has how many strings are known, how much of
    the text is used, and the next row and the end of those that may be filled. Stops where there is no room, and
    returns which string is next. ``first`` : where those dealt begin in the array.
    """
    mask = np.uint64(slots.size - 1)
    room = slots.size // 4 * 3
    known, used, row, end, next_ = state[0], state[1], state[2], state[3], hi
    base, to = np.uint64(data), np.uint64(text.ctypes.data)
    for k in range(lo, hi):
        if k + _SLOT_AHEAD < hi:
            prefetch(slots, dealt[k + _SLOT_AHEAD] & mask)
        if k + _ENTRY_AHEAD < hi:
            likely = slots[dealt[k + _ENTRY_AHEAD] & mask] >> _HALF
            prefetch_at(entry(starts, bits, max(likely, _ONE) - _ONE))
            prefetch_at(base + np.uint64(offsets[first + order[k + _ENTRY_AHEAD]]))
        h = dealt[k]
        i = first + order[k]
        address, length = base + np.uint64(offsets[i]), np.uint64(offsets[i + 1] - offsets[i])
        head, tail = first_word(address, length), last_word(address, length)
        s = h & mask
        while slots[s] != 0:
            if slots[s] & _LOW == h & _LOW:
                at = entry(starts, bits, (slots[s] >> _HALF) - _ONE)
                if (
                    load64(at + _EIGHT * FIRST) == head
                    and load64(at + _EIGHT * LAST) == tail
                    and length_of(at) == length
                    and (length <= SHORT or same_middle(address_of(at), address, length))
                ):
                    break
            s = (s + _ONE) & mask
        if slots[s] == 0:
            before = np.int64(8 if length >= LONG else 0)
            if (
                known >= room
                or row == end
                or (length > SHORT and used + before + np.int64(length) > text.size)
            ):
                next_ = k
                break
            kept = np.uint64(0)
            if length > SHORT:
                if before:
                    store64(to + np.uint64(used), length)
                kept, at = to + np.uint64(used + before), np.uint64(0)
                while at + _EIGHT < length:
                    store64(kept + at, load64(address + at))
                    at += _EIGHT
                store64(kept + length - _EIGHT, tail)
                used += before + np.int64(length)
            fill(entry(starts, bits, row), head, tail, kept, length)
            known += 1
            row += 1
            slots[s] = (np.uint64(row) << _HALF) | (h & _LOW)
        codes[i] = (slots[s] >> _HALF) - _ONE
    state[0], state[1], state[2] = known, used, row
    return next_


@jit
def rebuild(slots, larger):
    """Put what is in slots into others, which are empty."""
    mask = np.uint64(larger.size - 1)
    for slot in slots:
        if slot != 0:
            s = slot & _LOW & mask
            while larger[s] != 0:
                s = (s + _ONE) & mask
            larger[s] = slot


@jit
def rename(lo, hi, codes, places):
    """Make codes ``lo`` to ``hi`` what ``places`` has for them."""
    for i in range(lo, hi):
        if i + _SLOT_AHEAD < hi:
            prefetch(places, np.uint64(codes[i + _SLOT_AHEAD]))
        codes[i] = places[codes[i]]
