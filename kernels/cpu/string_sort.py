"""Kernels that put distinct strings in the order of their bytes, by eight bytes at a time."""

from __future__ import annotations

import numpy as np

from dask_graphgpu.kernels.compile import inner, jit
from dask_graphgpu.kernels.cpu.prefetch import prefetch_at
from dask_graphgpu.kernels.cpu.strings import entry, length_of, ordered_word

_EIGHT = np.uint64(8)
_MOST = np.uint64(2**64 - 1)
_AHEAD = 16  # entries to ask for before they are read
_FEW = 24  # strings that are inserted one by one


@jit
def keys(lo, hi, rows, starts, bits, skipped, out):
    """Eight bytes of each string after some eights, as `ordered_word`; the least and the largest."""
    least, largest = _MOST, np.uint64(0)
    for i in range(lo, hi):
        if i + _AHEAD < hi:
            prefetch_at(entry(starts, bits, rows[i + _AHEAD]))
        key = ordered_word(entry(starts, bits, rows[i]), np.uint64(skipped))
        out[i] = key
        least, largest = min(least, key), max(largest, key)
    return least, largest


@inner
def _bucket(splitters, key):
    """How many splitters, whose number is a power of two, are not above a key."""
    below, step = np.uint64(0), np.uint64(splitters.size)
    while step > 1:  # without branches that nobody can guess
        step >>= np.uint64(1)
        below += step if splitters[below + step - np.uint64(1)] <= key else np.uint64(0)
    return below + np.uint64(splitters[below] <= key)


@jit
def count(lo, hi, keys, splitters, places, counts):
    """Which bucket, from the splitters, each key belongs to, and how many each has."""
    for i in range(lo, hi):
        bucket = _bucket(splitters, keys[i])
        places[i] = bucket
        counts[bucket] += 1


@jit
def deal(lo, hi, keys, rows, places, cursor, dealt_keys, dealt_rows):
    """Move keys and rows to their buckets."""
    for i in range(lo, hi):
        to = cursor[places[i]]
        dealt_keys[to] = keys[i]
        dealt_rows[to] = rows[i]
        cursor[places[i]] = to + 1


@inner
def _before(a, b, skipped):
    """Whether a string comes before another, after eights that both have in common; of their entries."""
    m, n = length_of(a), length_of(b)
    while skipped < m or skipped < n:
        x, y = ordered_word(a, skipped), ordered_word(b, skipped)
        if x != y:
            return x < y
        skipped += _EIGHT
    return m < n


@inner
def _insert(start, stop, keys, rows, starts, bits, skipped):
    """Sort a few, by keys and then by what comes after them."""
    for i in range(start + 1, stop):
        key, row = keys[i], rows[i]
        j = i - 1
        while j >= start and (
            keys[j] > key
            or (
                keys[j] == key
                and _before(
                    entry(starts, bits, row), entry(starts, bits, rows[j]), skipped + _EIGHT
                )
            )
        ):
            keys[j + 1], rows[j + 1] = keys[j], rows[j]
            j -= 1
        keys[j + 1], rows[j + 1] = key, row


@inner
def _ended_first(start, stop, rows, starts, bits, done):
    """Put strings that end within ``done`` bytes before longer ones, in order; where the longer ones start.

    As far as ``done`` all are the same but for zero bytes, so they are few, each of another length.
    """
    front = start
    for i in range(start, stop):
        row = rows[i]
        length = length_of(entry(starts, bits, row))
        if length <= done:
            rows[i] = rows[front]
            j = front
            while j > start and length_of(entry(starts, bits, rows[j - 1])) > length:
                rows[j] = rows[j - 1]
                j -= 1
            rows[j] = row
            front += 1
    return front


@jit
def sort(lo, hi, bounds, skipped, keys, rows, starts, bits):
    """Sort the rows of buckets ``lo`` to ``hi`` by their strings.

    Those of a bucket, ``bounds[i, 0]`` to ``bounds[i, 1]``, have ``skipped[i]`` bytes in common; ``keys`` are of the
    eight after them. By radix, from the first byte in which keys differ. Cost: a pass for each byte that is needed.
    """
    most = 0
    for bucket in range(lo, hi):
        most = max(most, bounds[bucket, 1] - bounds[bucket, 0])
    spare_keys, spare_rows = np.empty(most, keys.dtype), np.empty(most, rows.dtype)
    stack = np.empty((most // _FEW + 2, 3), np.int64)
    counts = np.empty(257, np.int64)
    for bucket in range(lo, hi):
        stack[0, 0], stack[0, 1], stack[0, 2] = (
            bounds[bucket, 0],
            bounds[bucket, 1],
            skipped[bucket],
        )
        left = 1
        while left:
            left -= 1
            start, stop, done = stack[left, 0], stack[left, 1], stack[left, 2]
            if stop - start <= _FEW:
                _insert(start, stop, keys, rows, starts, bits, np.uint64(done))
                continue
            differ = np.uint64(0)
            for i in range(start + 1, stop):
                differ |= keys[i] ^ keys[start]
            if differ == 0:  # eight bytes on
                done += 8
                if keys[start] == 0:
                    start = _ended_first(start, stop, rows, starts, bits, np.uint64(done))
                for i in range(start, stop):
                    keys[i] = ordered_word(entry(starts, bits, rows[i]), np.uint64(done))
                stack[left, 0], stack[left, 1], stack[left, 2] = start, stop, done
                left += 1
                continue
            shift = np.uint64(56)
            while (differ >> shift) == 0:
                shift -= _EIGHT
            counts[:] = 0
            for i in range(start, stop):
                counts[((keys[i] >> shift) & np.uint64(255)) + np.uint64(1)] += 1
            for byte in range(1, 257):
                counts[byte] += counts[byte - 1]
            for i in range(start, stop):
                byte = (keys[i] >> shift) & np.uint64(255)
                spare_keys[counts[byte]], spare_rows[counts[byte]] = keys[i], rows[i]
                counts[byte] += 1
            for i in range(stop - start):
                keys[start + i], rows[start + i] = spare_keys[i], spare_rows[i]
            begin = start
            for byte in range(256):
                end = start + counts[byte]
                if end - begin > _FEW:
                    stack[left, 0], stack[left, 1], stack[left, 2] = begin, end, done
                    left += 1
                elif end - begin > 1:
                    _insert(begin, end, keys, rows, starts, bits, np.uint64(done))
                begin = end


@jit
def invert(lo, hi, rows, ranks):
    """Write to ``ranks`` at which place of ``rows`` each row is."""
    for i in range(lo, hi):
        ranks[rows[i]] = i
