"""Local ids: a rank's own vertices, then the ghosts at the other ends of their edges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dask_graphgpu.exchange.border import Border
from dask_graphgpu.exchange.ranks import Ranks
from dask_graphgpu.partition.ranks.ghosts import Ghosts
from dask_graphgpu.partition.ranks.homes import PIECE
from dask_graphgpu.partition.ranks.places import Places
from dask_graphgpu.partition.ranks.shuffle import Entries

if TYPE_CHECKING:
    from dask_graphgpu.partition.ranks.on_host import OnHost


@dataclass(frozen=True, eq=False)
class Local:
    """The vertices that are on a rank.

    Attributes
    ----------
    border : Border
    numbers : uint32 or uint64, shape (num_local,)
        Own vertices first, then ghosts, by owner and in the order that they have there.
    """

    border: Border
    numbers: np.ndarray


def localize(
    ranks: Ranks, places: Places, ways: Sequence[Entries], everything: bool, passes: OnHost
) -> Local:
    """Find the ghosts, name neighbours in all entries by local ids, and agree on the border.

    Collective. Cost: two passes over the entries, and a bit a vertex of the whole graph.

    Parameters
    ----------
    places : Places
    ways : sequence of Entries
        Of one or two kinds of rows; their neighbours become local ids.
    everything : bool
        Whether every remote vertex is a ghost, seen or not.
    """
    dtype = places.own.dtype
    own, total = places.bounds[ranks.rank : ranks.rank + 2], int(places.bounds[-1])
    neighbours = [entries.neighbours for entries in ways]
    ghosts = Ghosts.of(own, total, None if everything else neighbours, passes)
    passes.to_local(ghosts, neighbours)
    del neighbours
    found = ghosts.places(dtype)
    cuts = np.searchsorted(found, places.bounds.astype(np.uint64))
    for part, first in zip(np.split(found, cuts[1:-1]), places.bounds[:-1], strict=True):
        part -= dtype.type(first)
    sends = ranks.all_to_all(np.split(found, cuts[1:-1]))
    # What it gave itself, which is nothing, would keep all of `found`.
    sends[ranks.rank] = np.empty(0, dtype)
    border = Border(ranks, len(places.own), len(places.own) + cuts, sends)
    del found
    return Local(border, _numbers(border, places.own))


def _numbers(border: Border, own: np.ndarray) -> np.ndarray:
    """Numbers of own vertices and of ghosts. Collective, in rounds of bounded size."""
    ranks, piece = border.ranks, max(PIECE // border.ranks.size, 1)
    numbers = np.empty(len(own) + border.num_ghosts, own.dtype)
    numbers[: len(own)] = own
    for first in range(0, int(ranks.max(max(map(len, border.sends)))), piece):
        sent = [own.take(vertices[first : first + piece]) for vertices in border.sends]
        for ghost, part in zip(border.ghosts.tolist(), ranks.all_to_all(sent), strict=False):
            numbers[ghost + first : ghost + first + len(part)] = part
    return numbers
