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
