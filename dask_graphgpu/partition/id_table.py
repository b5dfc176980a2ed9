"""Numbering the distinct values of Arrow arrays, strings or integers, and putting them in order."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.kernels.cpu.threads import even_blocks, for_blocks, num_threads
from dask_graphgpu.partition.string_entries import EntryRoom, buffers
from dask_graphgpu.partition.string_order import ascending

_AT_ONCE = 1 << 17  # strings that are dealt to the shards together: they stay in the caches
_MOST_AT_ONCE = 1 << 19  # with many threads
_FEW_AT_ONCE = 1 << 13  # and as few at least, where threads share them
_SHARD = 1 << 15  # strings that are worth a shard
_SHARDS = 4  # of a thread
_MOST_SHARDS = 64
_SIGN = np.uint64(1 << 63)
_FEW_INTEGERS = 1 << 17  # that are sorted


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
    if pa.types.is_integer(parts[0].type) and sum(map(len, parts)) <= _FEW_INTEGERS:
        return _sorted_integers(parts, kind)
    table = IdTable(sum(map(len, parts)), kind)
    codes = [table.codes(part) for part in parts]
    return codes, table.distinct(codes, in_order=in_order)


def _sorted_integers(parts: Sequence[pa.Array], kind: Any) -> tuple[list[np.ndarray], pa.Array]:
    """As `ranked`, by sorting: of few integers that takes less than to set up a table."""
    arrays = [np.asarray(part) for part in parts]
    distinct, places = np.unique(np.concatenate(arrays), return_inverse=True)
    cuts = np.cumsum([len(array) for array in arrays])[:-1]
    return np.split(places.astype(np.uint32), cuts), pa.array(distinct, kind)


def hashes(strings: pa.Array) -> np.ndarray:
    """The hashes, uint64, of up to 131,072 large strings."""
    n = len(strings)
    made, dealt = np.empty((2, n), np.uint64)
    if n:
        unused = np.empty(3, np.int64), dealt, np.empty(n, np.uint32)
        kernels.string_table.deal(0, n, *buffers(strings), np.uint64(63), made, *unused)
    return made


class IdTable:
    """The distinct ids, strings or integers, of arrays that several threads bring, each with a code.

    A hash table in shards, which one thread at a time enters strings into. Of a string of up to 16 bytes the entry
    has all bytes; those of a longer one are copied, so that arrays may go. An integer is the string of its eight bytes,
    the highest first. Entries of all shards lie in the same large arrays, and so do their slots: the system gives
    these large pages, so that an access in no order is not also a look for the page.
    Cost: a random access for each string of an array, asked for ahead; 24 bytes, 11 to 22 more for slots, and
    what is longer than 16 for each distinct one.

    Parameters
    ----------
    expected
        How many ids may come, by which the shards are.
    kind
        Type of the ids.
    """

    def __init__(self, expected: int, kind: Any) -> None:
        shards = min(max(expected // _SHARD, 2), _SHARDS * num_threads(), _MOST_SHARDS)
        self.kind = kind
        self._bits = (shards - 1).bit_length()
        room, slots = EntryRoom(expected), _Slots(1 << self._bits)
        self._room = room
        self._shards = [_Shard(room, slots, s) for s in range(1 << self._bits)]
        self._next = 0
        self._at_once = _at_once(expected)
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
        if not len(ids):
            return codes
        cuts = np.append(np.arange(0, len(ids), self._at_once), len(ids))
        if pa.types.is_integer(ids.type):
            for_blocks(self._enter_integers, cuts, np.asarray(ids), codes)
        else:
            for_blocks(self._enter, cuts, *buffers(ids), codes)
        return codes

    def codes_of_texts(self, offsets: np.ndarray, text: np.ndarray) -> np.ndarray:
        """`codes` of strings that lie one after the other in ``text``, uint8: where each starts, and the last ends."""
        codes = np.empty(len(offsets) - 1, np.uint32)
        if len(codes):
            at_once = min(self._at_once, max(-(-len(codes) // num_threads()), _FEW_AT_ONCE))
            cuts = np.append(np.arange(0, len(codes), at_once), len(codes))
            for_blocks(self._enter, cuts, offsets, text.ctypes.data, codes)
        return codes

    def _enter_integers(self, lo: int, hi: int, values: np.ndarray, codes: np.ndarray) -> None:
        text = _sortable(values[lo:hi]).byteswap()
        starts = np.arange(0, 8 * (hi - lo) + 1, 8)
        self._enter(0, hi - lo, starts, text.ctypes.data, codes[lo:hi])

    def _enter(self, lo: int, hi: int, offsets: np.ndarray, data: int, codes: np.ndarray) -> None:
        shards = len(self._shards)
        try:
            room = self._spare.pop()
        except IndexError:
            size = self._at_once
            room = np.empty((2, size), np.uint64), np.empty(size, np.uint32)
        (hashes, dealt), order = room
        bounds = np.empty(shards + 1, np.int64)
        shift = np.uint64(64 - self._bits)
        kernels.string_table.deal(lo, hi, offsets, data, shift, hashes, bounds, dealt, order)
        # Threads begin at different shards, and come back to those that another is at.
        self._next = (self._next + 7) % shards
        left = deque((self._next + i) % shards for i in range(shards))
        busy = 0
        while left:
            s = left.popleft()
            part = int(bounds[s]), int(bounds[s + 1]), dealt, order, offsets, data, lo
            if part[0] == part[1] or self._shards[s].number(*part, codes, wait=busy > len(left)):
                busy = 0
            else:
                left.append(s)
                busy += 1
        self._spare.append(room)

    def distinct(self, codes: Sequence[np.ndarray], *, in_order: bool = True) -> pa.Array:
        """The ids in ascending order, of strings that of their bytes; codes become the places of their ids.

        That is done where they are. Not ``in_order``: in any order. The table is at its end then.
        """
        shards, self._shards = self._shards, []
        unused, texts = zip(*(shard.ended() for shard in shards), strict=True)
        del shards  # and with them the slots
        entries = self._room.filled(unused, texts)
        rows = ascending(entries) if in_order else entries.rows
        places = np.empty(self._room.claimed, np.uint32)
        for_blocks(kernels.string_sort.invert, even_blocks(len(rows), work=4), rows, places)
        for each in codes:
            for_blocks(kernels.string_table.rename, even_blocks(len(each), work=4), each, places)
        del places
        ids = entries.take(rows)
        if not pa.types.is_integer(self.kind):
            return ids.cast(self.kind)
        values = np.frombuffer(ids.buffers()[2], np.uint64).byteswap(inplace=False)
        if not pa.types.is_unsigned_integer(self.kind):
            values = (values ^ _SIGN).view(np.int64)
        return pa.array(values).cast(self.kind)


def _at_once(expected: int) -> int:
    """How many strings are dealt to the shards together.

    Each shard of them is a call from Python, for which threads wait for one another: with more than four threads those
    calls are fewer and longer, as long as each thread has several turns.
    """
    threads = num_threads()
    most = min(_AT_ONCE * max(threads // 4, 1), _MOST_AT_ONCE)
    return min(max(expected // (4 * threads), _AT_ONCE), most)


def _sortable(values: np.ndarray) -> np.ndarray:
    """Integers as uint64 in the same order."""
    if values.dtype.kind == "u":
        return values.astype(np.uint64)
    return values.astype(np.int64).view(np.uint64) ^ _SIGN


class _Slots:
    """The slots of all shards, those of one size in one array."""

    def __init__(self, shards: int) -> None:
        self._lock = threading.Lock()
        self._newest = np.zeros((shards, 1 << 6), np.uint64)

    def of(self, shard: int, more_than: int = 0) -> np.ndarray:
        """Those of a shard, empty ones; more than it has."""
        with self._lock:
            if self._newest.shape[1] <= more_than:
                self._newest = np.zeros((len(self._newest), 2 * more_than), np.uint64)
            slots: np.ndarray = self._newest[shard]
            return slots


class _Shard:
    """The strings whose hashes begin alike: slots of a hash table, entries, and the bytes of long strings."""

    def __init__(self, room: EntryRoom, slots: _Slots, number: int) -> None:
        self._lock = threading.Lock()
        # How many strings are known, bytes used of the last text, and the next row for an entry and the end of those
        # for it: the kernel writes them with the rest, so that whatever interrupts Python leaves a table that is whole.
        self._state = np.zeros(4, np.int64)
        self._room, self._all_slots, self._number = room, slots, number
        self._slots = slots.of(number)
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
        *,
        wait: bool,
    ) -> bool:
        """Enter strings, as the kernel does, making room as it is needed.

        Returns whether it was done: not while another thread is at it, unless to ``wait``.
        """
        if not self._lock.acquire(blocking=wait):
            return False
        try:
            while True:
                lo = kernels.string_table.number(
                    lo, hi, dealt, order, offsets, data, first, self._slots, self._room.starts,
                    self._room.bits, self._state, self._texts[-1], codes,
                )  # fmt: skip
                if lo == hi:
                    return True
                if self._state[0] == len(self._slots) // 4 * 3:
                    self._grow()
                elif self._state[2] == self._state[3]:
                    self._state[2:] = self._room.claim()
                else:
                    at = first + int(order[lo])
                    needed = (
                        int(offsets[at + 1]) - int(offsets[at]) + 8
                    )  # its length may stand before it
                    larger = max(min(2 * len(self._texts[-1]), 1 << 24), needed, 1 << 12)
                    self._texts.append(np.empty(larger, np.uint8))
                    self._state[1] = 0
        finally:
            self._lock.release()

    def _grow(self) -> None:
        slots = self._all_slots.of(self._number, len(self._slots))
        kernels.string_table.rebuild(self._slots, slots)
        self._slots = slots  # last: where memory runs out before, nothing has changed

    def ended(self) -> tuple[tuple[int, int], list[np.ndarray]]:
        """The first row that no entry has and the end of those claimed for it, and the bytes of long strings."""
        return (int(self._state[2]), int(self._state[3])), self._texts
