"""Putting distinct strings in the order of their bytes, by all threads."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pyarrow.compute as pc

from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.kernels.compiled import is_compiled
from dask_graphgpu.kernels.cpu.threads import even_blocks, for_blocks, num_threads
from dask_graphgpu.partition.distinct import distinct
from dask_graphgpu.partition.string_entries import StringEntries

_FEW = 1 << 14  # strings that Arrow sorts within 3 ms
_UNCOMPILED = 1 << 18  # those that it sorts within 0.1 s: to compile our kernels takes 1.5 s
_BUCKET = 1 << 14  # strings that one thread sorts
_LARGE = 1 << 16  # strings that are worth several threads
_MOST_BUCKETS = 256
_SAMPLE = 16  # keys to choose a splitter from


def ascending(entries: StringEntries) -> np.ndarray:
    """The rows of entries in ascending order of the bytes of their strings; those of `entries` may change.

    Dealt to buckets by the first eight bytes in which they differ, which are sorted side by side; a few, and
    some more while there is no compiled code for that, are sorted by Arrow. Cost: about two passes over eight
    bytes of each, and those of the sort.
    """
    n, starts, bits = len(entries.rows), entries.starts, entries.bits
    if n <= _FEW or (n <= _UNCOMPILED and not is_compiled(kernels.string_sort.sort)):
        return entries.rows.take(np.asarray(pc.array_sort_indices(entries.take(entries.rows))))
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
    often = distinct(chosen[1:][chosen[1:] == chosen[:-1]])
    behind = often[often < np.iinfo(np.uint64).max] + np.uint64(1)
    made = distinct(np.concatenate([chosen, behind]))
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
