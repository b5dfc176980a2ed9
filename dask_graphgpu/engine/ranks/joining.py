"""Labels that are paired become one: the smallest that pairs lead to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.kernels.cpu.threads import even_blocks, for_blocks
from dask_graphgpu.partition.distinct import distinct_vertices

# Labels are looked up in a table with a place for every number, where that has at most so many times the places that
# a rank has vertices; else in one of the numbers that occur, which have to be sorted.
_SPARSE = 4


@dataclass(frozen=True, eq=False)
class JoinedLabels:
    """The trees of labels that pairs have joined.

    Attributes
    ----------
    parent : shape (labels,)
        Place of the smallest label that is joined with each one.
    table : shape (labels,), optional
        The labels in ascending order; None: every number, at its own place.
    """

    parent: np.ndarray
    table: np.ndarray | None

    @classmethod
    def of(cls, a: np.ndarray, b: np.ndarray, numbers: int, vertices: int) -> Self:
        """Join pairs of labels.

        Parameters
        ----------
        a, b : uint32 or uint64, shape (k,)
            A pair is of a label of each.
        numbers : int
            How many labels there may be.
        vertices : int
            How many vertices this rank has, which its memory is for.
        """
        table, size = None, numbers
        if numbers > _SPARSE * vertices:
            table, places = distinct_vertices(np.concatenate([a, b]), numbers)
            a, b = np.split(places.astype(a.dtype, copy=False), 2)
            size = len(table)
        parent = np.arange(size, dtype=a.dtype)
        for_blocks(kernels.components.link_pairs, even_blocks(len(a)), a, b, parent)
        # A root is the least place in its tree: that of the smallest label.
        for_blocks(kernels.components.compress, even_blocks(size), parent)
        return cls(parent, table)

    def pairs(self) -> np.ndarray:
        """Each label with the smallest that it is joined with, if that is another one; ascending, shape (2, k)."""
        moved = np.flatnonzero(self.parent != np.arange(len(self.parent), dtype=self.parent.dtype))
        both = np.stack([moved.astype(self.parent.dtype), self.parent[moved]])
        return both if self.table is None else self.table.take(both)

    def smallest(self, labels: np.ndarray) -> np.ndarray:
        """The smallest label that each is joined with."""
        if self.table is None:
            return self.parent.take(labels)
        place = np.minimum(np.searchsorted(self.table, labels), len(self.table) - 1)
        known = self.table[place] == labels
        return np.where(known, self.table.take(self.parent[place]), labels)
