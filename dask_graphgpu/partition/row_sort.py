"""Sorting edges into rows by buckets of rows that fit the cache."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.kernels.cpu.threads import for_blocks, num_threads

# Edges of a bucket, so that two copies of its keys fit the second-level cache; more where there
# would be more buckets than memory can be written to side by side.
_BUCKET = 1 << 16
_BUCKETS = 1 << 11
_GROUPS = 1 << 16

# Bits of a row within its bucket, where keys of 32 bits can have that many.
_FEWEST_BITS, _ROW_BITS = 10, 12

# count(block, shift, counts) counts a block's edges by group; deal(block, sort, cursor, keys, column,
# carried) hands them to buckets, with the column of that name unless it is None.
Count = Callable[[int, Any, np.ndarray], None]
Deal = Callable[[int, "RowSort", np.ndarray, np.ndarray, str | None, np.ndarray], None]


@dataclass(frozen=True, eq=False)
class RowSort:
    """How edges are dealt to buckets.

    Attributes
    ----------
    shift, bits : uint64
        A row's group is ``row >> shift``; a neighbour takes the low bits of a key.
    bucket : uint16 or uint32, one a group
    first : uint64, shape (buckets + 1,)
        First row of each bucket.
    starts : int64, shape (buckets + 1,)
        Where the edges of each bucket start.
    cursors : int64, shape (blocks, buckets)
        Where those of each block of edges start.
    key : dtype of keys
    ordered : whether rows are sorted by neighbours
    """

    num_vertices: int
    shift: Any
    bits: Any
    bucket: np.ndarray
    first: np.ndarray
    starts: np.ndarray
    cursors: np.ndarray
    key: np.dtype[Any]
    ordered: bool
    deal: Deal

    @classmethod
    def plan(
        cls,
        num_vertices: int,
        blocks: int,
        count: Count,
        deal: Deal,
        *,
        marked: bool = False,
        ordered: bool = True,
    ) -> RowSort:
        """Count the edges of all blocks, and cut the rows into buckets of about equal work.

        ``marked`` : whether neighbours take a bit more.
        """
        shift = max((num_vertices - 1).bit_length() - (_GROUPS - 1).bit_length(), 0)
        groups = (max(num_vertices - 1, 0) >> shift) + 1
        counts = np.zeros((blocks, groups), np.int64)
        each(lambda block: count(block, np.uint64(shift), counts[block]), blocks)
        bits = max((num_vertices - 1).bit_length(), 1) + marked
        row_bits = min(max(32 - bits, _FEWEST_BITS), _ROW_BITS)
        # A bucket ends with the group that fills it, so there is to be room for one.
        rows = max((1 << row_bits) - (1 << shift), num_vertices // _BUCKETS, 1)
        edges = max(_BUCKET, int(counts.sum()) // _BUCKETS)
        work = counts.sum(axis=0) / edges + (1 << shift) / rows
        bucket = (np.cumsum(work) - work).astype(np.int64)
        ends, bucket = np.unique(bucket, return_inverse=True)
        heads = np.searchsorted(bucket, np.arange(len(ends)))
        first = np.append(heads << shift, num_vertices).astype(np.uint64)
        sizes = np.add.reduceat(counts, heads, axis=1)
        starts = np.append(0, np.cumsum(sizes.sum(axis=0)))
        cursors = starts[:-1] + np.cumsum(sizes, axis=0) - sizes
        widest = int(np.diff(first).max(initial=1)) - 1
        key = np.dtype(np.uint32 if bits + widest.bit_length() <= 32 else np.uint64)
        place = np.uint16 if len(ends) < 1 << 16 else np.uint32
        return cls(
            num_vertices, np.uint64(shift), np.uint64(bits), bucket.astype(place), first, starts,
            cursors, key, ordered, deal,
        )  # fmt: skip

    @property
    def num_edges(self) -> int:
        return int(self.starts[-1])

    def deal_all(self, name: str | None, dtype: Any) -> tuple[np.ndarray, np.ndarray]:
        """Keys in buckets, and the column ``name`` beside them (empty for None)."""
        carried = np.empty(0 if name is None else self.num_edges, dtype)
        return self._dealt(np.empty(self.num_edges, self.key), name, carried)

    def deal_column(self, name: str, dtype: Any) -> np.ndarray:
        """The column in buckets without the keys, which are to be dealt after it."""
        return self._dealt(np.empty(0, self.key), name, np.empty(self.num_edges, dtype))[1]

    def _dealt(
        self, keys: np.ndarray, name: str | None, carried: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        def deal(block: int) -> None:
            self.deal(block, self, self.cursors[block].copy(), keys, name, carried)

        each(deal, len(self.cursors))
        return keys, carried

    def sort(
        self, dealt: tuple[np.ndarray, np.ndarray], dtype: Any
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Offsets, neighbours of a dtype (None: not wanted, empty) and the column.

        In the memory of what was dealt, as far as types are the same.
        """
        keys, carried = dealt
        offsets = np.zeros(self.num_vertices + 1, np.int64)
        if dtype is None:
            neighbours = np.empty(0, np.uint32)
        else:
            neighbours = keys if keys.dtype == dtype else np.empty(self.num_edges, dtype)
        buckets = np.arange(len(self.starts), dtype=np.int64)
        moved = as_bits(carried)
        for_blocks(
            kernels.row_sort.sort_buckets, buckets, self.starts, self.first, self.bits, self.ordered, keys,
            moved, offsets, neighbours, moved,
        )  # fmt: skip
        offsets[-1] = self.num_edges
        return offsets, neighbours, carried


def as_bits(column: np.ndarray) -> np.ndarray:
    """A column as unsigned integers of its width: what is only moved is compiled once a width."""
    return column.view(f"u{column.dtype.itemsize}")


def read_only(column: np.ndarray) -> np.ndarray:
    """The same memory, not to be written: Numba compiles apart what may be, and columns of Arrow's may not."""
    seen = column.view()
    seen.flags.writeable = False
    return seen


def to_move(column: np.ndarray, into: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Both `as_bits`, unless values are to be of another type there; the first `read_only`."""
    if column.dtype == into.dtype:
        return read_only(as_bits(column)), as_bits(into)
    return read_only(column), into


def each(function: Callable[[int], None], number: int) -> None:
    """Run ``function(i)`` for every i on the threads."""

    def block(lo: int, hi: int) -> None:
        for i in range(lo, hi):
            function(i)

    for_blocks(block, np.arange(number + 1, dtype=np.int64))


def num_blocks(edges: int) -> int:
    """Into how many blocks to cut so many edges: one a thread, if there is work for it."""
    return max(min(num_threads(), edges // (1 << 14)), 1)
