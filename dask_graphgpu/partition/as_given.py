"""The rows of an edge frame as they were given, which the rows of an undirected graph alone do not tell.

An undirected graph has each edge at both ends, and once what was given in both directions. Whether one more row is
that same edge depends on the directions of the others, so these are kept: a bit an entry, and the rows left out.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.kernels.cpu.threads import even_blocks, for_blocks
from dask_graphgpu.partition.csr import Adjacency, offsets_of, transpose

if TYPE_CHECKING:
    from dask_graphgpu.partition.partition import Partition

_STEPS = 32  # simple ones that a search takes
_BLOCK = 1 << 13  # bytes of bits that are packed at a time


@dataclass(frozen=True, eq=False)
class AsGiven:
    """What the rows of an undirected graph do not say of those of its frame.

    Attributes
    ----------
    turned : uint8 array or None
        A bit an entry of the rows, the first in the highest bit: it was given from the neighbour. None: every entry
        was given as it stands, as the frame has each edge in both directions.
    places : int64, shape (k,)
        Of each row that was left out, its place among all rows of the frame in the order of their ends.
    rows, neighbours : shape (k,)
        Its source and destination.
    columns : dict of arrays of shape (k,)
    """

    turned: np.ndarray | None = None
    places: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))
    rows: np.ndarray = field(default_factory=lambda: np.empty(0, np.uint32))
    neighbours: np.ndarray = field(default_factory=lambda: np.empty(0, np.uint32))
    columns: dict[str, np.ndarray] = field(default_factory=dict)

    @classmethod
    def of(cls, marked: Adjacency, keep: np.ndarray, dtype: np.dtype) -> AsGiven:
        """Of marked rows of which some are kept, before they are unmarked; ``dtype`` is that of neighbours."""
        neighbours = marked.neighbours
        one = neighbours.dtype.type(1)
        turned = packed(neighbours if keep.all() else neighbours[keep])
        if len(neighbours) == np.count_nonzero(keep):
            return cls(turned)
        forward = (neighbours & one) == 0
        left = np.flatnonzero(forward & ~keep)
        return cls(
            turned,
            offsets_of(forward)[left],
            (np.searchsorted(marked.offsets, left, "right") - 1).astype(dtype),
            (neighbours[left] >> one).astype(dtype),
            {name: column[left] for name, column in marked.columns.items()},
        )

    @property
    def arrays(self) -> list[np.ndarray]:
        """Every array that is held."""
        held = [self.places, self.rows, self.neighbours, *self.columns.values()]
        return held if self.turned is None else [self.turned, *held]


def packed(marked: np.ndarray) -> np.ndarray:
    """The lowest bit of each value, eight in a byte."""
    packed = np.empty(-(-len(marked) // 8), np.uint8)

    def some(lo: int, hi: int) -> None:
        for first in range(lo, hi, _BLOCK):
            last = min(first + _BLOCK, hi)
            bits = marked[8 * first : 8 * last].astype(np.uint8) & np.uint8(1)
            packed[first:last] = np.packbits(bits)

    for_blocks(some, even_blocks(len(packed), work=8))
    return packed


def rows_as_given(partition: Partition) -> Adjacency:
    """All rows of the frame by source, each as often as it was given, with all columns.

    Rows between two vertices are in the order of the frame. Cost: of a directed graph by source none; else a pass over
    its edges.
    """
    given = partition.use_given()
    if partition.layout.directed:
        return given if partition.layout.by == "source" else transpose(given)
    aside = partition.use_as_given()
    if aside.turned is None:
        return given
    forward = np.unpackbits(aside.turned, count=given.num_edges).view(bool)
    np.logical_not(forward, out=forward)
    offsets = offsets_of(forward)[given.offsets]
    neighbours = given.neighbours[forward]
    columns = {name: column[forward] for name, column in given.columns.items()}
    if not len(aside.places):
        return Adjacency(offsets, neighbours, columns)
    lengths = np.diff(offsets) + np.bincount(aside.rows, minlength=given.num_vertices)
    others = np.ones(len(neighbours) + len(aside.places), bool)
    others[aside.places] = False

    def mixed(kept: np.ndarray, left: np.ndarray) -> np.ndarray:
        made = np.empty(len(others), kept.dtype)
        made[others], made[aside.places] = kept, left
        return made

    return Adjacency(
        offsets_of(lengths),
        mixed(neighbours, aside.neighbours),
        {name: mixed(column, aside.columns[name]) for name, column in columns.items()},
    )


def find_cells(
    adjacency: Adjacency, rows: np.ndarray, neighbours: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Where the edges from ``rows`` to ``neighbours`` begin and end among those of an adjacency; int64.

    Cost: O(k log d) for k of them in rows of at most d edges; nothing else is read.
    """
    first, end = np.empty(len(rows), np.int64), np.empty(len(rows), np.int64)
    wanted = neighbours.astype(adjacency.neighbours.dtype, copy=False)
    for_blocks(
        kernels.searching.find_cells, even_blocks(len(rows), work=_STEPS), adjacency.offsets, adjacency.neighbours,
        rows.astype(np.int64, copy=False), wanted, first, end,
    )  # fmt: skip
    return first, end
