"""A bit of each border vertex, for every peer: where they are in an array of words."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import cupy
import numpy as np

# Places of a peer's first bit are a multiple of this: 16 bytes, or NCCL copies byte by byte.
_ALIGNED = 128


class Segments:
    """Where each peer's bits are, behind a header of its own; this rank has none for itself.

    Parameters
    ----------
    counts : sequence of int
        Border vertices of each peer.
    rank : int
        This one.
    header : int
        Words of a header.

    Attributes
    ----------
    words : int
        Of all segments.
    arrays : list of uint64 arrays, on the device
        The first place of each peer's bits, without headers, with the end of all; and the counts.
    """

    def __init__(self, counts: Sequence[int], rank: int, *, header: int) -> None:
        padded = [-(-count // _ALIGNED) * _ALIGNED for count in counts]
        self._starts = np.cumsum([0, *padded])
        headers = np.cumsum([0, *(header * (peer != rank) for peer in range(len(counts)))])
        self._cuts = (self._starts // 32 + headers).tolist()
        self.words = self._cuts[-1]
        arrays = self._starts, np.array(counts)
        self.arrays = [cupy.asarray(array.astype(np.uint64)) for array in arrays]

    def of(self, words: Any) -> list[Any]:
        """Each peer's part."""
        return [words[first:last] for first, last in pairwise(self._cuts)]

    def spread(self, vertices: Sequence[np.ndarray], dtype: Any) -> np.ndarray:
        """What stands at each place, for all peers."""
        made = np.zeros(self._starts[-1], dtype)
        for first, each in zip(self._starts.tolist(), vertices, strict=False):
            made[first : first + len(each)] = each
        return made

    def picks(self, vertices: Sequence[np.ndarray]) -> list[Any]:
        """By which all bits are put together of a bitmap over own vertices: see border_bits.cuh.

        Cheap where the vertices of a peer are ascending.

        Returns
        -------
        list of arrays, on the device
            uint32 of shape (n, 2), a word of the bitmap and a mask; uint64, for each word of bits the
            first of these and how many of its bits to leave out.
        """
        picks, begins = [cupy.empty((0, 2), np.uint32)], [cupy.empty(0, np.uint64)]
        number = 0
        for each, (first, end) in zip(vertices, pairwise(self._starts.tolist()), strict=True):
            if not len(each):
                continue
            found, begin = _picks(cupy.asarray(each))
            picks.append(found)
            begins.append(begin + np.uint64(number << 5))
            begins.append(cupy.zeros((end - first) // 32 - len(begin), np.uint64))
            number += len(found)
        return [cupy.concatenate(picks), cupy.concatenate(begins)]


def _picks(vertices: Any) -> tuple[Any, Any]:
    """Those of a peer's border vertices, counted from 0."""
    word, bit = vertices >> vertices.dtype.type(5), vertices & vertices.dtype.type(31)
    first = cupy.ones(len(vertices), bool)  # of a pick
    first[1:] = (word[1:] != word[:-1]) | (bit[1:] <= bit[:-1])
    starts = cupy.flatnonzero(first)
    made = cupy.empty((len(starts), 2), np.uint32)
    made[:, 0] = word[starts]
    # Bits of one pick differ, so their sum is the mask; the sum of all may run over, and back again.
    sums = cupy.cumsum(np.uint64(1) << bit.astype(np.uint64), dtype=np.uint64)
    ends = cupy.append(starts[1:], len(vertices)) - 1
    through = sums[ends]
    made[:, 1] = through
    made[1:, 1] = through[1:] - through[:-1]
    pick = (cupy.cumsum(first, dtype=np.int64) - 1)[::32]
    skip = cupy.arange(0, len(vertices), 32, dtype=np.int64) - starts[pick]
    return made, (pick << 5 | skip).astype(np.uint64)
