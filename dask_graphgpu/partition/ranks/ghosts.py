"""The vertices that a rank names and does not own, as a bitmap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.kernels.cpu.threads import even_blocks, for_blocks

if TYPE_CHECKING:
    from dask_graphgpu.partition.ranks.on_host import OnHost

_WORDS = 1 << 14  # of a bitmap that are looked at in one go


@dataclass(frozen=True, eq=False)
class Ghosts:
    """The ghosts of a rank, as a bitmap over places.

    ``first`` and ``last`` are the rank's own places, ``before`` the ghosts in the words before each,
    ``number`` all of them.
    """

    first: np.uint64
    last: np.uint64
    words: np.ndarray
    before: np.ndarray
    number: int

    @classmethod
    def of(
        cls,
        own: np.ndarray,
        total: int,
        neighbours: Sequence[np.ndarray] | None,
        passes: OnHost,
    ) -> Ghosts:
        """Those among ``total`` places that ``neighbours`` name; None: all but the own ones."""
        first, last = own.astype(np.uint64)
        if neighbours is None:
            bits = np.ones(-(-total // 64) * 64, bool)
            bits[total:] = bits[int(first) : int(last)] = False
            words = np.packbits(bits, bitorder="little").view("<u8").astype(np.uint64, copy=False)
        else:
            words = passes.remote(neighbours, first, last, total)
        counts = np.empty(len(words), np.int64)
        for_blocks(kernels.shuffle.count_words, even_blocks(len(words)), words, counts)
        before = np.cumsum(counts) - counts
        return cls(first, last, words, before, int(counts.sum()))

    def places(self, dtype: np.dtype[Any]) -> np.ndarray:
        """The places of the ghosts, ascending."""
        found = np.empty(self.number, dtype)
        upto = 0
        for lo in range(0, len(self.words), _WORDS):  # a byte a vertex is not to outweigh the edges
            words = self.words[lo : lo + _WORDS].astype("<u8", copy=False)
            here = np.flatnonzero(np.unpackbits(words.view(np.uint8), bitorder="little"))
            found[upto : upto + len(here)] = here + 64 * lo
            upto += len(here)
        return found
