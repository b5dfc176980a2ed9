"""Numbering the distinct values of Arrow arrays, strings or integers, and putting them in order."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from dask_graphgpu.errors import InvalidEdges
from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.kernels.cpu.threads import even_blocks, for_blocks, num_threads

_WORDS = 4  # of an entry
_AT_ONCE = 1 << 17  # strings that are dealt to the shards together: they stay in the caches
_SHARD = 1 << 15  # strings that are worth a shard
_MOST_SHARDS = 64
_EIGHTS = np.arange(0, 8 * _AT_ONCE + 1, 8)  # where strings of eight bytes start
_SIGN = np.uint64(1 << 63)
_MANY = 1 << 16  # strings that are taken by threads
_BUCKET = 1 << 14  # strings that one thread sorts
_LARGE = 1 << 16  # strings that are worth several threads
_MOST_BUCKETS = 256
_SAMPLE = 16  # keys to choose a splitter from


def numbered(parts: Sequence[pa.Array]) -> tuple[list[np.ndarray], pa.Array]:
    """Codes of arrays of one type, uint32, into one table of their distinct values, in any order.

    Arrays may be dictionary-encoded; the table is not.
    """
    return _numbered(parts, in_order=False)


def ranked(parts: Sequence[pa.Array]) -> tuple[list[np.ndarray], pa.Array]:
    """The same in ascending order, of strings that of their bytes."""
    return _numbered(parts, in_order=True)


def _numbered(parts: Sequence[pa.Array], in_order: bool) -> tuple[list[np.ndarray], pa.Array]:
    kind = parts[0].type.value_type if pa.types.is_dictionary(parts[0].type) else parts[0].type
    table = IdTable(sum(map(len, parts)), kind)
    codes = [table.codes(part) for part in parts]
    return codes, table.distinct(codes, in_order=in_order)


@dataclass(frozen=True, eq=False)
class StringEntries:
    """Distinct strings, as `kernels.cpu.strings` has them.

    Attributes
    ----------
    starts : uint64, shape (1 << bits,)
        Addresses of the arrays of entries.
    rows : uint32
        Of all strings.
    held
        What has to stay in memory for them.
    """

    starts: np.ndarray
    bits: np.uint64
    rows: np.ndarray
    held: Any

    @classmethod
    def of(cls, arrays: Sequence[np.ndarray], bits: int, held: Any) -> StringEntries:
        """All of arrays of entries."""
        starts = np.array([each.ctypes.data for each in arrays], np.uint64)
        sizes = [len(each) // _WORDS for each in arrays]
        rows = np.empty(sum(sizes), np.uint32)
        first = np.concatenate([[0], np.cumsum(sizes)])

        def name(lo: int, hi: int) -> None:
            for number in range(lo, hi):
                every = np.arange(sizes[number], dtype=np.uint32)
                rows[first[number] : first[number + 1]] = (every << np.uint32(bits)) + number

        for_blocks(name, np.arange(len(sizes) + 1))
        return cls(starts, np.uint64(bits), rows, held)

    def take(self, rows: np.ndarray) -> pa.Array:
        """The strings of some rows, large strings."""
        blocks, given = even_blocks(len(rows), work=8), (rows, self.starts, self.bits)
        sums = for_blocks(kernels.strings.lengths, blocks, *given)
        return _written(kernels.strings.copy, blocks, sums, *given)


def taken(ids: pa.Array, places: np.ndarray) -> pa.Array:
    """The ids at some places of an array without nulls; many strings are written by all threads."""
    if len(places) < _MANY or not pa.types.is_large_string(ids.type):
        return ids.take(pa.array(places))
    blocks, (offsets, data) = even_blocks(len(places), work=8), _buffers(ids)
    sums = for_blocks(kernels.strings.bytes_at, blocks, places, offsets)
    return _written(kernels.strings.gather, blocks, sums, places, offsets, data)


def _written(kernel: Any, blocks: np.ndarray, sums: Sequence[int], *given: Any) -> pa.Array:
    """Large strings that a kernel writes, in blocks that have so many bytes."""
    first = np.concatenate([[0], np.cumsum(sums)]).astype(np.int64)
    offsets = np.empty(blocks[-1] + 1, np.int64)
    data = np.empty(first[-1], np.uint8)
    offsets[-1] = first[-1]
    begin = dict(zip(blocks.tolist(), first.tolist(), strict=True))

    def write(lo: int, hi: int) -> None:
        kernel(lo, hi, *given, begin[lo], offsets, data.ctypes.data)

    for_blocks(write, blocks)
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.large_string(), len(offsets) - 1, buffers)


class IdTable:
    """The distinct ids, strings or integers, of arrays that several threads bring, each with a code.

    A hash table in shards, which one thread at a time enters strings into. Of a string of up to 16 bytes the entry
    has all bytes; those of a longer one are copied, so that arrays may go. An integer is the string of its eight bytes,
    the highest first.
    Cost: a random access for each string of an array, asked for ahead; 32 bytes, 11 to 22 more for slots, and
    what is longer than 16 for each distinct one.

    Parameters
    ----------
    expected
        How many ids may come, by which the shards are.
    kind
        Type of the ids.
    """

    def __init__(self, expected: int, kind: Any) -> None:
        shards = min(max(expected // _SHARD, 2), _MOST_SHARDS)
        self.kind = kind
        self._bits = (shards - 1).bit_length()
        self._shards = [_Shard() for _ in range(1 << self._bits)]
        self._next = 0
        self._spare: list[Any] = []  # arrays to deal strings in, which threads use again

    def codes(self, ids: pa.Array) -> np.ndarray:
        """Codes of an array of ids without nulls, uint32, for the time being: `distinct` puts others in their place.

        Of a dictionary, only what stands in rows is entered.
        """
        if pa.types.is_dictionary(ids.type):
            indices = np.asarray(ids.indices).astype(np.intp, copy=False)
            used = np.zeros(len(ids.dictionary), bool)
            used[indices] = True
            place = np.cumsum(used) - 1
            known = self.codes(ids.dictionary.filter(pa.array(used)))
            return known.take(place).take(indices) if len(indices) else known
        codes = np.empty(len(ids), np.uint32)
        cuts = np.append(np.arange(0, len(ids), _AT_ONCE), len(ids))
        if not len(ids):
            return codes
        if pa.types.is_integer(ids.type):
            for_blocks(self._enter_integers, cuts, np.asarray(ids), codes)
        else:
            for_blocks(self._enter, cuts, *_buffers(ids), codes)
        return codes

    def _enter_integers(self, lo: int, hi: int, values: np.ndarray, codes: np.ndarray) -> None:
        text = _sortable(values[lo:hi]).byteswap()
        self._enter(0, hi - lo, _EIGHTS, text.ctypes.data, codes[lo:hi])

    def _enter(self, lo: int, hi: int, offsets: np.ndarray, data: int, codes: np.ndarray) -> None:
        shards = len(self._shards)
        try:
            room = self._spare.pop()
        except IndexError:
            room = np.empty((2, _AT_ONCE), np.uint64), np.empty(_AT_ONCE, np.uint32)
        (hashes, dealt), order = room
        bounds = np.empty(shards + 1, np.int64)
        shift = np.uint64(64 - self._bits)
        kernels.string_table.deal(lo, hi, offsets, data, shift, hashes, bounds, dealt, order)
        # Threads begin at different shards, so that they seldom wait for each other.
        self._next = (self._next + 7) % shards
        first = self._next
        for i in range(shards):
            s = (first + i) % shards
            if bounds[s] < bounds[s + 1]:
                dealt_to = int(bounds[s]), int(bounds[s + 1]), dealt, order, offsets, data, lo
                self._shards[s].number(*dealt_to, codes, self._bits, s)
        self._spare.append(room)

    def distinct(self, codes: Sequence[np.ndarray], *, in_order: bool = True) -> pa.Array:
        """The ids in ascending order, of strings that of their bytes; codes become the places of their ids.

        That is done where they are. Not ``in_order``: in any order. The table is at its end then.
        """
        shards, self._shards = self._shards, []
        arrays = [shard.given_away() for shard in shards]
        entries = StringEntries.of(arrays, self._bits, shards)
        rows = ascending(entries) if in_order else entries.rows
        places = np.empty((max(map(len, arrays)) // _WORDS) << self._bits, np.uint32)
        for_blocks(kernels.string_sort.invert, even_blocks(len(rows), work=4), rows, places)
        for each in codes:
            for_blocks(kernels.string_table.rename, even_blocks(len(each), work=4), each, places)
        texts = entries.take(rows)
        if not pa.types.is_integer(self.kind):
            return texts.cast(self.kind)
        values = np.frombuffer(texts.buffers()[2], np.uint64).byteswap(inplace=False)
        if not pa.types.is_unsigned_integer(self.kind):
            values = (values ^ _SIGN).view(np.int64)
        return pa.array(values).cast(self.kind)


def _sortable(values: np.ndarray) -> np.ndarray:
    """Integers as uint64 in the same order."""
    if values.dtype.kind == "u":
        return values.astype(np.uint64)
    return values.astype(np.int64).view(np.uint64) ^ _SIGN


class _Shard:
    """The strings whose hashes begin alike: slots of a hash table, entries, and the bytes of long strings."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        # How many strings are known, and bytes used of the last text: the kernel writes them with the rest, so that
        # whatever interrupts Python leaves a table that is whole.
        self._state = np.zeros(2, np.int64)
        self._slots = np.zeros(1 << 6, np.uint64)
        self._entries = np.empty(_WORDS * 48, np.uint64)
        self._texts = [np.empty(0, np.uint8)]  # bytes of long strings

    def number(
        self,
        lo: int,
        hi: int,
        dealt: np.ndarray,
        order: np.ndarray,
        offsets: np.ndarray,
        data: int,
        first: int,
        codes: np.ndarray,
        bits: int,
        shard: int,
    ) -> None:
        """Enter strings, as the kernel does, making room as it is needed."""
        with self._lock:
            while True:
                lo = kernels.string_table.number(
                    lo, hi, dealt, order, offsets, data, first, self._slots, self._entries,
                    self._state, self._texts[-1], codes, bits, shard,
                )  # fmt: skip
                if lo == hi:
                    return
                if self._state[0] == min(len(self._slots) // 4 * 3, len(self._entries) // _WORDS):
                    self._grow(bits)
                    continue
                at = first + int(order[lo])
                needed = int(offsets[at + 1]) - int(offsets[at])
                larger = max(min(2 * len(self._texts[-1]), 1 << 24), needed, 1 << 12)
                self._texts.append(np.empty(larger, np.uint8))
                self._state[1] = 0

    def _grow(self, bits: int) -> None:
        if 2 * len(self._slots) << bits > 1 << 32:
            raise InvalidEdges(
                "the edges have more than 3,000,000,000 different strings as ids; number them first, or give the graph "
                "to several ranks"
            )
        slots = np.zeros(2 * len(self._slots), np.uint64)
        entries = np.empty(_WORDS * (len(slots) // 4 * 3), np.uint64)
        kernels.string_table.rebuild(self._slots, slots)
        entries[: len(self._entries)] = self._entries
        self._entries = entries
        self._slots = slots  # last: where memory runs out before, nothing has changed

    def given_away(self) -> np.ndarray:
        """The entries; the slots go."""
        self._slots = np.empty(0, np.uint64)
        return self._entries[: _WORDS * self._state[0]]


def _buffers(strings: pa.Array) -> tuple[np.ndarray, int]:
    """Offsets of an array of strings, and the address of the bytes they count from."""
    _, where, data = strings.buffers()
    wide = np.int64 if pa.types.is_large_string(strings.type) else np.int32
    offsets = np.frombuffer(where, wide, len(strings) + 1, np.dtype(wide).itemsize * strings.offset)
    return offsets, 0 if data is None else data.address


def ascending(entries: StringEntries) -> np.ndarray:
    """The rows of the entries, which are put in ascending order of the bytes of their strings.

    Dealt to buckets by the first eight bytes in which they differ, which are sorted side by side. Cost:
    about two passes over eight bytes of each, and those of the sort.
    """
    n, starts, bits = len(entries.rows), entries.starts, entries.bits
    rows, keys, spare = entries.rows, np.empty(n, np.uint64), None
    left, small = [(0, n, 0)], []
    most = max(_LARGE, n // (4 * num_threads()))
    while left:
        lo, hi, skipped = left.pop()
        chosen, key = rows[lo:hi], keys[lo:hi]
        if hi - lo <= 1:
            continue
        blocks = even_blocks(hi - lo, work=8)
        found = for_blocks(kernels.string_sort.keys, blocks, chosen, starts, bits, skipped, key)
        least, largest = min(low for low, _ in found), max(high for _, high in found)
        if hi - lo <= _BUCKET or largest == 0:  # 0: here strings end, or have zero bytes
            small.append((lo, hi, skipped))
        elif least == largest:
            left.append((lo, hi, skipped + 8))
        else:
            spare = (np.empty_like(rows), np.empty_like(keys)) if spare is None else spare
            dealt = spare[0][lo:hi], spare[1][lo:hi]
            ends = _dealt(chosen, key, _splitters(key, np.uint64(least)), *dealt)
            for begin, end in pairwise((lo + ends).tolist()):
                (small if end - begin <= most else left).append((begin, end, skipped))
    bounds = np.array([each[:2] for each in small], np.int64).reshape(-1, 2)
    skips = np.array([each[2] for each in small], np.int64)
    tasks = np.arange(len(small) + 1)
    for_blocks(kernels.string_sort.sort, tasks, bounds, skips, keys, rows, starts, bits)
    return rows


def _splitters(keys: np.ndarray, least: np.uint64) -> np.ndarray:
    """Keys that cut others into buckets of about the same size; a frequent key k is alone from k to k + 1."""
    buckets = min(-(-len(keys) // _BUCKET), _MOST_BUCKETS)
    sample = np.sort(keys[:: max(len(keys) // (_SAMPLE * buckets), 1)])
    chosen = sample[_SAMPLE // 2 :: _SAMPLE]
    often = np.unique(chosen[1:][chosen[1:] == chosen[:-1]])
    behind = often[often < np.iinfo(np.uint64).max] + np.uint64(1)
    made = np.unique(np.concatenate([chosen, behind]))
    return made[made > least] if (made > least).any() else np.array([least + np.uint64(1)])


def _dealt(
    rows: np.ndarray,
    keys: np.ndarray,
    splitters: np.ndarray,
    to_rows: np.ndarray,
    to_keys: np.ndarray,
) -> np.ndarray:
    """Put rows and keys into the order of their buckets, by way of other arrays; where each starts, and the end."""
    padded = np.full(1 << (len(splitters) - 1).bit_length(), np.iinfo(np.uint64).max, np.uint64)
    padded[: len(splitters)] = splitters
    n, buckets = len(rows), len(padded) + 1
    cuts = even_blocks(n, work=8)
    number = {int(lo): i for i, lo in enumerate(cuts[:-1])}
    places = np.empty(n, np.uint16)
    counts = np.zeros((len(cuts) - 1, buckets), np.int64)

    def count(lo: int, hi: int) -> None:
        kernels.string_sort.count(lo, hi, keys, padded, places, counts[number[lo]])

    for_blocks(count, cuts)
    starts = np.concatenate([[0], np.cumsum(counts.sum(axis=0))])
    cursors = starts[:-1] + np.cumsum(counts, axis=0) - counts

    def deal(lo: int, hi: int) -> None:
        cursor = cursors[number[lo]]
        kernels.string_sort.deal(lo, hi, keys, rows, places, cursor, to_keys, to_rows)

    def back(lo: int, hi: int) -> None:
        rows[lo:hi], keys[lo:hi] = to_rows[lo:hi], to_keys[lo:hi]

    for_blocks(deal, cuts)
    for_blocks(back, cuts)
    return starts
