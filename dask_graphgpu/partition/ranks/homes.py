"""Homes: the rank that knows a vertex by its number, before and beside the one that owns it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from dask_graphgpu.exchange.ranks import Ranks
from dask_graphgpu.partition.build import dense_dtype

# Rows that a rank sends in one message round, to all ranks together: enough that a round costs more
# than its messages, little beside the graph.
PIECE = 1 << 19


@dataclass(frozen=True, eq=False)
class Homes:
    """Which rank is home to which numbers: rank h to ``starts[h]`` up to ``starts[h + 1]``.

    Attributes
    ----------
    ranks : Ranks
    starts : int64, shape (size + 1,)
    dtype : of numbers, uint32 or uint64
    """

    ranks: Ranks
    starts: np.ndarray
    dtype: np.dtype[Any]

    @classmethod
    def of(cls, ranks: Ranks, counts: Sequence[int]) -> Homes:
        """Those that are home to so many vertices each."""
        starts = np.append(0, np.cumsum(counts)).astype(np.int64)
        return cls(ranks, starts, np.dtype(dense_dtype(int(starts[-1]))))

    @classmethod
    def agreed(cls, ranks: Ranks, num_here: int) -> Homes:
        """Those of which this rank is home to so many. Collective."""
        return cls.of(ranks, ranks.scalars([num_here])[:, 0].tolist())

    def __len__(self) -> int:
        """Vertices of the whole graph."""
        return int(self.starts[-1])

    @property
    def first(self) -> int:
        """The first number that this rank is home to."""
        return int(self.starts[self.ranks.rank])

    @property
    def num_here(self) -> int:
        """How many numbers this rank is home to."""
        return int(self.starts[self.ranks.rank + 1]) - self.first

    def numbers(self) -> np.ndarray:
        """The numbers that this rank is home to."""
        return np.arange(self.first, self.first + self.num_here, dtype=self.dtype)

    def cuts(self, numbers: np.ndarray) -> np.ndarray:
        """Where those for each home start in ascending numbers, int64 of shape (size + 1,)."""
        cuts: np.ndarray = np.searchsorted(numbers, self.starts.astype(np.uint64))
        return cuts

    def tell(
        self, numbers: np.ndarray, columns: Sequence[np.ndarray]
    ) -> Iterator[tuple[np.ndarray, list[np.ndarray]]]:
        """Send rows to the homes of their ascending numbers, in bounded rounds. Collective.

        Yields what came from one rank in one round: which of the home's vertices, counted from its
        first, and their columns. Has to be read to the end.
        """
        for slices in rounds(self.ranks, self.cuts(numbers)):
            got = self.ranks.all_to_all([numbers[part] for part in slices])
            told = [self.ranks.all_to_all([c[part] for part in slices]) for c in columns]
            for j, here in enumerate(got):
                if len(here):
                    yield self._index(here), [column[j] for column in told]

    def ask(self, numbers: np.ndarray, known: np.ndarray) -> np.ndarray:
        """What the homes know of ascending numbers, in bounded rounds. Collective.

        ``known`` is what this rank knows of the vertices that it is home to, in their order.
        """
        answers = np.empty(len(numbers), known.dtype)
        for slices in rounds(self.ranks, self.cuts(numbers)):
            asked = self.ranks.all_to_all([numbers[part] for part in slices])
            replies = [known.take(self._index(here)) for here in asked]
            for part, reply in zip(slices, self.ranks.all_to_all(replies), strict=True):
                answers[part] = reply
        return answers

    def _index(self, numbers: np.ndarray) -> np.ndarray:
        here: np.ndarray = numbers - numbers.dtype.type(self.first)
        return here


def rounds(ranks: Ranks, cuts: np.ndarray) -> Iterator[list[slice]]:
    """Parts of the rows between ``cuts``, a slice for each rank, as often on every rank. Collective."""
    size = max(PIECE // ranks.size, 1)
    for k in range(int(ranks.max(-(-int(np.diff(cuts).max()) // size)))):
        yield [
            slice(min(lo + k * size, hi), min(lo + (k + 1) * size, hi))
            for lo, hi in pairwise(cuts.tolist())
        ]
