"""How often each vertex is the end of an edge, and what that says of a graph; known at homes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.kernels.cpu.threads import even_blocks, for_blocks
from dask_graphgpu.partition.build import SAMPLE
from dask_graphgpu.partition.order import NEAR_WINDOW, has_locality, skewed
from dask_graphgpu.partition.ranks.homes import Homes
from dask_graphgpu.partition.ranks.numbering import Numbered

if TYPE_CHECKING:
    from dask_graphgpu.partition.ranks.on_host import OnHost


@dataclass(frozen=True, eq=False)
class AtHome:
    """What a rank knows when vertices are given to owners.

    Attributes
    ----------
    homes : Homes
    degrees : int64, shape (homes.num_here,)
        Ends of any rank's edges at each vertex that the rank is home to.
    balanced : bool
        Whether every vertex of the whole graph is as often a source as a destination.
    near : bool
        Whether the ends of most edges lie close in the order of the user's ids.
    numbered : Numbered
        The rank's share of the edges, as they were read.
    passes : OnHost
        Where passes over vertices are made.
    """

    homes: Homes
    degrees: np.ndarray
    balanced: bool
    near: bool
    numbered: Numbered
    passes: OnHost

    def is_skewed(self) -> bool:
        """Whether few vertices hold most edge ends, of the whole graph. Collective."""
        degrees = self.degrees.astype(np.float64)
        sums = self.homes.ranks.scalars([float(degrees.sum()), float(degrees @ degrees)])
        return skewed(len(self.homes), *sums.sum(axis=0).tolist())

    def edges(self, piece: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """The rank's edges in parts of at most ``piece``: places of their ends in its numbers."""
        for run in self.numbered.runs:
            table = run.codes.of(self.numbered.tables)
            for lo in range(0, len(run), piece):
                source, destination = run.ends(slice(lo, lo + piece))
                yield table.take(source), table.take(destination)


def at_home(numbered: Numbered, chunks: int, passes: OnHost) -> AtHome:
    """Count the ends of edges, each at its home. Collective. ``chunks``: as `Agreed.chunks`."""
    homes, runs = numbered.homes, numbered.runs
    edges = int(homes.ranks.max(sum(map(len, runs))))
    dtype = np.dtype(np.uint32 if edges < 2**32 else np.int64)
    counts = passes.count(runs, numbered.tables, len(numbered.numbers), dtype)
    degrees: np.ndarray = np.zeros(homes.num_here, np.int64)
    excess: np.ndarray = np.zeros(homes.num_here, np.int64)  # of out-edges over in-edges
    for index, (out, into) in homes.tell(numbered.numbers, list(counts)):
        # A rank names a vertex once in a round, so no two threads add to one.
        for_blocks(
            kernels.shuffle.add_ends, even_blocks(len(index)), index, out, into, degrees, excess
        )
    balanced = not homes.ranks.max(int(excess.any()))
    return AtHome(homes, degrees, bool(balanced), _is_near(numbered, chunks), numbered, passes)


def _is_near(numbered: Numbered, chunks: int) -> bool:
    """Whether edges join vertices of close numbers. Collective.

    The sample is the one that a single rank would take of the chunks of all.
    """
    near = sampled = 0
    share = -(-SAMPLE // max(chunks, 1))
    gap = len(numbered.homes) // NEAR_WINDOW
    for run in numbered.runs:
        step = max(len(run) // share, 1)
        table = run.codes.of(numbered.tables)
        source, destination = (table.take(codes) for codes in run.ends(slice(None, None, step)))
        near += kernels.locality.near(0, len(source), numbered.numbers, source, destination, gap)
        sampled += len(source)
    found = numbered.homes.ranks.scalars([near, sampled]).sum(axis=0)
    return has_locality(*found.tolist())
