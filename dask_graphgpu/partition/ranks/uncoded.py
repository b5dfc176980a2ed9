"""Strings of all ranks are numbered at their homes, as often as they stand somewhere."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dask_graphgpu.exchange.ranks import Ranks
from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.kernels.cpu.threads import even_blocks, for_blocks
from dask_graphgpu.partition.id_table import IdTable
from dask_graphgpu.partition.ranks.homes import PIECE, Homes
from dask_graphgpu.partition.ranks.splits import splits_of
from dask_graphgpu.partition.string_entries import buffers

_SHOWN = 1 << 14  # strings of a rank, about, by which the ranges of homes are cut
_BYTES = 1 << 25  # of strings that a rank sends in one round, to all ranks together
_TEXT = pa.large_string()


@dataclass(frozen=True, eq=False)
class AtHomes:
    """Strings that have numbers: ``homes``, ``ids`` and ``splits`` as of `numbering.Numbered`.

    ``numbers`` : of each string of each array, which are the places of their ids among those of all ranks.
    """

    homes: Homes
    ids: pa.Array
    splits: list[tuple[Any, ...]]
    numbers: list[np.ndarray]


def number_at_homes(ranks: Ranks, given: list[pa.Array]) -> AtHomes:
    """Number the distinct strings of all ranks in their order. Collective, in rounds of bounded size.

    Each string goes to the home of its range, where equal ones meet in one table. So a distinct string is hashed into
    a table, and put in order, on one rank, however many have it, and nothing is merged. That is for strings that repeat
    little on a rank: all of them travel, and their numbers back.

    Parameters
    ----------
    given : list of large strings
        Any number of arrays, of which some rank has one with a string. The list is emptied, and an array goes once it
        has been sent.
    """
    lengths = [len(array) for array in given]
    total = int(ranks.sum(sum(lengths)))
    splits = splits_of(ranks, [_sample(given, max(total // (_SHOWN * ranks.size), 1))])
    ranges = _Ranges.between(pa.array([split for (split,) in splits], _TEXT))
    table = IdTable(total // ranks.size, _TEXT)
    sizes_of_rounds = _sizes(given)
    pieces = _pieces(given, sizes_of_rounds)
    ways_back, codes = [], []
    for _ in range(int(ranks.max(len(sizes_of_rounds)))):
        way_back, sizes, texts = ranges.deal(next(pieces, pa.array([], _TEXT)))
        got = zip(ranks.all_to_all(sizes), ranks.all_to_all(texts), strict=True)
        codes.append([table.codes_of_texts(_offsets(size), text) for size, text in got])
        ways_back.append(way_back)
        del sizes, texts, got
    del pieces
    ids = table.distinct([each for some in codes for each in some])
    homes = Homes.agreed(ranks, len(ids))
    codes.reverse()

    def answers() -> Iterator[np.ndarray]:
        for way_back in ways_back:
            here = [each.astype(homes.dtype) for each in codes.pop()]
            for each in here:
                each += homes.dtype.type(homes.first)
            yield way_back.bring(np.concatenate(ranks.all_to_all(here)))

    return AtHomes(homes, ids, splits, _cut_anew(answers(), lengths, homes.dtype))


def _sample(given: Sequence[pa.Array], step: int) -> pa.Array:
    """Each ``step``-th of some strings, ascending."""
    shown, before = [pa.array([], _TEXT)], 0
    for array in given:
        shown.append(array.take(pa.array(np.arange(-before % step, len(array), step))))
        before += len(array)
    sample = pa.concat_arrays(shown)
    return sample.take(pc.array_sort_indices(sample))


def _sizes(given: Sequence[pa.Array]) -> list[int]:
    """How many of the strings go in each round: `PIECE` of `_BYTES` together at most, or one that is longer."""
    sizes: list[int] = []
    room = room_for_bytes = 0
    for array in filter(len, given):
        (offsets, _), lo = buffers(array), 0
        while lo < len(array):
            fit = int(np.searchsorted(offsets, offsets[lo] + room_for_bytes, side="right")) - 1
            hi = min(fit, lo + room)
            if hi == lo:
                sizes.append(0)
                room, room_for_bytes = PIECE, max(_BYTES, int(offsets[lo + 1] - offsets[lo]))
                continue
            sizes[-1] += hi - lo
            room, room_for_bytes = room - (hi - lo), room_for_bytes - int(offsets[hi] - offsets[lo])
            lo = hi
    return sizes


def _pieces(given: list[pa.Array], sizes: Sequence[int]) -> Iterator[pa.Array]:
    """All strings, so many at a time; an array leaves the list as it comes."""
    given.reverse()
    lo = 0
    for room in sizes:
        cut: list[pa.Array] = []
        while room:
            cut.append(given[-1].slice(lo, room))
            lo, room = lo + len(cut[-1]), room - len(cut[-1])
            if lo == len(given[-1]):
                given.pop()
                lo = 0
        yield _united(cut)
    given.clear()


def _united(cut: list[pa.Array]) -> pa.Array:
    """One array of some, which leave the list."""
    united = pa.concat_arrays(cut) if len(cut) > 1 else cut[0]
    cut.clear()
    return united


def _cut_anew(
    pieces: Iterable[np.ndarray], lengths: Sequence[int], dtype: np.dtype[Any]
) -> list[np.ndarray]:
    """Values that come in pieces as arrays of other lengths."""
    arrays = [np.empty(length, dtype) for length in lengths]
    left = [array for array in reversed(arrays) if len(array)]
    for piece in pieces:
        while len(piece):
            room = left.pop()
            fits = min(len(room), len(piece))
            room[:fits] = piece[:fits]
            piece = piece[fits:]
            if fits < len(room):
                left.append(room[fits:])
    return arrays


def _offsets(sizes: np.ndarray) -> np.ndarray:
    """Where strings of some sizes start, and where the last one ends."""
    offsets = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=offsets[1:])
    return offsets


@dataclass(frozen=True, eq=False)
class _WayBack:
    """By which what homes know of a piece's strings comes to where these stand.

    ``ranges`` has the home of each, and ``cursors`` where those of each block, by its first string, begin at each home.
    """

    ranges: np.ndarray
    blocks: np.ndarray
    cursors: dict[int, np.ndarray]

    def bring(self, values: np.ndarray) -> np.ndarray:
        to = np.empty(len(self.ranges), values.dtype)

        def bring(lo: int, hi: int) -> None:
            cursor = self.cursors[lo].copy()
            kernels.string_dealing.bring(lo, hi, self.ranges, cursor, values, to)

        for_blocks(bring, self.blocks)
        return to


@dataclass(frozen=True, eq=False)
class _Ranges:
    """The ranges between ascending strings: their first words, and where all of each is."""

    words: np.ndarray
    offsets: np.ndarray
    data: int
    held: pa.Array

    @classmethod
    def between(cls, splits: pa.Array) -> _Ranges:
        """The ranges that some ascending strings cut: the first of each but the first one."""
        offsets, data = buffers(splits)
        words = np.empty(len(splits), np.uint64)
        kernels.string_dealing.first_words(0, len(splits), offsets, data, words)
        return cls(words, offsets, data, splits)

    def deal(self, strings: pa.Array) -> tuple[_WayBack, list[np.ndarray], list[np.ndarray]]:
        """The sizes of the strings of each range, and their bytes, one after the other."""
        number = len(self.words) + 1
        ranges = np.empty(len(strings), np.min_scalar_type(number - 1))
        blocks = even_blocks(len(strings), work=8)
        at = {lo: i for i, lo in enumerate(blocks[:-1].tolist())}
        counts, nbytes = np.zeros((2, len(blocks) - 1, number), np.int64)
        offsets, data = buffers(strings)

        def find(lo: int, hi: int) -> None:
            given = self.words, self.offsets, self.data, ranges, counts[at[lo]], nbytes[at[lo]]
            kernels.string_dealing.find(lo, hi, offsets, data, *given)

        for_blocks(find, blocks)
        (cuts, cursors), (ends, begins) = _places(counts), _places(nbytes)
        sizes, texts = np.empty(cuts[-1], np.uint32), np.empty(ends[-1], np.uint8)

        def deal(lo: int, hi: int) -> None:
            to = cursors[at[lo]].copy(), begins[at[lo]], sizes, texts.ctypes.data
            kernels.string_dealing.deal(lo, hi, offsets, data, ranges, *to)

        for_blocks(deal, blocks)
        way_back = _WayBack(ranges, blocks, {lo: cursors[i] for lo, i in at.items()})
        return way_back, np.split(sizes, cuts[1:-1]), np.split(texts, ends[1:-1])


def _places(counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where each range begins, and the last one ends, and where in it those of each block begin."""
    cuts = np.append(0, np.cumsum(counts.sum(axis=0)))
    return cuts, cuts[:-1] + np.cumsum(counts, axis=0) - counts
