"""Distinct strings as the entries of hash tables, and writing strings by all threads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.kernels.cpu.threads import even_blocks, for_blocks
from dask_graphgpu.partition.csr import at_ends

WORDS = 4  # of an entry
_MANY = 1 << 16  # ids that are taken by threads


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
        sizes = [len(each) // WORDS for each in arrays]
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
    """Offsets of an array of strings, and the address of the bytes they count from."""
    _, where, data = strings.buffers()
    wide = np.int64 if pa.types.is_large_string(strings.type) else np.int32
    offsets = np.frombuffer(where, wide, len(strings) + 1, np.dtype(wide).itemsize * strings.offset)
    return offsets, 0 if data is None else data.address
