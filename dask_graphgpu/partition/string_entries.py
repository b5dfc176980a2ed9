"""Distinct strings as the entries of hash tables, and writing strings by all threads."""

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
from dask_graphgpu.kernels.cpu.threads import even_blocks, for_blocks
from dask_graphgpu.partition.csr import at_ends

_MANY = 1 << 16  # ids that are taken by threads
_FEW_BITS, _MANY_BITS = 14, 20  # entries of an array
_CLAIMED = 1 << 10  # rows that a shard gets at once
_STEP = 1 << 14  # rows that are counted in the cache


@dataclass(frozen=True, eq=False)
class StringEntries:
    """Distinct strings, as `kernels.cpu.strings` has them.

    Attributes
    ----------
    starts : uint64
        Addresses of the arrays of entries.
    bits
        An array has ``1 << bits`` entries.
    rows : uint32
        Of all strings.
    held
        What has to stay in memory for them.
    """

    starts: np.ndarray
    bits: np.uint64
    rows: np.ndarray
    held: Any

    def take(self, rows: np.ndarray) -> pa.Array:
        """The strings of some rows, large strings."""
        blocks, given = even_blocks(len(rows), work=8), (rows, self.starts, self.bits)
        sums = for_blocks(kernels.strings.lengths, blocks, *given)
        return _written(kernels.strings.copy, blocks, sums, *given)


class EntryRoom:
    """Rows for entries of strings, which several threads claim, some at a time.

    Parameters
    ----------
    expected
        How many entries may come: arrays are of 24 MB, which get large pages as they fill, or of 0.4 MB where few
        may.

    Attributes
    ----------
    starts, bits
        As of `StringEntries`.
    claimed : int
        How many rows have been given out.
    """

    def __init__(self, expected: int) -> None:
        self.bits = np.uint64(_MANY_BITS if expected > 1 << _FEW_BITS else _FEW_BITS)
        self.starts = np.zeros((1 << 32) >> int(self.bits), np.uint64)
        self.claimed = 0
        self._arrays: list[np.ndarray] = []
        self._lock = threading.Lock()

    def claim(self) -> tuple[int, int]:
        """The first of the next rows, and their end.

        Raises
        ------
        InvalidEdges
            There are no more numbers for rows.
        """
        with self._lock:
            first, end = self.claimed, self.claimed + _CLAIMED
            if end >= 1 << 32:
                raise InvalidEdges(
                    "the edges have more than 4,200,000,000 different strings as ids; number them first, or give the "
                    "graph to several ranks"
                )
            if first >> int(self.bits) == len(self._arrays):
                made = np.empty(kernels.strings.WORDS << int(self.bits), np.uint64)
                self.starts[len(self._arrays)] = made.ctypes.data
                self._arrays.append(made)
            self.claimed = end
            return first, end

    def filled(self, unused: Sequence[tuple[int, int]], held: Any) -> StringEntries:
        """All entries, but for some of the rows: the first and the end of each part without any."""
        cuts = sorted({0, self.claimed, *(row for part in unused for row in part)})
        lacking = {first for first, end in unused if first < end}
        parts = [part for part in pairwise(cuts) if part[0] not in lacking]
        rows = np.empty(sum(end - first for first, end in parts), np.uint32)
        at = 0
        for first, end in parts:
            blocks = even_blocks(end - first, work=1)
            for_blocks(_count_up, blocks, rows[at : at + end - first], first)
            at += end - first
        return StringEntries(self.starts, self.bits, rows, (self._arrays, held))


def _count_up(lo: int, hi: int, rows: np.ndarray, first: int) -> None:
    for at in range(lo, hi, _STEP):
        end = min(at + _STEP, hi)
        rows[at:end] = np.arange(first + at, first + end, dtype=np.uint32)


def taken(ids: pa.Array, places: np.ndarray) -> pa.Array:
    """The ids at some places of an array without nulls; many are written by all threads."""
    if len(places) >= _MANY and pa.types.is_integer(ids.type):
        return pa.array(at_ends(np.asarray(ids), places))
    if len(places) < _MANY or not pa.types.is_large_string(ids.type):
        return ids.take(pa.array(places))
    blocks, (offsets, data) = even_blocks(len(places), work=8), buffers(ids)
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
    written = [None, pa.py_buffer(offsets), pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.large_string(), len(offsets) - 1, written)


def buffers(strings: pa.Array) -> tuple[np.ndarray, int]:
    """Offsets of an array of strings, read-only, and the address of the bytes they count from."""
    _, where, data = strings.buffers()
    wide = np.dtype(np.int64 if pa.types.is_large_string(strings.type) else np.int32)
    offsets = np.zeros(1, wide)  # of an empty array, which need not have any
    if len(strings):
        offsets = np.frombuffer(where, wide, len(strings) + 1, wide.itemsize * strings.offset)
    offsets.flags.writeable = False  # whether Arrow made them for itself or was given them
    return offsets, 0 if data is None else data.address
