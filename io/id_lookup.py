"""The user's ids of any vertices, which ranks tell each other from GPU to GPU."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from dask_graphgpu.exchange.nccl import DeviceLink
    from dask_graphgpu.exchange.ranks import Ranks


class IdLookup:
    """Integer ids of all numbers, each rank with those of a range.

    Parameters
    ----------
    ranks : Ranks
        `take` is collective.
    link : DeviceLink
    bounds : sequence of int
        The first number of each rank's range, and the end.
    ids : list of arrays of integers, on the GPU
        The id columns of this rank's range.
    """

    def __init__(
        self, ranks: Ranks, link: DeviceLink, bounds: Sequence[int], ids: list[Any]
    ) -> None:
        self._ranks, self._link, self._ids = ranks, link, ids
        self._bounds, self._first = link.arrays.asarray(bounds), int(bounds[ranks.rank])

    def take(self, numbers: Any, valid: Any = None) -> list[Any]:
        """The ids of some numbers, an array an id column; 0 where not ``valid``. Collective.

        Notes
        -----
        Cost: a sort of the numbers; the distinct ones go to the ranks of their ranges, the ids come
        back.
        """
        xp, ranks = self._link.arrays, self._ranks
        asked = numbers if valid is None else numbers[valid]
        distinct, index = xp.unique(asked, return_inverse=True)
        cuts = xp.searchsorted(distinct, self._bounds).tolist()
        every = ranks.all_gather(np.diff(cuts))
        ends = np.cumsum([0, *(counts[ranks.rank] for counts in every)]).tolist()
        theirs = xp.empty(ends[-1], distinct.dtype)
        exchange(self._link, ranks, [(_parts(distinct, cuts), _parts(theirs, ends))])
        replies = [ids[theirs - self._first] for ids in self._ids]
        found = [xp.empty(len(distinct), ids.dtype) for ids in self._ids]
        pairs = [
            (_parts(sent, ends), _parts(into, cuts))
            for sent, into in zip(replies, found, strict=True)
        ]
        exchange(self._link, ranks, pairs)
        if valid is None:
            return [column[index] for column in found]
        made = [xp.zeros(len(numbers), column.dtype) for column in found]
        for out, column in zip(made, found, strict=True):
            out[valid] = column[index]
        return made


def exchange(link: DeviceLink, ranks: Ranks, pairs: list[tuple[list[Any], list[Any]]]) -> None:
    """Have arrays sent to the ranks, this one too, and received; at the end they are there. Collective.

    ``pairs`` : as of `DeviceLink.swap`
    """
    own = ranks.rank
    others = []
    for sent, received in pairs:
        received[own][...] = sent[own]
        others.append([[*all_[:own], all_[own][:0], *all_[own + 1 :]] for all_ in (sent, received)])
    # To allocate waits for the device, and this rank's may wait for a peer that has not sent.
    ranks.barrier()
    try:
        link.swap([(sent, received) for sent, received in others])
        link.settle()
        ranks.barrier()
    except BaseException:
        link.abort()
        raise


def _parts(array: Any, cuts: Sequence[int]) -> list[Any]:
    return [array[lo:hi] for lo, hi in pairwise(cuts)]
