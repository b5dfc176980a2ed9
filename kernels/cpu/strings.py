"""Kernels over the bytes of strings, each given by where it starts in memory and how long it is."""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.core.errors import TypingError
from numba.extending import intrinsic

from dask_graphgpu.kernels.compile import jit
from dask_graphgpu.kernels.cpu.fingerprint import mixed

_ODD = np.uint64(0x9E3779B97F4A7C15)
_EIGHT = np.uint64(8)
_ONE = np.uint64(1)


def _load(bits):
    """An intrinsic that reads an unsigned integer at any address, as a uint64."""

    @intrinsic
    def load(typingctx, address):
        if address != types.uint64:
            raise TypingError(f"an address is a uint64, not {address}.")

        def codegen(context, builder, signature, args):
            kind = ir.IntType(bits)
            value = builder.load(builder.inttoptr(args[0], kind.as_pointer()))
            value.align = 1
            return builder.zext(value, ir.IntType(64)) if bits < 64 else value

        return types.uint64(address), codegen

    return load


_load8, _load64 = _load(8), _load(64)


@intrinsic
def _store64(typingctx, address, value):
    """Write a uint64 to any address."""
    if address != types.uint64 or value != types.uint64:
        raise TypingError(f"addresses and values are uint64, not {address} and {value}.")

    def codegen(context, builder, signature, args):
        kind = ir.IntType(64)
        stored = builder.store(args[1], builder.inttoptr(args[0], kind.as_pointer()))
        stored.align = 1
        return context.get_dummy_value()

    return types.void(address, value), codegen


@jit
def _last(address, length):
    """The bytes of a string after its last whole eight, the first of them lowest."""
    rest = length & np.uint64(7)
    if rest == 0:
        return np.uint64(0)
    if length >= _EIGHT:  # never beyond the end
        return _load64(address + length - _EIGHT) >> (_EIGHT * (_EIGHT - rest))
    word = np.uint64(0)
    for i in range(rest):
        word |= _load8(address + i) << (_EIGHT * np.uint64(i))
    return word


@jit
def _hash(address, length):
    h = mixed(length + _ODD)
    for i in range(length >> np.uint64(3)):
        h = mixed(h ^ _load64(address + _EIGHT * np.uint64(i)))
    return mixed(h ^ _last(address, length))


@jit
def _equal(a, b, length):
    for i in range(length >> np.uint64(3)):
        at = _EIGHT * np.uint64(i)
        if _load64(a + at) != _load64(b + at):
            return False
    return _last(a, length) == _last(b, length)


@jit
def locate(lo, hi, offsets, data, first, addresses, lengths, hashes):
    """Where strings ``lo`` to ``hi`` of an array stand, and their hashes; written from ``first`` on."""
    base = np.uint64(data)
    for i in range(lo, hi):
        address, length = base + np.uint64(offsets[i]), np.uint64(offsets[i + 1] - offsets[i])
        addresses[first + i] = address
        lengths[first + i] = length
        hashes[first + i] = _hash(address, length)


@jit
def count_buckets(lo, hi, hashes, shift, counts):
    """Add to ``counts`` how many hashes begin with each bucket's bits."""
    for i in range(lo, hi):
        counts[hashes[i] >> shift] += 1


@jit
def deal(lo, hi, hashes, shift, cursor, order):
    """Write the strings of a block to their buckets, from ``cursor`` on."""
    for i in range(lo, hi):
        bucket = hashes[i] >> shift
        order[cursor[bucket]] = i
        cursor[bucket] += 1


@jit
def number_buckets(lo, hi, starts, order, addresses, lengths, hashes, codes, firsts, numbers):
    """Number the distinct strings of each bucket from 0 on.

    ``firsts``, from the start of the bucket on: the first string of each number; ``numbers``: how
    many a bucket has.
    """
    size = 16
    for bucket in range(lo, hi):
        while size < 2 * (starts[bucket + 1] - starts[bucket]):
            size *= 2
    slots = np.empty(size, np.uint32)
    for bucket in range(lo, hi):
        start = starts[bucket]
        size = 16
        while size < 2 * (starts[bucket + 1] - start):
            size *= 2
        slots[:size] = 0
        mask = np.uint64(size - 1)
        known = 0
        for k in range(start, starts[bucket + 1]):
            i = order[k]
            s = hashes[i] & mask
            while slots[s] != 0:
                j = firsts[start + np.int64(slots[s]) - 1]
                if (
                    hashes[j] == hashes[i]
                    and lengths[j] == lengths[i]
                    and _equal(addresses[j], addresses[i], np.uint64(lengths[i]))
                ):
                    break
                s = (s + _ONE) & mask
            if slots[s] == 0:
                firsts[start + known] = i
                known += 1
                slots[s] = known
            codes[i] = slots[s] - 1
        numbers[bucket] = known


@jit
def renumber(lo, hi, starts, order, bases, codes):
    """Make the numbers of each bucket follow those of the bucket before."""
    for bucket in range(lo, hi):
        for k in range(starts[bucket], starts[bucket + 1]):
            codes[order[k]] += bases[bucket]


@jit
def copy(lo, hi, addresses, lengths, offsets, data, start):
    """Copy strings, one after the other, to an array ``data`` that starts at an address."""
    for i in range(lo, hi):
        address, length = addresses[i], np.uint64(lengths[i])
        whole = length >> np.uint64(3)
        for k in range(whole):
            at = _EIGHT * np.uint64(k)
            _store64(np.uint64(start) + np.uint64(offsets[i]) + at, _load64(address + at))
        for k in range(_EIGHT * whole, length):
            data[offsets[i] + np.int64(k)] = _load8(address + np.uint64(k))


@jit
def shared_prefix(lo, hi, addresses, lengths):
    """How many bytes at their beginning strings have in common."""
    shared = np.uint64(lengths[lo])
    for i in range(lo + 1, hi):
        shared = min(shared, np.uint64(lengths[i]))
        k = np.uint64(0)
        while k < shared and _load8(addresses[i] + k) == _load8(addresses[lo] + k):
            k += _ONE
        shared = k
    return shared


@jit
def keys(lo, hi, chosen, addresses, lengths, skipped, out):
    """Eight bytes of each chosen string after some, as a number by which they are ordered.

    Bytes beyond the end count as zeros.
    """
    for i in range(lo, hi):
        address, length = addresses[chosen[i]], np.uint64(lengths[chosen[i]])
        key = np.uint64(0)
        for k in range(_EIGHT):
            at = np.uint64(skipped) + k
            byte = _load8(address + at) if at < length else np.uint64(0)
            key = (key << _EIGHT) | byte
        out[i] = key
