"""The biased random partitioner: vertices tend to go where more of their neighbours are."""

from __future__ import annotations

import numpy as np

from dask_graphgpu.partition.ranks.draw import draw
from dask_graphgpu.partition.ranks.ends import AtHome
from dask_graphgpu.partition.ranks.homes import PIECE

# Vertices are given to ranks in so many turns; those of a turn see the owners of all before.
_TURNS = 16
# Share of the draw that follows the neighbours; the rest is even.
_BIAS = 0.5
# A rank takes no more once it has this many times its share of the edge ends.
_MOST = 1.1


def biased_random(at: AtHome, seed: int = 0) -> np.ndarray:
    """By lot, towards the rank that already holds more of the vertex's neighbours.

    After the biased random partitioner of Pan et al., "Multi-GPU graph analytics" (IPDPS 2017),
    which takes the vertices one by one; here those of a turn are drawn at once. Cost: a pass over
    the edges and an exchange of the neighbours' owners in each of 16 turns.
    """
    homes, ranks = at.homes, at.homes.ranks
    size, degrees = ranks.size, at.degrees
    numbers = at.numbered.numbers
    work = degrees + 1
    most = _MOST * int(ranks.sum(int(work.sum()))) / size
    lot, turn = draw(homes.numbers(), seed), _turn(homes.numbers(), seed)
    turn_here = _turn(numbers, seed)  # of the vertices that occur in this rank's edges
    owners = np.full(homes.num_here, -1, np.int64)
    owner_here = np.full(len(numbers), -1, np.int64)
    load = np.zeros(size, np.int64)
    for k in range(_TURNS):
        mine = np.flatnonzero(turn == k)
        held = _held(at, owner_here, turn_here == k, mine) if k else np.zeros((len(mine), size))
        some = held.sum(axis=1, keepdims=True)
        share = np.where(some > 0, _BIAS * held / np.maximum(some, 1), _BIAS / size)
        share += (1 - _BIAS) / size
        share *= np.maximum(1 - load / most, 0)
        upto = np.cumsum(share, axis=1)
        past = upto <= lot[mine, None] * upto[:, -1:]
        owners[mine] = np.minimum(past.sum(axis=1), size - 1)
        added = np.bincount(owners[mine], work[mine], minlength=size).astype(np.int64)
        load += np.sum(ranks.all_gather(added), axis=0)
        owner_here = homes.ask(numbers, owners)
    return owners


def _turn(numbers: np.ndarray, seed: int) -> np.ndarray:
    return (draw(numbers, seed + 1) * _TURNS).astype(np.int64)


def _held(at: AtHome, owner_here: np.ndarray, wanted: np.ndarray, mine: np.ndarray) -> np.ndarray:
    """How many neighbours of each of the vertices ``mine`` each rank holds. Collective.

    ``wanted``: which of the vertices of this rank's edges are to be counted for.
    """
    homes, ranks = at.homes, at.homes.ranks
    place = np.zeros(homes.num_here, np.int64)
    place[mine] = np.arange(len(mine))
    held: np.ndarray = np.zeros((len(mine), ranks.size))
    pieces = at.edges(PIECE)
    for _ in range(int(ranks.max(sum(1 for _ in at.edges(PIECE))))):
        source, destination = next(pieces, (np.empty(0, np.int64), np.empty(0, np.int64)))
        keys = []
        for vertex, other in ((source, destination), (destination, source)):
            chosen = wanted.take(vertex) & (owner_here.take(other) >= 0)
            keys.append(
                vertex[chosen].astype(np.int64) * ranks.size + owner_here.take(other[chosen])
            )
        key, counts = np.unique(np.concatenate(keys), return_counts=True)
        numbers = at.numbered.numbers[key // ranks.size]
        for index, (owner, count) in homes.tell(numbers, [key % ranks.size, counts]):
            np.add.at(held, (place.take(index), owner), count)
    return held
