"""Strings as entries of three words: their first and last eight bytes, and where and how long they are.

Of up to sixteen bytes the first two words are the whole string, and nobody asks where it is. Words
have the first byte lowest; those of fewer than eight bytes end in zeros, and the second one is 0.
The third has the address in 48 bits, which is all of one, and the length in the other 16. A length
for which these are too few stands in the eight bytes before the string.

Entries are in several arrays, each of ``1 << bits``, whose addresses are ``starts``. Row ``(a << bits) + i`` is entry i
of array a.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.core.errors import TypingError
from numba.extending import intrinsic

from dask_graphgpu.kernels.compile import inner, jit
from dask_graphgpu.kernels.cpu.prefetch import prefetch, prefetch_at

WORDS = 3  # of an entry
_BYTES = np.uint64(8 * WORDS)
FIRST, LAST, _REST = map(np.uint64, range(WORDS))

SHORT = np.uint64(16)  # bytes that the words hold
LONG = np.uint64(0xFFFF)  # bytes from which on a length stands before the string
_ADDRESS = np.uint64(0xFFFFFFFFFFFF)
_LENGTH = np.uint64(48)
_EIGHT = np.uint64(8)
_BYTE = np.uint64(255)
_ONE = np.uint64(1)
_AHEAD = 16  # entries to ask for before they are read


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


def _store(bits):
    """An intrinsic that writes the low bits of a uint64 to any address."""

    @intrinsic
    def store(typingctx, address, value):
        if address != types.uint64 or value != types.uint64:
            raise TypingError(f"addresses and values are uint64, not {address} and {value}.")

        def codegen(context, builder, signature, args):
            kind = ir.IntType(bits)
            value = builder.trunc(args[1], kind) if bits < 64 else args[1]
            stored = builder.store(value, builder.inttoptr(args[0], kind.as_pointer()))
            stored.align = 1
            return context.get_dummy_value()

        return types.void(address, value), codegen

    return store


_load8, _load32, load64 = _load(8), _load(32), _load(64)
_store8, store64 = _store(8), _store(64)


@intrinsic
def turned(typingctx, word):
    """A uint64 with its bytes in the opposite order."""
    if word != types.uint64:
        raise TypingError(f"a word is a uint64, not {word}.")

    def codegen(context, builder, signature, args):
        return builder.bswap(args[0])

    return types.uint64(word), codegen


@inner
def first_word(address, length):
    """The first eight bytes of a string, or all of fewer."""
    if length >= _EIGHT:
        return load64(address)
    four = np.uint64(4)
    if length >= four:
        return _load32(address) | _load32(address + length - four) << _EIGHT * (length - four)
    if length == 0:
        return np.uint64(0)
    middle = length >> _ONE
    word = _load8(address) | _load8(address + middle) << _EIGHT * middle
    return word | _load8(address + length - _ONE) << _EIGHT * (length - _ONE)


@inner
def last_word(address, length):
    """The last eight bytes of a string, 0 of fewer."""
    return load64(address + length - _EIGHT) if length >= _EIGHT else np.uint64(0)


@inner
def copy_string(address, length, to):
    """Write a string somewhere, and nothing behind it."""
    done = np.uint64(0)
    while done + _EIGHT <= length:
        store64(to + done, load64(address + done))
        done += _EIGHT
    while done < length:
        _store8(to + done, _load8(address + done))
        done += _ONE


@inner
def compared(a, length_a, b, length_b):
    """Whether a string is less than (-1), equal to (0) or greater (1) than another one."""
    least, at = min(length_a, length_b), np.uint64(0)
    while at + _EIGHT <= least and load64(a + at) == load64(b + at):
        at += _EIGHT
    # Behind an end there are zeros: where nothing else differs, the shorter one is less.
    word_a = first_word(a + at, min(length_a - at, _EIGHT))
    word_b = first_word(b + at, min(length_b - at, _EIGHT))
    if word_a == word_b:
        return (1 if length_a > length_b else 0) - (1 if length_a < length_b else 0)
    while word_a & _BYTE == word_b & _BYTE:
        word_a >>= _EIGHT
        word_b >>= _EIGHT
    return 1 if word_a & _BYTE > word_b & _BYTE else -1


@inner
def same_middle(a, b, length):
    """Whether strings whose first and last words are the same are so between them."""
    at = _EIGHT
    while at + _EIGHT < length:
        if load64(a + at) != load64(b + at):
            return False
        at += _EIGHT
    return True


@inner
def entry(starts, bits, row):
    """Where the entry of a row is."""
    within = (_ONE << bits) - _ONE
    return starts[np.uint64(row) >> bits] + _BYTES * (np.uint64(row) & within)


@inner
def fill(at, head, tail, address, length):
    """Write the entry of a string at an address."""
    store64(at + _EIGHT * FIRST, head)
    store64(at + _EIGHT * LAST, tail)
    store64(at + _EIGHT * _REST, min(length, LONG) << _LENGTH | address)


@inner
def length_of(at):
    """How long a string is, of the address of its entry."""
    length = load64(at + _EIGHT * _REST) >> _LENGTH
    return length if length < LONG else load64(address_of(at) - _EIGHT)


@inner
def address_of(at):
    """Where a string that its entry does not hold is, of the address of its entry."""
    return load64(at + _EIGHT * _REST) & _ADDRESS


@inner
def ordered_word(at, skipped):
    """Eight bytes of a string after some eights, as a number by which strings are ordered: zeros behind the end."""
    length = length_of(at)
    if skipped >= length:
        return np.uint64(0)
    if skipped == 0:
        return turned(load64(at))
    rest = length - skipped
    if length <= SHORT:
        return turned(load64(at + _EIGHT * LAST) >> _EIGHT * (_EIGHT - rest))
    address = address_of(at)
    if rest >= _EIGHT:
        return turned(load64(address + skipped))
    return turned(load64(address + length - _EIGHT) >> _EIGHT * (_EIGHT - rest))


@jit
def lengths(lo, hi, rows, starts, bits):
    """Bytes of the strings of some rows together."""
    total = np.uint64(0)
    for i in range(lo, hi):
        if i + _AHEAD < hi:
            prefetch_at(entry(starts, bits, rows[i + _AHEAD]))
        total += length_of(entry(starts, bits, rows[i]))
    return total


@jit
def copy(lo, hi, rows, starts, bits, first, offsets, data):
    """Write the strings of some rows one after the other, and where each starts: the first at ``first`` of ``data``."""
    begin = np.uint64(first)
    for i in range(lo, hi):
        if i + _AHEAD < hi:
            prefetch_at(entry(starts, bits, rows[i + _AHEAD]))
        at = entry(starts, bits, rows[i])
        length, word = length_of(at), load64(at)
        out = np.uint64(data) + begin
        offsets[i] = begin
        begin += length
        if length < _EIGHT:
            for k in range(length):
                _store8(out + np.uint64(k), word >> _EIGHT * np.uint64(k))
            continue
        store64(out, word)
        if length > SHORT:
            address, done = address_of(at), _EIGHT
            while done + _EIGHT < length:
                store64(out + done, load64(address + done))
                done += _EIGHT
        store64(out + length - _EIGHT, load64(at + _EIGHT * LAST))


@jit
def bytes_at(lo, hi, places, offsets):
    """Bytes of the strings at some places of an Arrow array together."""
    total = np.int64(0)
    for i in range(lo, hi):
        if i + _AHEAD < hi:
            prefetch(offsets, np.uint64(places[i + _AHEAD]))
        total += offsets[places[i] + 1] - offsets[places[i]]
    return total


@jit
def gather(lo, hi, places, offsets, data, first, to_offsets, to_data):
    """Write the strings at some places of an Arrow array one after the other, and where each starts, as `copy`."""
    begin = np.uint64(first)
    for i in range(lo, hi):
        if i + _AHEAD < hi:
            prefetch(offsets, np.uint64(places[i + _AHEAD]))
        if i + _AHEAD // 2 < hi:
            prefetch_at(np.uint64(data) + np.uint64(offsets[places[i + _AHEAD // 2]]))
        address = np.uint64(data) + np.uint64(offsets[places[i]])
        length = np.uint64(offsets[places[i] + 1] - offsets[places[i]])
        to_offsets[i] = begin
        copy_string(address, length, np.uint64(to_data) + begin)
        begin += length
