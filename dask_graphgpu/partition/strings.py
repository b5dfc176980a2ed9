"""Numbering the distinct strings of Arrow arrays, and putting strings in order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.kernels.cpu.threads import even_blocks, for_blocks

# Strings of a bucket whose table fits the inner caches.
_BUCKET = 1 << 13


def numbered(parts: Sequence[pa.Array]) -> tuple[list[np.ndarray], pa.Array]:
    """Codes of arrays of large strings, uint32, into one table of the distinct ones, in any order.

    Strings are dealt to buckets by their hashes, and each bucket has a table of its own that fits
    the cache. Cost: three passes over the strings, of which two read their bytes; 28 bytes a string
    besides.
    """
    located = _Located(parts)
    n, hashes = len(located), located.hashes
    bits = max((n // _BUCKET).bit_length(), 1)
    shift = np.uint64(64 - bits)
    blocks = even_blocks(n)
    counts = np.zeros((len(blocks) - 1, 1 << bits), np.int64)
    places = {int(lo): i for i, lo in enumerate(blocks[:-1])}

    def count(lo: int, hi: int) -> None:
        kernels.strings.count_buckets(lo, hi, hashes, shift, counts[places[lo]])

    def deal(lo: int, hi: int) -> None:
        kernels.strings.deal(lo, hi, hashes, shift, cursors[places[lo]], order)

    for_blocks(count, blocks)
    starts = np.concatenate([[0], np.cumsum(counts.sum(axis=0))])
    cursors = starts[:-1] + np.cumsum(counts, axis=0) - counts
    order = np.empty(n, np.uint32)
    for_blocks(deal, blocks)
    codes, firsts = np.empty(n, np.uint32), np.empty(n, np.uint32)
    numbers = np.zeros(1 << bits, np.int64)
    buckets = even_blocks(1 << bits, work=max(n >> bits, 1))
    for_blocks(
        kernels.strings.number_buckets, buckets, starts, order, located.addresses, located.lengths, hashes,
        codes, firsts, numbers,
    )  # fmt: skip
    bases = np.concatenate([[0], np.cumsum(numbers)])
    for_blocks(kernels.strings.renumber, buckets, starts, order, bases.astype(np.uint32), codes)
    inside = np.arange(bases[-1]) - np.repeat(bases[:-1], numbers)
    distinct = firsts[np.repeat(starts[:-1], numbers) + inside]
    table = _copied(located.addresses.take(distinct), located.lengths.take(distinct), parts[0].type)
    return np.split(codes, np.cumsum([len(part) for part in parts])[:-1]), table


def ascending(table: pa.Array) -> np.ndarray:
    """Places of distinct strings in ascending order of their bytes, int64.

    Ordered by eight bytes after what all have in common; where these are the same, by the next
    eight. Cost: a sort of integers for every eight bytes that are needed, of the strings that need
    them.
    """
    located = _Located([table])
    n, addresses, lengths = len(located), located.addresses, located.lengths
    if n < 2:
        return np.arange(n)
    skipped = int(kernels.strings.shared_prefix(0, n, addresses, lengths))
    longest = int(lengths.max())
    order = np.arange(n)
    group = np.zeros(n, np.int64)  # of strings at ``open`` whose order is not known yet
    open_ = np.arange(n)  # their places in ``order``
    while len(open_):
        chosen = order[open_]
        key = np.empty(len(chosen), np.uint64)
        if skipped < longest:
            for_blocks(
                kernels.strings.keys,
                even_blocks(len(chosen)),
                chosen,
                addresses,
                lengths,
                skipped,
                key,
            )
        else:  # what is the same up to here ends in a different number of zero bytes
            key[:] = lengths[chosen]
        by = np.argsort(key) if not group.any() else np.lexsort((key, group))
        order[open_] = chosen[by]
        key, group = key[by], group[by]
        same = (key[1:] == key[:-1]) & (group[1:] == group[:-1])
        starts = np.concatenate([[True], ~same])
        tied = np.concatenate([same, [False]]) | ~starts
        group = np.cumsum(starts)[tied]
        open_ = open_[tied]
        skipped += 8
    return order


class _Located:
    """Strings of several arrays, one after the other: addresses, lengths and hashes."""

    def __init__(self, parts: Sequence[pa.Array]) -> None:

        self.parts = [part.cast(pa.large_string()) for part in parts]  # which keeps the bytes alive
        n = sum(map(len, parts))
        self.addresses = np.empty(n, np.uint64)
        self.lengths = np.empty(n, np.uint32)
        self.hashes = np.empty(n, np.uint64)
        first = 0
        for part in self.parts:
            if len(part):
                _, where, data = part.buffers()
                offsets = np.frombuffer(where, np.int64, len(part) + 1, 8 * part.offset)
                for_blocks(
                    kernels.strings.locate, even_blocks(len(part), work=8), offsets,
                    data.address if data is not None else 0, first,
                    self.addresses, self.lengths, self.hashes,
                )  # fmt: skip
            first += len(part)

    def __len__(self) -> int:
        return len(self.addresses)


def _copied(addresses: np.ndarray, lengths: np.ndarray, kind: Any) -> pa.Array:
    """Strings copied into an array of their own."""
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64)])
    data = np.empty(offsets[-1], np.uint8)
    blocks = even_blocks(len(lengths), work=8)
    for_blocks(kernels.strings.copy, blocks, addresses, lengths, offsets, data, data.ctypes.data)
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.large_string(), len(lengths), buffers).cast(kind)
