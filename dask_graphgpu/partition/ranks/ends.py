"""How often each vertex is the end of an edge, and what that says of a graph; known at homes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from dask_graphgpu.partition.build import SAMPLE
from dask_graphgpu.partition.order import NEAR_WINDOW, has_locality, skewed
from dask_graphgpu.partition.ranks.homes import Homes
from dask_graphgpu.partition.ranks.numbering import Numbered, Run
from dask_graphgpu.partition.row_sort import each, num_blocks


@dataclass(frozen=True, eq=False)
class AtHome:
    """What a rank knows when vertices are given to owners.

    Attributes
    ----------
    homes : Homes
    ends : int64, shape (2, homes.num_here)
        How often each vertex that the rank is home to is a source and a destination in any rank's
        edges.
    near : bool
        Whether the ends of most edges lie close in the order of the user's ids.
    numbered : Numbered
        The rank's share of the edges, as they were read.
    """

    homes: Homes
    ends: np.ndarray
    near: bool
    numbered: Numbered

    @property
    def degrees(self) -> np.ndarray:
        """Ends of edges at each vertex that the rank is home to, int64."""
        degrees: np.ndarray = self.ends.sum(axis=0)
        return degrees

    def is_skewed(self) -> bool:
        """Whether few vertices hold most edge ends, of the whole graph. Collective."""
        degrees = self.degrees.astype(np.float64)
        sums = self.homes.ranks.scalars([float(degrees.sum()), float((degrees * degrees).sum())])
        return skewed(len(self.homes), *sums.sum(axis=0).tolist())

    def is_balanced(self) -> bool:
        """Whether every vertex is as often a source as a destination. Collective."""
        return bool(self.homes.ranks.min(int(np.array_equal(*self.ends))))

    def edges(self, piece: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """The rank's edges in parts of at most ``piece``: places of their ends in its numbers."""
        for run in self.numbered.runs:
            table = run.codes.of(self.numbered.tables)
            for lo in range(0, len(run), piece):
                yield table[run.source[lo : lo + piece]], table[run.destination[lo : lo + piece]]


def at_home(numbered: Numbered, chunks: int) -> AtHome:
    """Count the ends of edges, each at its home. Collective. ``chunks``: as `Agreed.chunks`."""
    homes, runs = numbered.homes, numbered.runs
    counts = _counted(runs, numbered.tables, len(numbered.numbers))
    # As narrow as they can be on the wire.
    most = homes.ranks.max(int(counts.max(initial=0)))
    counts = counts.astype(np.uint32 if most < 2**32 else np.int64)
    ends: np.ndarray = np.zeros((2, homes.num_here), np.int64)
    for index, columns in homes.tell(numbered.numbers, list(counts)):
        for side, column in zip(ends, columns, strict=True):
            side[index] += column  # a rank names a vertex once in a round
    return AtHome(homes, ends, _is_near(numbered, chunks), numbered)


def _counted(runs: Sequence[Run], tables: Sequence[np.ndarray], size: int) -> np.ndarray:
    """How often each of a rank's vertices is a source and a destination, int64, shape (2, size)."""
    from dask_graphgpu.kernels.cpu import shuffle

    # Each thread has counters of its own, which are not to outweigh the edges.
    edges = sum(map(len, runs))
    blocks = max(min(num_blocks(edges), edges // (2 * size + 1)), 1)
    counts = np.zeros((blocks, 2, size), np.int64)

    def count(block: int) -> None:
        for run in runs:
            lo, hi = (len(run) * k // blocks for k in (block, block + 1))
            table = run.codes.of(tables)
            shuffle.count(lo, hi, run.source, table, counts[block, 0])
            shuffle.count(lo, hi, run.destination, table, counts[block, 1])

    each(count, blocks)
    total: np.ndarray = counts[0] if blocks == 1 else counts.sum(axis=0)
    return total


def _is_near(numbered: Numbered, chunks: int) -> bool:
    """Whether edges join vertices of close numbers. Collective.

    The sample is the one that a single rank would take of the chunks of all.
    """
    from dask_graphgpu.kernels.cpu import locality

    near = sampled = 0
    share = -(-SAMPLE // max(chunks, 1))
    gap = len(numbered.homes) // NEAR_WINDOW
    for run in numbered.runs:
        step = max(len(run) // share, 1)
        table = run.codes.of(numbered.tables)
        source, destination = table[run.source[::step]], table[run.destination[::step]]
        near += locality.near(0, len(source), numbered.numbers, source, destination, gap)
        sampled += len(source)
    found = numbered.homes.ranks.scalars([near, sampled]).sum(axis=0)
    return has_locality(*found.tolist())
